/* SPDX-License-Identifier: MIT */
/*
 * depot.c - the stack depot: every stack trace once, named by 32 bits.
 *
 * Programs allocate from few places, so nearly every trace is known already. Finding a known one is
 * a walk along one hash chain without a lock: records are filled first and linked with a release
 * store, and are never changed or freed after. Only a new trace takes the lock.
 *
 * Memory comes from kasan_port_alloc() in blocks, up to CONFIG_KASAN_DEPOT_SIZE or the boot parameter
 * kasan.depot_size=. At the bound, or when the port has no more memory, new traces get handle 0, and one
 * line says so; known ones are still found.
 */
#include "track.h"

#include "../core/lock.h"
#include "../core/notice.h"

#define BLOCK_SIZE 65536UL
#define MAX_SIZE   ((CONFIG_KASAN_DEPOT_MAX_MIB) * (1UL << 20))
/* If a target is built with a larger depot than that, its size is the limit. */
#define BLOCKS \
	(((CONFIG_KASAN_DEPOT_SIZE) > MAX_SIZE ? (CONFIG_KASAN_DEPOT_SIZE) : MAX_SIZE) / BLOCK_SIZE)
#define UNIT	    8UL /* records start at multiples of it */
#define BLOCK_UNITS (BLOCK_SIZE / UNIT)

_Static_assert((CONFIG_KASAN_DEPOT_SIZE) / BLOCK_SIZE >= 1,
	       "CONFIG_KASAN_DEPOT_SIZE is less than one block of 64 KiB");
_Static_assert(BLOCKS < UINT32_MAX / BLOCK_UNITS, "CONFIG_KASAN_DEPOT_SIZE: handles are 32 bits");
_Static_assert(((CONFIG_KASAN_DEPOT_BUCKETS) & ((CONFIG_KASAN_DEPOT_BUCKETS)-1)) == 0,
	       "CONFIG_KASAN_DEPOT_BUCKETS must be a power of two");

/*
 * @handle is the record's own name: with @hash it proves that a handle out of corrupted metadata
 * leads to the start of a record and not into the middle of one.
 */
struct record {
	struct record *next;
	uint32_t hash;
	uint32_t handle;
	size_t count;
	uintptr_t pcs[];
};

static struct {
	struct kasan_lock lock; /* for changes to the members below */
	uint32_t max_blocks;	/* the bound */
	uint32_t blocks;	/* published: blocks[0..blocks) may be read */
	size_t used;		/* bytes used in the last block */
	bool full;
	uint8_t *block[BLOCKS];
	size_t traces;
} depot = {.max_blocks = (CONFIG_KASAN_DEPOT_SIZE) / BLOCK_SIZE};

static struct record *buckets[CONFIG_KASAN_DEPOT_BUCKETS];
static size_t refused;
static unsigned int said_full, said_no_memory;

static uint32_t hash_trace(const uintptr_t *pcs, size_t count)
{
	uintptr_t hash = 0;
	size_t i;

	for (i = 0; i < count; i++)
		hash = kasan_hash_step(hash, pcs[i]);
	return kasan_hash_end(hash, count);
}

static inline bool same(const uintptr_t *a, const uintptr_t *b, size_t count)
{
	const uintptr_t *const end = a + count;

	/* Two at a time: a record with the same hash and length is nearly always the right one. */
	if (count & 1 && *a++ != *b++)
		return false;
	for (; a != end; a += 2, b += 2) {
		if (kasan_unlikely((a[0] ^ b[0]) | (a[1] ^ b[1])))
			return false;
	}
	return true;
}

static inline uint32_t find(const struct record *record, uint32_t hash, const uintptr_t *pcs,
			    size_t count)
{
	for (; record; record = record->next) {
		if (record->hash == hash && record->count == count &&
		    kasan_likely(same(record->pcs, pcs, count)))
			return record->handle;
	}
	return 0;
}

/* Get room for a record of @size bytes, and its handle. Under the lock. */
static struct record *reserve(size_t size, uint32_t *handle)
{
	uint8_t *block;

	if (depot.full)
		return NULL;
	if (!depot.blocks || depot.used + size > BLOCK_SIZE) {
		if (depot.blocks >= depot.max_blocks) {
			__atomic_store_n(&depot.full, true, __ATOMIC_RELAXED);
			return NULL;
		}
		/* A system without memory now may have some later: the next trace asks again. */
		block = kasan_port_alloc(BLOCK_SIZE);
		if (!block)
			return NULL;
		depot.block[depot.blocks] = block;
		depot.used = 0;
		__atomic_store_n(&depot.blocks, depot.blocks + 1, __ATOMIC_RELEASE);
	}
	*handle = (uint32_t)((depot.blocks - 1) * BLOCK_UNITS + depot.used / UNIT + 1);
	block = depot.block[depot.blocks - 1] + depot.used;
	depot.used += size;
	return (struct record *)block;
}

