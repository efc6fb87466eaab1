/* SPDX-License-Identifier: MIT */
/*
 * kasan_shadow.h - shadow memory, in Generic mode and with software tags: kernel/kasan/shadow.c. Empty in other modes.
 */
#ifndef KERNEL_KASAN_SHADOW_H
#define KERNEL_KASAN_SHADOW_H

#include <kasan/kasan.h>
#include <kernel/arch.h>

/* Shadow of accessible memory. With tags: the tag of pointers without a tag. */
#ifdef CONFIG_KASAN_TAGS
#define KASAN_SHADOW_OPEN KASAN_TAG_KERNEL
#else
#define KASAN_SHADOW_OPEN 0
#endif

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/* Bytes that one page of shadow describes. */
#define KASAN_SHADOW_PAGE_SPAN (PAGE_SIZE << KASAN_SHADOW_SCALE_SHIFT)

/** kasan_shadow_init() - prepare the shadow of all RAM in the linear map; RAM is accessible at first. Boot CPU,
 *  after parameters are parsed, before mm_init(). */
void kasan_shadow_init(void);

/** kasan_free_boot_memory() - poison the free RAM [@start, @end), which was never allocated, without writing
 *  its shadow if possible. @start, @end: page aligned addresses in the linear map. Boot only. */
void kasan_free_boot_memory(unsigned long start, unsigned long end);

/**
 * kasan_map_shadow() - give [@va, @va + @size) real shadow, filled with @value where it is new
 *
 * Any context, any CPU. Real shadow stays, with its contents. Shadow is made in whole pages, so @value must
 * also be right for the KASAN_SHADOW_PAGE_SPAN bytes around each end of the range. Return: false if there
 * is no memory; shadow that was mapped before the failure stays.
 */
bool kasan_map_shadow(unsigned long va, size_t size, u8 value);

/**
 * kasan_unmap_shadow() - take back the real shadow of free addresses
 * @va, @size: multiples of KASAN_SHADOW_PAGE_SPAN, in vmalloc or module space. The range is not in use, and
 *	all of its real shadow holds KASAN_VMALLOC_INVALID.
 * @pages: filled with the physical addresses of the pages taken: at most one for each
 *	KASAN_SHADOW_PAGE_SPAN bytes. No CPU can access them any more; they belong to the caller.
 *
 * A shared page of KASAN_VMALLOC_INVALID takes their place, so late accesses are still reported. Any
 * context, any CPU; the caller ensures that no CPU maps shadow there at the same time. Return: number of
 * pages.
 */
unsigned int kasan_unmap_shadow(unsigned long va, size_t size, phys_addr_t *pages);

/**
 * kasan_shadow_below() - skip addresses without real shadow
 * @low, @high: multiples of KASAN_SHADOW_PAGE_SPAN.
 *
 * It is as fast for a large range as for a small one, because it skips missing page tables as a whole.
 * Return: an address in [@low, @high], a multiple of KASAN_SHADOW_PAGE_SPAN; from there up to @high no
 * shadow is real.
 */
unsigned long kasan_shadow_below(unsigned long low, unsigned long high);

/** kasan_shadow_is_real() - Return: true if the shadow of @va can be written. */
bool kasan_shadow_is_real(unsigned long va);

/** kasan_shadow_pages() - Return: number of real shadow pages that were made one by one: for vmalloc and
 *  module space, and a few at the ends of RAM. */
unsigned long kasan_shadow_pages(void);

/** kasan_vmalloc_shadow_pages() - Return: number of those that belong to vmalloc space. */
static inline unsigned long kasan_vmalloc_shadow_pages(void)
{
	extern unsigned long kasan_nr_vmalloc_shadow;

	return READ_ONCE(kasan_nr_vmalloc_shadow);
}

/** kasan_early_init() - map all shadow read-only to one page that says "accessible", and the image's shadow to itself. The
 *  architecture calls it before any instrumented code. */
void kasan_early_init(void);

/** kasan_shadow_spurious_fault() - did a fault at @far hit a page table that another CPU was changing? Return: true if
 *  the access is to be tried again. */
bool kasan_shadow_spurious_fault(unsigned long far);

/* kasan_blocks[]: bits beside a block's physical address. If neither is set, the block is the shared page
 * KASAN_SHADOW_OPEN. */
#define KASAN_BLOCK_FREE 1UL /* the shared page of KASAN_PAGE_FREE */
#define KASAN_BLOCK_REAL 2UL /* its own memory */
/* Bytes of RAM that a block of shadow describes, as a power of two. */
#define KASAN_BLOCK_SHIFT (PMD_SHIFT + KASAN_SHADOW_SCALE_SHIFT)
extern u64 *kasan_blocks;
void __kasan_want_linear_shadow(unsigned long va);

/**
 * kasan_want_linear_shadow() - make the shadow of @p, an address in the linear map, writable
 *
 * The page allocator calls it before it unpoisons a page. One call serves all memory of the same shadow
 * block, so one call is enough for each block of the allocator. Any context, any CPU; cannot fail.
 */
static inline void kasan_want_linear_shadow(const void *p)
{
	unsigned long at = kasan_untag_addr((unsigned long)p) - PAGE_OFFSET;
	const u64 *block = &kasan_blocks[at >> KASAN_BLOCK_SHIFT];

	if (unlikely(!(READ_ONCE(*block) & KASAN_BLOCK_REAL)))
		__kasan_want_linear_shadow((unsigned long)p);
}

#else

static inline void kasan_shadow_init(void)
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

static inline void kasan_want_linear_shadow(const void *p)
{
}

static inline void kasan_early_init(void)
{
}

static inline bool kasan_shadow_spurious_fault(unsigned long far)
{
	return false;
}
#endif

#ifdef CONFIG_KASAN_TAGGED_GLOBALS
/** kasan_prepare_image_globals(), kasan_load_image_globals() - make the image's globals ready for their tags, while constants
 *  can be written; then give them their tags. The architecture calls them before and after kasan_early_init(). */
void kasan_prepare_image_globals(void);
void kasan_load_image_globals(void);
#else
static inline void kasan_prepare_image_globals(void)
{
}

static inline void kasan_load_image_globals(void)
{
}
#endif

#endif
