/* SPDX-License-Identifier: MIT */
/*
 * heap_find.c - finds the chunk of a simple heap that holds an address, for frees and for reports.
 *
 * With shadow an object starts where a run of KASAN_HEAP_LEFT_REDZONE bytes ends. Memory tags do not show that, because
 * all memory without an owner has the same tag; there a chunk is found by its header, whose granules have no owner and
 * whose checksum depends on its address.
 */
#include "heap_chunk.h"

#include "../base/up.h"
#include "../shadow/compact.h"
#include "../shadow/shadow.h"
#include "../tags/tags.h"

#ifdef CONFIG_KASAN

/* Reports search with interrupts off, so all searches of one report together have a bound, about ten million
 * instructions. In Generic mode a step covers 64 accessible granules or eight others: 256 MiB inside one object. With
 * tags a step is one granule: 8 MiB of memory with owners. Later searches always have a few steps left. */
#define SEARCH_STEPS (1U << 19)
#define SEARCH_LEAST 128U
/* The steps that a granule without an owner costs, because a header may lie there. */
#define HEADER_STEPS 8U
/* How many chunks a search may pass: those of a heap that lies inside the chunk it is looking for. */
#define SEARCH_CHUNKS 1024U

/* Small systems have no such large objects, and little flash. */
#define WIDE_STEPS (UINTPTR_MAX > UINT32_MAX)

/* The report lock guards this. */
static unsigned int report_steps;

void kasan_heap_new_report(void)
{
	report_steps = SEARCH_STEPS;
}

static unsigned int *steps_of_report(void)
{
	if (report_steps < SEARCH_LEAST)
		report_steps = SEARCH_LEAST;
	return &report_steps;
}

/* --- Headers --- */

/* Return: the heap that has the number in @header and has had chunks there; NULL if there is none. */
static struct kasan_heap *heap_of(const struct kasan_heap_header *header)
{
	struct kasan_heap *heap = __atomic_load_n(&kasan_heaps, __ATOMIC_ACQUIRE);
	const unsigned int number = kasan_heap_number(header);

	for (; heap; heap = heap->next) {
		if (heap->number == number &&
		    (uintptr_t)header >= __atomic_load_n(&heap->low, __ATOMIC_RELAXED) &&
		    (uintptr_t)header < __atomic_load_n(&heap->high, __ATOMIC_RELAXED))
			return heap;
	}
	return NULL;
}

bool kasan_heap_place(const struct kasan_heap_header *header, struct kasan_heap_place *place)
{
	const unsigned int life = kasan_heap_life(header);

	if ((life != KASAN_HEAP_LIVE && life != KASAN_HEAP_FREED) ||
	    kasan_heap_align(header) < KASAN_GRANULE_SIZE)
		return false;
	place->heap = heap_of(header);
	if (!place->heap ||
	    /* A flipped bit may claim a padding where there is not even memory. */
	    (header->state & KASAN_HEAP_PADDED &&
	     !kasan_port_readable((const struct kasan_heap_padding *)header - 1,
				  sizeof(struct kasan_heap_padding))) ||
	    !kasan_heap_place_in(header, place))
		return false;
	/* Test this before the track is read, because a size that a bug wrote may lead anywhere. */
	if (place->span < header->size ||
	    place->raw + place->span - place->heap->low > place->heap->high - place->heap->low ||
	    (life == KASAN_HEAP_FREED &&
	     !kasan_port_readable(place->free_track, sizeof(*place->free_track))))
		return false;
	return header->check == kasan_heap_seal(header, place->free_track);
}

/* Fills in the bounds of all heaps that may have a chunk at @addr. A search stays inside, because beyond them there may
 * be terabytes of shadow that says "accessible" by default. Return: false if no heap may have one. */
