/* SPDX-License-Identifier: MIT */
/*
 * heap_queue.h - the quarantine of a simple heap.
 *
 * With one CPU it is one queue. If more CPUs shared it, they would wait for its lock, and because each would release what
 * another one has freed, they would work on memory that lies in the other's cache: two threads took four times as long
 * for a pair of malloc() and free() as one. So each CPU has a queue with a limit. The limits together are what the
 * quarantine may hold. The first CPU has all of it, and another CPU that frees takes some from the one with the most.
 */
#ifndef KASAN_HEAP_QUEUE_H
#define KASAN_HEAP_QUEUE_H

#include "fifo.h"

static inline struct kasan_lock *kasan_heap_lock(struct kasan_heap *heap)
{
	return kasan_lock_in(&heap->lock);
}

static inline void kasan_heap_give_back(void *heap, const struct kasan_held *held)
{
	((struct kasan_heap *)heap)->release(heap, held->object);
}

#if KASAN_HEAP_QUEUES > 1

/* The part of the quarantine that changes hands at once. */
#define KASAN_QUEUE_PART 64U
/* A queue looks at the others when it has taken as many bytes, and so many chunks: to look costs some cache lines. */
#define KASAN_QUEUE_LOOK 64U

static inline struct kasan_lock *kasan_queue_lock(struct kasan_heap_queue *queue)
{
	return kasan_lock_in(&queue->lock);
}

/* Return: the queue of @heap that is to give some of its limit to @own: that with the most, or with any limit if its CPU has
 * been idle, while the others freed so much that one queue for all would have released its chunks. NULL: none. @needed: even
 * if @own has more. */
static struct kasan_heap_queue *kasan_queue_giver(struct kasan_heap *heap,
						  const struct kasan_heap_queue *own, bool needed)
{
	const size_t freed = __atomic_load_n(&heap->freed, __ATOMIC_RELAXED);
	struct kasan_heap_queue *queue = heap->queues, *giver = NULL;
	size_t most = 0, enough = 0;

	if (!needed)
		enough = __atomic_load_n(&own->limit, __ATOMIC_RELAXED) +
			 heap->quarantine_max / KASAN_QUEUE_PART;
	for (; queue < heap->queues + KASAN_HEAP_QUEUES; queue++) {
		const size_t limit = __atomic_load_n(&queue->limit, __ATOMIC_RELAXED);

		if (queue != own && limit > most &&
		    (limit > enough || freed - __atomic_load_n(&queue->stamp, __ATOMIC_RELAXED) >
					       heap->quarantine_max)) {
			most = limit;
			giver = queue;
		}
	}
	return giver;
}

/* Lower the limit of @queue by @bytes, or to 0, and release what it no longer may hold. Return: by how much. */
static size_t kasan_queue_lower(struct kasan_heap *heap, struct kasan_heap_queue *queue,
				size_t bytes)
{
	struct kasan_held oldest;
	unsigned long flags = kasan_lock(kasan_queue_lock(queue));
	bool found;

	if (bytes > queue->limit)
		bytes = queue->limit;
	__atomic_store_n(&queue->limit, queue->limit - bytes, __ATOMIC_RELAXED);
	for (;;) {
		found = queue->fifo.bytes > queue->limit && kasan_fifo_pop(&queue->fifo, &oldest);
		kasan_unlock(kasan_queue_lock(queue), flags);
		if (!found)
			return bytes;
		kasan_heap_give_back(heap, &oldest);
		flags = kasan_lock(kasan_queue_lock(queue));
	}
}

