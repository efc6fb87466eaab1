/* SPDX-License-Identifier: MIT */
/* heap.c - libc's malloc under the runtime's simple-heap hooks: the shortest use of struct kasan_heap. */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "internal.h"

#ifdef CONFIG_KASAN_GENERIC

/*
 * libc shares its memory between our callers and everyone else's, stdio included, so a chunk goes back
 * without poison. Objects that have left the quarantine are no longer watched anyway.
 */
static void give_back(struct kasan_heap *heap, void *raw)
{
	kasan_unpoison(raw, malloc_usable_size(raw) & ~KASAN_GRANULE_MASK);
	free(raw);
}

static struct kasan_heap heap = {
	.name = "malloc",
	.quarantine_max = 4UL << 20,
	.release = give_back,
};

static void heap_ready(void)
{
	static atomic_flag registered = ATOMIC_FLAG_INIT;
	static atomic_bool done;

	if (atomic_load(&done))
		return;
	if (!atomic_flag_test_and_set(&registered)) {
		kasan_heap_add(&heap);
		atomic_store(&done, true);
	}
	while (!atomic_load(&done))
		; /* another thread is between the two lines above */
}

void *kasan_posix_malloc(size_t size)
{
	size_t span;
	void *raw;

	heap_ready();
	span = kasan_heap_span(&heap, size, 0);
	raw = span ? malloc(span) : NULL;
	if (!raw) {
		errno = ENOMEM;
		return NULL;
	}
	return kasan_heap_alloc(&heap, raw, size, 0);
}

void *kasan_posix_calloc(size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	p = kasan_posix_malloc(bytes);
	if (p)
		__memset(p, 0, bytes);
	return p;
}

void *kasan_posix_realloc(void *ptr, size_t size)
{
	size_t old;
	void *p;

	if (!ptr)
		return kasan_posix_malloc(size);
	/* Always a new chunk: a pointer kept across realloc() is the bug to catch. */
	old = kasan_heap_size(&heap, ptr);
	p = kasan_posix_malloc(size);
	if (!p)
		return NULL;
	__memcpy(p, ptr, old < size ? old : size);
	kasan_heap_free(&heap, ptr, (uintptr_t)__builtin_return_address(0));
	return p;
}

void kasan_posix_free(void *ptr)
{
	kasan_heap_free(&heap, ptr, (uintptr_t)__builtin_return_address(0));
}

#endif /* CONFIG_KASAN_GENERIC */
