/* SPDX-License-Identifier: MIT */
/*
 * heap.c - simple heaps: a malloc that hands out raw chunks and knows nothing but pointers.
 *
 *	raw                        object
 *	| left redzone: header, gap | size bytes | slack | right redzone |
 *
 * The header sits in the left redzone, 8 bytes away from the object so that the most common underflows leave it whole,
 * and carries a checksum. heap_find.c finds chunks by address, from the shadow or the memory tags; a bug in checked
 * code cannot overwrite either. So there is no list of live objects that a bug could cut.
 *
 * Firmware allocates before it has shadow. Such early chunks stay raw as long as they live: their users keep pointers
 * to them, so redzones cannot be put around them later. They are recognised when they come back: they lie in the range
 * where early chunks were handed out, and are part of no chunk that has a header. In the tag-based modes their pointers
 * have no tag.
 */
#include "heap_mode.h"
#include "heap_queue.h"

#include "../base/lock.h"
#include "../base/up.h"
#include "../shadow/shadow.h"
#include "../tags/tags.h"
#include "../track/known.h"
#include "../track/ring.h"
#include "../track/track.h"

#ifdef CONFIG_KASAN

#define DEFAULT_REDZONE 16U
/* Enough for any type of C. */
#define DEFAULT_ALIGN \
	(2 * sizeof(void *) > KASAN_GRANULE_SIZE ? 2 * sizeof(void *) : KASAN_GRANULE_SIZE)
#define RAW_ALIGN 8U /* of a raw chunk */

/* An exchange of the header's state decides which of two frees is the first. Not every CPU of 32 bits exchanges 16 bits:
 * there the heap's lock does. */
#if UINTPTR_MAX > UINT32_MAX
#define HEAP_CLAIMS 1
#endif

/* struct kasan_heap.said */
#define SAID_NO_QUEUE	1U
#define SAID_MISALIGNED 2U

struct kasan_heap *kasan_heaps;
static struct kasan_lock heaps_lock;

/* malloc() and free() each inline the comparison of the stack, because on a small CPU a call costs as much as a
 * frame. */
static kasan_always_inline void set_track(struct kasan_track *track, uintptr_t ip, uintptr_t fp)
{
	uint32_t stack;

	if (kasan_likely(kasan_find_stack(&stack, ip, fp)))
		kasan_put_track(track, stack);
	else
		kasan_set_new_track(track, ip, fp);
}

/* All chunks of a heap ever seen lie in [low, high). */
static kasan_noinline void widen_bounds(struct kasan_heap *heap, uintptr_t low, uintptr_t high)
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

/* --- Hooks --- */

