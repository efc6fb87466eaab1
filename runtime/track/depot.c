/* SPDX-License-Identifier: MIT */
/*
 * depot.c - the stack depot: stores every stack trace once, named by 32 bits.
 *
 * Programs allocate from few places, so nearly every trace is known already. Finding a known one is a walk along one
 * hash chain without a lock: records are filled first and linked with a release store, and their traces never change.
 * Only a new trace takes the lock.
 *
 * Linear hashing keeps chains short however many traces there are. When there are more than two traces for each bucket,
 * one more bucket comes into use, and the records that belong there move from the one bucket that had them. So no
 * insertion does more than its share of the work, and no table is ever copied. A reader that meets a moving record may
 * miss others of its old bucket; it then looks again under the lock, as for a new trace.
 *
 * Memory comes from kasan_port_alloc() in blocks, up to CONFIG_KASAN_DEPOT_SIZE or kasan.depot_size=. At the bound, or
 * when the port has no more memory, new traces get handle 0 and the depot prints a message; known ones are still found.
 * Buckets take at most 1/8 of the bound in addition. Without memory for them chains just grow longer.
 *
 * The lock is held for one record: its search, its copy, one bucket. The port is never asked for memory under it,
 * because clearing a block takes far longer. A task that needs memory releases the lock, gets some, and starts again.
 */
#include "known.h"
#include "track.h"

#include "../base/lock.h"
#include "../base/up.h"

/**
 * struct block - the start of each block; records follow
 * @older: the block before this one. Only reports look for a block by its number, so a list is enough.
 * @number: of this block, from 0 on.
 * @seal: of the others. A bug may have overwritten them, and a report must not follow such a pointer.
 */
struct block {
	struct block *older;
	uint32_t number;
	uint32_t seal;
} __attribute__((aligned(8)));

#define BLOCK_SIZE  (KASAN_DEPOT_BLOCK + 0UL)
#define UNIT	    8UL /* records start at multiples of it */
#define BLOCK_UNITS (BLOCK_SIZE / UNIT)

_Static_assert((CONFIG_KASAN_DEPOT_SIZE) / BLOCK_SIZE >= 1,
	       "CONFIG_KASAN_DEPOT_SIZE is less than one block: CONFIG_KASAN_PAGE_SIZE, or 64 KiB");
_Static_assert(BLOCK_SIZE % CONFIG_KASAN_PAGE_SIZE == 0,
	       "64 KiB must be a multiple of CONFIG_KASAN_PAGE_SIZE");
_Static_assert(sizeof(struct block) + sizeof(struct kasan_record) +
			       CONFIG_KASAN_STACK_DEPTH * sizeof(uintptr_t) +
			       KASAN_RECORD_SLOTS(CONFIG_KASAN_STACK_DEPTH) <=
		       BLOCK_SIZE,
	       "a block of the depot is less than a trace of CONFIG_KASAN_STACK_DEPTH frames");
_Static_assert((CONFIG_KASAN_DEPOT_SIZE) / UNIT < UINT32_MAX &&
		       KASAN_DEPOT_MOST / UNIT < UINT32_MAX,
	       "CONFIG_KASAN_DEPOT_SIZE: handles are 32 bits");
_Static_assert(sizeof(struct block) % UNIT == 0, "records start at multiples of UNIT");
_Static_assert(((CONFIG_KASAN_DEPOT_BUCKETS) & ((CONFIG_KASAN_DEPOT_BUCKETS)-1)) == 0 &&
		       (CONFIG_KASAN_DEPOT_BUCKETS) >= 2,
	       "CONFIG_KASAN_DEPOT_BUCKETS must be a power of two, at least 2");

static struct {
	struct kasan_lock lock; /* for changes to the members below */
	uint32_t max_blocks;	/* the bound */
	uint32_t blocks;	/* in use */
	uint32_t coming;	/* blocks that somebody is asking the port for */
	struct block *newest;	/* published: of those in use, the last */
	struct block *spare;	/* a list of those that are not in use yet */
	size_t used;		/* bytes used in the newest block */
	bool full;
	size_t traces;
	unsigned int version; /* changes after each change of a bucket's list, if GROWS */
} depot = {.max_blocks = (CONFIG_KASAN_DEPOT_SIZE) / BLOCK_SIZE};

