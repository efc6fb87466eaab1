/* SPDX-License-Identifier: MIT */
/*
 * quarantine.c - freed slab objects wait here before their memory is used again.
 *
 * The longer a freed object stays poisoned, the more uses after free are seen. Each CPU fills a
 * small ring of its own; a full ring moves its oldest objects to the global queue, 16 at a time,
 * and the global queue gives up its oldest to make room first.
 *
 * Bound: rings and global queue together never hold more than 1/2^CONFIG_KASAN_QUARANTINE_SHIFT of
 * the memory given to kasan_init(), or what the boot parameter kasan.quarantine_size= says. An object that is larger than the global queue is not taken at
 * all. Without memory for the queue's pages it holds fewer objects, never more.
 *
 * No two locks are ever held at once, and cache->release() is called with none. What is on its way
 * from one place to the next is in an array on the stack, so kasan_cache_shrink() could miss it:
 * every CPU therefore counts its journeys, travels with interrupts off (so that a journey always
 * ends), and shrinking waits for those it may have missed.
 */
#include "track.h"

#include "../alloc/meta.h"
#include "../core/lock.h"
#include "../report/report.h"

#define RING_ENTRIES 64U /* a power of two */
#define MOVE_BATCH   16U
#define EVICT_BATCH  16U
#define RING_BYTES   (128UL << 10)

/* One CPU's part. Other CPUs touch it in kasan_cache_shrink() only, hence the lock. */
static struct cpu_queue {
	struct kasan_lock lock;
	unsigned int head, count; /* entries [head, head + count), modulo */
	unsigned int started;	  /* journeys begun by this CPU, under @lock */
	unsigned int finished;	  /* journeys over */
	size_t bytes;
	struct kasan_held ring[RING_ENTRIES];
} __attribute__((aligned(64))) queues[CONFIG_KASAN_NR_CPUS];

static struct {
	struct kasan_lock lock;
	struct kasan_fifo fifo;
} global;

static size_t ring_max, global_max;

/* From the command line. */
static size_t wanted_size;
static bool size_is_wanted;
static unsigned int said_full;

void kasan_quarantine_set_size(size_t bytes)
{
	wanted_size = bytes;
	size_is_wanted = true;
}

void kasan_quarantine_init(size_t memory)
{
	size_t max = memory >> CONFIG_KASAN_QUARANTINE_SHIFT;
	size_t ring;

	if (size_is_wanted) {
		max = wanted_size;
		if (max > memory / 2) {
			max = memory / 2;
			kasan_notice(
				"kasan: kasan.quarantine_size=%zu is more than half of memory: "
				"it holds %zu bytes",
				wanted_size, max);
		}
	}
	ring = max / (2 * CONFIG_KASAN_NR_CPUS);
	if (ring > RING_BYTES)
		ring = RING_BYTES;
	ring_max = ring;
	__atomic_store_n(&global_max, max - ring * CONFIG_KASAN_NR_CPUS, __ATOMIC_RELEASE);
}

static inline size_t held_bytes(const struct kasan_held *held)
{
	return ((const struct kasan_cache *)held->info)->slot_size;
}

static void release(const struct kasan_held *held, size_t count)
{
	struct kasan_cache *cache;
	size_t i;

	for (i = 0; i < count; i++) {
		cache = (struct kasan_cache *)held[i].info;
		kasan_slab_before_release(cache, held[i].object);
		cache->release(cache, held[i].object);
	}
}

/*
 * Who set the bound wants to know that it was met; by default that is how things are. A report in
 * progress keeps the console: the next time tries again.
 */
static void say_full(void)
{
	if (kasan_likely(!size_is_wanted) || __atomic_load_n(&said_full, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&said_full, 1, __ATOMIC_RELAXED))
		return;
	if (!kasan_notice("kasan: quarantine full at %zu bytes: the oldest objects are released",
			  global_max + ring_max * CONFIG_KASAN_NR_CPUS))
		__atomic_store_n(&said_full, 0, __ATOMIC_RELAXED);
}

/*
 * Append @held to the global queue after making room. On return each is queued or released.
 * Interrupts are off and a journey of this CPU is counted.
 */
