/* SPDX-License-Identifier: MIT */
/*
 * heap.c - simple heaps: a malloc that hands out raw chunks and knows nothing but pointers.
 *
 *	raw                        object
 *	| left redzone: header, gap | size bytes | slack | right redzone |
 *
 * The header sits in the left redzone, 8 bytes away from the object so that the most common underflows
 * leave it whole, and carries a checksum. heap_find.c finds chunks by address, from the shadow or the
 * memory tags; a bug in checked code cannot overwrite either. So there is no list of live objects that a
 * bug could cut.
 *
 * Firmware allocates before it has shadow. Such early chunks stay raw as long as they live: their users
 * keep pointers to them, so redzones cannot be put around them later. They are recognised when they come
 * back: they lie in the range where early chunks were handed out, and are part of no chunk that has a
 * header. In the tag-based modes their pointers have no tag.
 */
#include "heap.h"
#include "meta.h"

#include "../core/lock.h"
#include "../core/shadow.h"
#include "../core/tags.h"
#include "../track/ring.h"
#include "../track/track.h"

#ifdef CONFIG_KASAN

#define DEFAULT_REDZONE 16U
#define DEFAULT_ALIGN	16U
#define RAW_ALIGN	8U /* of a raw chunk */
#define EVICT_BATCH	8U

/* The lock lives in the port's struct as a plain integer: core/lock.h is not public. */
_Static_assert(sizeof(struct kasan_lock) == sizeof(unsigned int), "struct kasan_heap.lock");

struct kasan_heap *kasan_heaps;
static struct kasan_lock heaps_lock;

static inline struct kasan_lock *lock_of(struct kasan_heap *heap)
{
	return (struct kasan_lock *)&heap->lock;
}

