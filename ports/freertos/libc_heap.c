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

#if defined(_NEWLIB_VERSION) && !defined(__PICOLIBC__)
#define HAS_REENT 1
#include <reent.h>

void *__real__malloc_r(struct _reent *reent, size_t size);
void __real__free_r(struct _reent *reent, void *ptr);
void *__wrap__malloc_r(struct _reent *reent, size_t size);
void *__wrap__calloc_r(struct _reent *reent, size_t count, size_t size);
void *__wrap__realloc_r(struct _reent *reent, void *ptr, size_t size);
void __wrap__free_r(struct _reent *reent, void *ptr);
#else
void *__real_malloc(size_t size);
void __real_free(void *ptr);
#endif

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void __wrap_free(void *ptr);

/* Bytes of freed memory to hold back. Held memory is given back before an allocation fails. */
#ifndef KASAN_FREERTOS_QUARANTINE
#define KASAN_FREERTOS_QUARANTINE 8192
#endif

static void *raw_malloc(size_t size)
{
#ifdef HAS_REENT
	return __real__malloc_r(_REENT, size);
#else
	return __real_malloc(size);
#endif
}

static void *acquire(struct kasan_heap *heap, size_t size)
{
	void *raw = raw_malloc(size);

	if (raw)
		return raw;
	kasan_heap_shrink(heap);
	return raw_malloc(size);
}

/* The library's allocator may write all of a free chunk by memset(), which is checked: picolibc's does. */
static void release(struct kasan_heap *heap, void *raw)
{
	kasan_unpoison(raw, malloc_usable_size(raw));
#ifdef HAS_REENT
	__real__free_r(_REENT, raw);
#else
	__real_free(raw);
#endif
}

static struct kasan_heap heap = {
	.name = "malloc",
	.redzone = 16,
	.quarantine_max = KASAN_FREERTOS_QUARANTINE,
	.acquire = acquire,
	.release = release,
};

void freertos_heap_add(void)
{
	kasan_heap_add(&heap);
}

void *__wrap_malloc(size_t size)
{
	return kasan_heap_malloc(&heap, size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return kasan_heap_calloc(&heap, count, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
	return kasan_heap_realloc(&heap, ptr, size);
}

void __wrap_free(void *ptr)
{
	kasan_heap_free(&heap, ptr, (uintptr_t)__builtin_return_address(0));
}

#ifdef HAS_REENT

void *__wrap__malloc_r(struct _reent *reent, size_t size)
{
	return kasan_heap_malloc(&heap, size);
}

void *__wrap__calloc_r(struct _reent *reent, size_t count, size_t size)
{
	return kasan_heap_calloc(&heap, count, size);
}

void *__wrap__realloc_r(struct _reent *reent, void *ptr, size_t size)
{
	return kasan_heap_realloc(&heap, ptr, size);
}

void __wrap__free_r(struct _reent *reent, void *ptr)
{
	kasan_heap_free(&heap, ptr, (uintptr_t)__builtin_return_address(0));
}

#endif
