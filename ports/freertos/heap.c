/* SPDX-License-Identifier: MIT */
/*
 * heap.c - the heap under KASAN, whichever it is: what is held back, and what happens when memory runs out. The linker's --wrap
 * leads to kernel_heap.c (heap_1, 2, 4, 5) or libc_heap.c (heap_3), which own the names. Never instrumented.
 */
#include "internal.h"

/* Bytes of freed memory to hold back. Held memory is given back before an allocation fails. */
#ifndef KASAN_FREERTOS_QUARANTINE
#if KASAN_FREERTOS_HEAP == 3
#define KASAN_FREERTOS_QUARANTINE 8192
#else
#define KASAN_FREERTOS_QUARANTINE ((size_t)configTOTAL_HEAP_SIZE / 8)
#endif
#endif

static void *acquire(struct kasan_heap *heap, size_t size)
{
	void *raw = freertos_raw_malloc(size, false);

	if (raw)
		return raw;
	kasan_heap_shrink(heap);
	return freertos_raw_malloc(size, true);
}

static void release(struct kasan_heap *heap, void *raw)
{
	(void)heap;
	freertos_raw_free(raw);
}

struct kasan_heap freertos_heap = {
	.name = KASAN_FREERTOS_HEAP == 3 ? "malloc" : "FreeRTOS heap",
	.redzone = 16,
	.quarantine_max = KASAN_FREERTOS_QUARANTINE,
	.acquire = acquire,
	.release = release,
};

void freertos_heap_add(void)
{
	kasan_heap_add(&freertos_heap);
}
