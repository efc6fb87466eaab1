/* SPDX-License-Identifier: MIT */
/*
 * quarantine.c - holds freed slab objects back before their memory is used again.
 *
 * The longer a freed object stays poisoned, the more uses after free are seen. Each CPU fills a chunk of its own. A
 * full chunk becomes the youngest of the global queue, which first gives up its oldest chunks to make room. So the only
 * work for a single object is its entry (quarantine.h), and objects that leave together go back to their allocator
 * together.
 *
 * All chunks together never hold more than 1/2^CONFIG_KASAN_QUARANTINE_SHIFT of the memory given to kasan_init(), or
 * kasan.quarantine_size=. A larger object than the global queue is not taken. Chunks are never given back; without
 * memory for more of them the quarantine holds fewer objects.
 *
 * Two locks are never held at once, and caches get their slots back with none held. An object on its way from one place
 * to the next is in no list, so kasan_cache_shrink() could miss it. Every CPU therefore counts its journeys, and
 * shrinking waits for those it may have missed. A CPU travels with interrupts off, so a journey always ends.
 *
 * Journeys nest: a cache that gets a slot back may free something itself, and that free may travel. Only the outermost
 * one is counted. Otherwise the end of an inner journey would look to a shrinking CPU like the end of the outer one,
 * whose objects are still on their way.
 */
#include "meta.h"
#include "quarantine.h"

#include "../base/up.h"

#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_SLAB

/* The most bytes in a CPU's chunk, if the quarantine is large enough for all CPUs. */
#define CPU_BYTES (128UL << 10)

_Static_assert(sizeof(struct kasan_chunk) == KASAN_CHUNK_BYTES &&
		       CONFIG_KASAN_PAGE_SIZE % KASAN_CHUNK_BYTES == 0,
	       "chunks fill whole pages");

struct kasan_cpu_queue kasan_cpu_queues[CONFIG_KASAN_NR_CPUS];

static struct {
	struct kasan_lock lock;
	struct kasan_chunk *oldest, *youngest, *spare;
	size_t bytes, objects;
	uint32_t seq;	    /* of the next chunk */
	uint32_t shrinkers; /* that have begun */
	struct shrink_place {
		uint32_t owner; /* the shrinker's number */
		struct kasan_chunk *before;
	} place[CONFIG_KASAN_NR_CPUS];
} global_queue;

/* One for each CPU, so that the quarantine works without memory from the port. */
static struct kasan_chunk first_chunks[CONFIG_KASAN_NR_CPUS]
	__attribute__((aligned(KASAN_CHUNK_BYTES)));
static bool first_chunks_given;

static size_t cpu_max, global_max;

/* Counts full chunks that went back to their CPU because the global queue had no room: see kasan_cache_shrink(). */
static uint32_t given_back;

/* Set by boot parameters. */
static size_t wanted_size;
static bool size_is_wanted;
static unsigned int said_full;

/* --- Bounds --- */

void kasan_quarantine_set_size(size_t bytes)
{
	wanted_size = bytes;
	size_is_wanted = true;
}

/* Bytes of the objects in the chunk of @queue. */
static size_t bytes_of(const struct kasan_cpu_queue *queue)
{
	return queue->given - queue->left;
}

/* The objects in the chunk of @queue now have so many @bytes. Its limit may be lower. Under its lock. */
static void set_bytes(struct kasan_cpu_queue *queue, size_t bytes)
{
	queue->left = queue->limit > bytes ? queue->limit - bytes : 0;
	queue->given = bytes + queue->left;
}

void kasan_quarantine_update(void)
{
	const size_t limit = kasan_silent() || !kasan_on() ? 0 : cpu_max;
	unsigned long flags;
	unsigned int cpu;

	for (cpu = 0; cpu < CONFIG_KASAN_NR_CPUS; cpu++) {
		struct kasan_cpu_queue *queue = &kasan_cpu_queues[cpu];

		flags = kasan_lock(&queue->lock);
		queue->limit = limit;
		set_bytes(queue, bytes_of(queue));
		kasan_unlock(&queue->lock, flags);
	}
}

