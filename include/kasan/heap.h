/* SPDX-License-Identifier: MIT */
/*
 * heap.h - simple heaps: allocators with a malloc()-like interface.
 *
 * In the tag-based modes an object has redzones and a tag of its own. The allocator gets pointers without tags, so it
 * can still access its own memory.
 *
 * When KASAN is not compiled in (CONFIG_KASAN is unset), the object is the raw chunk, without redzones and with the
 * allocator's own alignment. There is one exception in such builds: if the heap has no @raw_size,
 * kasan_heap_malloc() and its relatives store a record of two words, with the size, in front of each object.
 */
#ifndef KASAN_HEAP_H
#define KASAN_HEAP_H

#include <kasan/hook.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct kasan_fifo - a quarantine's queue, private to the runtime. Empty if all is 0. */
struct kasan_fifo {
	void *head, *tail, *spare;
	size_t count, bytes;
};

#ifdef CONFIG_KASAN
/* Each CPU has a queue of its own; more than 8 CPUs share 8. */
#define KASAN_HEAP_QUEUES (CONFIG_KASAN_NR_CPUS < 8 ? CONFIG_KASAN_NR_CPUS : 8)

#if KASAN_HEAP_QUEUES > 1
/** struct kasan_heap_queue - a CPU's part of a quarantine, private to the runtime. Empty if all is 0. */
struct kasan_heap_queue {
	struct kasan_fifo fifo;
	size_t limit, freed, stamp;
	unsigned int lock, turns;
} __attribute__((__aligned__(64)));
#endif
#endif

/**
 * struct kasan_heap - one heap that the runtime watches. All members may be zero except @name and @release
 *	(and @acquire if you call kasan_heap_malloc() or its relatives)
 * @name: shown in reports.
 * @redzone: bytes of redzone after an object, at least a granule (8 bytes of memory in Generic mode, 16 with tags); 0
 * selects 16. The redzone before the object holds the runtime's header.
 * @quarantine_max: bytes of freed chunks to keep in quarantine, so that uses after free are found; 0: none. Constant from
 * the first free on.
 * @release: gives a raw chunk back to the allocator; called with no runtime lock held. The chunk is still poisoned. An
 * allocator that gives whole pages back to the system must call kasan_unpoison() for them first, so that accesses by
 * their next owner are not reported.
 * @acquire: optional: takes @size bytes from the allocator, aligned to 8; returns NULL if no memory is left. Only
 * kasan_heap_malloc() and its relatives call it. A misaligned chunk is released at once and the allocation fails.
 * @raw_size: optional: usable bytes of a raw chunk. The runtime calls it only for early chunks (see
 * kasan_heap_adopt()); in builds without KASAN, kasan_heap_realloc() and kasan_heap_size() call it for every chunk.
 */
struct kasan_heap {
	const char *name;
	size_t redzone;
	size_t quarantine_max;
	void (*release)(struct kasan_heap *heap, void *raw);
	void *(*acquire)(struct kasan_heap *heap, size_t size);
	size_t (*raw_size)(struct kasan_heap *heap, const void *raw);
#ifdef CONFIG_KASAN
	/* private to the runtime from here on */
	struct kasan_heap *next;
	uintptr_t early_start, early_end;
	uintptr_t low, high;
	unsigned int lock;
	/* Flags: warnings that were printed. A word, because RISC-V has no atomic exchange of bytes. */
	unsigned int said;
	bool added;
	unsigned short number;
#if KASAN_HEAP_QUEUES > 1
	struct kasan_heap_queue queues[KASAN_HEAP_QUEUES];
	size_t freed;
	unsigned int used;
#else
	struct kasan_fifo quarantine;
#endif
#endif
};

#ifndef CONFIG_KASAN
/* The record in front of an object when the allocator cannot tell the object's size. */
struct kasan_heap_plain {
	void *raw;
	size_t size;
};
#define KASAN_HEAP_PLAIN_ALIGN ((size_t)1 << 16) /* the largest alignment */