static inline size_t round_up(size_t size)
{
	return (size + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK;
}

static inline void seal_header(struct kasan_heap_header *header, uint32_t magic)
{
	header->magic = magic;
	header->check = kasan_heap_check(header);
}

/* All chunks of a heap ever seen lie in [low, high). */
static inline void widen_bounds(struct kasan_heap *heap, uintptr_t low, uintptr_t high)
{
	uintptr_t seen = __atomic_load_n(&heap->low, __ATOMIC_RELAXED);

	while ((!seen || low < seen) &&
	       !__atomic_compare_exchange_n(&heap->low, &seen, low, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
	seen = __atomic_load_n(&heap->high, __ATOMIC_RELAXED);
	while (high > seen && !__atomic_compare_exchange_n(&heap->high, &seen, high, true,
							   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Is the granule at @ptr freed memory? */
static inline bool is_freed(const void *ptr)
{
	uint8_t state;

	return kasan_memory_state(ptr, &state) && state == KASAN_SLAB_FREE;
}

/* --- Differences between the modes --- */

#ifdef CONFIG_KASAN_GENERIC

static void *open_object(struct kasan_heap_header *header, uintptr_t object, uintptr_t end)
{
	kasan_poison_always(header->raw, object - (uintptr_t)header->raw, KASAN_HEAP_LEFT_REDZONE);
	kasan_poison_tail_always((void *)object, header->size, end - object, KASAN_SLAB_REDZONE);
	return (void *)object;
}

static void close_memory(const void *ptr, size_t size)
{
	kasan_poison_always(ptr, size, KASAN_SLAB_FREE);
}

static inline size_t closed_span(size_t size)
{
	return round_up(size);
}

static bool owns(const struct kasan_heap_header *header, const void *ptr)
{
	(void)header;
	(void)ptr;
	return true;
}

static void remember(const struct kasan_heap_header *header, bool is_free)
{
	(void)header;
	(void)is_free;
}

#else

/*
 * The header's granules and those behind the object belong to no owner. The tag of the last object whose
 * header was here is not used again. If the memory was something else before, the stale number does no
 * harm.
 */
static void *open_object(struct kasan_heap_header *header, uintptr_t object, uintptr_t end)
{
	const size_t closed = KASAN_HEAP_LEFT + (header->size ? 0 : KASAN_GRANULE_SIZE);
	uint8_t state;

	end &= ~(uintptr_t)KASAN_GRANULE_MASK;
	if (!kasan_on() || !kasan_tags_read(object, &state)) {
		header->tag = KASAN_TAG_KERNEL;
		return (void *)object;
	}
	header->tag =
		kasan_tag_avoiding((uint8_t)header->tag, KASAN_TAG_INVALID, KASAN_TAG_INVALID);
	object = kasan_tag_addr(object, (uint8_t)header->tag);
	kasan_tags_fill(object - KASAN_HEAP_LEFT, closed, KASAN_TAG_INVALID);
	kasan_poison_tail((void *)object, header->size, end - kasan_untag_addr(object),
			  KASAN_SLAB_REDZONE);
	return (void *)object;
}

static void close_memory(const void *ptr, size_t size)
{
	kasan_poison(ptr, size, KASAN_SLAB_FREE);
}

/* An object without a byte also has a granule, which holds its owner's tag. */
static inline size_t closed_span(size_t size)
{
	return round_up(size ? size : 1);
}

/* A pointer without a tag matches all memory, so it may free everything as well. */
static bool owns(const struct kasan_heap_header *header, const void *ptr)
{
	return ptr == kasan_reset_tag(ptr) || kasan_get_tag(ptr) == header->tag;
}

/* Reports look for the object of a pointer by its tag, in the ring. */
static void remember(const struct kasan_heap_header *header, bool is_free)
{
	const uintptr_t object = (uintptr_t)header + KASAN_HEAP_LEFT;

	if (kasan_opt_stacktrace && header->tag != KASAN_TAG_KERNEL)
		kasan_ring_record((const void *)kasan_tag_addr(object, (uint8_t)header->tag),
				  header->size, is_free,
				  is_free ? &header->free_track : &header->alloc_track);
}

#endif

/* --- Hooks --- */

void kasan_heap_add(struct kasan_heap *heap)
{
	unsigned long flags;

	if (!heap->redzone)
		heap->redzone = DEFAULT_REDZONE;
	else if (heap->redzone < KASAN_GRANULE_SIZE)
		heap->redzone = KASAN_GRANULE_SIZE;
	heap->redzone = round_up(heap->redzone);

	flags = kasan_lock(&heaps_lock);
	heap->next = kasan_heaps;
	__atomic_store_n(&kasan_heaps, heap, __ATOMIC_RELEASE);
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

static inline size_t object_align(size_t align)
{
	if (!align)
		return DEFAULT_ALIGN;
	return align < KASAN_GRANULE_SIZE ? KASAN_GRANULE_SIZE : align;
}

size_t kasan_heap_span(const struct kasan_heap *heap, size_t size, size_t align)
{
	/* The last granule of the chunk may be its neighbour's as well. */
	size_t span = KASAN_HEAP_LEFT + heap->redzone + KASAN_GRANULE_MASK +
		      (KASAN_GRANULE_SIZE - RAW_ALIGN);

	align = object_align(align);
	if (__builtin_add_overflow(span, align - RAW_ALIGN, &span) ||
	    __builtin_add_overflow(span, size, &span))
		return 0;
	return span & ~(size_t)(RAW_ALIGN - 1);
}

static void *make_object(struct kasan_heap *heap, void *raw, size_t size, size_t align,
			 uintptr_t ip, uintptr_t fp)
{
	const size_t span = kasan_heap_span(heap, size, align);
	struct kasan_heap_header *header;
	uintptr_t start, object;
	void *ptr;

	if (kasan_unlikely(!raw || !span))
		return NULL;
	align = object_align(align);
	start = kasan_untag_addr((uintptr_t)raw);
	object = (start + KASAN_HEAP_LEFT + align - 1) & ~((uintptr_t)align - 1);
	widen_bounds(heap, start, start + span);

	header = kasan_heap_header_of((void *)object);
	header->heap = heap;
	header->raw = raw;
	header->span = span;
	header->size = size;
	kasan_set_track(&header->alloc_track, ip, fp);
	header->free_track.pid = header->free_track.stack = 0;
	ptr = open_object(header, object, start + span);
	seal_header(header, KASAN_HEAP_LIVE);
	remember(header, false);
	return ptr;
}

__attribute__((__noinline__)) void *kasan_heap_alloc(struct kasan_heap *heap, void *raw,
						     size_t size, size_t align)
{
	return make_object(heap, raw, size, align, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

/* --- Early chunks --- */

static inline bool is_added(const struct kasan_heap *heap)
{
	return __atomic_load_n(&heap->added, __ATOMIC_ACQUIRE);
}

static bool is_early(const struct kasan_heap *heap, const void *ptr)
{
	return ptr == kasan_reset_tag(ptr) &&
	       (uintptr_t)ptr - heap->early_start < heap->early_end - heap->early_start &&
	       !kasan_heap_holds((uintptr_t)ptr);
}

/* Return: bytes in whole granules of the early chunk at @raw; 0: not known; SIZE_MAX: the allocator's own
 * header gives an impossible size. */
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

/* Was the early chunk of @size bytes at @raw freed? For a chunk without a whole granule this is not known. */
static bool is_freed_early(const void *raw, size_t size)
{
	const uintptr_t first = round_up((uintptr_t)raw);

	return size >= first + KASAN_GRANULE_SIZE - (uintptr_t)raw && is_freed((void *)first);
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
	if (is_freed_early(raw, size))
		wrong = "double-free";
	else if (size == SIZE_MAX)
		wrong = "invalid-free";
	else
		close_memory(raw, size & ~(size_t)(RAW_ALIGN - 1));
	kasan_unlock(lock_of(heap), flags);
	if (wrong) {
		kasan_report_bad_free(wrong, raw, ip, fp);
		return false;
	}
	quarantine(heap, raw, size);
	return true;
}

/* --- Frees --- */

/* End the object's life under the heap's lock: one of two concurrent frees is told. */
static const char *end_life(struct kasan_heap *heap, void *object, uintptr_t ip, uintptr_t fp)
{
	struct kasan_heap_header *header = kasan_heap_header_of(object);
	struct kasan_track track;
	const char *wrong = NULL;
	unsigned long flags;

	if (!kasan_heap_is_start(kasan_untag_addr((uintptr_t)object)))
		return "invalid-free";
	kasan_set_track(&track, ip, fp);
	flags = kasan_lock(lock_of(heap));
	if (!kasan_heap_valid(header)) {
		/* Overwritten: the raw chunk cannot be given back, because its start is not known. */
		wrong = is_freed(object) ? "double-free" : "invalid-free";
	} else if (header->magic == KASAN_HEAP_FREED || !owns(header, object)) {
		wrong = "double-free";
	} else if (header->heap != heap) {
		wrong = "invalid-free";
	} else {
		header->free_track = track;
		seal_header(header, KASAN_HEAP_FREED);
	}
	kasan_unlock(lock_of(heap), flags);
	return wrong;
}

/* Queue a chunk and release the oldest that no longer fit. Releases @raw itself if it cannot stay.
 */
static void quarantine(struct kasan_heap *heap, void *raw, size_t span)
{
	struct kasan_held evicted[EVICT_BATCH];
	bool queued = false, stuck = kasan_silent() || span > heap->quarantine_max;
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
	struct kasan_heap_header *header = kasan_heap_header_of(ptr);
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
	remember(header, true);
	close_memory(ptr, closed_span(size));
	quarantine(heap, raw, span);
	return true;
}

/* Return: the header of the live object @ptr of @heap, NULL if it is not one. */
static const struct kasan_heap_header *live_header(const struct kasan_heap *heap, const void *ptr)
{
	const struct kasan_heap_header *header = kasan_heap_header_of(ptr);

	if (!kasan_heap_is_start(kasan_untag_addr((uintptr_t)ptr)) || !kasan_heap_valid(header) ||
	    header->heap != heap || header->magic != KASAN_HEAP_LIVE || !owns(header, ptr))
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
	const struct kasan_heap_header *header;
	size_t size;

	if (!ptr)
		return 0;
	if (kasan_unlikely(!is_added(heap) || is_early(heap, ptr))) {
		/* The allocator may still know the size of a chunk that was freed. */
		size = early_size((struct kasan_heap *)heap, ptr);
		return size == SIZE_MAX || is_freed_early(ptr, size) ? 0 : size;
	}
	header = live_header(heap, ptr);
	return header ? header->size : 0;
}

/* --- A whole malloc --- */

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
		__memset(kasan_reset_tag(ptr), 0, bytes);
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
			/* Only reports, because @ptr is not an object. */
			kasan_heap_free(heap, ptr, ip);
			return NULL;
		}
	}
	moved = acquire(heap, 0, size, ip, fp);
	if (!moved || !ptr)
		return moved;
	__memcpy(kasan_reset_tag(moved), kasan_reset_tag(ptr), old < size ? old : size);
	kasan_heap_free(heap, ptr, ip);
	return moved;
}

#endif /* CONFIG_KASAN */
