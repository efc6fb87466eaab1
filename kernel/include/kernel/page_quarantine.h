/* SPDX-License-Identifier: MIT */
/* page_quarantine.h - keeps freed pages poisoned for a while before they are used again; see page_quarantine.c. */
#ifndef KERNEL_PAGE_QUARANTINE_H
#define KERNEL_PAGE_QUARANTINE_H

#include <kernel/list.h>
#include <kernel/page.h>

/* Bound in pages; 0: no quarantine. Set once, before the first page is freed. */
extern unsigned long page_quarantine_max;

/** page_quarantine_init() - compute the bound from the boot parameter, when the amount of memory is known. */
void page_quarantine_init(void);

/**
 * page_quarantine_put() - let a block wait that was just freed and poisoned
 * @page: its head, with page->nr pages, no reference, in no list.
 *
 * If the bound is now exceeded, the oldest blocks leave. Any context.
 *
 * Return: false if the block was not taken: it alone exceeds the bound, or there is no quarantine.
 */
bool page_quarantine_put(struct page *page);

/**
 * page_quarantine_drain() - give the oldest pages back to the buddy lists
 * @pages: give back at least this number, or all.
 *
 * Any context. Return: number of pages given back; 0 also if this CPU has interrupted the quarantine's own code.
 */
unsigned long page_quarantine_drain(unsigned long pages);

/** page_quarantine_pages() - Return: number of pages that wait now; a snapshot. */
unsigned long page_quarantine_pages(void);

#endif /* KERNEL_PAGE_QUARANTINE_H */