/* Return: the record of @ptr; NULL if it has none. A raw chunk has no record, only the
 * allocator's own words. The first word tells the two apart: in a record it is the address of the raw chunk, just below
 * @ptr, and we assume that no word of an allocator looks like that. */
static inline struct kasan_heap_plain *kasan_heap_plain_of(const struct kasan_heap *heap,
							   const void *ptr)
{
	struct kasan_heap_plain *const plain =
		(struct kasan_heap_plain *)((uintptr_t)ptr - sizeof(struct kasan_heap_plain));

	if (!ptr || !heap->acquire || heap->raw_size ||
	    (uintptr_t)plain - (uintptr_t)plain->raw >= KASAN_HEAP_PLAIN_ALIGN)
		return NULL;
	return plain;
}

/* Mark @ptr as freed. Return: its raw chunk. */
static inline void *kasan_heap_plain_raw(const struct kasan_heap *heap, void *ptr)
{
	struct kasan_heap_plain *const plain = kasan_heap_plain_of(heap, ptr);
	void *raw = ptr;

	if (plain) {
		raw = plain->raw;
		plain->raw = NULL;
	}
	return raw;
}

static inline void *kasan_heap_plain_alloc(struct kasan_heap *heap, size_t align, size_t size)
{
	const bool sized = !heap->raw_size;
	const size_t room = sized ? sizeof(struct kasan_heap_plain) + (align > 8 ? align : 0) : 0;
	struct kasan_heap_plain *plain;
	uintptr_t at;
	void *raw;

	if (!heap->acquire || (align & (align - 1)) || (sized && align > KASAN_HEAP_PLAIN_ALIGN) ||
	    size > SIZE_MAX - room)
		return NULL;
	raw = heap->acquire(heap, size || sized ? size + room : 1);
	if (!raw)
		return NULL;
	at = (uintptr_t)raw;
	if (sized) {
		at += sizeof(*plain);
		if (align > 8)
			at = (at + align - 1) & ~(uintptr_t)(align - 1);
		plain = (struct kasan_heap_plain *)at - 1;
		plain->raw = raw;
		plain->size = size;
	} else if (align && (at & (align - 1))) {
		heap->release(heap, raw);
		at = 0;
	}
	return (void *)at;
}
#endif

/* --- Wrapping your own allocator --- */

/** kasan_heap_add() - register a heap. Call it once the heap's memory has shadow. Until this call, kasan_heap_malloc()
 *  and its relatives hand out and take back raw chunks, and the heap remembers the chunks' address range. A second call
 *  does nothing. */
KASAN_HOOK void kasan_heap_add(struct kasan_heap *heap) KASAN_OFF();

/**
 * kasan_heap_adopt() - declare the range of chunks handed out before the heap was hooked:
 *	[@start, @start + @size)
 *
 * Call it for allocations that did not go through kasan_heap_malloc(). A heap has one range. A second call extends it
 * to cover the old range and the new one. A pointer in the range that has no runtime header is an early chunk:
 * kasan_heap_free() passes it to @heap->release. With @heap->raw_size it is also poisoned and held back in the
 * quarantine, a second free of it is reported, and it can be reallocated.
 */
KASAN_HOOK void kasan_heap_adopt(struct kasan_heap *heap, const void *start, size_t size)
	KASAN_OFF();

/** kasan_heap_span() - Return: bytes to request from the allocator for @size bytes. @align: a power of two, or 0 for
 *  16. Returns 0 on overflow or for any other @align. */
KASAN_HOOK size_t kasan_heap_span(const struct kasan_heap *heap, size_t size, size_t align)
	KASAN_OFF(return size);

/** kasan_heap_alloc() - make an object of @size bytes in @raw, a chunk of kasan_heap_span() bytes that is aligned to
 *  8. Return: the user's pointer, aligned to @align; NULL if @raw is NULL or not aligned, or if the span is 0. */
