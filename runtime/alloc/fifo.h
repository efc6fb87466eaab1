/* SPDX-License-Identifier: MIT */
/*
 * fifo.h - the quarantine of a simple heap or a page heap.
 *
 * The caller's lock protects it. Its entries lie in pages of kasan_port_alloc(), not inside the objects: a write after
 * free must not be able to break the queue.
 */
#ifndef KASAN_FIFO_H
#define KASAN_FIFO_H

#include "../base/base.h"
#include "../base/lock.h"

/** struct kasan_held - @bytes at @object, held back */
struct kasan_held {
	void *object;
	size_t bytes;
};

struct kasan_fifo_page {
	struct kasan_fifo_page *next;
	uint32_t first, last; /* entries [first, last) are in use */
	struct kasan_held entry[];
};

#define KASAN_FIFO_ENTRIES \
	((CONFIG_KASAN_PAGE_SIZE - sizeof(struct kasan_fifo_page)) / sizeof(struct kasan_held))

struct kasan_fifo_page *kasan_fifo_add_page(struct kasan_fifo *fifo);
void kasan_fifo_drop_empty(struct kasan_fifo *fifo);

/** kasan_fifo_pop() - take the oldest. Return: false if empty. */
static inline bool kasan_fifo_pop(struct kasan_fifo *fifo, struct kasan_held *out)
{
	struct kasan_fifo_page *page = fifo->head;

	if (!fifo->count)
		return false;
	/* Only the last page may be empty, and then the queue is. */
	*out = page->entry[page->first++];
	fifo->count--;
	fifo->bytes -= out->bytes;
	if (kasan_unlikely(page->first == page->last))
		kasan_fifo_drop_empty(fifo);
	return true;
}

/**
 * kasan_fifo_turn() - append @object with its @bytes, at most @max; if the bound is exceeded, take the oldest first
 * @oldest: filled; .object is NULL if none was taken.
 *
 * Return: true if appended. If not, try again if @oldest was taken; otherwise there is no memory.
 */
static kasan_always_inline bool kasan_fifo_turn(struct kasan_fifo *fifo, void *object, size_t bytes,
						size_t max, struct kasan_held *oldest)
{
	struct kasan_fifo_page *tail = fifo->tail, *head;
	size_t total = fifo->bytes + bytes;
	uint32_t at;

	oldest->object = NULL;
	if (kasan_unlikely(!tail || tail->last == KASAN_FIFO_ENTRIES)) {
		tail = kasan_fifo_add_page(fifo);
		if (!tail) {
			(void)kasan_fifo_pop(fifo, oldest);
			return false;
		}
	}
	if (kasan_likely(total > max)) {
		/* The queue is not empty, because @bytes alone fit. */
		head = fifo->head;
		at = head->first++;
		*oldest = head->entry[at];
		total -= oldest->bytes;
		fifo->count--;
		if (kasan_unlikely(at + 1 == head->last))
			kasan_fifo_drop_empty(fifo);
		if (kasan_unlikely(total > max)) {
			fifo->bytes = total - bytes;
			return false;
		}
	}
	at = tail->last++;
	tail->entry[at] = (struct kasan_held){object, bytes};
	fifo->count++;
	fifo->bytes = total;
	return true;
}

/* Gives back to the allocator what a quarantine of @heap held. */
typedef void kasan_fifo_release(void *heap, const struct kasan_held *held);

/**
 * kasan_fifo_put() - append @object with its @bytes, at most @max, and release the oldest entries that no longer fit
 * @release: called for @heap, without @lock.
 *
 * Return: false: no memory for the queue, and the caller still has @object.
 */
static kasan_always_inline bool kasan_fifo_put(struct kasan_fifo *fifo, struct kasan_lock *lock,
					       void *object, size_t bytes, size_t max, void *heap,
					       kasan_fifo_release *release)
{
	struct kasan_held oldest;
	unsigned long flags;
	bool queued;

	/* Nearly always one object replaces one other: a single turn. */
	do {
		flags = kasan_lock(lock);
		queued = kasan_fifo_turn(fifo, object, bytes, max, &oldest);
		kasan_unlock(lock, flags);
		if (oldest.object)
			release(heap, &oldest);
		else if (!queued)
			return false;
	} while (!queued);
	return true;
}

/** kasan_fifo_empty() - release all. */
static kasan_always_inline void kasan_fifo_empty(struct kasan_fifo *fifo, struct kasan_lock *lock,
						 void *heap, kasan_fifo_release *release)
{
	struct kasan_held held;
	unsigned long flags;
	bool found;

	do {
		flags = kasan_lock(lock);
		found = kasan_fifo_pop(fifo, &held);
		kasan_unlock(lock, flags);
		if (found)
			release(heap, &held);
	} while (found);
}

#endif /* KASAN_FIFO_H */