size_t kasan_quarantine_init(size_t memory)
{
	/* Refused only now, because the amount of memory was not known when the parameter was read. */
	const size_t refused = size_is_wanted && wanted_size > memory / 2 ? wanted_size : 0;
	size_t max = memory >> CONFIG_KASAN_QUARANTINE_SHIFT;
	unsigned int cpu;

	if (refused)
		size_is_wanted = false;
	if (size_is_wanted)
		max = wanted_size;
	for (cpu = 0; cpu < CONFIG_KASAN_NR_CPUS && !first_chunks_given; cpu++) {
		first_chunks[cpu].head.next = global_queue.spare;
		global_queue.spare = &first_chunks[cpu];
	}
	first_chunks_given = true;
	cpu_max = max / (2 * CONFIG_KASAN_NR_CPUS);
	if (cpu_max > CPU_BYTES)
		cpu_max = CPU_BYTES;
	__atomic_store_n(&global_max, max - cpu_max * CONFIG_KASAN_NR_CPUS, __ATOMIC_RELEASE);
	kasan_quarantine_update();
	return refused;
}

/* A user who set the bound wants to know that it was reached; the default always is. If a report is being printed, try
 * again next time. */
static void say_full(void)
{
	if (kasan_likely(!size_is_wanted) || __atomic_load_n(&said_full, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&said_full, 1, __ATOMIC_RELAXED))
		return;
	if (!kasan_notice("kasan: quarantine full at %zu bytes: the oldest objects are released",
			  global_max + cpu_max * CONFIG_KASAN_NR_CPUS))
		__atomic_store_n(&said_full, 0, __ATOMIC_RELAXED);
}

/* --- Chunks --- */

/* Give the objects of a chunk that is in no list back to their caches, in runs of one cache each. */
static void release(struct kasan_chunk *chunk)
{
	struct kasan_cache **from = chunk->cache, **to;
	struct kasan_cache **const end = from + chunk->head.count;

	for (; from != end; from = to) {
		struct kasan_cache *cache = *from;

		/* Nearly always it is one cache's chunk. */
		for (to = from + 1; end - to >= 4 && (to[0] == cache) & (to[1] == cache) &
							     (to[2] == cache) & (to[3] == cache);
		     to += 4)
			;
		for (; to != end && *to == cache; to++)
			;
		kasan_slab_release(cache, &chunk->object[from - chunk->cache], (size_t)(to - from));
	}
}

static void make_empty(struct kasan_chunk *chunk)
{
	chunk->head.next = NULL;
	chunk->head.count = 0;
	chunk->head.bytes = 0;
}

static void append_object(struct kasan_chunk *chunk, struct kasan_cache *cache, void *object)
{
	chunk->object[chunk->head.count] = object;
	chunk->cache[chunk->head.count++] = cache;
	chunk->head.bytes += cache->slot_size;
}

/* Move objects of @cache (NULL: any) from @chunk to @out until that is full; the others move up. Return: false if some
 * are left. */
static bool extract(struct kasan_chunk *chunk, const struct kasan_cache *cache,
		    struct kasan_chunk *out)
{
	const uint32_t count = chunk->head.count;
	bool all = true;
	uint32_t i;

	chunk->head.count = 0;
	chunk->head.bytes = 0;
	for (i = 0; i < count; i++) {
		const bool wanted = !cache || chunk->cache[i] == cache;

		if (wanted && out->head.count < KASAN_CHUNK_ENTRIES) {
			append_object(out, chunk->cache[i], chunk->object[i]);
		} else {
			append_object(chunk, chunk->cache[i], chunk->object[i]);
			all &= !wanted;
		}
	}
	return all;
}

/* Return: a list of empty chunks, because memory comes in pages; NULL if there is none. */
static struct kasan_chunk *make_chunks(void)
{
	struct kasan_chunk *list = NULL, *chunk;
	char *page = kasan_port_alloc(CONFIG_KASAN_PAGE_SIZE);
	/* The memory may not be aligned to chunks. */
	const size_t before = -(uintptr_t)page & (KASAN_CHUNK_BYTES - 1);
	size_t at = before ? before + CONFIG_KASAN_PAGE_SIZE - KASAN_CHUNK_BYTES
			   : CONFIG_KASAN_PAGE_SIZE;

