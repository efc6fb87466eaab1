/* SPDX-License-Identifier: MIT */
/*
 * heap.c - U-Boot's dlmalloc under the runtime: the linker sends calls of malloc() and its family here
 * (--wrap; WRAPPED in host/build.py is the list), and they reach dlmalloc through __real_malloc() and
 * __real_free().
 *
 * Chunks from before the runtime's start come from U-Boot's early pool, which is never given back. Until
 * then calls pass through: before relocation the runtime's state cannot even be written.
 *
 * This file is compiled with tail calls, so that the stack of an allocation starts at malloc()'s caller.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "uboot.h"

#define QUARANTINE_MAX (8UL << 20)

void *__real_malloc(size_t size);
void __real_free(void *ptr);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *ptr, size_t size);
void *__real_memalign(size_t align, size_t size);

void *__wrap_malloc(size_t size);
void __wrap_free(void *ptr);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void *__wrap_memalign(size_t align, size_t size);
size_t __wrap_malloc_usable_size(void *ptr);

static bool ready;
static uintptr_t early_start, early_end;
static size_t heap_size;

static void release(struct kasan_heap *heap, void *raw)
{
	(void)heap;
	if ((uintptr_t)raw < early_start || (uintptr_t)raw >= early_end)
		__real_free(raw);
}

static void *acquire(struct kasan_heap *heap, size_t size)
{
	void *raw;

	/* Sizes that only an overflow produces stay away from dlmalloc's own arithmetic. */
	if (size > heap_size)
		return NULL;
	raw = __real_malloc(size);
	if (!raw) {
		kasan_heap_shrink(heap);
		raw = __real_malloc(size);
	}
	return raw;
}

static struct kasan_heap heap = {
	.name = "malloc",
	.quarantine_max = QUARANTINE_MAX,
	.release = release,
	.acquire = acquire,
};

void uboot_heap_start(const struct uboot_layout *layout, unsigned long start, unsigned long size)
{
	/* Only dlmalloc, which is not checked, may touch memory that is not allocated. */
	kasan_poison((void *)start, size, KASAN_SLAB_REDZONE);
	early_start = layout->early_start;
	early_end = layout->early_end;
	heap_size = size;
	kasan_heap_adopt(&heap, (void *)early_start, early_end - early_start);
	kasan_heap_add(&heap);
	ready = true;
}

void uboot_heap_settle(void)
{
	if (ready)
		kasan_heap_shrink(&heap);
}

void *__wrap_malloc(size_t size)
{
	return ready ? kasan_heap_malloc(&heap, size) : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return ready ? kasan_heap_calloc(&heap, count, size) : __real_calloc(count, size);
}

void *__wrap_memalign(size_t align, size_t size)
{
	return ready ? kasan_heap_memalign(&heap, align, size) : __real_memalign(align, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
	return ready ? kasan_heap_realloc(&heap, ptr, size) : __real_realloc(ptr, size);
}

void __wrap_free(void *ptr)
{
	if (ready)
		kasan_heap_free(&heap, ptr, (uintptr_t)__builtin_return_address(0));
	else
		__real_free(ptr);
}

size_t __wrap_malloc_usable_size(void *ptr)
{
	return kasan_heap_size(&heap, ptr);
}
