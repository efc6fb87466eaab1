/* SPDX-License-Identifier: MIT */
/*
 * page_redzone.h - pages beside allocations that no one may access (boot parameter kasan.page_redzone=).
 *
 * Only Generic mode has them: with tags a neighbour has another tag.
 */
#ifndef KERNEL_PAGE_REDZONE_H
#define KERNEL_PAGE_REDZONE_H

#include <kasan/kasan.h>
#include <kernel/types.h>

struct page;

/*
 * enum page_redzone - which allocations get a redzone page
 * @PAGE_REDZONE_OFF: none. @PAGE_REDZONE_LARGE: large objects of kmalloc(), in front of them. @PAGE_REDZONE_ALL: also each
 * block of alloc_pages(), after it, so that the next block has one in front of it.
 */
enum page_redzone {
	PAGE_REDZONE_OFF,
	PAGE_REDZONE_LARGE,
	PAGE_REDZONE_ALL,
};

/** page_redzone_init() - do what the boot parameter says. Boot CPU, after parameters are parsed. */
void page_redzone_init(void);

#ifdef CONFIG_KASAN_GENERIC
extern unsigned int page_redzone;

/** page_redzone_set() - change what new allocations get. For mm_init() and tests. */
void page_redzone_set(enum page_redzone which);

/** page_redzone_attach() - @page is the redzone after the block @head, which has been allocated with it. */
void page_redzone_attach(struct page *head, struct page *page);

/** page_redzone_join() - the block @head is freed: its redzone, if it has one, becomes a part of it. */
void page_redzone_join(struct page *head);
#else
#define page_redzone ((unsigned int)PAGE_REDZONE_OFF)

static inline void page_redzone_attach(struct page *head, struct page *page)
{
}

static inline void page_redzone_join(struct page *head)
{
}
#endif

#endif
