/* SPDX-License-Identifier: MIT */
/*
 * gfp.h - allocating whole pages: the buddy allocator's interface and its GFP flags.
 *
 * All functions may be called in any context, including interrupts, unless the flags contain
 * __GFP_DIRECT_RECLAIM. An "order" N block is 2^N pages, aligned to its own size.
 */
#ifndef KERNEL_GFP_H
#define KERNEL_GFP_H

#include <kernel/page.h>
#include <kernel/types.h>

/* Largest block: 2^10 pages, 4 MiB. */
#define MAX_ORDER 10

#define __GFP_HIGH	     0x01U /* may use the reserve for callers that cannot wait */
#define __GFP_DIRECT_RECLAIM 0x02U /* may flush caches and the quarantine, which takes long */
#define __GFP_ZERO	     0x04U /* the memory is cleared */
#define __GFP_NOWARN	     0x08U /* a failure is expected: no message */
#define __GFP_SKIP_KASAN \
	0x10U /* tag-based modes: the pages get no tag; the caller tags their parts */

#define GFP_KERNEL __GFP_DIRECT_RECLAIM
#define GFP_ATOMIC __GFP_HIGH
#define GFP_NOWAIT 0U

/**
 * alloc_pages() - allocate a block
 * @gfp: how.
 * @order: 0 .. MAX_ORDER.
 *
 * The first page is the head of the block: it holds the reference count (1), and virt_to_head_page()
 * returns it for every address inside.
 *
 * Return: the head's descriptor; NULL if there is no memory or @order is too large.
 */
struct page *alloc_pages(gfp_t gfp, unsigned int order);

/** alloc_page() - allocate one page. */
#define alloc_page(gfp) alloc_pages((gfp), 0)

/**
 * alloc_pages_exact() - allocate a number of contiguous pages that need not be a power of two
 * @gfp: how.
 * @nr: pages, 1 .. 2^MAX_ORDER.
 *
 * Aligned like a block of the next power of two. The pages after @nr are not taken.
 *
 * Return: as alloc_pages().
 */
struct page *alloc_pages_exact(gfp_t gfp, unsigned int nr);

/** __free_pages() - drop one reference; the last one frees the block. @order must be that of the
 *  allocation. A double free, a page inside a block or a wrong order causes a warning and is ignored. */
void __free_pages(struct page *page, unsigned int order);

/** __free_page() - the same for a single page. */
#define __free_page(page) __free_pages((page), 0)

/** free_pages_exact() - the same for alloc_pages_exact(). */
void free_pages_exact(struct page *page, unsigned int nr);

/** __get_free_pages() - alloc_pages(), by address in the linear map. Return: 0 if there is no memory. */
unsigned long __get_free_pages(gfp_t gfp, unsigned int order);
#define __get_free_page(gfp) __get_free_pages((gfp), 0)

/** get_zeroed_page() - allocate one cleared page, by address. */
unsigned long get_zeroed_page(gfp_t gfp);

/** free_pages() - free by address; 0 is ignored, an address outside of RAM causes a warning. */
void free_pages(unsigned long addr, unsigned int order);
#define free_page(addr) free_pages((addr), 0)

/** get_order() - Return: smallest order whose block holds @size bytes (@size > 0). */
static inline unsigned int get_order(size_t size)
{
	size_t pages = (size - 1) >> PAGE_SHIFT;

	return pages ? (unsigned int)(64 - __builtin_clzll((unsigned long long)pages)) : 0;
}

/** drain_all_pages() - move the pages in the CPUs' own lists back to the buddy lists. */
void drain_all_pages(void);

/** nr_free_pages() - Return: number of free pages, including those in CPUs' lists and in the page
 *  quarantine; a snapshot. */
unsigned long nr_free_pages(void);

/** nr_free_blocks() - Return: number of free blocks of exactly @order in the buddy lists; a snapshot. */
unsigned long nr_free_blocks(unsigned int order);

#endif /* KERNEL_GFP_H */
