/* SPDX-License-Identifier: MIT */
/* page_quarantine.h - freed pages that wait, poisoned, before they are used again; see kernel/mm/page_quarantine.c. */
#ifndef KERNEL_PAGE_QUARANTINE_H
#define KERNEL_PAGE_QUARANTINE_H

#include <kernel/list.h>
#include <kernel/page.h>

/* Bound in pages, 0: there is no quarantine. Set once, before the first page is freed. */
extern unsigned long page_quarantine_max;

/** page_quarantine_init() - read the boot parameter, now that it is known how much memory there is. */
void page_quarantine_init(void);

/**
 * page_quarantine_put() - a block that was just freed and poisoned shall wait
 * @page: its head, page->nr pages, no reference, in no list.
 *
 * The oldest blocks leave, if they are more than the bound now. Any context.
 *
 * Return: false if the block alone is more than the bound (or there is no quarantine): not taken.
 */
bool page_quarantine_put(struct page *page);

/**
 * page_quarantine_drain() - give pages back to the buddy lists, those that were freed first
 * @pages: at least as many, or all there are.
 *
 * Any context. Return: pages given back; 0 also if this CPU is in the middle of the quarantine.
 */
unsigned long page_quarantine_drain(unsigned long pages);

/** page_quarantine_pages() - Return: pages that wait now; a snapshot. */
unsigned long page_quarantine_pages(void);

#endif /* KERNEL_PAGE_QUARANTINE_H */