/* Raise the limit of @own at the cost of the others: if a chunk of @span bytes does not fit, so far that it does. */
static kasan_noinline void kasan_queue_look(struct kasan_heap *heap, struct kasan_heap_queue *own,
					    size_t span)
{
	const size_t part = heap->quarantine_max / KASAN_QUEUE_PART;
	struct kasan_heap_queue *from;
	size_t limit = __atomic_load_n(&own->limit, __ATOMIC_RELAXED), wanted, got;
	const size_t freed = __atomic_exchange_n(&own->freed, 0, __ATOMIC_RELAXED);
	unsigned long flags;

	__atomic_store_n(&own->stamp, __atomic_add_fetch(&heap->freed, freed, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
	do {
		if (kasan_unlikely(!__atomic_load_n(&heap->used, __ATOMIC_RELAXED)) &&
		    !__atomic_exchange_n(&heap->used, 1, __ATOMIC_RELAXED)) {
			got = heap->quarantine_max;
		} else {
			wanted = span > limit ? span - limit : 0;
			from = kasan_queue_giver(heap, own, wanted);
			if (!from)
				return;
			got = kasan_queue_lower(heap, from, wanted > part ? wanted : part);
		}
		flags = kasan_lock(kasan_queue_lock(own));
		limit = own->limit + got;
		__atomic_store_n(&own->limit, limit, __ATOMIC_RELAXED);
		kasan_unlock(kasan_queue_lock(own), flags);
	} while (span > limit);
}

/** kasan_queue_put() - hold back a chunk of at most quarantine_max bytes, and release the oldest that no longer fit. Return:
 *  false: there is no memory for the queue, and the caller still has @raw. */
static kasan_always_inline bool kasan_queue_put(struct kasan_heap *heap, void *raw, size_t span)
{
	struct kasan_heap_queue *const own = &heap->queues[kasan_port_cpu() % KASAN_HEAP_QUEUES];
	struct kasan_held oldest;
	unsigned long flags;
	bool queued, fits, look;

	do {
		if (kasan_unlikely(span > __atomic_load_n(&own->limit, __ATOMIC_RELAXED)))
			kasan_queue_look(heap, own, span);
		oldest.object = NULL;
		flags = kasan_lock(kasan_queue_lock(own));
		__atomic_store_n(&own->freed, own->freed + span, __ATOMIC_RELAXED);
		look = ++own->turns >= KASAN_QUEUE_LOOK &&
		       own->freed > heap->quarantine_max / KASAN_QUEUE_PART;
		if (kasan_unlikely(look))
			own->turns = 0;
		fits = span <= own->limit;
		queued = fits && kasan_fifo_turn(&own->fifo, raw, span, own->limit, &oldest);
		kasan_unlock(kasan_queue_lock(own), flags);
		if (kasan_unlikely(look))
			kasan_queue_look(heap, own, 0);
		if (oldest.object)
			kasan_heap_give_back(heap, &oldest);
		else if (!queued && fits)
			return false;
		else if (!queued)
			break; /* what it needs is on its way from one CPU to another */
	} while (!queued);
	if (!queued)
		heap->release(heap, raw);
	return true;
}

/** kasan_heap_empty() - release everything that is held back. */
static inline void kasan_heap_empty(struct kasan_heap *heap)
{
	struct kasan_heap_queue *queue = heap->queues;

	for (; queue < heap->queues + KASAN_HEAP_QUEUES; queue++)
		kasan_fifo_empty(&queue->fifo, kasan_queue_lock(queue), heap, kasan_heap_give_back);
}

#else /* one CPU */

/** kasan_queue_put() - see above. */
static kasan_always_inline bool kasan_queue_put(struct kasan_heap *heap, void *raw, size_t span)
{
	return kasan_fifo_put(&heap->quarantine, kasan_heap_lock(heap), raw, span,
			      heap->quarantine_max, heap, kasan_heap_give_back);
}

/** kasan_heap_empty() - release everything that is held back. */
static inline void kasan_heap_empty(struct kasan_heap *heap)
{
	kasan_fifo_empty(&heap->quarantine, kasan_heap_lock(heap), heap, kasan_heap_give_back);
}

#endif

#endif /* KASAN_HEAP_QUEUE_H */
