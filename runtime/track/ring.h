/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the stack ring: the last allocations and frees of objects on all CPUs, in their order.
 *
 * The tag-based modes keep nothing beside a slab object. A report looks here, by address and pointer
 * tag, for the task that allocated it, the size, and the task that freed it.
 */
#ifndef KASAN_RING_H
#define KASAN_RING_H

#include "track.h"

extern unsigned int kasan_opt_stack_ring_size; /* kasan.stack_ring_size=, entries */

#ifdef CONFIG_KASAN_TAGS

/**
 * struct kasan_ring_record - one allocation or free
 * @ptr: the user's pointer to the object, with its tag.
 * @size: bytes asked for; at the free of a slab object the cache's object size.
 * @is_free: true for a free.
 * @track: task and stack.
 */
struct kasan_ring_record {
	uintptr_t ptr;
	size_t size;
	bool is_free;
	struct kasan_track track;
};

/** kasan_ring_add() - record an allocation or free, with the stack that starts at @ip, @fp. Takes no lock. Before
 *  kasan_ring_init(), or without memory for a ring, nothing happens. */
void kasan_ring_add(const void *ptr, size_t size, bool is_free, uintptr_t ip, uintptr_t fp);

/** kasan_ring_put() - the same for a caller that has its @track already. */
void kasan_ring_put(const void *ptr, size_t size, bool is_free, const struct kasan_track *track);

/** kasan_ring_init() - get memory for the ring; while there is not enough, try half as much. */
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

/** kasan_ring_next() - get the next older record; the first call gets the newest. Skips records that are
 *  overwritten meanwhile. Return: false if there is none. */
bool kasan_ring_next(struct kasan_ring_cursor *cursor, struct kasan_ring_record *record);

#endif /* CONFIG_KASAN_TAGS */
#endif /* KASAN_RING_H */
