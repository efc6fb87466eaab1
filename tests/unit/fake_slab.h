/* SPDX-License-Identifier: MIT */
/*
 * fake_slab.h - a slab allocator of one slab per cache, for tests of the slab hooks.
 *
 * It uses the runtime as the reference kernel's allocator does, and does nothing else: slots in a row, a free list
 * outside the slots, and kasan_port_find_object() for reports.
 */
#ifndef FAKE_SLAB_H
#define FAKE_SLAB_H

#include "unit.h"

#define FAKE_SLAB_SLOTS 256

struct fake_slab {
	struct kasan_cache cache; /* first, so that @release finds the slab */
	char *memory;
	size_t memory_size;
	uint32_t slot_size;
	unsigned int slots;
	unsigned int free_list[FAKE_SLAB_SLOTS];
	unsigned int free_count;
	/* The objects that the quarantine gave back, in this order. */
	void *released[FAKE_SLAB_SLOTS * 64];
	unsigned int release_count;
	struct fake_slab *next;
};

/** fake_slab_create() - make a cache of @slots objects of @size bytes. @flags: KASAN_CACHE_*. */
struct fake_slab *fake_slab_create(const char *name, uint32_t size, uint32_t align, uint32_t flags,
				   unsigned int slots);

/** fake_slab_alloc() - Return: an object of @size bytes, NULL if no slot is free. */
void *fake_slab_alloc(struct fake_slab *slab, size_t size);

/** fake_slab_free() - pass @object to kasan_slab_free(), and do what the verdict says. */
enum kasan_free_verdict fake_slab_free(struct fake_slab *slab, void *object);

/** fake_slab_put() - put @slot on the free list without calling a hook, as a release callback does. */
void fake_slab_put(struct fake_slab *slab, void *slot);

/** fake_slab_slot() - Return: the start of the slot that holds @addr. */
void *fake_slab_slot(const struct fake_slab *slab, const void *addr);

/** fake_slab_forget() - forget all fake slabs: no address belongs to one then. Their memory stays allocated. */
void fake_slab_forget(void);

#endif
