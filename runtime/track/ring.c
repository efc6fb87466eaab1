/* SPDX-License-Identifier: MIT */
/*
 * ring.c - the stack ring. Writers (ring.h) come from all CPUs at any time, also in interrupts, and take no lock. A
 * writer draws a number, which is its place and its age, and owns the entry there while the entry's sequence word says
 * BUSY. If it finds BUSY there, it was overtaken by a whole round, and gives up.
 *
 * A reader takes only entries whose sequence word belongs to their place and is unchanged after they were copied.
 *
 * The ring has kasan.stack_ring_size= entries of 32 bytes, in blocks from kasan_port_alloc(). When it is full, the
 * oldest are overwritten. Reports about older objects then have no stacks, and their type is invalid-access.
 */
#include "ring.h"

#include "../base/up.h"

unsigned int kasan_opt_stack_ring_size = 32768;

#ifdef CONFIG_KASAN_TAGS

#ifndef CONFIG_KASAN_EXTRA_INFO
_Static_assert(sizeof(struct kasan_ring_entry) == 32, "docs and config.h say 32 bytes an entry");
#endif

#define MAX_BLOCKS (4194304UL / KASAN_RING_BLOCK_ENTRIES + 1)

/* Until there is memory, all records go to one entry that is never read. */
static struct kasan_ring_entry nowhere, *no_blocks = &nowhere;
static struct kasan_ring_entry *blocks[MAX_BLOCKS];

struct kasan_ring kasan_ring = {.blocks = &no_blocks};

void kasan_ring_init(void)
{
	size_t entries = 1, have = 0, block;

	if (kasan_ring_entries() || !kasan_on())
		return;
	while (entries < kasan_opt_stack_ring_size)
		entries *= 2;
	for (block = 0; have < entries && block < MAX_BLOCKS; block++) {
		blocks[block] = kasan_port_alloc(KASAN_RING_BLOCK_BYTES);
		if (!blocks[block])
			break;
		have += KASAN_RING_BLOCK_ENTRIES;
	}
	while (entries > have)
		entries /= 2;
	if (entries < kasan_opt_stack_ring_size)
		kasan_notice("kasan: no memory for a stack ring of %u entries: it has %zu, "
			     "reports know so many of the last allocations and frees",
			     kasan_opt_stack_ring_size, entries);
	if (!entries)
		return;
	/* Writers on other CPUs see the blocks before the mask. With the old mask they write into the first entry, and
	 * readers find that the record does not belong there. */
	__atomic_store_n(&kasan_ring.blocks, blocks, __ATOMIC_RELEASE);
	__atomic_store_n(&kasan_ring.mask, entries - 1, __ATOMIC_RELEASE);
}

size_t kasan_ring_entries(void)
{
	const uint64_t mask = __atomic_load_n(&kasan_ring.mask, __ATOMIC_ACQUIRE);

	return kasan_ring.blocks == &no_blocks ? 0 : (size_t)mask + 1;
}

void kasan_ring_record(const void *ptr, size_t size, bool is_free, const struct kasan_track *track)
{
	kasan_ring_put(ptr, (uint32_t)size | (is_free ? KASAN_RING_FREE : 0), *track);
}

void kasan_ring_add(const void *ptr, size_t size, bool is_free, uintptr_t ip, uintptr_t fp)
{
	struct kasan_track track;

	kasan_set_track(&track, ip, fp);
	kasan_ring_record(ptr, size, is_free, &track);
}

/* Return: false if record @number is not, or not any more, there. */
static bool read_entry(const struct kasan_ring_entry *entry, uint64_t number,
		       struct kasan_ring_record *record)
{
	if (__atomic_load_n(&entry->seq, __ATOMIC_ACQUIRE) != number)
		return false;
	record->ptr = __atomic_load_n(&entry->ptr, __ATOMIC_RELAXED);
	record->track = *(const volatile struct kasan_track *)&entry->track;
	record->size = __atomic_load_n(&entry->size, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&entry->seq, __ATOMIC_RELAXED) != number)
		return false;
	record->is_free = record->size & KASAN_RING_FREE;
	record->size &= ~(size_t)KASAN_RING_FREE;
	return true;
}

bool kasan_ring_next(struct kasan_ring_cursor *cursor, struct kasan_ring_record *record)
{
	const size_t entries = kasan_ring_entries();

	while (cursor->number && cursor->passed < entries) {
		const uint64_t number = cursor->number--;

		cursor->passed++;
		if (read_entry(kasan_ring_entry_of(&kasan_ring, number, entries - 1), number,
			       record))
			return true;
	}
	return false;
}

bool kasan_ring_lives(const void *ptr)
{
	struct kasan_ring_cursor cursor;
	struct kasan_ring_record record;

	kasan_ring_each (&cursor, &record, kasan_ring_newest()) {
		if (kasan_untag_addr(record.ptr) == kasan_untag_addr((uintptr_t)ptr))
			return !record.is_free && record.ptr == (uintptr_t)ptr;
	}
	return false;
}

#endif /* CONFIG_KASAN_TAGS */