KASAN_HOOK void *kasan_heap_alloc(struct kasan_heap *heap, void *raw, size_t size, size_t align)
	KASAN_OFF(return raw);

/** kasan_heap_free() - check, poison and quarantine the object; @release gets the chunk later. A NULL @ptr is ignored.
 *  @ip: address of the caller to show in the report; 0: the caller of this function. Return: false if a double or
 *  invalid free was reported. */
KASAN_HOOK bool kasan_heap_free(struct kasan_heap *heap, void *ptr, uintptr_t ip)
	KASAN_OFF(if (ptr) heap->release(heap, kasan_heap_plain_raw(heap, ptr)); return true);

/** kasan_heap_shrink() - release everything that the quarantine of @heap holds. Call it when the allocator has run out
 *  of memory, or before you read the allocator's own counters. The allocator's lock must not be held. */
KASAN_HOOK void kasan_heap_shrink(struct kasan_heap *heap) KASAN_OFF();

/** kasan_heap_size() - Return: requested bytes of the live object @ptr; for an early chunk the result of
 *  @heap->raw_size; 0 if @ptr is neither. */
KASAN_HOOK size_t kasan_heap_size(const struct kasan_heap *heap, const void *ptr)
	KASAN_OFF(const struct kasan_heap_plain *plain = kasan_heap_plain_of(heap, ptr);
		  if (plain) return plain->size;
		  return ptr && heap->raw_size ? heap->raw_size((struct kasan_heap *)heap, ptr)
					       : 0);

/* --- malloc() and its relatives, built on @heap->acquire --- */

/**
 * kasan_heap_malloc(), kasan_heap_calloc(), kasan_heap_memalign(), kasan_heap_realloc()
 * @align: a power of two, or 0 for 16.
 *
 * Return: the object, or NULL if there is no memory, if the size overflows, or if @align is neither a power of two nor
 * 0. For size 0: a unique pointer that must not be dereferenced. Before kasan_heap_add() they return a raw chunk with
 * the allocator's own alignment, or NULL if @align asks for more.
 *
 * kasan_heap_realloc() always moves the object, so that a use of the old pointer is caught; with a NULL @ptr it acts as
 * kasan_heap_malloc(). It returns NULL and leaves the old object unchanged if there is no memory, if @ptr is not a
 * live object (this is reported), or if it is an early chunk of unknown size. For size 0 it returns an object, too. If
 * realloc(ptr, 0) frees memory in your system, handle that case before you call this function.
 */
KASAN_HOOK void *kasan_heap_memalign(struct kasan_heap *heap, size_t align, size_t size)
	KASAN_OFF(return kasan_heap_plain_alloc(heap, align, size));
KASAN_HOOK void *kasan_heap_malloc(struct kasan_heap *heap, size_t size)
	KASAN_OFF(return kasan_heap_memalign(heap, 0, size));
KASAN_HOOK void *kasan_heap_calloc(struct kasan_heap *heap, size_t count, size_t size)
	KASAN_OFF(size_t bytes = 0; void *raw = NULL;
		  if (!__builtin_mul_overflow(count, size, &bytes))
			  raw = kasan_heap_malloc(heap, bytes);
		  return raw ? __builtin_memset(raw, 0, bytes) : NULL);
KASAN_HOOK void *kasan_heap_realloc(struct kasan_heap *heap, void *ptr, size_t size)
	KASAN_OFF(const size_t old = kasan_heap_size(heap, ptr); void *moved = NULL;
		  if (!ptr || old || kasan_heap_plain_of(heap, ptr))
			  moved = kasan_heap_malloc(heap, size);
		  if (moved && ptr) {
			  __builtin_memcpy(moved, ptr, old < size ? old : size);
			  (void)kasan_heap_free(heap, ptr, 0);
		  } return moved);

#ifdef __cplusplus
}
#endif

#endif /* KASAN_HEAP_H */
