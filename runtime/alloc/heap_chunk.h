/* SPDX-License-Identifier: MIT */
/* heap_chunk.h - the header of a simple heap's chunk: heap.c writes it, and heap_find.c trusts it if its checksum
 * fits. */
#ifndef KASAN_HEAP_CHUNK_H
#define KASAN_HEAP_CHUNK_H

#include "meta.h"

/* States of a chunk. No header has another value. */
#define KASAN_HEAP_LIVE	 1U
#define KASAN_HEAP_FREED 2U
#define KASAN_HEAP_TURN	 (KASAN_HEAP_LIVE ^ KASAN_HEAP_FREED) /* from one to the other */

/*
 * On small systems every byte of the header counts, so it holds only what cannot be computed. The start and span of the
 * raw chunk follow from size and alignment. The track of the free lies at the end of the object's redzone, which is not
 * needed any more once the object is freed.
 *
 * Bits of @state, from the lowest: 2 for KASAN_HEAP_LIVE or _FREED, 1 for KASAN_HEAP_PADDED, then log2 of the
 * alignment, the heap's number, and in the tag modes the tag of the object's pointer.
 */
#if UINTPTR_MAX > UINT32_MAX
typedef uint32_t kasan_heap_word;
#define KASAN_HEAP_ALIGN_BITS  6
#define KASAN_HEAP_NUMBER_BITS 15
#else
typedef uint16_t kasan_heap_word;
#define KASAN_HEAP_ALIGN_BITS  5
#define KASAN_HEAP_NUMBER_BITS 8
#endif
#define KASAN_HEAP_PADDED	4U
#define KASAN_HEAP_ALIGN_SHIFT	3
#define KASAN_HEAP_NUMBER_SHIFT (KASAN_HEAP_ALIGN_SHIFT + KASAN_HEAP_ALIGN_BITS)
#define KASAN_HEAP_TAG_SHIFT	(KASAN_HEAP_NUMBER_SHIFT + KASAN_HEAP_NUMBER_BITS)
#define KASAN_HEAP_NUMBERS	(1U << KASAN_HEAP_NUMBER_BITS)

/**
 * struct kasan_heap_header - @size: bytes asked for. @check: covers all other members, the header's address, and the
 * track of the free.
 */
struct kasan_heap_header {
	size_t size;
	struct kasan_track alloc_track;
	kasan_heap_word state;
	kasan_heap_word check;
};

/* From the header to its object: whole granules, with at least 8 bytes between the two. */
#define KASAN_HEAP_GAP 8U
#define KASAN_HEAP_LEFT                                                             \
	((sizeof(struct kasan_heap_header) + KASAN_HEAP_GAP + KASAN_GRANULE_MASK) & \
	 ~(size_t)KASAN_GRANULE_MASK)

/* Lies right before the header of a chunk that starts this many bytes earlier, because its object is aligned. */
struct kasan_heap_padding {
	uint32_t bytes, inverse;
};

extern struct kasan_heap *kasan_heaps;

static inline struct kasan_heap_header *kasan_heap_header_of(const void *object)
{
	return (struct kasan_heap_header *)(kasan_untag_addr((uintptr_t)object) - KASAN_HEAP_LEFT);
}

static inline unsigned int kasan_heap_life(const struct kasan_heap_header *header)
{
	return header->state & 3U;
}

static inline size_t kasan_heap_align(const struct kasan_heap_header *header)
{
	return (size_t)1 << (header->state >> KASAN_HEAP_ALIGN_SHIFT &
			     ((1U << KASAN_HEAP_ALIGN_BITS) - 1));
}

static inline unsigned int kasan_heap_number(const struct kasan_heap_header *header)
{
	return header->state >> KASAN_HEAP_NUMBER_SHIFT & (KASAN_HEAP_NUMBERS - 1);
}

static inline uint8_t kasan_heap_tag(const struct kasan_heap_header *header)
{
#ifdef CONFIG_KASAN_TAGS
	return (uint8_t)(header->state >> KASAN_HEAP_TAG_SHIFT);
#else
	(void)header;
	return 0;
#endif
}

