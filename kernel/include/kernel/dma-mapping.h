/* SPDX-License-Identifier: MIT */
/*
 * dma-mapping.h - buffers for devices. Memory of kmalloc() or of the page allocator, physically contiguous.
 *
 * Devices see physical addresses, and the caches of all CPUs, so a mapping is only a change of the owner, which KASAN
 * watches: between dma_map_single() and dma_unmap_single() the buffer is the device's.
 */
#ifndef KERNEL_DMA_MAPPING_H
#define KERNEL_DMA_MAPPING_H

#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/types.h>
#include <asm/barrier.h>

typedef phys_addr_t dma_addr_t;

enum dma_data_direction {
	DMA_BIDIRECTIONAL = KASAN_DMA_BIDIRECTIONAL,
	DMA_TO_DEVICE = KASAN_DMA_TO_DEVICE,
	DMA_FROM_DEVICE = KASAN_DMA_FROM_DEVICE,
};

/** dma_map_single() - give the buffer to the device. Return: its address for the device. Any context. */
static inline dma_addr_t dma_map_single(void *buffer, size_t size,
					enum dma_data_direction direction)
{
	kasan_dma_map(buffer, size, (int)direction);
	mb();
	return __pa(kasan_reset_tag(buffer));
}

/** dma_unmap_single() - take it back. @addr, @size, @direction: as mapped. */
static inline void dma_unmap_single(dma_addr_t addr, size_t size, enum dma_data_direction direction)
{
	mb();
	kasan_dma_unmap((void *)__va(addr), size, (int)direction);
}

/** dma_sync_single_for_cpu(), dma_sync_single_for_device() - a part of a mapped buffer is the CPU's in between. */
static inline void dma_sync_single_for_cpu(dma_addr_t addr, size_t size)
{
	mb();
	kasan_dma_sync_for_cpu((void *)__va(addr), size);
}

static inline void dma_sync_single_for_device(dma_addr_t addr, size_t size)
{
	kasan_dma_sync_for_device((void *)__va(addr), size);
	mb();
}

#endif