static void move_to_global(const struct kasan_held *held, size_t count)
{
	struct kasan_held evicted[EVICT_BATCH];
	size_t moved = 0, evictions, bytes;
	bool stuck = false;
	unsigned long flags;

	while (moved < count && !stuck) {
		evictions = 0;
		flags = kasan_lock(&global.lock);
		while (moved < count) {
			bytes = held_bytes(&held[moved]);
			if (global.fifo.bytes + bytes <= global_max &&
			    kasan_fifo_push(&global.fifo, held[moved].object, held[moved].info,
					    bytes)) {
				moved++;
				continue;
			}
			if (evictions == EVICT_BATCH)
				break;
			if (!kasan_fifo_pop(&global.fifo, &evicted[evictions])) {
				/* Empty, and yet no room: the port has no memory for it. */
				stuck = true;
				break;
			}
			global.fifo.bytes -= held_bytes(&evicted[evictions++]);
		}
		kasan_unlock(&global.lock, flags);
		if (evictions)
			say_full();
		release(evicted, evictions);
	}
	release(held + moved, count - moved);
}

static inline bool ring_push(struct cpu_queue *queue, void *object, struct kasan_cache *cache)
{
	struct kasan_held *held;

	if (queue->count == RING_ENTRIES || queue->bytes + cache->slot_size > ring_max)
		return false;
	held = &queue->ring[(queue->head + queue->count++) % RING_ENTRIES];
	held->object = object;
	held->info = (uintptr_t)cache;
	queue->bytes += cache->slot_size;
	return true;
}

static inline void ring_pop(struct cpu_queue *queue, struct kasan_held *out)
{
	*out = queue->ring[queue->head];
	queue->head = (queue->head + 1) % RING_ENTRIES;
	queue->count--;
	queue->bytes -= held_bytes(out);
}

/* The ring has no room for @object: move its oldest on, or the object itself if it is too large. */
static __attribute__((__noinline__)) void put_slow(struct kasan_cache *cache, void *object)
{
	const bool direct = cache->slot_size > ring_max;
	struct kasan_held moving[MOVE_BATCH];
	unsigned long irq, flags;
	struct cpu_queue *queue;
	bool done = false;
	size_t count;

	while (!done) {
		irq = kasan_port_irq_save();
		queue = &queues[kasan_port_cpu()];
		flags = kasan_lock(&queue->lock);
		count = 0;
		if (direct) {
			moving[count].object = object;
			moving[count++].info = (uintptr_t)cache;
			done = true;
		} else {
			while (queue->count && count < MOVE_BATCH)
				ring_pop(queue, &moving[count++]);
			done = ring_push(queue, object, cache);
		}
		queue->started++;
		kasan_unlock(&queue->lock, flags);
		move_to_global(moving, count);
		__atomic_fetch_add(&queue->finished, 1, __ATOMIC_RELEASE);
		kasan_port_irq_restore(irq);
	}
}

bool kasan_quarantine_put(struct kasan_cache *cache, void *object)
{
	struct cpu_queue *queue;
	unsigned long flags;
	bool done;

	/* Also the answer before kasan_init(): the bound is still 0. */
	if (kasan_unlikely(cache->slot_size > __atomic_load_n(&global_max, __ATOMIC_ACQUIRE)))
		return false;
	/* Interrupts may be on and the CPU may change: its lock makes any CPU's ring a right one.
	 */
	queue = &queues[kasan_port_cpu()];
	flags = kasan_lock(&queue->lock);
	done = ring_push(queue, object, cache);
	kasan_unlock(&queue->lock, flags);
	if (kasan_unlikely(!done))
		put_slow(cache, object);
	return true;
}

/* --- Shrinking -------------------------------------------------------------------------------- */

/* Take up to @max objects of @cache out of a ring; the others move up. Under its lock. */
static size_t ring_extract(struct cpu_queue *queue, const struct kasan_cache *cache,
			   struct kasan_held *out, size_t max)
{
	unsigned int i, kept = 0;
	size_t count = 0;
	struct kasan_held held;