static bool find_bounds(uintptr_t addr, uintptr_t *low, uintptr_t *high)
{
	const struct kasan_heap *heap = __atomic_load_n(&kasan_heaps, __ATOMIC_ACQUIRE);

	for (*low = UINTPTR_MAX, *high = 0; heap; heap = heap->next) {
		const uintptr_t start = __atomic_load_n(&heap->low, __ATOMIC_RELAXED);
		const uintptr_t end = __atomic_load_n(&heap->high, __ATOMIC_RELAXED);

		if (addr < start || addr >= end)
			continue;
		*low = start < *low ? start : *low;
		*high = end > *high ? end : *high;
	}
	return *low < *high;
}

static void fill_chunk(struct kasan_heap_chunk *chunk, uintptr_t start,
		       const struct kasan_heap_header *header, const struct kasan_heap_place *place)
{
	__memset(chunk, 0, sizeof(*chunk));
	chunk->heap = place->heap;
	chunk->start = start;
	chunk->raw = place->raw;
	chunk->span = place->span;
	chunk->size = header->size;
	chunk->freed = kasan_heap_life(header) == KASAN_HEAP_FREED;
	chunk->alloc_track = header->alloc_track;
	if (chunk->freed)
		chunk->free_track = *place->free_track;
#ifdef CONFIG_KASAN_TAGS
	chunk->tag = kasan_heap_tag(header);
#endif
}

#ifdef CONFIG_KASAN_GENERIC

/* --- By the shadow --- */

#ifdef CONFIG_KASAN_SHADOW_COMPACT
static inline bool shadow_is(uintptr_t addr, uint8_t value)
{
	enum kasan_code code;

	return kasan_code_at(addr, &code) && kasan_code_value(code) == value;
}
#else
static inline bool shadow_is(uintptr_t addr, uint8_t value)
{
	uint8_t *shadow;

	return kasan_shadow_at(addr, &shadow) && *shadow == value;
}
#endif

/* Is the shadow at @addr @value? A yes takes one of @steps; without steps the answer is no. */
static bool step_is(uintptr_t addr, uint8_t value, unsigned int *steps)
{
	if (!*steps || !shadow_is(addr, value))
		return false;
	--*steps;
	return true;
}

/* If another heap's chunk starts at the very start of the object, the two left redzones look like one, and the header
 * decides. */
#ifdef CONFIG_KASAN_SHADOW_COMPACT
bool kasan_heap_is_start(uintptr_t object)
{
	struct kasan_heap_place place;

	return !(object & KASAN_GRANULE_MASK) &&
	       shadow_is(object - KASAN_GRANULE_SIZE, KASAN_HEAP_LEFT_REDZONE) &&
	       shadow_is(object - KASAN_HEAP_LEFT, KASAN_HEAP_LEFT_REDZONE) &&
	       (!shadow_is(object, KASAN_HEAP_LEFT_REDZONE) ||
		kasan_heap_place(kasan_heap_header_of((void *)object), &place));
}

unsigned int kasan_last_bytes(uintptr_t granule)
{
	const struct kasan_heap_header *header;
	struct kasan_heap_place place;
	uintptr_t left, size;

	/* From the left redzone up to the last granule, all of the object is accessible. */
	left = granule < KASAN_GRANULE_SIZE ? 0
					    : kasan_closed_below(granule - KASAN_GRANULE_SIZE, 0);
	if (!left || !shadow_is(left, KASAN_HEAP_LEFT_REDZONE) ||
	    !kasan_heap_is_start(left + KASAN_GRANULE_SIZE))
		return 0;
	header = kasan_heap_header_of((void *)(left + KASAN_GRANULE_SIZE));
	/* The header was overwritten: rather miss a bug than report a correct access. */
	if (!kasan_heap_place(header, &place))
		return KASAN_GRANULE_MASK;
	if (kasan_heap_life(header) != KASAN_HEAP_LIVE)
		return 0;
	size = header->size - (granule - left - KASAN_GRANULE_SIZE);
	return size < KASAN_GRANULE_SIZE ? (unsigned int)size : 0;
}

