/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of memory management share, for use in kernel/mm only.
 *
 * Order of locks, outermost first; all of them are taken with interrupts off:
 *   a CPU's slab lock -> kmem_cache.list_lock
 *   a CPU's page list lock -> zone lock
 *   page quarantine lock (nothing inside)
 * While one of them is held, do not allocate pages or call KASAN hooks: a hook may need pages itself
 * and get them by kasan_port_alloc().
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

/* For use in a plain if (): both branches compile in every mode. With kasan=off it is false too. */
#define MM_KASAN kasan_on()

/* True if memory needs redzones around it, and slots need room for metadata. If pointers have tags,
 * neither is needed. */
#ifdef CONFIG_KASAN_TAGS
#define MM_REDZONES false
/* Granules of the tags: no two objects may share one. */
#define MM_SLAB_ALIGN 16U
#else
#define MM_REDZONES   MM_KASAN
#define MM_SLAB_ALIGN 8U
#endif

/* The caller of the function that uses this. Use it only in functions that are not inlined. */
#define MM_CALLER_IP() ((uintptr_t)__builtin_return_address(0))

/* --- page_alloc.c ----------------------------------------------------------------------------- */

/** page_alloc_init() - make all lists empty. */
void page_alloc_init(void);

/** page_alloc_add() - add the frames [@pfn, @end), unused RAM, to the free memory. */
void page_alloc_add(unsigned long pfn, unsigned long end);

/** page_alloc_raw() - allocate a block without KASAN hooks or reclaim: it takes the locks of the zone
 *  and of the page quarantine, and nothing else. The shadow still says that the block is free.
 *  Return: NULL if there is no memory, or if this CPU holds the zone's lock already. */
struct page *page_alloc_raw(unsigned int order);

/** page_kept() - count @nr pages that KASAN or the page tables took, or gave back if @nr is negative;
 *  see mm_kept_pages(). */
void page_kept(long nr);

/* A free has more to do than usual: page_quarantine_max is set, or blocks have a redzone. */
extern unsigned int page_free_is_special;

/** page_release() - put a freed block of page->nr pages, which is in no list, into the buddy lists. */
void page_release(struct page *page);

/** free_pages_by() - __free_pages() for the caller @ip, which reports of a bad free name. */
void free_pages_by(struct page *page, unsigned int order, uintptr_t ip);

/* --- kmalloc.c, slab_api.c -------------------------------------------------------------------- */

/** kfree_by(), kmem_cache_free_by() - kfree(), kmem_cache_free() for the caller @ip, which reports
 *  name. */
void kfree_by(const void *p, uintptr_t ip);
void kmem_cache_free_by(struct kmem_cache *cache, void *object, uintptr_t ip);

/* --- slab_entry.c ----------------------------------------------------------------------------- */

/** slab_choose_entries() - choose the ways into the allocator by the boot parameters. Boot CPU, before the first
 *  allocation. */
#if defined(CONFIG_KASAN) && !defined(CONFIG_SLAB)
void slab_choose_entries(void);
#else
static inline void slab_choose_entries(void)
{
}
#endif

/* --- page_debug.c ----------------------------------------------------------------------------- */

/** bad_page() - warn that @page was freed wrongly, with the reason @why, and go on. */
void bad_page(const struct page *page, const char *why);

/** page_double_free() - report that the caller @ip freed @page, which was free already: by KASAN, or
 *  by bad_page(). */
void page_double_free(const struct page *page, const char *why, uintptr_t ip);

/** warn_alloc_failed() - warn that an allocation of @nr pages failed. */
void warn_alloc_failed(gfp_t gfp, unsigned int nr);

#endif /* MM_INTERNAL_H */
