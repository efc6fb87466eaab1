/* SPDX-License-Identifier: MIT */
/*
 * heap.c - simple heaps: a malloc that hands out raw chunks and knows nothing but pointers.
 *
 *	raw                        object
 *	| left redzone: header, gap | size bytes | slack | right redzone |
 *
 * The header sits in the left redzone, 8 bytes away from the object so that the commonest
 *underflows leave it whole, and carries a checksum. Objects are found by address from the shadow
 *alone, which no bug in checked code can write: the run of KASAN_HEAP_LEFT_REDZONE bytes ends where
 *the object starts. So there is no list of live objects that a bug could cut.
 *
 * Firmware allocates before it has shadow. Such early chunks are raw, for as long as they live: they
 * have no redzones, and their users keep pointers, so nothing can be put around them later. They are
 * recognised when they come back: in the range where early chunks were handed out, and part of no chunk
 * that has a header.
 */
#include "meta.h"

#include "../core/lock.h"
#include "../core/shadow.h"
#include "../track/track.h"

#ifdef CONFIG_KASAN_GENERIC

#define HEADER_MAGIC_LIVE  0x6c697665U
#define HEADER_MAGIC_FREED 0x66726565U
#define HEADER_GAP	   8U
#define DEFAULT_REDZONE	   16U
#define DEFAULT_ALIGN	   16U
#define EVICT_BATCH	   8U

/* How far kasan_heap_lookup() goes back for the start of an object: 256 MiB. */
#define SEARCH_LIMIT ((uintptr_t)256 << 20)

/* How many chunks it passes over on the way, those of a heap that lies inside of the chunk it looks for. */
#define SEARCH_CHUNKS 1024U

struct heap_header {
	uint32_t magic;
	uint32_t check; /* of all other words and of the header's address */
	struct kasan_heap *heap;
	void *raw;
	size_t span;
	size_t size;
	struct kasan_track alloc_track;
	struct kasan_track free_track;
};

#define LEFT_SIZE (((sizeof(struct heap_header) + 7) & ~(size_t)7) + HEADER_GAP)

/* The lock lives in the port's struct as a plain integer: core/lock.h is not public. */
_Static_assert(sizeof(struct kasan_lock) == sizeof(unsigned int), "struct kasan_heap.lock");

static struct kasan_heap *heaps;
static struct kasan_lock heaps_lock;

/*
 * All chunks ever seen lie in [chunks_low, chunks_high). A lookup stays inside: beyond there may be
 * terabytes of shadow that say "accessible" because nobody has an opinion on them.
 */
static uintptr_t chunks_low = UINTPTR_MAX, chunks_high;

static inline struct kasan_lock *lock_of(struct kasan_heap *heap)
{
	return (struct kasan_lock *)&heap->lock;
}