/* Return: how many bytes from @object on, at most @max, have the shadow @value. */
static size_t run_of(uintptr_t object, size_t max, uint8_t value, unsigned int *steps)
{
	size_t size = 0;

	while (size < max && step_is(object + size, value, steps))
		size += KASAN_GRANULE_SIZE;
	return size;
}

/* Only whole granules are known. */
static size_t rest_of(uintptr_t granule)
{
	(void)granule;
	return 0;
}

/* Where the next left redzone at or below @at ends, down to @limit; 0 if there is none within @steps, which is lowered. */
static uintptr_t end_of_redzone_below(uintptr_t at, uintptr_t limit, unsigned int *steps)
{
	/* One step for each byte of shadow. */
	const uintptr_t reach = (uintptr_t)*steps << KASAN_WINDOW_SHIFT;
	const uintptr_t from = at;

	if (at - limit > reach)
		limit = at - reach;
	for (; at > limit; at -= KASAN_GRANULE_SIZE) {
		at = kasan_closed_below(at, limit);
		if (!at)
			break;
		if (shadow_is(at, KASAN_HEAP_LEFT_REDZONE)) {
			*steps -= (unsigned int)((from - at) >> KASAN_WINDOW_SHIFT);
			return at + KASAN_GRANULE_SIZE;
		}
	}
	*steps -= (unsigned int)((from - limit) >> KASAN_WINDOW_SHIFT);
	return 0;
}
#else
/* Not inlined, so that the common answer needs no room on the stack. */
static kasan_cold bool has_header(uintptr_t object)
{
	struct kasan_heap_place place;

	return kasan_heap_place(kasan_heap_header_of((void *)object), &place);
}

bool kasan_heap_is_start(uintptr_t object)
{
	const unsigned int granules = KASAN_HEAP_LEFT / KASAN_GRANULE_SIZE;
	uint8_t *shadow;

	/* Includes the object's own granule, because its chunk has a redzone after the object. */
	if ((object & KASAN_GRANULE_MASK) ||
	    !kasan_shadow_run(object - KASAN_HEAP_LEFT, KASAN_HEAP_LEFT + 1, &shadow) ||
	    shadow[0] != KASAN_HEAP_LEFT_REDZONE || shadow[granules - 1] != KASAN_HEAP_LEFT_REDZONE)
		return false;
	if (kasan_likely(shadow[granules] != KASAN_HEAP_LEFT_REDZONE))
		return true;
	return has_header(object);
}

static size_t run_of(uintptr_t object, size_t max, uint8_t value, unsigned int *steps)
{
	const uint64_t word = value * 0x0101010101010101ULL;
	uint8_t *shadow, *last;
	size_t size = 0;

	while (size < max && step_is(object + size, value, steps)) {
		if (WIDE_STEPS && max - size >= 8 * KASAN_GRANULE_SIZE &&
		    kasan_shadow_at(object + size, &shadow) &&
		    kasan_shadow_at(object + size + 7 * KASAN_GRANULE_SIZE, &last) &&
		    last == shadow + 7 && KASAN_WORD(shadow, 0) == word)
			size += 8 * KASAN_GRANULE_SIZE;
		else
			size += KASAN_GRANULE_SIZE;
	}
	return size < max ? size : max;
}

/* Return: how many bytes of a partly accessible granule are accessible. */
static size_t rest_of(uintptr_t granule)
{
	uint8_t *shadow;

	return kasan_shadow_at(granule, &shadow) && *shadow < KASAN_GRANULE_SIZE ? *shadow : 0;
}

/* Does one of the eight shadow bytes belong to a left redzone? */
static inline bool has_left(uint64_t shadow)
{
	const uint64_t other = shadow ^ KASAN_HEAP_LEFT_REDZONE * 0x0101010101010101ULL;

	return (other - 0x0101010101010101ULL) & ~other & 0x8080808080808080ULL;
}

