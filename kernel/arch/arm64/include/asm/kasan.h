/* SPDX-License-Identifier: MIT */
/* kasan.h - where shadow memory comes from on this architecture. See also <asm/memory.h>. */
#ifndef ASM_KASAN_H
#define ASM_KASAN_H

#include <asm/memory.h>
#include <kasan/config.h>
#include <kernel/types.h>

/* Shadow of memory that may be accessed: with tags that of pointers without one. */
#ifdef CONFIG_KASAN_TAGS
#define KASAN_SHADOW_OPEN KASAN_TAG_KERNEL
#else
#define KASAN_SHADOW_OPEN 0
#endif

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/** kasan_early_init() - map all shadow read-only to one page that says "accessible" and the image's shadow to
 *  itself. Before any instrumented code; called by early_init(). */
void kasan_early_init(void);

/** kasan_shadow_init() - prepare shadow for all RAM in the linear map: as long as nobody allocates it, it
 *  is accessible. After setup_arch(). */
void kasan_shadow_init(void);

/* kasan_blocks[]: bits beside a block's physical address. Neither: the shared page of what is accessible. */
#define KASAN_BLOCK_FREE 1UL /* the shared page of KASAN_PAGE_FREE */
#define KASAN_BLOCK_REAL 2UL /* its own memory */
/* Bytes of RAM that a block of 2 MiB describes: 16 MiB, with software tags 32 MiB. */
#define KASAN_BLOCK_SHIFT (21 + KASAN_SHADOW_SCALE_SHIFT)
extern u64 *kasan_blocks;
void __kasan_want_linear_shadow(unsigned long va);

/**
 * kasan_want_linear_shadow() - make sure that the shadow of @p, in the linear map, can be written
 *
 * For the page allocator, before a page that it hands out is unpoisoned. One call is enough for what lies
 * in the same block, so for each block of the allocator. Any context, any CPU; cannot fail.
 */
static inline void kasan_want_linear_shadow(const void *p)
{
	unsigned long at = kasan_untag_addr((unsigned long)p) - PAGE_OFFSET;
	const u64 *block = &kasan_blocks[at >> KASAN_BLOCK_SHIFT];

	if (unlikely(!(READ_ONCE(*block) & KASAN_BLOCK_REAL)))
		__kasan_want_linear_shadow((unsigned long)p);
}

/** kasan_free_boot_memory() - poison free RAM [@start, @end), page aligned linear addresses, that was never
 *  allocated, without writing its shadow where that is possible. Boot only. */
void kasan_free_boot_memory(unsigned long start, unsigned long end);

/**
 * kasan_map_shadow() - give [@va, @va + @size) real shadow, of @value where it is new
 *
 * Any context, any CPU. Shadow that is real already stays as it is, contents included. It comes in whole
 * pages, so @value must be right for all of the KASAN_SHADOW_PAGE_SPAN bytes around the range's ends, too.
 * Return: false if there is no memory; what was mapped so far stays.
 */
bool kasan_map_shadow(unsigned long va, size_t size, u8 value);

/* Bytes that one shadow page describes: 32 KiB, with software tags 64 KiB. */
#define KASAN_SHADOW_PAGE_SPAN (PAGE_SIZE << KASAN_SHADOW_SCALE_SHIFT)

/**
 * kasan_unmap_shadow() - take the real shadow of free addresses away again
 * @va, @size: multiples of KASAN_SHADOW_PAGE_SPAN, in vmalloc or module space. Nothing in there is in use,
 *	and all of its real shadow says KASAN_VMALLOC_INVALID.
 * @pages: filled with the physical addresses of the pages taken: one for each KASAN_SHADOW_PAGE_SPAN bytes at
 *	most. No CPU reaches them any more; they are the caller's.
 *
 * A shared page says KASAN_VMALLOC_INVALID in their place, so late accesses are still reported. Any context,
 * any CPU; the caller sees to it that nobody maps shadow there at the same time. Return: number of pages.
 */
unsigned int kasan_unmap_shadow(unsigned long va, size_t size, phys_addr_t *pages);

/**
 * kasan_shadow_below() - where to look for real shadow
 * @low, @high: multiples of KASAN_SHADOW_PAGE_SPAN.
 *
 * As fast for a large range as for a small one: what has never had shadow is passed over by its tables. Return:
 * an address in [@low, @high], a multiple of KASAN_SHADOW_PAGE_SPAN; from there up to @high no shadow is real.
 */
unsigned long kasan_shadow_below(unsigned long low, unsigned long high);

/** kasan_shadow_is_real() - Return: true if the shadow of @va can be written. */
bool kasan_shadow_is_real(unsigned long va);

/** kasan_shadow_pages() - Return: real shadow pages that were made one by one: those of vmalloc and module
 *  space, and a few at the ends of RAM. */
unsigned long kasan_shadow_pages(void);

/** kasan_vmalloc_shadow_pages() - Return: those of them that belong to vmalloc space. */
static inline unsigned long kasan_vmalloc_shadow_pages(void)
{
	extern unsigned long kasan_nr_vmalloc_shadow;

	return READ_ONCE(kasan_nr_vmalloc_shadow);
}

/** kasan_shadow_spurious_fault() - did a fault at shadow address @far meet a page table that
 *  another CPU was changing? Return: true: try the access again. */
bool kasan_shadow_spurious_fault(unsigned long far);

#else
static inline void kasan_early_init(void)
{
}
static inline void kasan_shadow_init(void)
{
}
static inline void kasan_want_linear_shadow(const void *p)
{
}
static inline void kasan_free_boot_memory(unsigned long start, unsigned long end)
{
}
static inline bool kasan_map_shadow(unsigned long va, size_t size, u8 value)
{
	return true;
}
static inline bool kasan_shadow_is_real(unsigned long va)
{
	return false;
}
static inline unsigned long kasan_shadow_pages(void)
{
	return 0;
}
static inline unsigned long kasan_vmalloc_shadow_pages(void)
{
	return 0;
}
static inline bool kasan_shadow_spurious_fault(unsigned long far)
{
	return false;
}
#endif
#endif
