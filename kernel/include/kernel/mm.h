/* SPDX-License-Identifier: MIT */
/*
 * mm.h - memory management as a whole: bring-up, totals, and a few functions of general use.
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
 * mm_init() - hand memblock's free memory to the page allocator, which then also serves page tables; start
 * kmalloc() and vmalloc()
 *
 * Call once, on the boot CPU with interrupts off, after setup_arch() and (under KASAN) kasan_shadow_init().
 * memblock must not be used afterwards. Panics if there is not enough memory.
 */
void mm_init(void);

/** mm_is_up() - Return: true once mm_init() has handed memory over. */
bool mm_is_up(void);

/** totalram_pages() - Return: number of pages that the page allocator manages, free or not. */
unsigned long totalram_pages(void);

/** mm_kept_pages() - Return: number of pages that KASAN's tables, page tables and the shadow of vmalloc
 *  space have taken. All other pages that are not free are allocations. */
unsigned long mm_kept_pages(void);

/** show_mem() - print how much memory is free and in which block sizes. */
void show_mem(void);

/** dump_page() - print what is known about a page. @reason: one line. */
void dump_page(const struct page *page, const char *reason);

/** page_flag_names() - write the names of @flags as "slab|head" to @buf, NUL-terminated. */
void page_flag_names(unsigned long flags, char *buf, size_t size);

/** kvmalloc() - kmalloc(), or vmalloc() if that fails for size or fragmentation. Not for interrupts.
 *  kvfree() frees either kind. */
void *kvmalloc(size_t size, gfp_t gfp);
void kvfree(const void *p);

static inline void *kvzalloc(size_t size, gfp_t gfp)
{
	return kvmalloc(size, gfp | __GFP_ZERO);
}

#endif /* KERNEL_MM_H */