/* Where the next left redzone at or below @at ends, down to @limit; 0 if there is none within @steps, which is lowered. */
static uintptr_t end_of_redzone_below(uintptr_t at, uintptr_t limit, unsigned int *steps)
{
	uint8_t *shadow, *first;

	for (; at > limit && *steps && kasan_shadow_at(at, &shadow); --*steps) {
		const uintptr_t room = (at - limit) / KASAN_GRANULE_SIZE;

		/* The inside of a large object, or memory outside of heaps. Its user may have poisoned it with any
		 * value. */
		if (WIDE_STEPS && room > 64 &&
		    kasan_shadow_at(at - 63 * KASAN_GRANULE_SIZE, &first) && first == shadow - 63 &&
		    !KASAN_WORDS8(first)) {
			at -= 64 * KASAN_GRANULE_SIZE;
		} else if (room > 8 && kasan_shadow_at(at - 7 * KASAN_GRANULE_SIZE, &first) &&
			   first == shadow - 7 && !has_left(KASAN_WORD(first, 0))) {
			at -= 8 * KASAN_GRANULE_SIZE;
		} else {
			if (*shadow == KASAN_HEAP_LEFT_REDZONE)
				return at + KASAN_GRANULE_SIZE;
			at -= KASAN_GRANULE_SIZE;
		}
	}
	return 0;
}

#endif

