/* SPDX-License-Identifier: MIT */
/*
 * mm.h - memory management as a whole: bring-up, totals, and what fits nowhere else.
 */
#ifndef KERNEL_MM_H
#define KERNEL_MM_H

#include <kernel/gfp.h>
#include <kernel/memblock.h>
#include <kernel/page.h>
#include <kernel/slab.h>
#include <kernel/types.h>
#include <kernel/vmalloc.h>

/**
 * mm_init() - hand all memory that memblock has left to the page allocator, and start kmalloc() and
 * vmalloc(); page tables get their pages from there from then on
 *
 * Call once, on the boot CPU with interrupts off, when the linear map and (under KASAN) the real
 * shadow of all RAM exist. memblock must not be used afterwards. Panics if there is not enough memory.
 */
void mm_init(void);

/** mm_is_up() - Return: true once mm_init() has handed memory over. */
bool mm_is_up(void);

/** totalram_pages() - Return: pages that the page allocator manages, free or not. */
unsigned long totalram_pages(void);

/** mm_kept_pages() - Return: pages that KASAN's tables, page tables and the shadow of vmalloc space have taken.
 *  What is neither free nor these belongs to somebody. */
unsigned long mm_kept_pages(void);

/** show_mem() - print how much memory is free and in which block sizes. */
void show_mem(void);

/** dump_page() - print what is known of a page. @reason: one line. */
void dump_page(const struct page *page, const char *reason);

/** page_flag_names() - write the names of @flags as "slab|head" to @buf, NUL-terminated. */
void page_flag_names(unsigned long flags, char *buf, size_t size);

/** kvmalloc() - kmalloc(), or vmalloc() where that is too large or fragmented. Not for interrupts.
 *  kvfree() gives back either kind. */
void *kvmalloc(size_t size, gfp_t gfp);
void kvfree(const void *p);

static inline void *kvzalloc(size_t size, gfp_t gfp)
{
	return kvmalloc(size, gfp | __GFP_ZERO);
}

#endif /* KERNEL_MM_H */
