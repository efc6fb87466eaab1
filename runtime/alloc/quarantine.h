/* SPDX-License-Identifier: MIT */
/* quarantine.h - the part of the quarantine that every free runs: an entry in this CPU's list. The rest is in
 * quarantine.c. Only slab hooks include it. */
#ifndef KASAN_QUARANTINE_H
#define KASAN_QUARANTINE_H

#include "../base/base.h"
#include "../base/lock.h"

#define KASAN_CHUNK_BYTES 512UL
#define KASAN_CHUNK_ENTRIES \
	((KASAN_CHUNK_BYTES - sizeof(struct kasan_chunk_head)) / (2 * sizeof(void *)))

struct kasan_chunk_head {
	struct kasan_chunk *next;
	uint32_t seq; /* grows from chunk to chunk of the global queue */
	uint32_t count;
	size_t bytes;
};

/**
 * struct kasan_chunk - objects that wait, oldest first
 *
 * Objects of one cache that come back together lie side by side, so that they can go on together. Links inside the
 * freed objects would cost no memory, but a buggy program may write to freed memory, and a quarantine exists to find
 * such writes.
 *
 * The last object ends the chunk, and those that CPUs fill are aligned to their size, so the address of an entry shows
 * that it is not one any more.
 */
struct kasan_chunk {
	struct kasan_chunk_head head;
	char unused[KASAN_CHUNK_BYTES - sizeof(struct kasan_chunk_head) -
		    2 * sizeof(void *) * KASAN_CHUNK_ENTRIES];
	struct kasan_cache *cache[KASAN_CHUNK_ENTRIES];
	void *object[KASAN_CHUNK_ENTRIES];
};

/**
 * struct kasan_cpu_queue - one CPU's part
 * @lock: for all but @depth and @finished. Other CPUs take it only in kasan_cache_shrink().
 * @started, @finished: outermost journeys of this CPU that have begun and ended, see quarantine.c.
 * @depth: journeys that this CPU is on, one inside the other. Only this CPU uses it, with interrupts off.
 * @next: where the next object goes in @chunk; its end: no room. NULL: no @chunk.
 * @left: bytes that @chunk's objects may still have, so that they have no more than @limit. @given: those and what they
 *	have. @chunk's own count and bytes are set only when it leaves.
 */
struct kasan_cpu_queue {
	struct kasan_lock lock;
	unsigned int started;
	void **next;
	size_t left, given, limit;
	struct kasan_chunk *chunk;
	unsigned int finished, depth;
} __attribute__((aligned(64)));

/** kasan_quarantine_init() - set the bounds. Return: 0, or the size from kasan_quarantine_set_size() if that exceeds
 *  half of @memory and so was refused. */
size_t kasan_quarantine_init(size_t memory);

/** kasan_quarantine_update() - apply a change of kasan_silent(). */
void kasan_quarantine_update(void);

/** kasan_quarantine_set_size() - kasan.quarantine_size=: the bound for kasan_quarantine_init(). */
void kasan_quarantine_set_size(size_t bytes);

extern struct kasan_cpu_queue kasan_cpu_queues[CONFIG_KASAN_NR_CPUS];

/** kasan_quarantine_push() - append, under the queue's lock. Return: false if there is no room. */
static kasan_always_inline bool kasan_quarantine_push(struct kasan_cpu_queue *queue,
						      struct kasan_cache *cache, void *object)
{
	const size_t bytes = cache->slot_size, left = queue->left;
	void **const next = queue->next;

	if (kasan_unlikely(!((uintptr_t)next & (KASAN_CHUNK_BYTES - 1)) || bytes > left))
		return false;
	next[0] = object;
	/* The cache's place is in the other array. */
	next[-(ptrdiff_t)KASAN_CHUNK_ENTRIES] = cache;
	queue->next = next + 1;
	queue->left = left - bytes;
	return true;
}

/** kasan_quarantine_put_slow() - kasan_quarantine_put() when this CPU's chunk is full, or another CPU has its lock. */
enum kasan_free_verdict kasan_quarantine_put_slow(struct kasan_cache *cache, void *object);

/** kasan_quarantine_put() - take an object that is poisoned and has valid free metadata. Return: what the allocator
 *  must do; KASAN_FREE_NOW if the object was not taken. */
static kasan_always_inline enum kasan_free_verdict kasan_quarantine_put(struct kasan_cache *cache,
									void *object)
{
	const unsigned long irq = kasan_port_irq_save();
	const unsigned int cpu = kasan_port_cpu();
	struct kasan_cpu_queue *queue = &kasan_cpu_queues[cpu];
	bool done = false;

	if (kasan_likely(kasan_trylock_here(&queue->lock, cpu))) {
		done = kasan_quarantine_push(queue, cache, object);
		kasan_unlock_here(&queue->lock);
	}
	kasan_port_irq_restore(irq);
	return kasan_likely(done) ? KASAN_FREE_QUARANTINED
				  : kasan_quarantine_put_slow(cache, object);
}

#endif /* KASAN_QUARANTINE_H */