/* The object at @start has lost its header, so the shadow alone describes it. */
static void describe_by_shadow(struct kasan_heap_chunk *chunk, uintptr_t start, uintptr_t end,
			       unsigned int *steps)
{
	uintptr_t low = start, high;

	chunk->freed = shadow_is(start, KASAN_SLAB_FREE);
	chunk->size = run_of(start, end - start, chunk->freed ? KASAN_SLAB_FREE : 0, steps);
	if (!chunk->freed && chunk->size < end - start)
		chunk->size += rest_of(start + chunk->size);
	while (step_is(low - KASAN_GRANULE_SIZE, KASAN_HEAP_LEFT_REDZONE, steps))
		low -= KASAN_GRANULE_SIZE;
	high = start + ((chunk->size + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK);
	high += run_of(high, end - high, KASAN_SLAB_REDZONE, steps);
	chunk->raw = low;
	chunk->span = high - low;
}

static void describe_chunk(struct kasan_heap_chunk *chunk, uintptr_t start, uintptr_t end,
			   unsigned int *steps)
{
	const struct kasan_heap_header *header = kasan_heap_header_of((void *)start);
	struct kasan_heap_place place;

	if (kasan_heap_place(header, &place)) {
		fill_chunk(chunk, start, header, &place);
		return;
	}
	__memset(chunk, 0, sizeof(*chunk));
	chunk->start = start;
	describe_by_shadow(chunk, start, end, steps);
}

/* As kasan_heap_lookup(). @tries: give up after so many chunks that do not hold @addr. @steps: see
 * end_of_redzone_below(). */
static bool lookup(uintptr_t addr, struct kasan_heap_chunk *chunk, unsigned int tries,
		   unsigned int *steps)
{
	uintptr_t at = addr & ~KASAN_GRANULE_MASK, limit, high, start;

	if (!find_bounds(addr, &limit, &high))
		return false;
	/* In a left redzone the object starts where that ends. */
	while (shadow_is(at + KASAN_GRANULE_SIZE, KASAN_HEAP_LEFT_REDZONE) &&
	       step_is(at, KASAN_HEAP_LEFT_REDZONE, steps))
		at += KASAN_GRANULE_SIZE;
	for (; tries; tries--) {
		start = end_of_redzone_below(at, limit, steps);
		if (!start)
			return false;
		at = start - KASAN_GRANULE_SIZE;
		if (kasan_heap_is_start(start) &&
		    kasan_port_readable(kasan_heap_header_of((void *)start),
					sizeof(struct kasan_heap_header))) {
			describe_chunk(chunk, start, high, steps);
			if (addr - chunk->raw < chunk->span)
				return true;
			/* A header with a valid checksum that still says this would lead nowhere. */
			if (chunk->raw > at)
				return false;
			at = chunk->raw;
		}
		if (at <= limit)
			return false;
		at -= KASAN_GRANULE_SIZE;
	}
	return false;
}

#else

/* --- By memory tags --- */

/* Without tags all memory of a heap may be a header: trust the program. */
static bool has_no_owner(uintptr_t granule)
{
	uint8_t state;

	if (!kasan_on())
		return true;
	return kasan_tags_read(granule, &state) ? state == KASAN_TAG_INVALID
						: kasan_port_readable((void *)granule, 1);
}

bool kasan_heap_is_start(uintptr_t object)
{
	uintptr_t low, high;

	return !(object & KASAN_GRANULE_MASK) && find_bounds(object, &low, &high) &&
	       object - low >= KASAN_HEAP_LEFT && has_no_owner(object - KASAN_GRANULE_SIZE) &&
	       has_no_owner(object - KASAN_HEAP_LEFT);
}

/* Return: the header of the object at @start, its own or one that an earlier object left there; NULL if there is none.
 * @place: filled. */
static const struct kasan_heap_header *find_header(uintptr_t start, struct kasan_heap_place *place)
{
	const struct kasan_heap_header *header = kasan_heap_header_of((void *)start);

	if (!kasan_heap_is_start(start) || !kasan_port_readable(header, sizeof(*header)) ||
	    !kasan_heap_place(header, place))
		return NULL;
	return header;
}

/* @tries: 1: give up at a live chunk that does not hold @addr. @steps: the search ends with them, and they are
 * lowered. */
static bool lookup(uintptr_t addr, struct kasan_heap_chunk *chunk, unsigned int tries,
		   unsigned int *steps)
{
	const uintptr_t granule = addr & ~(uintptr_t)KASAN_GRANULE_MASK;
	const struct kasan_heap_header *header;
	struct kasan_heap_place place;
	uintptr_t at, first, high;

	if (!find_bounds(addr, &first, &high))
		return false;
	/* Without tags a header may be anywhere, so look only for the object that starts here. */
	if (!kasan_on())
		first = granule;
	/* Start above the address, because it may lie in a left redzone. Freed chunks may leave headers where other
	 * chunks are now, and a heap may lie inside a chunk of another one, so the first chunk that holds the address
	 * counts. */
	for (at = granule + KASAN_HEAP_LEFT; at >= first && *steps;
	     at -= KASAN_GRANULE_SIZE, --*steps) {
		if (!has_no_owner(at - KASAN_GRANULE_SIZE))
			continue;
		*steps = *steps > HEADER_STEPS ? *steps - HEADER_STEPS : 1;
		header = find_header(at, &place);
		if (header && addr - place.raw < place.span) {
			fill_chunk(chunk, at, header, &place);
			return true;
		}
		if (header && tries == 1 && at <= addr &&
		    kasan_heap_life(header) == KASAN_HEAP_LIVE)
			return false;
	}
	return false;
}

bool kasan_heap_name_at(uintptr_t addr, const char **name)
{
	const struct kasan_heap *heap = __atomic_load_n(&kasan_heaps, __ATOMIC_ACQUIRE);

	for (; heap; heap = heap->next) {
		if (addr >= __atomic_load_n(&heap->low, __ATOMIC_RELAXED) &&
		    addr < __atomic_load_n(&heap->high, __ATOMIC_RELAXED)) {
			*name = heap->name;
			return true;
		}
	}
	return false;
}

#endif

bool kasan_heap_lookup(uintptr_t addr, struct kasan_heap_chunk *chunk)
{
	return lookup(addr, chunk, SEARCH_CHUNKS, steps_of_report());
}

/* An early chunk contains no other heap, so only the nearest chunk can hold it. */
bool kasan_heap_holds(uintptr_t addr)
{
	struct kasan_heap_chunk chunk;
	unsigned int steps = SEARCH_STEPS;

	return lookup(addr, &chunk, 1, &steps);
}

#endif /* CONFIG_KASAN */
