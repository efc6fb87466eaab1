/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of memory management share with each other and with nobody else.
 *
 * Order of locks, outermost first; all of them are taken with interrupts off:
 *   a CPU's slab lock -> kmem_cache.list_lock
 *   a CPU's page list lock -> zone lock
 *   page quarantine lock (nothing inside)
 * Pages are never asked for and KASAN hooks never called with one of them held: a hook may need pages
 * itself, by kasan_port_alloc().
 */
#ifndef MM_INTERNAL_H
#define MM_INTERNAL_H

#include <kasan/kasan.h>
#include <kernel/bare_lock.h>
#include <kernel/fault_inject.h>
#include <kernel/irqflags.h>
#include <kernel/mm.h>
#include <kernel/percpu.h>
#include <kernel/spinlock.h>
#include <asm/barrier.h>

/* For plain if (): both sides of a decision compile in every mode. False also with kasan=off. */
#define MM_KASAN kasan_on()

/* Does memory need redzones around it, and slots room for metadata? Neither, if pointers have tags. */
#ifdef CONFIG_KASAN_TAGS
#define MM_REDZONES false
/* Granules of the tags: no two objects may share one. */
#define MM_SLAB_ALIGN 16U
#else
#define MM_REDZONES   MM_KASAN
#define MM_SLAB_ALIGN 8U
#endif

/* Who called the function that says this: only in functions that are not inlined. */
#define MM_CALLER_IP() ((uintptr_t)__builtin_return_address(0))

/* --- page_alloc.c ------------------------------------------------------------------------------------ */

/** page_alloc_init() - empty lists. */
void page_alloc_init(void);

/** page_alloc_add() - frames [@pfn, @end) are RAM that nobody uses: hand them out from now on. */
void page_alloc_add(unsigned long pfn, unsigned long end);

/** page_alloc_raw() - a block for somebody who must not reach the KASAN hooks or reclaim: the zone's lock
 *  and nothing else. Its shadow says free. NULL also if this CPU holds that lock already. */
struct page *page_alloc_raw(unsigned int order);

/** page_kept() - KASAN or the page tables took @nr pages; see mm_kept_pages(). Negative: gave them back. */
void page_kept(long nr);

/** page_release() - a freed block of page->nr pages, in no list, goes to the buddy lists. */
void page_release(struct page *page);

/** free_pages_by() - __free_pages() for somebody at @ip, who is named if it is wrong. */
void free_pages_by(struct page *page, unsigned int order, uintptr_t ip);

/* --- kmalloc.c, slab_api.c --------------------------------------------------------------------------- */

/** kfree_by(), kmem_cache_free_by() - kfree(), kmem_cache_free() for somebody at @ip, whom reports name. */
void kfree_by(const void *p, uintptr_t ip);
void kmem_cache_free_by(struct kmem_cache *cache, void *object, uintptr_t ip);

/* --- page_debug.c ------------------------------------------------------------------------------------ */

/** bad_page() - @page was freed wrongly: say why, go on. */
void bad_page(const struct page *page, const char *why);

/** page_double_free() - it was free already when somebody at @ip freed it: KASAN's report, or bad_page(). */
void page_double_free(const struct page *page, const char *why, uintptr_t ip);

/** warn_alloc_failed() - an allocation of @nr pages failed. */
void warn_alloc_failed(gfp_t gfp, unsigned int nr);

#endif /* MM_INTERNAL_H */
