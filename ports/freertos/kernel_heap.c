/* SPDX-License-Identifier: MIT */
/*
 * kernel_heap.c - heap_1, 2, 4 and 5: the linker sends calls of pvPortMalloc() and its family here (--wrap), and they reach the
 * allocator through __real_pvPortMalloc() and __real_vPortFree(). FreeRTOS's own objects come this way as well: tasks, their
 * stacks, queues, timers, event groups, stream buffers.
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

/* While memory may still come out of the quarantine, nobody is told that there is none. */
static bool is_retried;

void *freertos_raw_malloc(size_t size, bool is_last)
{
	void *raw;

	is_retried = !is_last;
	raw = __real_pvPortMalloc(size);
	is_retried = false;
	return raw;
}

void freertos_raw_free(void *raw)
{
#if KASAN_FREERTOS_HEAP == 1
	(void)raw;
#else
	__real_vPortFree(raw);
#endif
}

void *__wrap_pvPortMalloc(size_t size)
{
	/* FreeRTOS has no objects without a byte. */
	return size ? kasan_heap_malloc(&freertos_heap, size) : NULL;
}

void *__wrap_pvPortCalloc(size_t count, size_t size)
{
	return count && size ? kasan_heap_calloc(&freertos_heap, count, size) : NULL;
}

void __wrap_vPortFree(void *ptr)
{
#if KASAN_FREERTOS_HEAP == 1
	/* heap_1 has no frees: it says so itself. */
	__real_vPortFree(ptr);
#else
	kasan_heap_free(&freertos_heap, ptr, (uintptr_t)__builtin_return_address(0));
#endif
}

void __wrap_vApplicationMallocFailedHook(void)
{
	if (!is_retried && __real_vApplicationMallocFailedHook)
		__real_vApplicationMallocFailedHook();
}

#if KASAN_FREERTOS_HEAP == 5

void __real_vPortDefineHeapRegions(const HeapRegion_t *regions);
void __wrap_vPortDefineHeapRegions(const HeapRegion_t *regions);

void __wrap_vPortDefineHeapRegions(const HeapRegion_t *regions)
{
	const HeapRegion_t *region;

	for (region = regions; region->xSizeInBytes; region++)
		if (!freertos_in_window(region->pucStartAddress, region->xSizeInBytes))
			freertos_stop_range(
				"a region of heap_5", region->pucStartAddress, region->xSizeInBytes,
				"a region of heap_5 must lie in the RAM that has shadow "
				"(KASAN_RAM_START and KASAN_RAM_SIZE, less a ninth): "
				"leave this one out in builds with KASAN");
	__real_vPortDefineHeapRegions(regions);
}

#endif