	for (i = 0; i < queue->count; i++) {
		held = queue->ring[(queue->head + i) % RING_ENTRIES];
		if (count < max && (!cache || held.info == (uintptr_t)cache)) {
			out[count++] = held;
			queue->bytes -= held_bytes(&held);
		} else {
			queue->ring[(queue->head + kept++) % RING_ENTRIES] = held;
		}
	}
	queue->count = kept;
	return count;
}

/* Wait until no object that was on its way when this was called is still on it. */
static void wait_for_journeys(void)
{
	unsigned int cpu, started;
	unsigned long flags;

	for (cpu = 0; cpu < CONFIG_KASAN_NR_CPUS; cpu++) {
		flags = kasan_lock(&queues[cpu].lock);
		started = queues[cpu].started;
		kasan_unlock(&queues[cpu].lock, flags);
		while ((int)(__atomic_load_n(&queues[cpu].finished, __ATOMIC_ACQUIRE) - started) <
		       0)
			kasan_arch_relax();
	}
}

/* Release what @take finds, until it finds nothing. A journey is counted: another CPU that shrinks
 * the same cache must not return before these objects are released. */
static size_t shrink_rings(struct kasan_cache *cache, unsigned int cpu)
{
	struct kasan_held out[MOVE_BATCH];
	const unsigned long irq = kasan_port_irq_save();
	struct cpu_queue *mine = &queues[kasan_port_cpu()];
	unsigned long flags;
	size_t count;

	flags = kasan_lock(&mine->lock);
	mine->started++;
	kasan_unlock(&mine->lock, flags);

	flags = kasan_lock(&queues[cpu].lock);
	count = ring_extract(&queues[cpu], cache, out, MOVE_BATCH);
	kasan_unlock(&queues[cpu].lock, flags);
	release(out, count);

	__atomic_fetch_add(&mine->finished, 1, __ATOMIC_RELEASE);
	kasan_port_irq_restore(irq);
	return count;
}

static void shrink_global(struct kasan_cache *cache, struct kasan_fifo_cursor *cursor)
{
	struct kasan_held out[MOVE_BATCH];
	const unsigned long irq = kasan_port_irq_save();
	struct cpu_queue *mine = &queues[kasan_port_cpu()];
	unsigned long flags;
	size_t count, i;

	flags = kasan_lock(&mine->lock);
	mine->started++;
	kasan_unlock(&mine->lock, flags);

	flags = kasan_lock(&global.lock);
	count = kasan_fifo_extract(&global.fifo, (uintptr_t)cache, cursor, out, MOVE_BATCH);
	for (i = 0; i < count; i++)
		global.fifo.bytes -= held_bytes(&out[i]);
	kasan_unlock(&global.lock, flags);
	release(out, count);

	__atomic_fetch_add(&mine->finished, 1, __ATOMIC_RELEASE);
	kasan_port_irq_restore(irq);
}

void kasan_cache_shrink(struct kasan_cache *cache)
{
	struct kasan_fifo_cursor cursor = {0};
	unsigned int cpu;

	/* In the direction that objects travel: rings, then the way between, then the global queue.
	 */
	for (cpu = 0; cpu < CONFIG_KASAN_NR_CPUS; cpu++) {
		while (shrink_rings(cache, cpu))
			;
	}
	wait_for_journeys();
	while (!cursor.finished)
		shrink_global(cache, &cursor);
	wait_for_journeys();
}

void kasan_quarantine_stats(struct kasan_quarantine_stats *stats)
{
	unsigned long flags = kasan_lock(&global.lock);
	unsigned int cpu;

	stats->bytes = global.fifo.bytes;
	stats->objects = global.fifo.count;
	kasan_unlock(&global.lock, flags);
	stats->max_bytes = global_max + ring_max * CONFIG_KASAN_NR_CPUS;
	for (cpu = 0; cpu < CONFIG_KASAN_NR_CPUS; cpu++) {
		flags = kasan_lock(&queues[cpu].lock);
		stats->bytes += queues[cpu].bytes;
		stats->objects += queues[cpu].count;
		kasan_unlock(&queues[cpu].lock, flags);
	}
}