static inline size_t round8(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static inline struct heap_header *header_of(const void *object)
{
	return (struct heap_header *)((uintptr_t)object - LEFT_SIZE);
}

/* Both halves: a size whose upper half alone was overwritten must not pass. */
static inline uint32_t mix_word(uint32_t hash, uintptr_t word)
{
	return kasan_mix(kasan_mix(hash, (uint32_t)word), (uint32_t)((uint64_t)word >> 32));
}

static uint32_t header_check(const struct heap_header *header)
{
	uint32_t hash = kasan_mix((uint32_t)(uintptr_t)header, header->magic);

	hash = mix_word(hash, (uintptr_t)header->heap);
	hash = mix_word(hash, (uintptr_t)header->raw);
	hash = mix_word(hash, header->span);
	hash = mix_word(hash, header->size);
	hash = kasan_mix(hash, header->alloc_track.pid);
	hash = kasan_mix(hash, header->alloc_track.stack);
	hash = kasan_mix(hash, header->free_track.pid);
	return kasan_mix(hash, header->free_track.stack);
}

static inline void seal_header(struct heap_header *header, uint32_t magic)
{
	header->magic = magic;
	header->check = header_check(header);
}

static bool header_valid(const struct heap_header *header)
{
	return (header->magic == HEADER_MAGIC_LIVE || header->magic == HEADER_MAGIC_FREED) &&
	       header->check == header_check(header);
}

static inline bool shadow_is(uintptr_t addr, uint8_t value)
{
	uint8_t *shadow;

	return kasan_shadow_at(addr, &shadow) && *shadow == value;
}

static inline void widen_bounds(uintptr_t low, uintptr_t high)
{
	uintptr_t seen = __atomic_load_n(&chunks_low, __ATOMIC_RELAXED);

	while (low < seen && !__atomic_compare_exchange_n(&chunks_low, &seen, low, true,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	seen = __atomic_load_n(&chunks_high, __ATOMIC_RELAXED);
	while (high > seen && !__atomic_compare_exchange_n(&chunks_high, &seen, high, true,
							   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/*
 * Does an object start at @object, so that its header may be read? If another heap has put a chunk of its own
 * at the very start of the object, the two left redzones look like one, and the header decides.
 */
static bool is_object_start(uintptr_t object)
{
	return object > LEFT_SIZE && !(object & KASAN_GRANULE_MASK) &&
	       shadow_is(object - KASAN_GRANULE_SIZE, KASAN_HEAP_LEFT_REDZONE) &&
	       shadow_is(object - LEFT_SIZE, KASAN_HEAP_LEFT_REDZONE) &&
	       (!shadow_is(object, KASAN_HEAP_LEFT_REDZONE) ||
		header_valid(header_of((void *)object)));
}

/* --- Hooks ------------------------------------------------------------------------------------ */

void kasan_heap_add(struct kasan_heap *heap)
{
	unsigned long flags;

	if (!heap->redzone)
		heap->redzone = DEFAULT_REDZONE;
	else if (heap->redzone < KASAN_GRANULE_SIZE)
		heap->redzone = KASAN_GRANULE_SIZE;
	heap->redzone = round8(heap->redzone);

	flags = kasan_lock(&heaps_lock);
	heap->next = heaps;
	__atomic_store_n(&heaps, heap, __ATOMIC_RELEASE);
	kasan_unlock(&heaps_lock, flags);
	__atomic_store_n(&heap->added, true, __ATOMIC_RELEASE);
}

void kasan_heap_adopt(struct kasan_heap *heap, const void *start, size_t size)
{
	const uintptr_t first = (uintptr_t)start;

	if (!size)
		return;
	if (!heap->early_end || first < heap->early_start)
		heap->early_start = first;
	if (first + size > heap->early_end)
		heap->early_end = first + size;
}

size_t kasan_heap_span(const struct kasan_heap *heap, size_t size, size_t align)
{
	size_t span = LEFT_SIZE + heap->redzone + KASAN_GRANULE_MASK;

	if (!align)
		align = DEFAULT_ALIGN;
	/* Raw chunks are aligned to 8 already. */
	if (align > KASAN_GRANULE_SIZE &&
	    __builtin_add_overflow(span, align - KASAN_GRANULE_SIZE, &span))
		return 0;
	if (__builtin_add_overflow(span, size, &span))
		return 0;
	return span & ~KASAN_GRANULE_MASK;
}

static void *make_object(struct kasan_heap *heap, void *raw, size_t size, size_t align,
			 uintptr_t ip, uintptr_t fp)
{
	const size_t span = kasan_heap_span(heap, size, align);
	struct heap_header *header;
	uintptr_t object, end;

	if (kasan_unlikely(!raw || !span))
		return NULL;
	if (!align)
		align = DEFAULT_ALIGN;
	object = ((uintptr_t)raw + LEFT_SIZE + align - 1) & ~((uintptr_t)align - 1);
	object = round8(object);
	end = (uintptr_t)raw + span;
	widen_bounds((uintptr_t)raw, end);

	header = header_of((void *)object);
	header->heap = heap;
	header->raw = raw;
	header->span = span;
	header->size = size;
	kasan_set_track(&header->alloc_track, ip, fp);
	header->free_track.pid = header->free_track.stack = 0;
	seal_header(header, HEADER_MAGIC_LIVE);

	kasan_poison_always(raw, object - (uintptr_t)raw, KASAN_HEAP_LEFT_REDZONE);
	kasan_poison_tail_always((void *)object, size, end - object, KASAN_SLAB_REDZONE);
	return (void *)object;
}

__attribute__((__noinline__)) void *kasan_heap_alloc(struct kasan_heap *heap, void *raw,
						     size_t size, size_t align)
{
	return make_object(heap, raw, size, align, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

/* --- Early chunks ----------------------------------------------------------------------------- */

static inline bool is_added(const struct kasan_heap *heap)
{
	return __atomic_load_n(&heap->added, __ATOMIC_ACQUIRE);
}

static bool lookup(uintptr_t addr, struct kasan_heap_chunk *chunk, unsigned int tries);

/* An early chunk has no heap inside that the nearest chunk below it could be part of: one try tells. */
static bool is_early(const struct kasan_heap *heap, const void *ptr)
{
	struct kasan_heap_chunk chunk;

	return (uintptr_t)ptr - heap->early_start < heap->early_end - heap->early_start &&
	       !lookup((uintptr_t)ptr, &chunk, 1);
}

/* Return: whole granules of the early chunk at @raw; 0: not known. SIZE_MAX: the allocator's own header
 * says what cannot be. */
static size_t early_size(struct kasan_heap *heap, const void *raw)
{
	size_t size;

	if (!heap->raw_size)
		return 0;
	size = heap->raw_size(heap, raw);
	if (size > heap->early_end - (uintptr_t)raw)
		return SIZE_MAX;
	return size;
}

static void quarantine(struct kasan_heap *heap, void *raw, size_t span);

static bool free_early(struct kasan_heap *heap, void *raw, uintptr_t ip, uintptr_t fp)
{
	const size_t size = early_size(heap, raw);
	const char *wrong = NULL;
	unsigned long flags;

	if (!size) {
		heap->release(heap, raw);
		return true;
	}
	flags = kasan_lock(lock_of(heap));
	if (shadow_is((uintptr_t)raw, KASAN_SLAB_FREE))
		wrong = "double-free";
	else if (size == SIZE_MAX)
		wrong = "invalid-free";
	else
		kasan_poison_always(raw, size & ~(size_t)KASAN_GRANULE_MASK, KASAN_SLAB_FREE);
	kasan_unlock(lock_of(heap), flags);
	if (wrong) {
		kasan_report_bad_free(wrong, raw, ip, fp);
		return false;
	}
	quarantine(heap, raw, size);
	return true;
}

/* --- Frees ------------------------------------------------------------------------------------ */

/* End the object's life under the heap's lock: of two concurrent frees one is told. */
static const char *end_life(struct kasan_heap *heap, void *object, uintptr_t ip, uintptr_t fp)
{
	struct heap_header *header = header_of(object);
	struct kasan_track track;
	const char *wrong = NULL;
	unsigned long flags;

	if (!is_object_start((uintptr_t)object))
		return "invalid-free";
	kasan_set_track(&track, ip, fp);
	flags = kasan_lock(lock_of(heap));
	if (!header_valid(header)) {
		/* Overwritten: the raw chunk cannot be given back, nobody knows where it starts. */
		wrong = shadow_is((uintptr_t)object, KASAN_SLAB_FREE) ? "double-free"
								      : "invalid-free";
	} else if (header->magic == HEADER_MAGIC_FREED) {
		wrong = "double-free";
	} else if (header->heap != heap) {
		wrong = "invalid-free";
	} else {
		header->free_track = track;
		seal_header(header, HEADER_MAGIC_FREED);
	}
	kasan_unlock(lock_of(heap), flags);
	return wrong;
}

/* Queue a chunk and release the oldest that no longer fit. Releases @raw itself if it cannot stay.
 */
static void quarantine(struct kasan_heap *heap, void *raw, size_t span)
{
	struct kasan_held evicted[EVICT_BATCH];
	bool queued = false, stuck = kasan_opt_off || span > heap->quarantine_max;
	size_t count, i;
	unsigned long flags;

	while (!queued && !stuck) {
		count = 0;
		flags = kasan_lock(lock_of(heap));
		while (count < EVICT_BATCH) {
			queued = heap->quarantine.bytes + span <= heap->quarantine_max &&
				 kasan_fifo_push(&heap->quarantine, raw, span, span);
			if (queued)
				break;
			stuck = !kasan_fifo_pop(&heap->quarantine, &evicted[count]);
			if (stuck)
				break;
			heap->quarantine.bytes -= evicted[count++].info;
		}
		kasan_unlock(lock_of(heap), flags);
		for (i = 0; i < count; i++)
			heap->release(heap, evicted[i].object);
	}
	if (!queued)
		heap->release(heap, raw);
}

__attribute__((__noinline__)) bool kasan_heap_free(struct kasan_heap *heap, void *ptr, uintptr_t ip)
{
	const uintptr_t fp = KASAN_CALLER_FP();
	struct heap_header *header = header_of(ptr);
	const char *wrong;
	size_t size, span;
	void *raw;

	if (!ptr)
		return true;
	if (kasan_unlikely(!is_added(heap))) {
		heap->release(heap, ptr);
		return true;
	}
	if (kasan_unlikely(is_early(heap, ptr)))
		return free_early(heap, ptr, ip ? ip : KASAN_CALLER_IP(), fp);
	wrong = end_life(heap, ptr, KASAN_CALLER_IP(), fp);
	if (kasan_unlikely(wrong)) {
		kasan_report_bad_free(wrong, ptr, ip ? ip : KASAN_CALLER_IP(), fp);
		return false;
	}
	size = header->size;
	span = header->span;
	raw = header->raw;
	kasan_poison_always(ptr, round8(size), KASAN_SLAB_FREE);
	quarantine(heap, raw, span);
	return true;
}

/* Return: the header of the live object @ptr of @heap, NULL if it is none. */
static const struct heap_header *live_header(const struct kasan_heap *heap, const void *ptr)
{
	const struct heap_header *header = header_of(ptr);

	if (!is_object_start((uintptr_t)ptr) || !header_valid(header) || header->heap != heap ||
	    header->magic != HEADER_MAGIC_LIVE)
		return NULL;
	return header;
}

void kasan_heap_shrink(struct kasan_heap *heap)
{
	struct kasan_held held;
	unsigned long flags;
	bool found;

	do {
		flags = kasan_lock(lock_of(heap));
		found = kasan_fifo_pop(&heap->quarantine, &held);
		if (found)
			heap->quarantine.bytes -= held.info;
		kasan_unlock(lock_of(heap), flags);
		if (found)
			heap->release(heap, held.object);
	} while (found);
}

size_t kasan_heap_size(const struct kasan_heap *heap, const void *ptr)
{
	const struct heap_header *header;
	size_t size;

	if (!ptr)
		return 0;
	if (kasan_unlikely(!is_added(heap) || is_early(heap, ptr))) {
		/* Of a chunk that was freed the allocator may still know a size. */
		size = shadow_is((uintptr_t)ptr, KASAN_SLAB_FREE)
			       ? 0
			       : early_size((struct kasan_heap *)heap, ptr);
		return size == SIZE_MAX ? 0 : size;
	}
	header = live_header(heap, ptr);
	return header ? header->size : 0;
}

/* --- A whole malloc --------------------------------------------------------------------------- */

static void *acquire(struct kasan_heap *heap, size_t align, size_t size, uintptr_t ip, uintptr_t fp)
{
	size_t span;
	void *raw;

	if (kasan_unlikely(!is_added(heap))) {
		span = size ? size : 1;
		raw = heap->acquire(heap, span);
		if (raw && align && ((uintptr_t)raw & (align - 1))) {
			heap->release(heap, raw);
			return NULL;
		}
		if (raw)
			kasan_heap_adopt(heap, raw,
					 heap->raw_size ? heap->raw_size(heap, raw) : span);
		return raw;
	}
	span = kasan_heap_span(heap, size, align);
	return span ? make_object(heap, heap->acquire(heap, span), size, align, ip, fp) : NULL;
}

__attribute__((__noinline__)) void *kasan_heap_malloc(struct kasan_heap *heap, size_t size)
{
	return acquire(heap, 0, size, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

__attribute__((__noinline__)) void *kasan_heap_memalign(struct kasan_heap *heap, size_t align,
							size_t size)
{
	return acquire(heap, align, size, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

__attribute__((__noinline__)) void *kasan_heap_calloc(struct kasan_heap *heap, size_t count,
						      size_t size)
{
	size_t bytes;
	void *ptr;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	ptr = acquire(heap, 0, bytes, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	if (ptr)
		__memset(ptr, 0, bytes);
	return ptr;
}

__attribute__((__noinline__)) void *kasan_heap_realloc(struct kasan_heap *heap, void *ptr,
						       size_t size)
{
	const uintptr_t ip = KASAN_CALLER_IP(), fp = KASAN_CALLER_FP();
	size_t old = 0;
	void *moved;

	if (ptr) {
		const bool raw = !is_added(heap) || is_early(heap, ptr);

		old = kasan_heap_size(heap, ptr);
		if (raw && !heap->raw_size)
			return NULL;
		if (raw ? !old : !live_header(heap, ptr)) {
			/* Reports, and does nothing else: it is no object. */
			kasan_heap_free(heap, ptr, ip);
			return NULL;
		}
	}
	moved = acquire(heap, 0, size, ip, fp);
	if (!moved || !ptr)
		return moved;
	__memcpy(moved, ptr, old < size ? old : size);
	kasan_heap_free(heap, ptr, ip);
	return moved;
}

/* --- For reports ------------------------------------------------------------------------------ */

/* Where the next left redzone at or below @at ends, down to @limit; 0 if there is none. */
static uintptr_t end_of_redzone_below(uintptr_t at, uintptr_t limit)
{
	uint8_t *shadow, *earlier;

	while (at > limit && kasan_shadow_at(at, &shadow)) {
		/* The inside of a large object, or memory that is no heap: eight granules a step. */
		if (at - limit > 8 * KASAN_GRANULE_SIZE &&
		    kasan_shadow_at(at - 7 * KASAN_GRANULE_SIZE, &earlier) &&
		    earlier == shadow - 7 && !*(const kasan_u64_any *)earlier) {
			at -= 8 * KASAN_GRANULE_SIZE;
			continue;
		}
		if (*shadow == KASAN_HEAP_LEFT_REDZONE)
			return at + KASAN_GRANULE_SIZE;
		/* Objects and what follows them have no other values. */
		if (*shadow >= KASAN_GRANULE_SIZE && *shadow != KASAN_SLAB_FREE &&
		    *shadow != KASAN_SLAB_REDZONE)
			return 0;
		at -= KASAN_GRANULE_SIZE;
	}
	return 0;
}

static bool is_registered(const struct kasan_heap *heap)
{
	const struct kasan_heap *at = __atomic_load_n(&heaps, __ATOMIC_ACQUIRE);

	while (at && at != heap)
		at = at->next;
	return at != NULL;
}

/* The object at @start has lost its header: what can be said of it, the shadow says. */
static void describe_by_shadow(struct kasan_heap_chunk *chunk, uintptr_t start)
{
	uintptr_t low = start, high;

	chunk->freed = shadow_is(start, KASAN_SLAB_FREE);
	while (chunk->freed && shadow_is(start + chunk->size, KASAN_SLAB_FREE))
		chunk->size += KASAN_GRANULE_SIZE;
	if (!chunk->freed)
		chunk->size = kasan_size_by_shadow(
			(void *)start, __atomic_load_n(&chunks_high, __ATOMIC_RELAXED) - start);
	while (shadow_is(low - KASAN_GRANULE_SIZE, KASAN_HEAP_LEFT_REDZONE))
		low -= KASAN_GRANULE_SIZE;
	high = start + round8(chunk->size);
	while (shadow_is(high, KASAN_SLAB_REDZONE))
		high += KASAN_GRANULE_SIZE;
	chunk->raw = low;
	chunk->span = high - low;
}

static void describe_chunk(struct kasan_heap_chunk *chunk, uintptr_t start)
{
	const struct heap_header *header = header_of((void *)start);

	__memset(chunk, 0, sizeof(*chunk));
	chunk->start = start;
	if (!header_valid(header) || !is_registered(header->heap)) {
		describe_by_shadow(chunk, start);
		return;
	}
	chunk->heap = header->heap;
	chunk->raw = (uintptr_t)header->raw;
	chunk->span = header->span;
	chunk->size = header->size;
	chunk->freed = header->magic == HEADER_MAGIC_FREED;
	chunk->alloc_track = header->alloc_track;
	chunk->free_track = header->free_track;
}

/* As kasan_heap_lookup(), but gives up after @tries chunks that do not hold @addr. */
static bool lookup(uintptr_t addr, struct kasan_heap_chunk *chunk, unsigned int tries)
{
	const uintptr_t low = __atomic_load_n(&chunks_low, __ATOMIC_RELAXED);
	uintptr_t at = addr & ~KASAN_GRANULE_MASK, limit, start;

	if (addr < low || addr >= __atomic_load_n(&chunks_high, __ATOMIC_RELAXED))
		return false;
	limit = at > SEARCH_LIMIT && at - SEARCH_LIMIT > low ? at - SEARCH_LIMIT : low;
	/* In a left redzone: its object starts where it ends. */
	while (shadow_is(at + KASAN_GRANULE_SIZE, KASAN_HEAP_LEFT_REDZONE) &&
	       shadow_is(at, KASAN_HEAP_LEFT_REDZONE))
		at += KASAN_GRANULE_SIZE;
	for (; tries; tries--) {
		start = end_of_redzone_below(at, limit);
		if (!start)
			return false;
		at = start - KASAN_GRANULE_SIZE;
		if (is_object_start(start) &&
		    kasan_port_readable(header_of((void *)start), sizeof(struct heap_header))) {
			describe_chunk(chunk, start);
			if (addr - chunk->raw < chunk->span)
				return true;
			/* A header that fits and yet says this would lead nowhere. */
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

bool kasan_heap_lookup(uintptr_t addr, struct kasan_heap_chunk *chunk)
{
	return __atomic_load_n(&heaps, __ATOMIC_ACQUIRE) && lookup(addr, chunk, SEARCH_CHUNKS);
}

bool kasan_heap_find(uintptr_t addr, struct kasan_object *obj, struct kasan_track *alloc,
		     struct kasan_track *freed)
{
	struct kasan_heap_chunk chunk;

	if (!kasan_heap_lookup(addr, &chunk))
		return false;
	obj->kind = KASAN_OBJECT_HEAP;
	obj->cache = NULL;
	obj->start = (void *)chunk.start;
	obj->size = chunk.size;
	obj->large = NULL;
	obj->name = chunk.heap ? chunk.heap->name : NULL;
	*alloc = chunk.alloc_track;
	*freed = chunk.free_track;
	return true;
}

#endif /* CONFIG_KASAN_GENERIC */
