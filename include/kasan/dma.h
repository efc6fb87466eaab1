/* SPDX-License-Identifier: MIT */
/*
 * dma.h - memory that belongs to a device for a while (CONFIG_KASAN_DMA): the hooks of a system's DMA layer.
 *
 * Between kasan_dma_map() and kasan_dma_unmap() no CPU may access the buffer, except between kasan_dma_sync_for_cpu() and
 * kasan_dma_sync_for_device(). docs/port/dma.md has the reports and what is not found.
 *
 * Without CONFIG_KASAN_DMA these are empty.
 */
#ifndef KASAN_DMA_H
#define KASAN_DMA_H

#include <kasan/hook.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum kasan_dma_direction - who writes the buffer. The numbers are those of Linux's enum dma_data_direction. */
enum kasan_dma_direction {
	KASAN_DMA_BIDIRECTIONAL = 0,
	KASAN_DMA_TO_DEVICE = 1,
	KASAN_DMA_FROM_DEVICE = 2,
};

#if defined(CONFIG_KASAN_DMA) && defined(CONFIG_KASAN)
/**
 * kasan_dma_map() - a buffer goes to the device
 * @addr: its address for the CPU, with its tag. @size: bytes. @direction: enum kasan_dma_direction.
 *
 * The buffer is checked as if the device accessed it now. The caller's stack is recorded. Call it before the device
 * learns of the buffer. Any context but a report.
 */
void kasan_dma_map(const void *addr, size_t size, int direction);

/**
 * kasan_dma_unmap() - the buffer comes back
 * @addr: as mapped, with any tag. @size, @direction: the caller's, which are compared with those of the mapping.
 *
 * Reports a buffer that is not mapped, and bytes after it that the device has written. Call it when the device has
 * finished. Any context but a report.
 */
void kasan_dma_unmap(const void *addr, size_t size, int direction);

/** kasan_dma_sync_for_cpu(), kasan_dma_sync_for_device() - the mapping stays, but the CPU may access a part of it in
 *  between. @addr, @size: the part; what is not inside of one mapping is left alone. Any context but a report. */
void kasan_dma_sync_for_cpu(const void *addr, size_t size);
void kasan_dma_sync_for_device(const void *addr, size_t size);
#else
static inline void kasan_dma_map(const void *addr, size_t size, int direction)
{
	(void)addr;
	(void)size;
	(void)direction;
}

static inline void kasan_dma_unmap(const void *addr, size_t size, int direction)
{
	(void)addr;
	(void)size;
	(void)direction;
}

static inline void kasan_dma_sync_for_cpu(const void *addr, size_t size)
{
	(void)addr;
	(void)size;
}

static inline void kasan_dma_sync_for_device(const void *addr, size_t size)
{
	(void)addr;
	(void)size;
}
#endif

#ifdef __cplusplus
}
#endif

#endif /* KASAN_DMA_H */
