// SPDX-License-Identifier: MIT
/*
 * memblock.c - the boot memory allocator: a sorted table of RAM, and one of reserved ranges.
 *
 * An allocation is a reservation: free memory is RAM minus the reserved ranges, computed for each
 * request. With a few dozen regions that is cheaper than any other structure, and it needs no set-up.
 */
#include <kernel/errno.h>
#include <kernel/memblock.h>
#include <kernel/string.h>
#include <asm/memory.h>

#define MEMBLOCK_DEFAULT_ALIGN 64

struct memblock_table {
	unsigned int count;
	struct memblock_region region[MEMBLOCK_REGIONS];
};

static struct memblock_table memory, reserved;

static phys_addr_t region_end(const struct memblock_region *region)
{
	return region->base + region->size;
}

static void delete_regions(struct memblock_table *table, unsigned int at, unsigned int n)
{
	memmove(&table->region[at], &table->region[at + n],
		(table->count - at - n) * sizeof(table->region[0]));
	table->count -= n;
}

static int insert_region(struct memblock_table *table, unsigned int at, phys_addr_t base,
			 phys_addr_t end)
{
	if (table->count == MEMBLOCK_REGIONS)
		return -ENOMEM;
	memmove(&table->region[at + 1], &table->region[at],
		(table->count - at) * sizeof(table->region[0]));
	table->region[at].base = base;
	table->region[at].size = end - base;
	table->count++;
	return 0;
}

static int table_add(struct memblock_table *table, phys_addr_t base, phys_addr_t size)
{
	phys_addr_t end = base + size;
	unsigned int first, last;

	if (!size)
		return 0;
	if (end < base)
		return -EINVAL;
	for (first = 0; first < table->count; first++) {
		if (region_end(&table->region[first]) >= base)
			break;
	}
	/* Adjacent ranges count as overlapping, so that page-wise allocations make one region. */
	for (last = first; last < table->count && table->region[last].base <= end; last++) {
		base = min(base, table->region[last].base);
		end = max(end, region_end(&table->region[last]));
	}
	if (last == first)
		return insert_region(table, first, base, end);
	table->region[first].base = base;
	table->region[first].size = end - base;
	delete_regions(table, first + 1, last - first - 1);
	return 0;
}

static int table_remove(struct memblock_table *table, phys_addr_t base, phys_addr_t size)
{
	phys_addr_t end = base + size;
	unsigned int i = 0;
	int ret;

	if (!size)
		return 0;
	if (end < base)
		return -EINVAL;
	while (i < table->count) {
		struct memblock_region *region = &table->region[i];
		phys_addr_t old_base = region->base, old_end = region_end(region);

		if (old_end <= base || old_base >= end) {
			i++;
		} else if (old_base < base && old_end > end) {
			ret = insert_region(table, i + 1, end, old_end);
			if (ret)
				return ret;
			region->size = base - old_base;
			return 0;
		} else if (old_base < base) {
			region->size = base - old_base;
			i++;
		} else if (old_end > end) {
			region->base = end;
			region->size = old_end - end;
			i++;
		} else {
			delete_regions(table, i, 1);
		}
	}
	return 0;
}

int memblock_add(phys_addr_t base, phys_addr_t size)
{
	return table_add(&memory, base, size);
}

int memblock_reserve(phys_addr_t base, phys_addr_t size)
{
	return table_add(&reserved, base, size);
}

int memblock_phys_free(phys_addr_t base, phys_addr_t size)
{
	return table_remove(&reserved, base, size);
}

bool memblock_next_free(phys_addr_t *cursor, phys_addr_t *base, phys_addr_t *size)
{
	phys_addr_t pos = *cursor;
	unsigned int m = 0, r = 0;

	while (m < memory.count) {
		const struct memblock_region *ram = &memory.region[m];
		phys_addr_t end = region_end(ram);

		if (pos >= end) {
			m++;
			continue;
		}
		pos = max(pos, ram->base);
		while (r < reserved.count && region_end(&reserved.region[r]) <= pos)
			r++;
		if (r < reserved.count && reserved.region[r].base <= pos) {
			pos = region_end(&reserved.region[r]);
			continue;
		}
		if (r < reserved.count)
			end = min(end, reserved.region[r].base);
		*base = pos;
		*size = end - pos;
		*cursor = end;
		return true;
	}
	return false;
}

phys_addr_t memblock_phys_alloc_range(phys_addr_t size, phys_addr_t align, phys_addr_t start,
				      phys_addr_t end)
{
	phys_addr_t cursor, base, len, found = 0;

	if (!align)
		align = MEMBLOCK_DEFAULT_ALIGN;
	if (!end)
		end = ~(phys_addr_t)0;
	/* Address 0 means failure, so the first page stays unused. */
	start = max(start, (phys_addr_t)PAGE_SIZE);
	if (!size || (align & (align - 1)))
		return 0;

	cursor = start;
	while (memblock_next_free(&cursor, &base, &len)) {
		phys_addr_t top = min(base + len, end), at;

		if (base >= end)
			break;
		if (top - base < size)
			continue;
		at = ALIGN_DOWN(top - size, align);
		if (at >= base)
			found = at;
	}
	if (!found || memblock_reserve(found, size))
		return 0;
	return found;
}

phys_addr_t memblock_phys_alloc(phys_addr_t size, phys_addr_t align)
{
	return memblock_phys_alloc_range(size, align, 0, 0);
}

void *memblock_alloc(size_t size, size_t align)
{
	phys_addr_t pa = memblock_phys_alloc(size, align);

	return pa ? memset(__va(pa), 0, size) : NULL;
}

phys_addr_t memblock_start_of_DRAM(void)
{
	return memory.count ? memory.region[0].base : 0;
}

phys_addr_t memblock_end_of_DRAM(void)
{
	return memory.count ? region_end(&memory.region[memory.count - 1]) : 0;
}

static phys_addr_t table_size(const struct memblock_table *table)
{
	phys_addr_t sum = 0;
	unsigned int i;

	for (i = 0; i < table->count; i++)
		sum += table->region[i].size;
	return sum;
}

phys_addr_t memblock_phys_mem_size(void)
{
	return table_size(&memory);
}

const struct memblock_region *memblock_memory_region(unsigned int index)
{
	return index < memory.count ? &memory.region[index] : NULL;
}
