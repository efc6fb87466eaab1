/* SPDX-License-Identifier: MIT */
/*
 * fifo.c - the queue of a simple heap's or a page heap's quarantine: pages of (object, bytes) pairs, oldest first.
 *
 * Links inside the freed objects would cost no memory, but a buggy program may write to freed memory, and a quarantine
 * exists to find exactly such writes. Emptied pages are kept for later and never given back.
 */
#include "fifo.h"

#ifdef CONFIG_KASAN

/* Add a page at the tail. Return: the page; NULL: no memory, and the queue is unchanged. */
struct kasan_fifo_page *kasan_fifo_add_page(struct kasan_fifo *fifo)
{
	struct kasan_fifo_page *tail = fifo->tail;
	struct kasan_fifo_page *page = fifo->spare;

	if (page)
		fifo->spare = page->next;
	else
		page = kasan_port_alloc(CONFIG_KASAN_PAGE_SIZE);
	if (!page)
		return NULL;
	page->next = NULL;
	page->first = page->last = 0;
	if (tail)
		tail->next = page;
	else
		fifo->head = page;
	fifo->tail = page;
	return page;
}

/* Drop empty pages at the head. The last one stays for the next entries. */
void kasan_fifo_drop_empty(struct kasan_fifo *fifo)
{
	struct kasan_fifo_page *page = fifo->head;

	while (page && page->first == page->last) {
		if (page == fifo->tail) {
			page->first = page->last = 0;
			return;
		}
		fifo->head = page->next;
		page->next = fifo->spare;
		fifo->spare = page;
		page = fifo->head;
	}
}

#endif /* CONFIG_KASAN */