/* Segment 0 is static; segment i > 0, with bucket numbers from FIRST << (i - 1) on, doubles the table. @count buckets
 * are in use; it is published when the last of them is filled. */
#define FIRST	 ((uint32_t)(CONFIG_KASAN_DEPOT_BUCKETS))
#define SEGMENTS 18
/* A small depot has no room for more than a few traces in each bucket, so its table never grows. */
#ifdef KASAN_DEPOT_IS_SMALL
#define GROWS false
#else
#define GROWS true
#endif
#define LOAD 2

static struct kasan_record *first_segment[FIRST];
static struct {
	struct kasan_record **segment[SEGMENTS];
	uint32_t count;
	bool coming;	  /* somebody is asking the port for the next segment */
	size_t ask_again; /* traces at which to ask for memory that was refused */
	size_t bytes;	  /* of the segments from the port */
} buckets = {.segment = {first_segment}, .count = FIRST};

static size_t refused;
static unsigned int said_full, said_no_memory;

/* --- Buckets --- */

/* The largest power of two up to @n, which is not 0. Not by __builtin_clz(): on CPUs without such an instruction it
 * calls the compiler's library, which is not there. */
static inline uint32_t power_below(uint32_t n)
{
	n |= n >> 1;
	n |= n >> 2;
	n |= n >> 4;
	n |= n >> 8;
	n |= n >> 16;
	return n - (n >> 1);
}

static inline unsigned int segment_of(uint32_t number)
{
	unsigned int segment = 0;

	for (number /= FIRST; number; number /= 2)
		segment++;
	return segment;
}

static inline struct kasan_record **bucket_at(uint32_t number)
{
	if (!GROWS || number < FIRST)
		return &first_segment[number];
	return &buckets.segment[segment_of(number)][number - power_below(number)];
}

/* The bucket of @hash while @count buckets are in use: the number's low bits, or one bit less if that bucket does not
 * exist yet. */
static inline uint32_t bucket_number(uint32_t hash, uint32_t count)
{
	if (!GROWS)
		return hash & (FIRST - 1);
	const uint32_t half = power_below(count);
	const uint32_t number = hash & (2 * half - 1);

	return number < count ? number : number - half;
}

/* Under the lock. A small depot does without, which saves code. */
static inline void lists_changed(void)
{
	if (GROWS)
		__atomic_store_n(&depot.version, depot.version + 1, __ATOMIC_RELEASE);
}

/* Bring one more bucket into use. Under the lock. Return: bytes of a new segment that the caller must first get from
 * the port; 0: none. */
