/* SPDX-License-Identifier: MIT */
/*
 * heap.c - FreeRTOS's heap (heap_1, 2, 4 or 5) under KASAN: the linker sends calls of pvPortMalloc() and its family here
 * (--wrap), and they reach the allocator through __real_pvPortMalloc() and __real_vPortFree(). FreeRTOS's own objects come this way as
 * well: tasks, their stacks, queues, timers, event groups, stream buffers.
 *
 * Never instrumented, and compiled with tail calls, so that the stack of an allocation starts at its caller.
 */
#include "internal.h"

void *__real_pvPortMalloc(size_t size);
void __real_vPortFree(void *ptr);
void __real_vApplicationMallocFailedHook(void) __attribute__((weak));
void *__wrap_pvPortMalloc(size_t size);
void *__wrap_pvPortCalloc(size_t count, size_t size);
void __wrap_vPortFree(void *ptr);
void __wrap_vApplicationMallocFailedHook(void);

/* Bytes of freed memory to hold back. Held memory is given back before an allocation fails. */
#ifndef KASAN_FREERTOS_QUARANTINE
#define KASAN_FREERTOS_QUARANTINE ((size_t)configTOTAL_HEAP_SIZE / 8)
#endif

/* While memory may still come out of the quarantine, nobody is told that there is none. */
static bool is_retried;

static void *acquire(struct kasan_heap *heap, size_t size)
{
	void *raw;

	is_retried = true;
	raw = __real_pvPortMalloc(size);
	is_retried = false;
	if (raw)
		return raw;
	kasan_heap_shrink(heap);
	return __real_pvPortMalloc(size);
}

static void release(struct kasan_heap *heap, void *raw)
{
#if KASAN_FREERTOS_HEAP != 1
	__real_vPortFree(raw);
#endif
}

static struct kasan_heap heap = {
	.name = "FreeRTOS heap",
	.redzone = 16,
	.quarantine_max = KASAN_FREERTOS_QUARANTINE,
	.acquire = acquire,
	.release = release,
};

void freertos_heap_add(void)
{
	kasan_heap_add(&heap);
}

void *__wrap_pvPortMalloc(size_t size)
{
	/* FreeRTOS has no objects without a byte. */
	return size ? kasan_heap_malloc(&heap, size) : NULL;
}

void *__wrap_pvPortCalloc(size_t count, size_t size)
{
	return count && size ? kasan_heap_calloc(&heap, count, size) : NULL;
}

void __wrap_vPortFree(void *ptr)
{
#if KASAN_FREERTOS_HEAP == 1
	/* heap_1 has no frees: it says so itself. */
	__real_vPortFree(ptr);
#else
	kasan_heap_free(&heap, ptr, (uintptr_t)__builtin_return_address(0));
#endif
}

void __wrap_vApplicationMallocFailedHook(void)
{
	if (!is_retried && __real_vApplicationMallocFailedHook)
		__real_vApplicationMallocFailedHook();
}
