/* SPDX-License-Identifier: MIT */
/*
 * libc_heap.c - heap_3, which calls the C library: malloc() and its family under KASAN, for FreeRTOS and for the application.
 *
 * newlib's own functions allocate through _malloc_r() and its family, without malloc(), and what they allocate is often freed by
 * free(). So these come here as well (--wrap). picolibc has no such functions: its own call malloc().
 *
 * Never instrumented, and compiled with tail calls, so that the stack of an allocation starts at its caller.
 */
#include <malloc.h>
#include <stdlib.h>

#include "internal.h"

/* A family's functions. REENT: what stands in front of their parameters. */
#define FAMILY(MALLOC, CALLOC, REALLOC, FREE, REENT)                                          \
	void *__wrap_##MALLOC(REENT size_t size);                                             \
	void *__wrap_##CALLOC(REENT size_t count, size_t size);                               \
	void *__wrap_##REALLOC(REENT void *ptr, size_t size);                                 \
	void __wrap_##FREE(REENT void *ptr);                                                  \
	void *__wrap_##MALLOC(REENT size_t size)                                              \
	{                                                                                     \
		return kasan_heap_malloc(&freertos_heap, size);                               \
	}                                                                                     \
	void *__wrap_##CALLOC(REENT size_t count, size_t size)                                \
	{                                                                                     \
		return kasan_heap_calloc(&freertos_heap, count, size);                        \
	}                                                                                     \
	void *__wrap_##REALLOC(REENT void *ptr, size_t size)                                  \
	{                                                                                     \
		return kasan_heap_realloc(&freertos_heap, ptr, size);                         \
	}                                                                                     \
	void __wrap_##FREE(REENT void *ptr)                                                   \
	{                                                                                     \
		kasan_heap_free(&freertos_heap, ptr, (uintptr_t)__builtin_return_address(0)); \
	}

#define NOTHING
FAMILY(malloc, calloc, realloc, free, NOTHING)

#if defined(_NEWLIB_VERSION) && !defined(__PICOLIBC__)

#include <reent.h>

#define NEWLIB struct _reent *reent,
FAMILY(_malloc_r, _calloc_r, _realloc_r, _free_r, NEWLIB)

void *__real__malloc_r(struct _reent *reent, size_t size);
void __real__free_r(struct _reent *reent, void *ptr);
#define RAW_MALLOC(size) __real__malloc_r(_REENT, size)
#define RAW_FREE(ptr)	 __real__free_r(_REENT, ptr)

#else

void *__real_malloc(size_t size);
void __real_free(void *ptr);
#define RAW_MALLOC(size) __real_malloc(size)
#define RAW_FREE(ptr)	 __real_free(ptr)

#endif

void *freertos_raw_malloc(size_t size, bool is_last)
{
	(void)is_last;
	return RAW_MALLOC(size);
}

/*
 * The library's allocator may write all of a free chunk by memset(), which is checked: picolibc's does. With 32 bits a
 * chunk may end in the middle of a granule. The rest of it is the next chunk's header, which is never poisoned, and later
 * memset() may write over both.
 */
void freertos_raw_free(void *raw)
{
	const size_t usable = malloc_usable_size(raw);

	kasan_unpoison(raw, (usable + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK);
	RAW_FREE(raw);
}