static __attribute__((__noinline__, cold)) uint32_t insert(uint32_t hash, const uintptr_t *pcs,
							   size_t count)
{
	struct record **bucket = &buckets[hash & ((CONFIG_KASAN_DEPOT_BUCKETS)-1)];
	const size_t size =
		(sizeof(struct record) + count * sizeof(pcs[0]) + UNIT - 1) & ~(UNIT - 1);
	const unsigned long flags = kasan_lock(&depot.lock);
	/* Another CPU may have stored the same trace first. */
	uint32_t handle = find(*bucket, hash, pcs, count);
	struct record *record;
	size_t i;

	if (!handle) {
		record = reserve(size, &handle);
		if (record) {
			record->next = *bucket;
			record->hash = hash;
			record->handle = handle;
			record->count = count;
			for (i = 0; i < count; i++)
				record->pcs[i] = pcs[i];
			depot.traces++;
			__atomic_store_n(bucket, record, __ATOMIC_RELEASE);
		}
	}
	kasan_unlock(&depot.lock, flags);
	return handle;
}

/* Printed once, and once more if the bound is reached later. A report in progress keeps the console; then
 * the next refusal tries again. */
static __attribute__((__noinline__, cold)) void refuse(void)
{
	static const char *const texts[] = {
		"kasan: no memory for the stack depot at %zu traces: new ones are not kept until "
		"there is",
		"kasan: stack depot full at %zu traces: new ones are not kept (kasan.depot_size=)",
	};
	const bool full = __atomic_load_n(&depot.full, __ATOMIC_RELAXED);
	unsigned int *said = full ? &said_full : &said_no_memory;

	__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(said, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
		return;
	if (!kasan_notice(texts[full], depot.traces))
		__atomic_store_n(said, 0, __ATOMIC_RELAXED);
}

uint32_t kasan_depot_save_hashed(uint32_t hash, const uintptr_t *pcs, size_t count)
{
	uint32_t handle = find(__atomic_load_n(&buckets[hash & ((CONFIG_KASAN_DEPOT_BUCKETS)-1)],
					       __ATOMIC_ACQUIRE),
			       hash, pcs, count);

	if (kasan_likely(handle))
		return handle;
	if (!__atomic_load_n(&depot.full, __ATOMIC_RELAXED))
		handle = insert(hash, pcs, count);
	if (kasan_unlikely(!handle))
		refuse();
	return handle;
}

uint32_t kasan_depot_save(const uintptr_t *pcs, size_t count)
{
	if (kasan_unlikely(count == 0))
		return 0;
	if (kasan_unlikely(count > CONFIG_KASAN_STACK_DEPTH))
		count = CONFIG_KASAN_STACK_DEPTH;
	return kasan_depot_save_hashed(hash_trace(pcs, count), pcs, count);
}

size_t kasan_depot_fetch(uint32_t handle, const uintptr_t **pcs)
{
	const size_t block = (handle - 1) / BLOCK_UNITS;
	const size_t offset = (handle - 1) % BLOCK_UNITS * UNIT;
	const struct record *record;

	if (!handle || block >= __atomic_load_n(&depot.blocks, __ATOMIC_ACQUIRE) ||
	    offset + sizeof(*record) > BLOCK_SIZE)
		return 0;
	record = (const struct record *)(depot.block[block] + offset);
	if (record->handle != handle || !record->count ||
	    record->count > CONFIG_KASAN_STACK_DEPTH ||
	    offset + sizeof(*record) + record->count * sizeof(record->pcs[0]) > BLOCK_SIZE ||
	    record->hash != hash_trace(record->pcs, record->count))
		return 0;
	*pcs = record->pcs;
	return record->count;
}

void kasan_depot_set_size(size_t bytes)
{
	const unsigned long flags = kasan_lock(&depot.lock);

	depot.max_blocks = (uint32_t)(bytes / BLOCK_SIZE);
	/* Memory is never given back: if the bound is below the present size, the depot is full. */
	__atomic_store_n(&depot.full, false, __ATOMIC_RELAXED);
	__atomic_store_n(&said_full, 0, __ATOMIC_RELAXED);
	kasan_unlock(&depot.lock, flags);
}

void kasan_depot_stats(struct kasan_depot_stats *stats)
{
	const unsigned long flags = kasan_lock(&depot.lock);

	stats->traces = depot.traces;
	stats->bytes = depot.blocks ? (depot.blocks - 1) * BLOCK_SIZE + depot.used : 0;
	stats->max_bytes = depot.max_blocks * BLOCK_SIZE;
	stats->refused = __atomic_load_n(&refused, __ATOMIC_RELAXED);
	kasan_unlock(&depot.lock, flags);
}
