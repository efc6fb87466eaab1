/* SPDX-License-Identifier: MIT */
/*
 * heap.h - the header of a simple heap's chunk: heap.c writes it, and heap_find.c believes it if its
 * checksum fits.
 */
#ifndef KASAN_ALLOC_HEAP_H
#define KASAN_ALLOC_HEAP_H

#include "meta.h"

#define KASAN_HEAP_LIVE	 0x6c697665U /* "live" */
#define KASAN_HEAP_FREED 0x66726565U /* "free" */

struct kasan_heap_header {
	uint32_t magic; /* KASAN_HEAP_LIVE, KASAN_HEAP_FREED */
	uint32_t check; /* of all other words and of the header's address */
	struct kasan_heap *heap;
	void *raw;
	size_t span;
	size_t size;
	struct kasan_track alloc_track;
	struct kasan_track free_track;
#ifdef CONFIG_KASAN_TAGS
	uint32_t tag; /* of the object's pointer; KASAN_TAG_KERNEL: no tag */
#endif
};

/* From the header to its object: whole granules, and the header ends at least 8 bytes before the object. */
#define KASAN_HEAP_GAP 8U
#define KASAN_HEAP_LEFT                                                             \
	((sizeof(struct kasan_heap_header) + KASAN_HEAP_GAP + KASAN_GRANULE_MASK) & \
	 ~(size_t)KASAN_GRANULE_MASK)

/* All heaps that were added. */
extern struct kasan_heap *kasan_heaps;

static inline struct kasan_heap_header *kasan_heap_header_of(const void *object)
{
	return (struct kasan_heap_header *)(kasan_untag_addr((uintptr_t)object) - KASAN_HEAP_LEFT);
}

/** kasan_heap_check() - Return: the checksum that fits @header. */
uint32_t kasan_heap_check(const struct kasan_heap_header *header);

/** kasan_heap_valid() - does the checksum of @header, which can be read, fit? */
bool kasan_heap_valid(const struct kasan_heap_header *header);

/** kasan_heap_is_start() - may an object start at @object, so that its header may be read? */
bool kasan_heap_is_start(uintptr_t object);

/** kasan_heap_holds() - does @addr, the start of a chunk with a header or of an early chunk, lie in a chunk
 *  with a header? */
bool kasan_heap_holds(uintptr_t addr);

/* --- fifo.c --- */

/**
 * struct kasan_held - one chunk in a quarantine
 * @object: the chunk to release.
 * @info: its bytes.
 */
struct kasan_held {
	void *object;
	uintptr_t info;
};

/*
 * The caller's lock protects a fifo. Its entries live in pages of kasan_port_alloc(), beside the
 * objects and not inside them: a write after free must not be able to break the queue.
 */

/** kasan_fifo_push() - append. @bytes: its share of the bound. Return: false if there is no memory. */
bool kasan_fifo_push(struct kasan_fifo *fifo, void *object, uintptr_t info, size_t bytes);

/** kasan_fifo_pop() - take the oldest. The caller subtracts its bytes. Return: false if empty. */
bool kasan_fifo_pop(struct kasan_fifo *fifo, struct kasan_held *out);

#endif /* KASAN_ALLOC_HEAP_H */