void kasan_heap_add(struct kasan_heap *heap)
{
	const struct kasan_heap *other;
	unsigned long flags;

	if (!heap->redzone)
		heap->redzone = DEFAULT_REDZONE;
	/* The last bytes of the redzone hold the track of the free. */
	else if (heap->redzone < sizeof(struct kasan_track))
		heap->redzone = sizeof(struct kasan_track);
	heap->redzone = kasan_heap_round_up(heap->redzone);

	flags = kasan_lock(&heaps_lock);
	/* It was added before: a second entry would turn the list into a ring, which every search follows. */
	for (other = kasan_heaps; other; other = other->next) {
		if (other == heap) {
			kasan_unlock(&heaps_lock, flags);
			return;
		}
	}
	heap->next = kasan_heaps;
	heap->number =
		(unsigned short)(kasan_heaps ? (kasan_heaps->number + 1U) % KASAN_HEAP_NUMBERS : 0);
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

static inline unsigned int log2_of(size_t align)
{
	unsigned int bits = 3;

	/* Not __builtin_ctz(): on CPUs without such an instruction it calls the compiler's library. */
	while ((size_t)1 << bits < align)
		bits++;
	return bits;
}

static inline size_t object_align(size_t align)
{
	if (!align)
		return DEFAULT_ALIGN;
	return align < KASAN_GRANULE_SIZE ? KASAN_GRANULE_SIZE : align;
}

static kasan_always_inline size_t span_of(const struct kasan_heap *heap, size_t size, size_t align)
{
	const size_t span = kasan_heap_chunk_span(heap, size, object_align(align));

	/* A sum that wrapped around is less than @size, which only a size near the top can cause. The header has room
	 * for powers of two only. */
	return kasan_likely(size <= PTRDIFF_MAX && align <= PTRDIFF_MAX / 2 &&
			    !(align & (align - 1)) && span > size)
		       ? span
		       : 0;
}

size_t kasan_heap_span(const struct kasan_heap *heap, size_t size, size_t align)
{
	return span_of(heap, size, align);
}

/* Prints once for each heap and @flag, SAID_*. */
static kasan_cold void say_once(struct kasan_heap *heap, unsigned int flag)
{
	const char *const text =
		flag == SAID_NO_QUEUE
			? "kasan: no memory for the quarantine of heap %s: freed objects are "
			  "reused "
			  "at once, uses of them after that are not found"
			: "kasan: heap %s: a chunk is not aligned to 8";

	if (__atomic_fetch_or(&heap->said, flag, __ATOMIC_RELAXED) & flag)
		return;
	if (!kasan_notice(text, heap->name ? heap->name : "?"))
		__atomic_fetch_and(&heap->said, ~flag, __ATOMIC_RELAXED);
}

/* @own: give the chunk back to the allocator. Return: NULL, as the object. */
static kasan_cold void *refuse_chunk(struct kasan_heap *heap, uintptr_t raw, bool own)
{
	if (own)
		heap->release(heap, (void *)raw);
	say_once(heap, SAID_MISALIGNED);
	return NULL;
}

/* @align: from object_align(). @span: from kasan_heap_span(), not 0. @own: see refuse_chunk(). Return: NULL if @raw is
 * not aligned. */
static kasan_always_inline void *make_object(struct kasan_heap *heap, void *raw, size_t size,
					     size_t align, size_t span, bool own, uintptr_t ip,
					     uintptr_t fp)
{
	const uintptr_t start = kasan_untag_addr((uintptr_t)raw);
	struct kasan_heap_header *header;
	uintptr_t object;
	kasan_heap_word state;
	void *ptr;

	object = (start + KASAN_HEAP_LEFT + align - 1) & ~((uintptr_t)align - 1);
	if (kasan_unlikely(start < __atomic_load_n(&heap->low, __ATOMIC_RELAXED) ||
			   start + span > __atomic_load_n(&heap->high, __ATOMIC_RELAXED)))
		widen_bounds(heap, start, start + span);

	header = kasan_heap_header_of((void *)object);
	state = (kasan_heap_word)((unsigned int)heap->number << KASAN_HEAP_NUMBER_SHIFT |
				  log2_of(align) << KASAN_HEAP_ALIGN_SHIFT | KASAN_HEAP_LIVE);
	if (kasan_unlikely((uintptr_t)header != start)) {
		const uint32_t padding = (uint32_t)((uintptr_t)header - start);

		/* The span has no room for more alignment, and memory before the chunk belongs to the allocator. A
		 * chunk that starts with its header is aligned. */
		if (kasan_unlikely(padding % RAW_ALIGN))
			return refuse_chunk(heap, start, own);
		((struct kasan_heap_padding *)header)[-1] =
			(struct kasan_heap_padding){padding, ~padding};
		state |= KASAN_HEAP_PADDED;
	}
	header->size = size;
	header->state = (header->state & kasan_heap_tag_bits(0xff)) | state;
	set_track(&header->alloc_track, ip, fp);
	ptr = kasan_heap_open(header, start, object, size, start + span);
	header->check = kasan_heap_seal_end(kasan_heap_seal_start(header), header->state, NULL);
	kasan_heap_remember(header, &header->alloc_track, false);
	return ptr;
}

kasan_noinline void *kasan_heap_alloc(struct kasan_heap *heap, void *raw, size_t size, size_t align)
{
	const size_t span = span_of(heap, size, align);

	if (kasan_unlikely(!raw || !span))
		return NULL;
	return make_object(heap, raw, size, object_align(align), span, false, KASAN_CALLER_IP(),
			   KASAN_CALLER_FP());
}

/* Is @header, which can be read and has this @state, that of a live object of @heap? @seal: from kasan_heap_seal_start(). */
static kasan_always_inline bool has_life(const struct kasan_heap *heap,
					 const struct kasan_heap_header *header,
					 kasan_heap_word state, uint32_t seal)
{
	return (state & 3U) == KASAN_HEAP_LIVE && kasan_heap_number(header) == heap->number &&
	       header->check == kasan_heap_seal_end(seal, state, NULL);
}

static bool is_live(const struct kasan_heap *heap, const struct kasan_heap_header *header)
{
	return has_life(heap, header, header->state, kasan_heap_seal_start(header));
}

/* --- Early chunks --- */

static kasan_always_inline bool is_added(const struct kasan_heap *heap)
{
#ifdef KASAN_LOCK_PLAIN
	/* One CPU sees its own stores in their order. */
	return __atomic_load_n(&heap->added, __ATOMIC_RELAXED);
#else
	return __atomic_load_n(&heap->added, __ATOMIC_ACQUIRE);
#endif
}

static kasan_always_inline bool is_early(const struct kasan_heap *heap, const void *ptr)
{
	/* Mostly there are no early chunks, or they lie below all others. */
	return kasan_unlikely((uintptr_t)ptr < heap->early_end) &&
	       (uintptr_t)ptr >= heap->early_start && ptr == kasan_reset_tag(ptr) &&
	       !kasan_heap_holds((uintptr_t)ptr);
}

/* Return: the size of the early chunk at @raw; 0: not known; SIZE_MAX: the allocator's header gives an impossible
 * size. */
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

/* Was the early chunk of @size bytes at @raw freed? Not known for a chunk without a whole granule. */
static bool is_freed_early(const void *raw, size_t size)
{
	const uintptr_t first = kasan_heap_round_up((uintptr_t)raw);

	return size >= first + KASAN_GRANULE_SIZE - (uintptr_t)raw && is_freed((void *)first);
}

/* Ends the life of an early chunk and poisons it. @place: raw and span are filled; if the span is 0, nothing is known
 * of the chunk, and it has been released. */
static kasan_cold const char *end_early_life(struct kasan_heap *heap, void *raw,
					     struct kasan_heap_place *place)
{
	const size_t size = early_size(heap, raw);
	const char *wrong = NULL;
	unsigned long flags;

	place->raw = (uintptr_t)raw;
	place->span = size;
	if (!size) {
		heap->release(heap, raw);
		return NULL;
	}
	flags = kasan_lock(kasan_heap_lock(heap));
	if (is_freed_early(raw, size))
		wrong = "double-free";
	else if (size == SIZE_MAX)
		wrong = "invalid-free";
	else
		kasan_heap_close_rarely(raw, size & ~(size_t)(RAW_ALIGN - 1));
	kasan_unlock(kasan_heap_lock(heap), flags);
	return wrong;
}

/* --- Frees --- */

/* Return: what is wrong with freeing @object, which has no live header of @heap. */
static kasan_cold const char *wrong_free(void *object)
{
	const struct kasan_heap_header *header = kasan_heap_header_of(object);
	struct kasan_heap_place place;

#ifdef HEAP_CLAIMS
	/* Another CPU frees it at this moment: see end_life(). */
	if (kasan_heap_life(header) == KASAN_HEAP_FREED &&
	    header->check == kasan_heap_seal_end(kasan_heap_seal_start(header),
						 header->state ^ KASAN_HEAP_TURN, NULL))
		return "double-free";
#endif
	/* It was overwritten, so the start of the raw chunk is not known and it cannot be given back. */
	if (!kasan_heap_place(header, &place))
		return is_freed(object) ? "double-free" : "invalid-free";
	if (kasan_heap_life(header) == KASAN_HEAP_FREED || !kasan_heap_owns(header, object))
		return "double-free";
	return "invalid-free";
}

/* Change @header's @state, that of a live object, to freed. Return: false if another free was faster. */
static kasan_always_inline bool claim(struct kasan_heap_header *header, kasan_heap_word state)
{
#ifdef HEAP_CLAIMS
	return __atomic_compare_exchange_n(&header->state, &state, state ^ KASAN_HEAP_TURN, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
#else
	header->state = state ^ KASAN_HEAP_TURN;
	return true;
#endif
}

static kasan_always_inline unsigned long begin_claim(struct kasan_heap *heap)
{
#ifdef HEAP_CLAIMS
	(void)heap;
	return 0;
#else
	return kasan_lock(kasan_heap_lock(heap));
#endif
}

static kasan_always_inline void end_claim(struct kasan_heap *heap, unsigned long flags)
{
#ifdef HEAP_CLAIMS
	(void)heap;
	(void)flags;
#else
	kasan_unlock(kasan_heap_lock(heap), flags);
#endif
}

/* End the object's life, so that one of two concurrent frees fails. If claims need no lock, a header that is freed still has
 * the checksum of a live one for a moment. @place: filled. Return: NULL; what is wrong if it cannot be freed. */
static kasan_always_inline const char *end_life(struct kasan_heap *heap, void *object,
						struct kasan_heap_place *place, uintptr_t ip,
						uintptr_t fp)
{
	struct kasan_heap_header *header = kasan_heap_header_of(object);
	struct kasan_track track;
	const char *wrong = NULL;
	kasan_heap_word state;
	unsigned long flags;
	uint32_t seal;

	if (!kasan_heap_is_start(kasan_untag_addr((uintptr_t)object)))
		return "invalid-free";
	set_track(&track, ip, fp);
	place->heap = heap;
	flags = begin_claim(heap);
	state = __atomic_load_n(&header->state, __ATOMIC_RELAXED);
	seal = kasan_heap_seal_start(header);
	if (kasan_unlikely(!has_life(heap, header, state, seal) ||
			   !kasan_heap_owns(header, object) ||
			   !kasan_heap_place_in(header, place) || !claim(header, state))) {
		wrong = wrong_free(object);
		/* Or else @place would not be filled. */
		if (!wrong)
			__builtin_unreachable();
	} else {
		*place->free_track = track;
		header->check = kasan_heap_seal_end(seal, state ^ KASAN_HEAP_TURN, &track);
	}
	end_claim(heap, flags);
	return wrong;
}

/* Queue a chunk, and release the oldest that no longer fit. Releases @raw if it cannot stay. */
static kasan_always_inline void quarantine(struct kasan_heap *heap, void *raw, size_t span)
{
	if (kasan_unlikely(kasan_silent() || span > heap->quarantine_max)) {
		heap->release(heap, raw);
	} else if (!kasan_queue_put(heap, raw, span)) {
		heap->release(heap, raw);
		/* Without the queue the runtime works, but finds less. */
		say_once(heap, SAID_NO_QUEUE);
	}
}

kasan_noinline bool kasan_heap_free(struct kasan_heap *heap, void *ptr, uintptr_t ip)
{
	const uintptr_t fp = KASAN_CALLER_FP();
	struct kasan_heap_header *header = kasan_heap_header_of(ptr);
	struct kasan_heap_place place;
	const char *wrong;

	if (!ptr)
		return true;
	if (kasan_unlikely(!is_added(heap))) {
		heap->release(heap, ptr);
		return true;
	}
	if (kasan_unlikely(is_early(heap, ptr))) {
		wrong = end_early_life(heap, ptr, &place);
		if (wrong)
			goto bad;
		if (!place.span)
			return true;
	} else {
		wrong = end_life(heap, ptr, &place, KASAN_CALLER_IP(), fp);
		if (kasan_unlikely(wrong))
			goto bad;
		kasan_heap_remember(header, place.free_track, true);
		kasan_heap_close(ptr, kasan_heap_closed_span(header->size));
	}
	quarantine(heap, (void *)place.raw, place.span);
	return true;
bad:
	kasan_report_bad_free(wrong, ptr, ip ? ip : KASAN_CALLER_IP(), fp);
	return false;
}

/* Return: the header of the live object @ptr of @heap, or NULL. */
static const struct kasan_heap_header *live_header(const struct kasan_heap *heap, const void *ptr)
{
	const struct kasan_heap_header *header = kasan_heap_header_of(ptr);

	if (!kasan_heap_is_start(kasan_untag_addr((uintptr_t)ptr)) || !is_live(heap, header) ||
	    !kasan_heap_owns(header, ptr))
		return NULL;
	return header;
}

void kasan_heap_shrink(struct kasan_heap *heap)
{
	kasan_heap_empty(heap);
}

size_t kasan_heap_size(const struct kasan_heap *heap, const void *ptr)
{
	const struct kasan_heap_header *header;
	size_t size;

	if (!ptr)
		return 0;
	if (kasan_unlikely(!is_added(heap) || is_early(heap, ptr))) {
		/* The allocator may still know the size of a freed chunk. */
		size = early_size((struct kasan_heap *)heap, ptr);
		return size == SIZE_MAX || is_freed_early(ptr, size) ? 0 : size;
	}
	header = live_header(heap, ptr);
	return header ? header->size : 0;
}

/* --- A whole malloc --- */

static kasan_cold void *acquire_early(struct kasan_heap *heap, size_t align, size_t span)
{
	void *const raw = align & (align - 1) ? NULL : heap->acquire(heap, span);

	if (raw && align && ((uintptr_t)raw & (align - 1))) {
		heap->release(heap, raw);
		return NULL;
	}
	if (raw)
		kasan_heap_adopt(heap, raw, heap->raw_size ? heap->raw_size(heap, raw) : span);
	return raw;
}

static kasan_always_inline void *acquire(struct kasan_heap *heap, size_t align, size_t size,
					 uintptr_t ip, uintptr_t fp)
{
	size_t span;
	void *raw;

	if (kasan_unlikely(!is_added(heap)))
		return acquire_early(heap, align, size ? size : 1);
	span = span_of(heap, size, align);
	raw = span ? heap->acquire(heap, span) : NULL;
	return raw ? make_object(heap, raw, size, object_align(align), span, true, ip, fp) : NULL;
}

/* malloc() has its own copy, which knows the alignment; the other functions share this one. */
static kasan_noinline void *acquire_other(struct kasan_heap *heap, size_t align, size_t size,
					  uintptr_t ip, uintptr_t fp)
{
	return acquire(heap, align, size, ip, fp);
}

kasan_noinline void *kasan_heap_malloc(struct kasan_heap *heap, size_t size)
{
	return acquire(heap, 0, size, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

kasan_noinline void *kasan_heap_memalign(struct kasan_heap *heap, size_t align, size_t size)
{
	return acquire_other(heap, align, size, KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

kasan_noinline void *kasan_heap_calloc(struct kasan_heap *heap, size_t count, size_t size)
{
	size_t bytes;
	void *ptr;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	ptr = acquire_other(heap, 0, bytes, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	if (ptr)
		__memset(kasan_reset_tag(ptr), 0, bytes);
	return ptr;
}

kasan_noinline void *kasan_heap_realloc(struct kasan_heap *heap, void *ptr, size_t size)
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
			/* This only reports, because @ptr is not an object. */
			kasan_heap_free(heap, ptr, ip);
			return NULL;
		}
	}
	moved = acquire_other(heap, 0, size, ip, fp);
	if (!moved || !ptr)
		return moved;
	__memcpy(kasan_reset_tag(moved), kasan_reset_tag(ptr), old < size ? old : size);
	kasan_heap_free(heap, ptr, ip);
	return moved;
}

#endif /* CONFIG_KASAN */
