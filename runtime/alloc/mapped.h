/* SPDX-License-Identifier: MIT */
/* mapped.h - what reports ask about mapped buffers. */
#ifndef KASAN_MAPPED_H
#define KASAN_MAPPED_H

#include "../track/track.h"

#include <kasan/dma.h>

#ifdef CONFIG_KASAN_DMA

/** struct kasan_dma_mapping - a buffer. @start: without a tag. @mapped: a device has it now; else @unmap is valid. */
struct kasan_dma_mapping {
	uintptr_t start;
	size_t size;
	int direction;
	bool mapped;
	struct kasan_track map, unmap;
};

/** kasan_dma_find() - fill @mapping with the buffer that @addr lies in, or that ends at most @margin bytes before @addr. For
 *  reports: takes no lock. Return: false if there is none. */
bool kasan_dma_find(uintptr_t addr, size_t margin, struct kasan_dma_mapping *mapping);

#endif
#endif /* KASAN_MAPPED_H */
