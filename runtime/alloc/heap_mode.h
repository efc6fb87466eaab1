/* SPDX-License-Identifier: MIT */
/*
 * heap_mode.h - where the modes differ in the life of a simple heap's chunk: its shadow or its tags. For heap.c alone.
 *
 *  kasan_heap_open()         write the shadow or the tags of the chunk [@raw, @end), which gets an object of @size bytes
 *                            at @object. Return: the program's pointer.
 *  kasan_heap_close()        turn the @size bytes at @ptr, whole granules, into freed memory.
 *  kasan_heap_close_rarely() the same, where small code counts more than speed.
 *  kasan_heap_closed_span()  Return: how many bytes to close of an object of @size bytes.
 *  kasan_heap_owns()         does the pointer belong to the header's object, and not to an earlier one?
 *  kasan_heap_remember()     record an allocation or a free in the ring of the tag modes.
 *  kasan_heap_tag_bits()     Return: a tag, shifted to its place in the header.
 */
#ifndef KASAN_HEAP_MODE_H
#define KASAN_HEAP_MODE_H

#include "heap_chunk.h"
#include "meta.h"

#include "../shadow/shadow.h"
#include "../tags/tags.h"
#include "../track/ring.h"
#include "../track/track.h"

static inline size_t kasan_heap_round_up(size_t size)
{
	return (size + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK;
}

#ifdef CONFIG_KASAN_GENERIC

#ifdef CONFIG_KASAN_SHADOW_COMPACT

static inline void *kasan_heap_open(struct kasan_heap_header *header, uintptr_t raw,
				    uintptr_t object, size_t size, uintptr_t end)
{
	(void)header;
	kasan_poison_chunk(raw, object, size, end);
	return (void *)object;
}

static inline void kasan_heap_close(const void *ptr, size_t size)
{
	kasan_poison_always(ptr, size, KASAN_SLAB_FREE);
}

#else

#define KASAN_HEAP_SMALL	 512U /* bytes, whose shadow is written without a call */
#define KASAN_HEAP_LEFT_GRANULES (KASAN_HEAP_LEFT / KASAN_GRANULE_SIZE)
/* Both ends of the left redzone are written by one store each, which may overlap. */
#if UINTPTR_MAX > UINT32_MAX || defined(CONFIG_KASAN_EXTRA_INFO)
typedef kasan_u32_any kasan_heap_left_end;
#else
typedef kasan_u16_any kasan_heap_left_end;
#endif
_Static_assert(KASAN_HEAP_LEFT_GRANULES >= sizeof(kasan_heap_left_end) &&
		       KASAN_HEAP_LEFT_GRANULES <= 2 * sizeof(kasan_heap_left_end),
	       "");
_Static_assert(KASAN_HEAP_LEFT_GRANULES >= 3, "zeros reach as far into it");

/* These are a few bytes each, of which only the middle grows with the object, so nothing is called. The zeros are
 * written from their end; the last word may reach three bytes into the left redzone, which is written after that. */
static kasan_always_inline void *kasan_heap_open(struct kasan_heap_header *header, uintptr_t raw,
						 uintptr_t object, size_t size, uintptr_t end)
{
	uint8_t *shadow, *first, *last, *at;

	(void)header;
	/* A heap may lie in several windows, or only partly in one. */
	if (kasan_unlikely(!kasan_shadow_run(raw, end - raw, &shadow) ||
			   object - raw != KASAN_HEAP_LEFT || size > KASAN_HEAP_SMALL)) {
		kasan_poison_chunk(raw, object, size, end);
		return (void *)object;
	}
	first = shadow + KASAN_HEAP_LEFT_GRANULES;
	last = first + (size >> KASAN_SHADOW_SCALE_SHIFT);
	for (at = last; at > first;) {
		at -= 4;
		kasan_opaque(at);
		*(kasan_u32_any *)at = 0;
	}
	*(kasan_heap_left_end *)shadow =
		(kasan_heap_left_end)(KASAN_HEAP_LEFT_REDZONE * 0x01010101U);
	((kasan_heap_left_end *)first)[-1] =
		(kasan_heap_left_end)(KASAN_HEAP_LEFT_REDZONE * 0x01010101U);
	if (size & KASAN_GRANULE_MASK)
		*last++ = (uint8_t)(size & KASAN_GRANULE_MASK);
	/* There is always one granule of redzone. */
	end = (uintptr_t)shadow + ((end - raw) >> KASAN_SHADOW_SCALE_SHIFT);
	do {
		*last++ = KASAN_SLAB_REDZONE;
		kasan_opaque(last);
	} while ((uintptr_t)last != end);
	return (void *)object;
}

static kasan_always_inline void kasan_heap_close(const void *ptr, size_t size)
{
	uint8_t *shadow;

	if (kasan_likely(kasan_shadow_run((uintptr_t)ptr, size, &shadow)))
		kasan_fill(shadow, KASAN_SLAB_FREE, size >> KASAN_SHADOW_SCALE_SHIFT);
	else
		kasan_poison_always(ptr, size, KASAN_SLAB_FREE);
}

#endif

static inline void kasan_heap_close_rarely(const void *ptr, size_t size)
{
	kasan_poison_always(ptr, size, KASAN_SLAB_FREE);
}

static inline size_t kasan_heap_closed_span(size_t size)
{
	return kasan_heap_round_up(size);
}

static inline bool kasan_heap_owns(const struct kasan_heap_header *header, const void *ptr)
{
	(void)header;
	(void)ptr;
	return true;
}

static inline void kasan_heap_remember(const struct kasan_heap_header *header,
				       const struct kasan_track *track, bool is_free)
{
	(void)header;
	(void)track;
	(void)is_free;
}

static inline kasan_heap_word kasan_heap_tag_bits(uint8_t tag)
{
	(void)tag;
	return 0;
}

#else

/* The header's granules and those after the object have no owner. The tag of the last object with a header here is not
 * used again. If the memory held something else before, the stale tag does no harm. */
static inline kasan_heap_word kasan_heap_tag_bits(uint8_t tag)
{
	return (kasan_heap_word)tag << KASAN_HEAP_TAG_SHIFT;
}

static inline void *kasan_heap_open(struct kasan_heap_header *header, uintptr_t raw,
				    uintptr_t object, size_t size, uintptr_t end)
{
	const size_t closed = KASAN_HEAP_LEFT + (size ? 0 : KASAN_GRANULE_SIZE);
	const uint8_t before = kasan_heap_tag(header);
	uint8_t tag = KASAN_TAG_KERNEL, state;

	(void)raw;
	header->state &= (kasan_heap_word)~kasan_heap_tag_bits(0xff);
	end &= ~(uintptr_t)KASAN_GRANULE_MASK;
	if (kasan_on() && kasan_tags_read(object, &state)) {
		tag = kasan_tag_avoiding(before, KASAN_TAG_INVALID, KASAN_TAG_INVALID);
		object = kasan_tag_addr(object, tag);
		kasan_tags_fill(object - KASAN_HEAP_LEFT, closed, KASAN_TAG_INVALID);
		kasan_poison_tail((void *)object, size, end - kasan_untag_addr(object),
				  KASAN_SLAB_REDZONE);
	}
	header->state |= kasan_heap_tag_bits(tag);
	return (void *)object;
}

static inline void kasan_heap_close(const void *ptr, size_t size)
{
	kasan_poison(ptr, size, KASAN_SLAB_FREE);
}

#define kasan_heap_close_rarely kasan_heap_close

/* An object of 0 bytes also has a granule, which holds its owner's tag. */
static inline size_t kasan_heap_closed_span(size_t size)
{
	return kasan_heap_round_up(size ? size : 1);
}

/* A pointer without a tag matches all memory, so it may free everything. */
static inline bool kasan_heap_owns(const struct kasan_heap_header *header, const void *ptr)
{
	return ptr == kasan_reset_tag(ptr) || kasan_get_tag(ptr) == kasan_heap_tag(header);
}

/* Reports look for a pointer's object in the ring, by its tag. */
static inline void kasan_heap_remember(const struct kasan_heap_header *header,
				       const struct kasan_track *track, bool is_free)
{
	const uintptr_t object = (uintptr_t)header + KASAN_HEAP_LEFT;
	const uint8_t tag = kasan_heap_tag(header);

	if (kasan_opt_stacktrace && tag != KASAN_TAG_KERNEL)
		kasan_ring_record((const void *)kasan_tag_addr(object, tag), header->size, is_free,
				  track);
}

#endif

#endif /* KASAN_HEAP_MODE_H */
