/* SPDX-License-Identifier: MIT */
/*
 * wrap.c - puts a heap under KASAN without changing a line of it. Linked with
 * --wrap=malloc --wrap=memalign --wrap=realloc --wrap=free. Not instrumented.
 */
#include <kasan/kasan.h>

#include "heap.h"

void *__real_malloc(size_t size);
void __real_free(void *ptr);
size_t malloc_usable_size(const void *ptr);

void *__wrap_malloc(size_t size);
void *__wrap_memalign(size_t align, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void __wrap_free(void *ptr);

static void *acquire(struct kasan_heap *heap, size_t size)
{
	return __real_malloc(size);
}

static void release(struct kasan_heap *heap, void *raw)
{
	__real_free(raw);
}

static size_t raw_size(struct kasan_heap *heap, const void *raw)
{
	return malloc_usable_size(raw);
}

static struct kasan_heap heap = {
	.name = "wrapped",
	.quarantine_max = 64UL << 10,
	.acquire = acquire,
	.release = release,
	.raw_size = raw_size,
};

void heap_watch(void)
{
	kasan_heap_add(&heap);
}

void *__wrap_malloc(size_t size)
{
	return kasan_heap_malloc(&heap, size);
}

void *__wrap_memalign(size_t align, size_t size)
{
	return kasan_heap_memalign(&heap, align, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
	return kasan_heap_realloc(&heap, ptr, size);
}

void __wrap_free(void *ptr)
{
	kasan_heap_free(&heap, ptr, (uintptr_t)__builtin_return_address(0));
}