/** kasan_heap_seal_start() - Return: the part of @header's checksum that does not change during the object's life. */
static kasan_always_inline uint32_t kasan_heap_seal_start(const struct kasan_heap_header *header)
{
	uint32_t hash = (uint32_t)(uintptr_t)header ^ (uint32_t)header->size;

#if UINTPTR_MAX > UINT32_MAX
	hash ^= (uint32_t)(header->size >> 32) * KASAN_SEAL_FACTOR;
#endif
	hash = hash * KASAN_SEAL_FACTOR + header->alloc_track.pid;
	return hash * KASAN_SEAL_FACTOR + header->alloc_track.stack;
}

/** kasan_heap_seal_end() - Return: the checksum from the part @hash and @state. @free: track of the free; NULL: not
 *  freed. */
static kasan_always_inline kasan_heap_word kasan_heap_seal_end(uint32_t hash, kasan_heap_word state,
							       const struct kasan_track *free)
{
	hash = hash * KASAN_SEAL_FACTOR + state;
	if (free) {
		hash = hash * KASAN_SEAL_FACTOR + free->pid;
		hash = hash * KASAN_SEAL_FACTOR + free->stack;
	}
	hash *= KASAN_SEAL_FACTOR;
	return (kasan_heap_word)(hash >> (32 - 8 * sizeof(kasan_heap_word)));
}

/**
 * kasan_heap_seal() - Return: the checksum that fits @header. @free: the track of the free, if it is freed.
 *
 * It is a polynomial in an odd factor, so no changed bit is lost on its way to the upper bits, which are the result.
 */
static kasan_always_inline kasan_heap_word kasan_heap_seal(const struct kasan_heap_header *header,
							   const struct kasan_track *free)
{
	return kasan_heap_seal_end(kasan_heap_seal_start(header), header->state,
				   kasan_heap_life(header) == KASAN_HEAP_FREED ? free : NULL);
}

/**
 * struct kasan_heap_place - where a chunk with a valid header lies. @free_track: the track of the free, if it is freed.
 */
struct kasan_heap_place {
	struct kasan_heap *heap;
	uintptr_t raw;
	size_t span;
	struct kasan_track *free_track;
};

/** kasan_heap_chunk_span() - kasan_heap_span() for a @size that was given out. @align: at least a granule. */
static inline size_t kasan_heap_chunk_span(const struct kasan_heap *heap, size_t size, size_t align)
{
	/* A neighbour may share the chunk's last granule. */
	return (KASAN_HEAP_LEFT + heap->redzone + KASAN_GRANULE_MASK + (KASAN_GRANULE_SIZE - 8) +
		(align - 8) + size) &
	       ~(size_t)7;
}

/** kasan_heap_place_in() - fill @place from @header, which can be read, if it is one of @place->heap. Does not look at
 *  the checksum. Return: false if the header's place is impossible. */
static kasan_always_inline bool kasan_heap_place_in(const struct kasan_heap_header *header,
						    struct kasan_heap_place *place)
{
	const struct kasan_heap_padding *padding = (const struct kasan_heap_padding *)header - 1;
	const size_t align = kasan_heap_align(header);

	place->raw = (uintptr_t)header;
	if (kasan_unlikely(header->state & KASAN_HEAP_PADDED)) {
		if (padding->bytes != ~padding->inverse || padding->bytes >= align)
			return false;
		place->raw -= padding->bytes;
	}
	place->span = kasan_heap_chunk_span(place->heap, header->size, align);
	place->free_track = (struct kasan_track *)(place->raw + place->span) - 1;
	return true;
}

/** kasan_heap_place() - fill @place from @header, which can be read. Return: false if it is not a header: heap, place
 *  and checksum do not fit together. */
bool kasan_heap_place(const struct kasan_heap_header *header, struct kasan_heap_place *place);

/** kasan_heap_is_start() - may an object start at @object, so that its header may be read? */
bool kasan_heap_is_start(uintptr_t object);

/** kasan_heap_holds() - does @addr, the start of a chunk with a header or of an early chunk, lie in a chunk with a
 *  header? */
bool kasan_heap_holds(uintptr_t addr);

#endif /* KASAN_HEAP_CHUNK_H */
