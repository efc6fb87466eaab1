/* SPDX-License-Identifier: MIT */
/*
 * x86_64_paging.c - page tables after the first: shadow, guards below stacks. Never instrumented.
 *
 * All of the shadow is mapped from the start, because inline checks load the shadow of any address of this half, that of
 * the local APIC also: read-only, to one page of zeroes, by three tables that all slots share. Where memory gets shadow of
 * its own, shared tables on the way are copied.
 */
#include <kasan/kasan.h>

#include "board.h"
#include "x86_64.h"

#define PAGE	4096UL
#define ENTRIES 512
#define ADDRESS 0x000ffffffffff000UL
#define TABLE	(X86_64_PRESENT | X86_64_WRITABLE)

typedef uint64_t table[ENTRIES] __attribute__((__aligned__(4096)));

/* Tables and shadow are taken from here: physical addresses, above the heap. */
#define POOL_START 0x2000000UL
#define POOL_END   0x3000000UL

extern table boot_pml4;
static table zero_pdpt, zero_pd, zero_pt, zero_page, start_pml4;
static uintptr_t image_offset;
static uint64_t pool = POOL_START;

static uint64_t physical(const void *addr)
{
	return (uintptr_t)addr - image_offset;
}

static uint64_t *at_physical(uint64_t address)
{
	return (uint64_t *)(X86_64_DIRECT + (address & ADDRESS));
}

static void fill(uint64_t *to, uint64_t entry)
{
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		to[i] = entry;
}

/* Return: a new page; the machine stops if there is none. */
static uint64_t new_page(void)
{
	const uint64_t page = pool;

	if (page == POOL_END)
		__builtin_trap();
	pool += PAGE;
	fill(at_physical(page), 0);
	return page;
}

static uint64_t *slot(uint64_t *of, uintptr_t addr, unsigned int level)
{
	return &of[addr >> (12 + 9 * level) & (ENTRIES - 1)];
}

/* Return: a table or page to write to in the place of the one at @entry, with the same contents. */
static void own(uint64_t *entry)
{
	const uint64_t page = new_page();
	const uint64_t *from = at_physical(*entry);
	uint64_t *to = at_physical(page);
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		to[i] = from[i];
	*entry = page | TABLE;
}

static bool is_shared(uint64_t entry)
{
	const uint64_t address = entry & ADDRESS;

	return address == physical(zero_pdpt) || address == physical(zero_pd) ||
	       address == physical(zero_pt) || address == physical(zero_page);
}

void paging_map_shadow(uintptr_t start, size_t size)
{
	const uintptr_t first = (start >> 3) + CONFIG_KASAN_SHADOW_OFFSET;
	const uintptr_t last = ((start + size - 1) >> 3) + CONFIG_KASAN_SHADOW_OFFSET;
	uintptr_t addr;

	for (addr = first & ~(PAGE - 1); addr <= last; addr += PAGE) {
		uint64_t *of = boot_pml4;
		int level;

		for (level = 3; level >= 0; level--) {
			uint64_t *const entry = slot(of, addr, (unsigned int)level);

			if (is_shared(*entry))
				own(entry);
			of = at_physical(*entry);
		}
		__asm__ volatile("invlpg (%0)" : : "r"(addr) : "memory");
	}
}

#ifdef CONFIG_KASAN_SHADOW_WINDOWED
/* paging_map_shadow() has put the shadow where compiled code looks for it. */
static const char *add_window(const char *start, const char *end)
{
	return kasan_window_add((uintptr_t)start, (size_t)(end - start),
				(void *)(((uintptr_t)start >> 3) + CONFIG_KASAN_SHADOW_OFFSET));
}

const char *paging_add_windows(void)
{
	const char *const wrong = add_window(__kasan_window_start, __kasan_window_end);

	return wrong ? wrong : add_window(__heap_start, __heap_end);
}
#else
const char *paging_add_windows(void)
{
	return NULL;
}
#endif

void paging_start(uintptr_t offset)
{
	unsigned int i;

	image_offset = offset;
	fill(zero_pt, physical(zero_page) | X86_64_PRESENT);
	fill(zero_pd, physical(zero_pt) | TABLE);
	fill(zero_pdpt, physical(zero_pd) | TABLE);
	for (i = 0; i < X86_64_SHADOW_SLOTS; i++)
		boot_pml4[X86_64_SHADOW_SLOT + i] = physical(zero_pdpt) | TABLE;
	for (i = 0; i < ENTRIES; i++)
		start_pml4[i] = boot_pml4[i];
	boot_pml4[0] = 0;
	__asm__ volatile("mov %0, %%cr3" : : "r"(physical(boot_pml4)) : "memory");
}

void paging_forbid(const void *addr)
{
	uint64_t *of = boot_pml4, *entry = NULL;
	unsigned int level, i;

	for (level = 3; level; level--) {
		entry = slot(of, (uintptr_t)addr, level);
		if (*entry & X86_64_LARGE)
			break;
		of = at_physical(*entry);
	}
	if (level) {
		/* Small pages for a large one. */
		const uint64_t page = new_page(), memory = *entry & ADDRESS;

		for (i = 0; i < ENTRIES; i++)
			at_physical(page)[i] = (memory + i * PAGE) | TABLE;
		*entry = page | TABLE;
		of = at_physical(page);
	}
	*slot(of, (uintptr_t)addr, 0) = 0;
	/* The CPU may have entries for all of the large page. */
	__asm__ volatile("mov %0, %%cr3" : : "r"(physical(boot_pml4)) : "memory");
}

bool paging_maps(uintptr_t addr)
{
	const uint64_t *of = boot_pml4;
	int level;

	if ((uintptr_t)((intptr_t)(addr << 16) >> 16) != addr)
		return false;
	for (level = 3; level >= 0; level--) {
		const uint64_t entry = of[addr >> (12 + 9 * level) & (ENTRIES - 1)];

		if (!(entry & X86_64_PRESENT))
			return false;
		if (level && entry & X86_64_LARGE)
			return true;
		of = at_physical(entry);
	}
	return true;
}

uint32_t paging_root(void)
{
	return (uint32_t)physical(boot_pml4);
}

uint32_t paging_start_root(void)
{
	unsigned int i;

	/* Shadow and guards are newer than the copy. */
	for (i = X86_64_DIRECT_SLOT; i < ENTRIES; i++)
		start_pml4[i] = boot_pml4[i];
	return (uint32_t)physical(start_pml4);
}