static size_t add_bucket(void)
{
	const uint32_t number = buckets.count, start = power_below(number);
	const unsigned int segment = segment_of(number);
	struct kasan_record **link, **bucket, *record;

	if (segment >= SEGMENTS || depot.traces < buckets.ask_again)
		return 0;
	if (!buckets.segment[segment]) {
		const size_t page = CONFIG_KASAN_PAGE_SIZE;
		const size_t bytes = (start * sizeof(record) + page - 1) & ~(page - 1);

		if (buckets.coming || buckets.bytes + bytes > kasan_depot_max_bytes() / 8)
			return 0;
		buckets.coming = true;
		return bytes;
	}
	bucket = bucket_at(number);
	link = bucket_at(number - start);
	while ((record = *link)) {
		if ((record->hash & (2 * start - 1)) != number) {
			link = &record->next;
			continue;
		}
		/* A reader at @record continues in the new bucket, which ends too. */
		__atomic_store_n(link, record->next, __ATOMIC_RELEASE);
		__atomic_store_n(&record->next, *bucket, __ATOMIC_RELEASE);
		__atomic_store_n(bucket, record, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&buckets.count, number + 1, __ATOMIC_RELEASE);
	return 0;
}

/* Get the segment that add_bucket() needs. */
static void grow_buckets(size_t bytes)
{
	struct kasan_record **const segment = kasan_port_alloc(bytes);
	const unsigned long flags = kasan_lock(&depot.lock);

	buckets.coming = false;
	if (segment) {
		buckets.segment[segment_of(buckets.count)] = segment;
		buckets.bytes += bytes;
		(void)add_bucket();
		lists_changed();
	} else {
		/* Do not ask again for each new trace, but after some hundred. */
		buckets.ask_again = depot.traces + FIRST;
	}
	kasan_unlock(&depot.lock, flags);
}

/* --- Records --- */

static uint32_t hash_trace(const uintptr_t *pcs, size_t count)
{
	uintptr_t hash = 0;
	size_t i;

	/* Return addresses of one image differ in their low bits. An odd factor carries these up, and the shift brings
	 * the well-mixed top down again: one multiplication a frame. */
	for (i = 0; i < count; i++) {
#if UINTPTR_MAX > UINT32_MAX
		hash = (hash ^ pcs[i]) * 0x9e3779b97f4a7c15UL;
		hash ^= hash >> 32;
#else
		hash = (hash ^ pcs[i]) * 0x9e3779b1UL;
		hash ^= hash >> 15;
#endif
	}
	return (uint32_t)(hash + count);
}

static inline bool same(const uintptr_t *a, const uintptr_t *b, size_t count)
{
	const uintptr_t *const end = a + count;

	/* Two at a time, because a record with the same hash and length is nearly always the right one. */
	if (count & 1 && *a++ != *b++)
		return false;
	for (; a != end; a += 2, b += 2) {
		if (kasan_unlikely((a[0] ^ b[0]) | (a[1] ^ b[1])))
			return false;
	}
	return true;
}

static inline struct kasan_record *find(uint32_t hash, const uintptr_t *pcs, size_t count)
{
	const uint32_t number =
		bucket_number(hash, __atomic_load_n(&buckets.count, __ATOMIC_ACQUIRE));
	struct kasan_record *record = __atomic_load_n(bucket_at(number), __ATOMIC_ACQUIRE);

	for (; record; record = __atomic_load_n(&record->next, __ATOMIC_ACQUIRE)) {
		if (record->hash == hash && kasan_record_count(record) == count &&
		    kasan_likely(same(record->pcs, pcs, count)))
			return record;
	}
	return NULL;
}

static uint32_t seal_of(const struct block *block)
{
	const uintptr_t place = (uintptr_t)block->older ^ (uintptr_t)block >> 4;
	uint32_t word = (uint32_t)place;

#if UINTPTR_MAX > UINT32_MAX
	/* Of 32 bits, because some CPUs call the compiler's library for a larger product. */
	word ^= (uint32_t)(place >> 32) * 0x85ebca6bU;
#endif
	return word * 0x9e3779b1U + block->number;
}

/* Get room and a handle for a record of @size bytes. Under the lock. Return: NULL if there is none; @wants_block: set
 * if the caller should get a block from the port and try again. */
static struct kasan_record *reserve(size_t size, uint32_t *handle, bool *wants_block)
{
	struct block *block;
	size_t at;

	if (depot.full)
		return NULL;
	if (!depot.blocks || depot.used + size > BLOCK_SIZE) {
		if (depot.blocks >= depot.max_blocks) {
			__atomic_store_n(&depot.full, true, __ATOMIC_RELAXED);
			return NULL;
		}
		if (!depot.spare) {
			/* If other tasks are already getting the last blocks, this trace is not stored. */
			*wants_block = depot.blocks + depot.coming < depot.max_blocks;
			__atomic_store_n(&depot.coming, depot.coming + *wants_block,
					 __ATOMIC_RELAXED);
			return NULL;
		}
		block = depot.spare;
		depot.spare = block->older;
		block->older = depot.newest;
		block->number = depot.blocks++;
		block->seal = seal_of(block);
		depot.used = sizeof(*block);
		__atomic_store_n(&depot.newest, block, __ATOMIC_RELEASE);
	}
	at = depot.used;
	depot.used += size;
	*handle = (uint32_t)((depot.blocks - 1) * BLOCK_UNITS + at / UNIT + 1);
	return (struct kasan_record *)((uintptr_t)depot.newest + at);
}

/* Store a new trace. Under the lock. Return: NULL if there is no room. @wants_block: see reserve(). @segment: see
 * add_bucket(). */
static struct kasan_record *add(uint32_t hash, const uintptr_t *pcs, size_t count,
				bool *wants_block, size_t *segment)
{
	const size_t size = (sizeof(struct kasan_record) + count * sizeof(pcs[0]) +
			     KASAN_RECORD_SLOTS(count) + UNIT - 1) &
			    ~(UNIT - 1);
	struct kasan_record *record, **bucket;
	uint32_t handle;
	size_t i;

	record = reserve(size, &handle, wants_block);
	if (!record)
		return NULL;
	bucket = bucket_at(bucket_number(hash, buckets.count));
	record->next = *bucket;
	record->handle = handle;
	record->hash = hash;
#ifndef KASAN_DEPOT_IS_SMALL
	record->key = 0;
#endif
	for (i = 0; i < count; i++)
		record->pcs[i] = pcs[i];
#if !KASAN_FOLLOWS_FRAMES
	record->more = (uint16_t)((count - 1) * sizeof(pcs[0]));
	record->span = 0;
#if KASAN_ARCH_UNWINDS
	*(uint8_t *)(record->pcs + count) = 0;
#endif
#else
	record->more = (uint32_t)((count - 1) * sizeof(pcs[0]));
#endif
	__atomic_store_n(bucket, record, __ATOMIC_RELEASE);
	__atomic_store_n(&depot.traces, depot.traces + 1, __ATOMIC_RELAXED);
	if (GROWS && depot.traces > (size_t)buckets.count * LOAD)
		*segment = add_bucket();
	lists_changed();
	return record;
}

/* Get a block from the port. Return: false if it has none; the next trace asks again, because a system may have memory
 * later. */
static bool get_block(void)
{
	struct block *const block = kasan_port_alloc(BLOCK_SIZE);
	const unsigned long flags = kasan_lock(&depot.lock);

	__atomic_store_n(&depot.coming, depot.coming - 1, __ATOMIC_RELAXED);
	if (block) {
		block->older = depot.spare;
		depot.spare = block;
	}
	kasan_unlock(&depot.lock, flags);
	return block;
}

/* @version: of the lists in which the caller has not found the trace. */
static kasan_cold struct kasan_record *insert(uint32_t hash, const uintptr_t *pcs, size_t count,
					      unsigned int version)
{
	struct kasan_record *record;
	unsigned long flags;
	size_t segment = 0;
	bool wants_block;

	/* An NMI or a fault interrupted a change on this CPU. */
	if (kasan_lock_owned(&depot.lock))
		return NULL;
	do {
		wants_block = false;
		flags = kasan_lock(&depot.lock);
		/* Another CPU may have stored the same trace first, or moved it to another bucket during the search. */
		record = !GROWS || depot.version != version ? find(hash, pcs, count) : NULL;
		if (!record)
			record = add(hash, pcs, count, &wants_block, &segment);
		kasan_unlock(&depot.lock, flags);
	} while (wants_block && get_block());
	if (GROWS && kasan_unlikely(segment))
		grow_buckets(segment);
	return record;
}

/* Prints once, and once more if the bound is reached later. If a report is being printed, the next refusal tries
 * again. */
static kasan_cold void refuse(void)
{
	static const char *const texts[] = {
		"kasan: no memory for the stack depot at %zu traces: new ones are not kept until "
		"there is",
		"kasan: stack depot full at %zu traces: new ones are not kept (kasan.depot_size=)",
	};
	const bool full = __atomic_load_n(&depot.full, __ATOMIC_RELAXED);
	unsigned int *said = full ? &said_full : &said_no_memory;

	__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
	/* While other tasks are getting the last blocks, there is memory and the depot is not full. A context that has
	 * interrupted this CPU under the lock cannot tell. */
	if ((!full &&
	     (__atomic_load_n(&depot.coming, __ATOMIC_RELAXED) || kasan_lock_owned(&depot.lock))) ||
	    __atomic_load_n(said, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
		return;
	if (!kasan_notice(texts[full], depot.traces))
		__atomic_store_n(said, 0, __ATOMIC_RELAXED);
}

struct kasan_record *kasan_depot_get(const uintptr_t *pcs, size_t count)
{
	const uint32_t hash = hash_trace(pcs, count);
	const unsigned int version = GROWS ? __atomic_load_n(&depot.version, __ATOMIC_ACQUIRE) : 0;
	struct kasan_record *record = find(hash, pcs, count);

	if (kasan_likely(record))
		return record;
	if (!__atomic_load_n(&depot.full, __ATOMIC_RELAXED))
		record = insert(hash, pcs, count, version);
	if (kasan_unlikely(!record))
		refuse();
	return record;
}

uint32_t kasan_depot_save(const uintptr_t *pcs, size_t count)
{
	const struct kasan_record *record;

	if (kasan_unlikely(count == 0))
		return 0;
	if (kasan_unlikely(count > CONFIG_KASAN_STACK_DEPTH))
		count = CONFIG_KASAN_STACK_DEPTH;
	record = kasan_depot_get(pcs, count);
	return record ? record->handle : 0;
}

size_t kasan_depot_fetch(uint32_t handle, const uintptr_t **pcs)
{
	const struct block *block = __atomic_load_n(&depot.newest, __ATOMIC_ACQUIRE);
	const size_t number = (handle - 1) / BLOCK_UNITS;
	const size_t offset = (handle - 1) % BLOCK_UNITS * UNIT;
	const struct kasan_record *record;

	while (block && block->seal == seal_of(block) && block->number > number)
		block = block->older;
	/* Handle 0 would be in a block whose number is higher than any. */
	if (!block || block->number != number || offset < sizeof(*block) ||
	    offset + sizeof(*record) > BLOCK_SIZE)
		return 0;
	record = (const struct kasan_record *)((uintptr_t)block + offset);
	if (record->handle != handle || record->more % sizeof(record->pcs[0]) ||
	    kasan_record_count(record) > CONFIG_KASAN_STACK_DEPTH ||
	    offset + sizeof(*record) + kasan_record_count(record) * sizeof(record->pcs[0]) >
		    BLOCK_SIZE ||
	    record->hash != hash_trace(record->pcs, kasan_record_count(record)))
		return 0;
	*pcs = record->pcs;
	return kasan_record_count(record);
}

void kasan_depot_set_size(size_t bytes)
{
	const unsigned long flags = kasan_lock(&depot.lock);

	__atomic_store_n(&depot.max_blocks, (uint32_t)(bytes / BLOCK_SIZE), __ATOMIC_RELAXED);
	/* Memory is never given back: a bound below the present size means the depot is full. */
	__atomic_store_n(&depot.full, false, __ATOMIC_RELAXED);
	__atomic_store_n(&said_full, 0, __ATOMIC_RELAXED);
	kasan_unlock(&depot.lock, flags);
}

size_t kasan_depot_traces(void)
{
	return __atomic_load_n(&depot.traces, __ATOMIC_RELAXED);
}

size_t kasan_depot_max_bytes(void)
{
	return __atomic_load_n(&depot.max_blocks, __ATOMIC_RELAXED) * BLOCK_SIZE;
}

void kasan_depot_stats(struct kasan_depot_stats *stats)
{
	const unsigned long flags = kasan_lock(&depot.lock);

	stats->traces = depot.traces;
	stats->bytes = depot.blocks ? (depot.blocks - 1) * BLOCK_SIZE + depot.used : 0;
	stats->max_bytes = depot.max_blocks * BLOCK_SIZE;
	stats->buckets = buckets.count;
	stats->index_bytes = buckets.bytes + kasan_known_bytes();
	stats->refused = __atomic_load_n(&refused, __ATOMIC_RELAXED);
	kasan_unlock(&depot.lock, flags);
}
