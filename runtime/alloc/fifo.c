/* SPDX-License-Identifier: MIT */
/*
 * fifo.c - the queue of a simple heap's quarantine: pages of (object, info) pairs, oldest first.
 *
 * Links inside the freed objects would cost no memory, but the objects are freed memory that a buggy
 * program may still write to: a quarantine exists to find exactly such writes. Emptied pages are kept for
 * the queue's next use and never given back, so a queue keeps as many as it once needed.
 */
#include "heap.h"

#ifdef CONFIG_KASAN

#define PAGE_ENTRIES \
	((CONFIG_KASAN_PAGE_SIZE - sizeof(struct page_head)) / sizeof(struct kasan_held))

struct page_head {
	struct page_of_held *next;
	uint32_t first, last; /* entries [first, last) are in use */
};

struct page_of_held {
	struct page_head head;
	struct kasan_held entry[];
};

/* Add a page at the tail; without memory the fifo stays as it is. */
static struct page_of_held *add_page(struct kasan_fifo *fifo)
{
	struct page_of_held *tail = fifo->tail;
	struct page_of_held *page = fifo->spare;

	if (page)
		fifo->spare = page->head.next;
	else
		page = kasan_port_alloc(CONFIG_KASAN_PAGE_SIZE);
	if (!page)
		return NULL;
	page->head.next = NULL;
	page->head.first = page->head.last = 0;
	if (tail)
		tail->head.next = page;
	else
		fifo->head = page;
	fifo->tail = page;
	return page;
}

bool kasan_fifo_push(struct kasan_fifo *fifo, void *object, uintptr_t info, size_t bytes)
{
	struct page_of_held *page = fifo->tail;
	struct kasan_held *entry;

	if (!page || page->head.last == PAGE_ENTRIES) {
		page = add_page(fifo);
		if (!page)
			return false;
	}
	entry = &page->entry[page->head.last++];
	entry->object = object;
	entry->info = info;
	fifo->count++;
	fifo->bytes += bytes;
	return true;
}

/* Drop empty pages at the head. The last one stays for the next entries. */
static void drop_empty(struct kasan_fifo *fifo)
{
	struct page_of_held *page = fifo->head;

	while (page && page->head.first == page->head.last) {
		if (page == fifo->tail) {
			page->head.first = page->head.last = 0;
			return;
		}
		fifo->head = page->head.next;
		page->head.next = fifo->spare;
		fifo->spare = page;
		page = fifo->head;
	}
}

bool kasan_fifo_pop(struct kasan_fifo *fifo, struct kasan_held *out)
{
	struct page_of_held *page = fifo->head;

	if (!fifo->count)
		return false;
	/* Only the last page may be empty, and then the queue is empty as well. */
	*out = page->entry[page->head.first++];
	fifo->count--;
	drop_empty(fifo);
	return true;
}

#endif /* CONFIG_KASAN */
