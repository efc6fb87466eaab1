/* SPDX-License-Identifier: MIT */
/*
 * ring.c - the stack ring. Writers of all CPUs come at any time, interrupts included, and take no lock: a
 * writer draws a number, which is its place and its age, and owns the entry at that place while the entry's
 * sequence word says BUSY. A writer that finds BUSY there has been overtaken by a whole round, and leaves.
 *
 * A reader takes only entries whose sequence word is the one that belongs to their place and is still the
 * same after they were copied.
 *
 * Bound: kasan.stack_ring_size= entries of 32 bytes, in blocks that kasan_port_alloc() can give. When it is
 * full, the oldest are overwritten. Reports about objects of long ago then have no stacks, and their type
 * is invalid-access.
 */
#include "ring.h"

#include "../core/notice.h"

unsigned int kasan_opt_stack_ring_size = 32768;

#ifdef CONFIG_KASAN_TAGS

#define BUSY	  UINT64_MAX
#define FREE_FLAG 0x80000000U

struct entry {
	uint64_t seq; /* 0: never written; BUSY; else the number of its record, plus 1 */
	uintptr_t ptr;
	struct kasan_track track;
	uint32_t size; /* and FREE_FLAG */
};

#ifndef CONFIG_KASAN_EXTRA_INFO
_Static_assert(sizeof(struct entry) == 32, "docs and config.h say 32 bytes an entry");
#endif

#define BLOCK_BYTES   65536UL
#define BLOCK_ENTRIES (BLOCK_BYTES / sizeof(struct entry))
#define MAX_BLOCKS    (4194304UL / BLOCK_ENTRIES + 1)

static struct {
	uint64_t entries; /* a power of two; 0: no ring */
	struct entry *blocks[MAX_BLOCKS];
	uint64_t next __attribute__((__aligned__(64)));
} ring;

static inline struct entry *entry_of(uint64_t number, uint64_t entries)
{
	const size_t index = (size_t)(number & (entries - 1));

	return &ring.blocks[index / BLOCK_ENTRIES][index % BLOCK_ENTRIES];
}

void kasan_ring_init(void)
{
	size_t entries = 1, have = 0, block;

	if (ring.entries || !kasan_on())
		return;
	while (entries < kasan_opt_stack_ring_size)
		entries *= 2;
	for (block = 0; have < entries && block < MAX_BLOCKS; block++) {
		ring.blocks[block] = kasan_port_alloc(BLOCK_BYTES);
		if (!ring.blocks[block])
			break;
		have += BLOCK_ENTRIES;
	}
	while (entries > have)
		entries /= 2;
	if (entries < kasan_opt_stack_ring_size)
		kasan_notice("kasan: no memory for a stack ring of %u entries: it has %zu",
			     kasan_opt_stack_ring_size, entries);
	/* Writers on other CPUs, if there are any already, see the blocks before the number. */
	__atomic_store_n(&ring.entries, entries, __ATOMIC_RELEASE);
}

size_t kasan_ring_entries(void)
{
	return (size_t)__atomic_load_n(&ring.entries, __ATOMIC_ACQUIRE);
}

static inline void put(const void *ptr, size_t size, bool is_free, const struct kasan_track *track,
		       uint64_t entries)
{
	struct entry *entry;
	uint64_t number;

	number = __atomic_fetch_add(&ring.next, 1, __ATOMIC_RELAXED);
	entry = entry_of(number, entries);
	if (kasan_unlikely(__atomic_exchange_n(&entry->seq, BUSY, __ATOMIC_ACQUIRE) == BUSY))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	entry->ptr = (uintptr_t)ptr;
	entry->track = *track;
	entry->size = (uint32_t)size | (is_free ? FREE_FLAG : 0);
	__atomic_store_n(&entry->seq, number + 1, __ATOMIC_RELEASE);
}

void kasan_ring_add(const void *ptr, size_t size, bool is_free, uintptr_t ip, uintptr_t fp)
{
	const uint64_t entries = __atomic_load_n(&ring.entries, __ATOMIC_ACQUIRE);
	struct kasan_track track;

	if (kasan_unlikely(!entries))
		return;
	/* The long part first: an entry must not be BUSY while a stack is walked. */
	kasan_set_track(&track, ip, fp);
	put(ptr, size, is_free, &track, entries);
}

void kasan_ring_put(const void *ptr, size_t size, bool is_free, const struct kasan_track *track)
{
	const uint64_t entries = __atomic_load_n(&ring.entries, __ATOMIC_ACQUIRE);

	if (entries)
		put(ptr, size, is_free, track, entries);
}

/* Return: false if record @number is not there, or no longer there. */
static bool read_entry(const struct entry *entry, uint64_t number, struct kasan_ring_record *record)
{
	if (__atomic_load_n(&entry->seq, __ATOMIC_ACQUIRE) != number + 1)
		return false;
	record->ptr = __atomic_load_n(&entry->ptr, __ATOMIC_RELAXED);
	record->track = *(const volatile struct kasan_track *)&entry->track;
	record->size = __atomic_load_n(&entry->size, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&entry->seq, __ATOMIC_RELAXED) != number + 1)
		return false;
	record->is_free = record->size & FREE_FLAG;
	record->size &= ~(size_t)FREE_FLAG;
	return true;
}

bool kasan_ring_next(struct kasan_ring_cursor *cursor, struct kasan_ring_record *record)
{
	const uint64_t entries = __atomic_load_n(&ring.entries, __ATOMIC_ACQUIRE);

	if (!entries)
		return false;
	if (!cursor->started) {
		cursor->started = true;
		cursor->next = __atomic_load_n(&ring.next, __ATOMIC_ACQUIRE);
		cursor->left = (size_t)entries;
	}
	while (cursor->next && cursor->left) {
		cursor->next--;
		cursor->left--;
		if (read_entry(entry_of(cursor->next, entries), cursor->next, record))
			return true;
	}
	return false;
}

bool kasan_ring_lives(const void *ptr)
{
	struct kasan_ring_cursor cursor = {0};
	struct kasan_ring_record record;

	while (kasan_ring_next(&cursor, &record)) {
		if (kasan_untag_addr(record.ptr) == kasan_untag_addr((uintptr_t)ptr))
			return !record.is_free && record.ptr == (uintptr_t)ptr;
	}
	return false;
}

#endif /* CONFIG_KASAN_TAGS */
