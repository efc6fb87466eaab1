/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the stack ring: the last allocations and frees of objects, of all CPUs, in their order.
 *
 * The tag-based modes keep nothing beside a slab object. A report looks here, by address and pointer
 * tag, for the task that allocated it, with which size, and for the one that freed it.
 */
#ifndef KASAN_RING_H
#define KASAN_RING_H

#include "track.h"

extern unsigned int kasan_opt_stack_ring_size; /* kasan.stack_ring_size=, entries */

#ifdef CONFIG_KASAN_TAGS

/**
 * struct kasan_ring_record - one allocation or free
 * @ptr: the object as its user saw it: with its tag.
 * @size: bytes asked for; of a slab object's free the cache's object size.
 * @is_free: which of the two.
 * @track: who and from where.
 */
struct kasan_ring_record {
	uintptr_t ptr;
	size_t size;
	bool is_free;
	struct kasan_track track;
};

/** kasan_ring_add() - remember it, with the stack that starts at @ip, @fp. Takes no lock. Before
 *  kasan_ring_init(), or without memory for a ring, nothing happens. */
void kasan_ring_add(const void *ptr, size_t size, bool is_free, uintptr_t ip, uintptr_t fp);

/** kasan_ring_put() - the same for a caller that has its @track already. */
void kasan_ring_put(const void *ptr, size_t size, bool is_free, const struct kasan_track *track);

/** kasan_ring_init() - get memory for the ring, half as much again and again if there is not enough. */
void kasan_ring_init(void);

/** kasan_ring_entries() - Return: records that the ring holds at most. */
size_t kasan_ring_entries(void);

/** kasan_ring_lives() - does the newest record of the object at @ptr's address say that it was allocated
 *  with @ptr's tag? Walks through the ring: not for hot paths. */
bool kasan_ring_lives(const void *ptr);

/** struct kasan_ring_cursor - start with zeroes */
struct kasan_ring_cursor {
	uint64_t next;
	size_t left;
	bool started;
};

/** kasan_ring_next() - the next older record; the first call gives the newest. Records that are being
 *  overwritten meanwhile are left out. Return: false if there is none. */
bool kasan_ring_next(struct kasan_ring_cursor *cursor, struct kasan_ring_record *record);

#endif /* CONFIG_KASAN_TAGS */
#endif /* KASAN_RING_H */
