/* SPDX-License-Identifier: MIT */
/*
 * memblock.h - the boot memory allocator: it knows which physical memory exists and which is taken, until
 * the page allocator takes over in mm_init().
 *
 * Addresses are physical, sizes are bytes. Boot CPU only, without locks: it runs before other CPUs start
 * and before interrupts are enabled. Only memblock_alloc() needs the linear map.
 */
#ifndef KERNEL_MEMBLOCK_H
#define KERNEL_MEMBLOCK_H

#include <kernel/types.h>

/* memblock_add() and memblock_reserve() refuse more regions than this. */
#define MEMBLOCK_REGIONS 128

/** struct memblock_region - physical range [@base, @base + @size) */
struct memblock_region {
	phys_addr_t base;
	phys_addr_t size;
};

/** memblock_add() - add RAM at [@base, @base + @size). Overlaps and neighbours are merged.
 *  Return: 0, -ENOMEM if the table is full, -EINVAL if the range wraps around. */
int memblock_add(phys_addr_t base, phys_addr_t size);

/** memblock_reserve() - mark the range as taken. It may overlap others and may lie outside of RAM.
 *  Return: as memblock_add(). */
int memblock_reserve(phys_addr_t base, phys_addr_t size);

/** memblock_phys_free() - undo memblock_reserve() or an allocation, in whole or in part.
 *  Return: as memblock_add(). */
int memblock_phys_free(phys_addr_t base, phys_addr_t size);

/**
 * memblock_phys_alloc_range() - allocate in [@start, @end), at the highest address that fits
 * @size: bytes, not 0.
 * @align: power of two; 0: 64 bytes.
 * @start: lowest address.
 * @end: first address above, 0: no limit.
 *
 * The memory is reserved, but not cleared or accessed.
 *
 * Return: its address, 0 if there is no such range (address 0 is never handed out).
 */
phys_addr_t memblock_phys_alloc_range(phys_addr_t size, phys_addr_t align, phys_addr_t start,
				      phys_addr_t end);

/** memblock_phys_alloc() - the same anywhere. */
phys_addr_t memblock_phys_alloc(phys_addr_t size, phys_addr_t align);

/** memblock_alloc() - allocate cleared memory. Return: its address in the linear map, NULL if there is none. */
void *memblock_alloc(size_t size, size_t align);

/** memblock_start_of_DRAM(), memblock_end_of_DRAM() - Return: lowest address of RAM, first one above. */
phys_addr_t memblock_start_of_DRAM(void);
phys_addr_t memblock_end_of_DRAM(void);

/** memblock_phys_mem_size() - Return: bytes of RAM. */
phys_addr_t memblock_phys_mem_size(void);

/** memblock_memory_region() - walk RAM by index, lowest first. Return: NULL after the last. */
const struct memblock_region *memblock_memory_region(unsigned int index);

/**
 * memblock_next_free() - walk RAM that is not reserved, lowest first
 * @cursor: 0 for the first call; holds the position of the walk.
 * @base, @size: filled with the next range.
 *
 * Return: false if there are no more ranges.
 */
bool memblock_next_free(phys_addr_t *cursor, phys_addr_t *base, phys_addr_t *size);

#endif /* KERNEL_MEMBLOCK_H */
