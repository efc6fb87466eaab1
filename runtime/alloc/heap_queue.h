/* SPDX-License-Identifier: MIT */
/*
 * heap_queue.h - the quarantine of a simple heap. Private to heap.c, which defines lock_of() and say_once() before it.
 *
 * With one CPU it is one queue. If more CPUs shared it, they would wait for its lock, and because each would release what
 * another one has freed, they would work on memory that lies in the other's cache: two threads took four times as long
 * for a pair of malloc() and free() as one. So each CPU has a queue with a limit. The limits together are what the
 * quarantine may hold. The first CPU has all of it, and another CPU that frees takes some from the one with the most.
 */
#ifndef KASAN_HEAP_QUEUE_H
#define KASAN_HEAP_QUEUE_H

static inline void give_back(void *heap, const struct kasan_held *held)
{
	((struct kasan_heap *)heap)->release(heap, held->object);
}

#if KASAN_HEAP_QUEUES > 1

/* A queue looks at the others each time it has taken this many chunks. */
#define LOOK 64U
/* A CPU whose queue has not looked at the others, while they did so this many times, is idle: its chunks are the oldest,
 * and the others take all that it has. */
#define IDLE 32U
/* The part of the quarantine that changes hands at once. */
#define PART 64U

static inline struct kasan_lock *queue_lock(struct kasan_heap_queue *queue)
{
	return kasan_lock_in(&queue->lock);
}

/* Return: the queue of @heap that is to give some of its limit to @own; NULL: none. @needed: even if that has more. */
static struct kasan_heap_queue *giver(struct kasan_heap *heap, const struct kasan_heap_queue *own,
				      bool needed)
{
	const unsigned int looks = __atomic_load_n(&heap->looks, __ATOMIC_RELAXED);
	struct kasan_heap_queue *queue = heap->queues, *giver = NULL;
	size_t most = 0, enough = 0;

	if (!needed)
		enough = __atomic_load_n(&own->limit, __ATOMIC_RELAXED) +
			 heap->quarantine_max / PART;
	for (; queue < heap->queues + KASAN_HEAP_QUEUES; queue++) {
		const size_t limit = __atomic_load_n(&queue->limit, __ATOMIC_RELAXED);

		if (queue != own && limit > most &&
		    (limit > enough ||
		     looks - __atomic_load_n(&queue->stamp, __ATOMIC_RELAXED) > IDLE)) {
			most = limit;
			giver = queue;
		}
	}
	return giver;
}

/* Lower the limit of @queue by @bytes, or to 0, and release what it no longer may hold. Return: by how much. */
static size_t lower_limit(struct kasan_heap *heap, struct kasan_heap_queue *queue, size_t bytes)
{
	struct kasan_held oldest;
	unsigned long flags = kasan_lock(queue_lock(queue));
	bool found;

	if (bytes > queue->limit)
		bytes = queue->limit;
	__atomic_store_n(&queue->limit, queue->limit - bytes, __ATOMIC_RELAXED);
	for (;;) {
		found = queue->fifo.bytes > queue->limit && kasan_fifo_pop(&queue->fifo, &oldest);
		kasan_unlock(queue_lock(queue), flags);
		if (!found)
			return bytes;
		give_back(heap, &oldest);
		flags = kasan_lock(queue_lock(queue));
	}
}

/* Raise the limit of @own at the cost of the others: if a chunk of @span bytes does not fit, so far that it does. */
static kasan_noinline void look_around(struct kasan_heap *heap, struct kasan_heap_queue *own,
				       size_t span)
{
	const size_t part = heap->quarantine_max / PART;
	struct kasan_heap_queue *from;
	size_t limit = __atomic_load_n(&own->limit, __ATOMIC_RELAXED), wanted, got;
	unsigned long flags;

	__atomic_store_n(&own->stamp, __atomic_add_fetch(&heap->looks, 1, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
	do {
		if (kasan_unlikely(!__atomic_load_n(&heap->used, __ATOMIC_RELAXED)) &&
		    !__atomic_exchange_n(&heap->used, 1, __ATOMIC_RELAXED)) {
			got = heap->quarantine_max;
		} else {
			wanted = span > limit ? span - limit : 0;
			from = giver(heap, own, wanted);
			if (!from)
				return;
			got = lower_limit(heap, from, wanted > part ? wanted : part);
		}
		flags = kasan_lock(queue_lock(own));
		limit = own->limit + got;
		__atomic_store_n(&own->limit, limit, __ATOMIC_RELAXED);
		kasan_unlock(queue_lock(own), flags);
	} while (span > limit);
}

/* Return: false: there is no memory for the queue. */
static kasan_always_inline bool put_in_queue(struct kasan_heap *heap, void *raw, size_t span)
{
	struct kasan_heap_queue *const own = &heap->queues[kasan_port_cpu() % KASAN_HEAP_QUEUES];
	struct kasan_held oldest;
	unsigned long flags;
	bool queued, fits, look;

	do {
		if (kasan_unlikely(span > __atomic_load_n(&own->limit, __ATOMIC_RELAXED)))
			look_around(heap, own, span);
		oldest.object = NULL;
		flags = kasan_lock(queue_lock(own));
		look = ++own->turns % LOOK == 0;
		fits = span <= own->limit;
		queued = fits && kasan_fifo_turn(&own->fifo, raw, span, own->limit, &oldest);
		kasan_unlock(queue_lock(own), flags);
		if (kasan_unlikely(look))
			look_around(heap, own, 0);
		if (oldest.object)
			give_back(heap, &oldest);
		else if (!queued && fits)
			return false;
		else if (!queued)
			break; /* what it needs is on its way from one CPU to another */
	} while (!queued);
	if (!queued)
		heap->release(heap, raw);
	return true;
}

static inline void empty_queues(struct kasan_heap *heap)
{
	struct kasan_heap_queue *queue = heap->queues;

	for (; queue < heap->queues + KASAN_HEAP_QUEUES; queue++)
		kasan_fifo_empty(&queue->fifo, queue_lock(queue), heap, give_back);
}

#else /* one CPU */

static kasan_always_inline bool put_in_queue(struct kasan_heap *heap, void *raw, size_t span)
{
	return kasan_fifo_put(&heap->quarantine, lock_of(heap), raw, span, heap->quarantine_max,
			      heap, give_back);
}

static inline void empty_queues(struct kasan_heap *heap)
{
	kasan_fifo_empty(&heap->quarantine, lock_of(heap), heap, give_back);
}

#endif

/* Hold a chunk back, and release the oldest that no longer fit. Releases @raw if it cannot stay. */
static kasan_always_inline void hold(struct kasan_heap *heap, void *raw, size_t span)
{
	if (kasan_unlikely(kasan_silent() || span > heap->quarantine_max)) {
		heap->release(heap, raw);
	} else if (!put_in_queue(heap, raw, span)) {
		heap->release(heap, raw);
		/* Without the queue the runtime works, but finds less. */
		say_once(heap, SAID_NO_QUEUE);
	}
}

#endif /* KASAN_HEAP_QUEUE_H */