	for (; page && at > before; at -= KASAN_CHUNK_BYTES) {
		chunk = (struct kasan_chunk *)(page + at - KASAN_CHUNK_BYTES);
		chunk->head.next = list;
		list = chunk;
	}
	return list;
}

/* Prints once. No lock of the runtime is held. */
static kasan_cold void say_no_memory(void)
{
	static unsigned int said;

	if (__atomic_load_n(&said, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		return;
	if (!kasan_notice("kasan: no memory for the quarantine's queue: freed objects are reused "
			  "earlier, late uses of them are not found"))
		__atomic_store_n(&said, 0, __ATOMIC_RELAXED);
}

static void keep_spares(struct kasan_chunk *list)
{
	struct kasan_chunk *last = list;
	unsigned long flags;

	if (!list)
		return;
	while (last->head.next)
		last = last->head.next;
	flags = kasan_lock(&global_queue.lock);
	last->head.next = global_queue.spare;
	global_queue.spare = list;
	kasan_unlock(&global_queue.lock, flags);
}

/* --- The global queue: under its lock --- */

static void append_chunk(struct kasan_chunk *chunk)
{
	chunk->head.next = NULL;
	chunk->head.seq = global_queue.seq++;
	if (global_queue.oldest)
		global_queue.youngest->head.next = chunk;
	else
		global_queue.oldest = chunk;
	global_queue.youngest = chunk;
	global_queue.bytes += chunk->head.bytes;
	global_queue.objects += chunk->head.count;
}

/* Take out the chunk after @before; if that is NULL, the oldest. */
static struct kasan_chunk *remove_after(struct kasan_chunk *before)
{
	struct kasan_chunk **link = before ? &before->head.next : &global_queue.oldest;
	struct kasan_chunk *chunk = *link;
	unsigned int i;

	if (!chunk)
		return NULL;
	for (i = 0; i < CONFIG_KASAN_NR_CPUS; i++) {
		if (global_queue.place[i].before == chunk)
			global_queue.place[i].before = before;
	}
	*link = chunk->head.next;
	if (global_queue.youngest == chunk)
		global_queue.youngest = before;
	global_queue.bytes -= chunk->head.bytes;
	global_queue.objects -= chunk->head.count;
	chunk->head.next = NULL;
	return chunk;
}

/* --- Journeys --- */

/* Under @mine's lock, with interrupts off until end_journey(). @mine: the queue of this CPU. */
static void begin_journey(struct kasan_cpu_queue *mine)
{
	if (!mine->depth++)
		mine->started++;
}

/* No lock is needed, because only this CPU changes @depth, with interrupts off. */
static void end_journey(struct kasan_cpu_queue *mine)
{
	if (!--mine->depth)
		__atomic_fetch_add(&mine->finished, 1, __ATOMIC_RELEASE);
}

/* Wait for the objects that are on their way now. Not inside a journey: that would not end before this returns, and two
 * CPUs could wait for each other for ever. */
static void wait_for_journeys(void)
{
	unsigned long flags = kasan_port_irq_save();
	const bool travelling = kasan_cpu_queues[kasan_port_cpu()].depth != 0;
	unsigned int cpu, started;

	kasan_port_irq_restore(flags);
	for (cpu = 0; cpu < CONFIG_KASAN_NR_CPUS && !travelling; cpu++) {
		struct kasan_cpu_queue *queue = &kasan_cpu_queues[cpu];

		flags = kasan_lock(&queue->lock);
		started = queue->started;
		kasan_unlock(&queue->lock, flags);
		while ((int)(__atomic_load_n(&queue->finished, __ATOMIC_ACQUIRE) - started) < 0)
			kasan_arch_relax();
	}
}

/* Begin a journey, with interrupts off until finish_journey(). Return: this CPU's queue. */
static struct kasan_cpu_queue *start_journey(unsigned long *irq)
{
	struct kasan_cpu_queue *mine;
	unsigned long flags;

	*irq = kasan_port_irq_save();
	mine = &kasan_cpu_queues[kasan_port_cpu()];
	flags = kasan_lock(&mine->lock);
	begin_journey(mine);
	kasan_unlock(&mine->lock, flags);
	return mine;
}

static void finish_journey(struct kasan_cpu_queue *mine, unsigned long irq)
{
	end_journey(mine);
	kasan_port_irq_restore(irq);
}

/* --- Putting --- */

/* Does the global queue have room for @bytes more? An empty one takes anything. Under its lock. */
static bool has_room(size_t bytes)
{
	return !global_queue.oldest || global_queue.bytes + bytes <= global_max;
}

/* Make room for @bytes in the global queue. One chunk's objects at a time go back to their caches, and in between
 * interrupts are as the caller has them, because a large object may push out thousands of small ones. Return: did any
 * have to go? */
static bool make_room(size_t bytes)
{
	struct kasan_cpu_queue *mine;
	struct kasan_chunk *chunk;
	unsigned long irq, flags;
	bool evicts = false, room;

	do {
		mine = start_journey(&irq);
		flags = kasan_lock(&global_queue.lock);
		chunk = has_room(bytes) ? NULL : remove_after(NULL);
		room = has_room(bytes);
		kasan_unlock(&global_queue.lock, flags);
		if (chunk) {
			release(chunk);
			keep_spares(chunk);
			evicts = true;
		}
		finish_journey(mine, irq);
	} while (!room);
	return evicts;
}

/* Queue @full (NULL: nothing). Interrupts are off and this CPU's journey is counted. @evicts: set if another chunk had
 * to go; nearly always one is enough. Return: an empty chunk in exchange; NULL: no memory; @full, unchanged, if there
 * is still no room, and then @no_room is set. */
static struct kasan_chunk *exchange(struct kasan_chunk *full, bool *evicts, bool *no_room)
{
	struct kasan_chunk *fresh = NULL, *evicted = NULL;
	unsigned long flags;

	if (full && !full->head.count)
		return full;
	flags = kasan_lock(&global_queue.lock);
	if (full && !has_room(full->head.bytes)) {
		if (kasan_unlikely(global_queue.bytes - global_queue.oldest->head.bytes +
					   full->head.bytes >
				   global_max)) {
			kasan_unlock(&global_queue.lock, flags);
			*no_room = true;
			return full;
		}
		evicted = remove_after(NULL);
		*evicts = true;
	}
	if (full)
		append_chunk(full);
	if (!evicted) {
		fresh = global_queue.spare;
		if (fresh)
			global_queue.spare = fresh->head.next;
	}
	kasan_unlock(&global_queue.lock, flags);
	if (evicted) {
		release(evicted);
		fresh = evicted;
	}
	if (kasan_unlikely(!fresh)) {
		fresh = make_chunks();
		if (fresh)
			keep_spares(fresh->head.next);
	}
	if (kasan_unlikely(!fresh)) {
		say_no_memory();
		flags = kasan_lock(&global_queue.lock);
		fresh = remove_after(NULL);
		kasan_unlock(&global_queue.lock, flags);
		if (fresh)
			release(fresh);
	}
	if (fresh)
		make_empty(fresh);
	return fresh;
}

static struct kasan_chunk *detach(struct kasan_cpu_queue *queue)
{
	struct kasan_chunk *chunk = queue->chunk;

	if (chunk) {
		chunk->head.count = (uint32_t)(queue->next - chunk->object);
		chunk->head.bytes = bytes_of(queue);
	}
	queue->chunk = NULL;
	queue->next = NULL;
	set_bytes(queue, 0);
	return chunk;
}

static void attach(struct kasan_cpu_queue *queue, struct kasan_chunk *chunk)
{
	queue->chunk = chunk;
	queue->next = chunk->object + chunk->head.count;
	set_bytes(queue, chunk->head.bytes);
}

enum outcome { KEPT, REFUSED, NO_ROOM };

/* @direct: @object is too large for a CPU's chunk, so it goes to the global queue, in a chunk of its own. Return:
 * NO_ROOM if make_room() must be called again. */
static enum outcome try_to_put(struct kasan_cache *cache, void *object, bool direct, bool *evicts)
{
	const unsigned long irq = kasan_port_irq_save();
	struct kasan_cpu_queue *queue = &kasan_cpu_queues[kasan_port_cpu()];
	unsigned long flags = kasan_lock(&queue->lock);
	bool kept = kasan_quarantine_push(queue, cache, object), no_room = false;
	struct kasan_chunk *chunk;

	if (kept) {
		kasan_unlock(&queue->lock, flags);
		kasan_port_irq_restore(irq);
		return KEPT;
	}
	chunk = detach(queue);
	begin_journey(queue);
	kasan_unlock(&queue->lock, flags);

	chunk = exchange(chunk, evicts, &no_room);
	if (chunk && direct && !no_room) {
		append_object(chunk, cache, object);
		chunk = exchange(chunk, evicts, &no_room);
		kept = !no_room;
		if (no_room)
			make_empty(chunk);
	}

	flags = kasan_lock(&queue->lock);
	/* A cache that got slots back may have freed something itself. None did if @chunk still has objects. */
	if (chunk && !queue->chunk) {
		if (chunk->head.count)
			__atomic_fetch_add(&given_back, 1, __ATOMIC_RELAXED);
		attach(queue, chunk);
		chunk = NULL;
	}
	if (!kept && !no_room)
		kept = kasan_quarantine_push(queue, cache, object);
	kasan_unlock(&queue->lock, flags);
	keep_spares(chunk);
	finish_journey(queue, irq);
	if (no_room)
		return NO_ROOM;
	return kept ? KEPT : REFUSED;
}

/* Return: was @object kept? */
static bool put_slow(struct kasan_cache *cache, void *object)
{
	const bool direct = cache->slot_size > cpu_max;
	enum outcome outcome;
	bool evicts = false;

	while ((outcome = try_to_put(cache, object, direct, &evicts)) == NO_ROOM) {
		const unsigned long irq = kasan_port_irq_save();
		const size_t bytes = bytes_of(&kasan_cpu_queues[kasan_port_cpu()]);

		kasan_port_irq_restore(irq);
		evicts |= make_room(bytes + (direct ? cache->slot_size : 0));
	}
	/* After the journey, because a notice may print reports, and they may not return. */
	if (evicts)
		say_full();
	return outcome == KEPT;
}

kasan_noinline enum kasan_free_verdict kasan_quarantine_put_slow(struct kasan_cache *cache,
								 void *object)
{
	/* Before kasan_init() the bound is 0, so objects are not kept either. */
	if (!kasan_silent() && cache->slot_size <= __atomic_load_n(&global_max, __ATOMIC_ACQUIRE) &&
	    put_slow(cache, object))
		return KASAN_FREE_QUARANTINED;
	kasan_slab_before_release(cache, object);
	return KASAN_FREE_NOW;
}

/* --- Shrinking --- */

/* Objects that are taken out travel too: another CPU that shrinks the same cache must not return before they are
 * released. */
static void shrink_cpu(struct kasan_cache *cache, struct kasan_cpu_queue *queue)
{
	struct kasan_cpu_queue *mine;
	struct kasan_chunk out, *chunk;
	unsigned long irq, flags;

	make_empty(&out);
	mine = start_journey(&irq);
	flags = kasan_lock(&queue->lock);
	chunk = detach(queue);
	if (chunk) {
		/* The objects of one chunk fit into another. */
		(void)extract(chunk, cache, &out);
		attach(queue, chunk);
	}
	kasan_unlock(&queue->lock, flags);
	release(&out);
	finish_journey(mine, irq);
}

/**
 * struct shrink_cursor - how far shrink_global() has come
 * @number: of this shrinker.
 * @seq: of the chunk to look at next; @end: of the first one that is too young.
 *
 * The chunk before that is in global_queue.place[], which is updated when chunks leave the queue, so that nothing is
 * searched under the lock. There are as many places as CPUs. If more shrink at the same time, the oldest shrinker loses
 * its place, and finds it again by @seq. A place outlives its shrinker.
 */
struct shrink_cursor {
	uint32_t number, seq, end;
	bool started, finished;
};

/* How many chunks are looked at under one lock, with interrupts off. */
#define CHUNKS_AT_ONCE 2

static void walk_chunks(struct kasan_cache *cache, struct shrink_cursor *cursor,
			struct kasan_chunk *out)
{
	struct kasan_chunk *before, *chunk;
	struct shrink_place *place;
	unsigned int i;

	if (!cursor->started) {
		kasan_clear(cursor);
		cursor->number = ++global_queue.shrinkers;
		cursor->end = global_queue.seq;
		cursor->started = true;
		cursor->seq =
			global_queue.oldest ? global_queue.oldest->head.seq : global_queue.seq;
	}
	place = &global_queue.place[cursor->number % CONFIG_KASAN_NR_CPUS];
	/* The oldest chunks leave and younger ones come. */
	before = place->owner == cursor->number ? place->before : NULL;
	chunk = before ? before->head.next : global_queue.oldest;
	for (; chunk && (int32_t)(chunk->head.seq - cursor->seq) < 0; chunk = chunk->head.next)
		before = chunk;
	for (i = 0; i < CHUNKS_AT_ONCE; i++) {
		const size_t bytes = out->head.bytes, objects = out->head.count;
		bool all;

		cursor->finished = !chunk || (int32_t)(chunk->head.seq - cursor->end) >= 0;
		if (cursor->finished)
			break;
		all = extract(chunk, cache, out);
		global_queue.bytes -= out->head.bytes - bytes;
		global_queue.objects -= out->head.count - objects;
		cursor->seq = chunk->head.seq + all;
		if (!all)
			break;
		if (chunk->head.count) {
			before = chunk;
		} else {
			chunk = remove_after(before);
			chunk->head.next = global_queue.spare;
			global_queue.spare = chunk;
		}
		chunk = before ? before->head.next : global_queue.oldest;
	}
	place->owner = cursor->number;
	place->before = before;
}

static void shrink_global(struct kasan_cache *cache, struct shrink_cursor *cursor)
{
	struct kasan_cpu_queue *mine;
	unsigned long irq, flags;
	struct kasan_chunk out;

	make_empty(&out);
	mine = start_journey(&irq);
	flags = kasan_lock(&global_queue.lock);
	walk_chunks(cache, cursor, &out);
	kasan_unlock(&global_queue.lock, flags);
	release(&out);
	finish_journey(mine, irq);
}

void kasan_cache_shrink(struct kasan_cache *cache)
{
	struct shrink_cursor cursor;
	unsigned int cpu;
	uint32_t seen;

	kasan_clear(&cursor);
	/* In the direction in which objects travel: CPUs, objects on their way, global queue. If a chunk went the other
	 * way meanwhile, it may have been missed, so look again. */
	do {
		seen = __atomic_load_n(&given_back, __ATOMIC_RELAXED);
		for (cpu = 0; cpu < CONFIG_KASAN_NR_CPUS; cpu++)
			shrink_cpu(cache, &kasan_cpu_queues[cpu]);
		wait_for_journeys();
	} while (__atomic_load_n(&given_back, __ATOMIC_RELAXED) != seen);
	while (!cursor.finished)
		shrink_global(cache, &cursor);
	wait_for_journeys();
}

void kasan_quarantine_stats(struct kasan_quarantine_stats *stats)
{
	unsigned long flags = kasan_lock(&global_queue.lock);
	unsigned int cpu;

	stats->bytes = global_queue.bytes;
	stats->objects = global_queue.objects;
	kasan_unlock(&global_queue.lock, flags);
	stats->max_bytes = global_max + cpu_max * CONFIG_KASAN_NR_CPUS;
	for (cpu = 0; cpu < CONFIG_KASAN_NR_CPUS; cpu++) {
		struct kasan_cpu_queue *queue = &kasan_cpu_queues[cpu];

		flags = kasan_lock(&queue->lock);
		stats->bytes += bytes_of(queue);
		if (queue->chunk)
			stats->objects += (size_t)(queue->next - queue->chunk->object);
		kasan_unlock(&queue->lock, flags);
	}
}

#endif /* CONFIG_KASAN_GENERIC */
