/* SPDX-License-Identifier: MIT */
/*
 * fifo.c - the queue of a quarantine: pages of (object, info) pairs, oldest first.
 *
 * Links inside the freed objects would cost no memory, but the objects are freed memory that
 * somebody may still write to, and finding exactly such writes is what a quarantine is for. Emptied
 * pages are kept for the queue's next use and never given back, so a queue holds as many as it once
 * needed.
 */
#include "track.h"

#define PAGE_ENTRIES \
	((CONFIG_KASAN_PAGE_SIZE - sizeof(struct page_head)) / sizeof(struct kasan_held))

struct page_head {
	struct page_of_held *next;
	uint32_t seq;	      /* grows from page to page of one fifo */
	uint32_t first, last; /* entries [first, last) are in use */
};

struct page_of_held {
	struct page_head head;
	struct kasan_held entry[];
};

/* A page for the tail; the fifo stays as it is if there is none. */
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
	page->head.seq = tail ? tail->head.seq + 1 : 0;
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

/* Drop empty pages at the head. The last page stays: its seq is what the next one counts from. */
static void drop_empty(struct kasan_fifo *fifo)
{
	struct page_of_held *page = fifo->head;

	while (page && page->head.first == page->head.last) {
		if (page == fifo->tail) {
			page->head.first = page->head.last = 0;
			/* A cursor that stood in this page must not skip what is pushed now. */
			page->head.seq++;
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
	struct page_of_held *page;

	while (fifo->count) {
		page = fifo->head;
		/* Entries that were extracted are holes. */
		while (page->head.first < page->head.last) {
			*out = page->entry[page->head.first++];
			if (!out->object)
				continue;
			fifo->count--;
			if (page->head.first == page->head.last)
				drop_empty(fifo);
			return true;
		}
		drop_empty(fifo);
	}
	return false;
}

size_t kasan_fifo_extract(struct kasan_fifo *fifo, uintptr_t info, struct kasan_fifo_cursor *cursor,
			  struct kasan_held *out, size_t max)
{
	struct page_of_held *page = fifo->head;
	size_t count = 0;
	uint32_t i;

	/* Pages between two calls come and go at the ends only: seq finds the place again. */
	while (page && cursor->started && (int32_t)(page->head.seq - cursor->seq) < 0)
		page = page->head.next;
	if (!page) {
		cursor->finished = true;
		return 0;
	}
	i = page->head.first;
	if (cursor->started && page->head.seq == cursor->seq && cursor->index > i)
		i = cursor->index;
	for (; i < page->head.last && count < max; i++) {
		if (!page->entry[i].object || (info && page->entry[i].info != info))
			continue;
		out[count++] = page->entry[i];
		page->entry[i].object = NULL;
		fifo->count--;
	}
	cursor->started = true;
	cursor->seq = page->head.seq;
	cursor->index = i;
	if (i == page->head.last) {
		cursor->finished = !page->head.next;
		cursor->seq++;
		cursor->index = 0;
	}
	/* An empty fifo must not keep its pages full of holes. */
	if (!fifo->count) {
		for (page = fifo->head; page; page = page->head.next)
			page->head.first = page->head.last;
		drop_empty(fifo);
		cursor->finished = true;
	}
	return count;
}
