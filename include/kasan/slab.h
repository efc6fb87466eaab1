/* SPDX-License-Identifier: MIT */
/* slab.h - hooks for allocators that cut slabs into objects of one size. */
#ifndef KASAN_SLAB_H
#define KASAN_SLAB_H

#include <kasan/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Tracks of an object --- */

/**
 * struct kasan_track - task and stack of an allocation or free; with CONFIG_KASAN_EXTRA_INFO also CPU and time
 * @pid: task number. @stack: stack depot handle, 0: none.
 * @cpu: number of the CPU. @when: kasan_port_clock() in units of 256 ns, enough for 52 days.
 */
struct kasan_track {
	uint32_t pid;
	uint32_t stack;
#ifdef CONFIG_KASAN_EXTRA_INFO
	uint64_t cpu : 20;
	uint64_t when : 44;
#endif
};
#define KASAN_TRACK_CLOCK_SHIFT 8

/** struct kasan_alloc_meta - lives in an object's redzone while the slot exists */
struct kasan_alloc_meta {
	struct kasan_track alloc;
	uint32_t aux_stack[2]; /* last two related work creations, newest first */
	uint32_t size;	       /* bytes asked for at the last allocation */
	uint32_t flags;	       /* KASAN_META_* */
};

/** struct kasan_free_meta - overlays a freed object's first bytes, or sits in its redzone */
struct kasan_free_meta {
	uintptr_t check; /* of @free and the address: shows a write after the free */
	struct kasan_track free;
};

/* --- Caches --- */

/* struct kasan_cache.flags: a constructor or RCU needs the bytes of a free object. */
#define KASAN_CACHE_NO_FREE_META_IN_OBJECT 1U
/* Slots are released at once: objects of SLAB_TYPESAFE_BY_RCU are neither poisoned nor delayed. */
#define KASAN_CACHE_NO_QUARANTINE 2U
/* A size class, in which objects smaller than object_size are usual. */
#define KASAN_CACHE_KMALLOC 4U
/* @release_bulk is given. */
#define KASAN_CACHE_RELEASE_BULK 8U
/* The allocator never writes into a free slot, so the free track is known until the slot is used again. */
#define KASAN_CACHE_LEAVES_FREE 16U
/* Set by kasan_cache_create(): kasan.slack=check watches the ends of its objects. */
#define KASAN_CACHE_SLACK 32U

#define KASAN_NO_FREE_META UINT32_MAX

/**
 * struct kasan_cache - what the runtime knows of one cache; the port embeds it in its own descriptor
 * @name: for reports; must outlive the cache.
 * @object_size: usable bytes of an object.
 * @slot_size: distance between two objects, redzone and metadata included.
 * @alloc_meta_offset: of struct kasan_alloc_meta, from the object's start.
 * @free_meta_offset: of struct kasan_free_meta, or KASAN_NO_FREE_META.
 * @plain_size: for the hooks: @object_size if an allocation of so many bytes has nothing special. If all do: in the tag
 * modes 0, in Generic mode UINT32_MAX.
 * @plain_free: the same for a free: in the tag modes @object_size, in Generic mode bytes of its shadow; else 0.
 * @inner_offsets: for the hooks of the tag modes: a slot has both neighbours in its own page if its offset in the page
 * is between 1 and this.
 * @flags: KASAN_CACHE_*.
 * @release: gives a slot back to the allocator when the quarantine lets go of it. Called in any context that frees,
 * interrupts on or off, with no runtime lock held. So do not hold a lock that @release takes while you free an object
 * or call kasan_cache_shrink().
 * @release_bulk: optional, with KASAN_CACHE_RELEASE_BULK in @flags: the same for the @count slots that leave the
 * quarantine together. It is cheaper if the allocator takes a lock.
 */
struct kasan_cache {
	const char *name;
	uint32_t object_size;
	uint32_t slot_size;
	uint32_t alloc_meta_offset;
	uint32_t free_meta_offset;
	uint32_t plain_size, plain_free;
	uint32_t inner_offsets;
	uint32_t flags;
	void (*release)(struct kasan_cache *cache, void *object);
	void (*release_bulk)(struct kasan_cache *cache, void *const *objects, size_t count);
};

/**
 * kasan_cache_create() - lay out a cache's redzones and metadata
 * @cache: name, object_size, flags and release filled by the caller; the rest is filled here.
 * @align: alignment of objects, a power of two of at least 8.
 *
 * Return: the slot size to use, a multiple of @align.
 */
KASAN_HOOK uint32_t kasan_cache_create(struct kasan_cache *cache, uint32_t align)
	KASAN_OFF(cache->alloc_meta_offset = 0; cache->free_meta_offset = KASAN_NO_FREE_META;
		  return cache->slot_size = (cache->object_size + (align - 1)) & ~(align - 1));

/** kasan_cache_shrink() - release all objects of @cache, or of every cache if NULL, that the quarantine holds. Call
 *  before a cache is destroyed. It also empties the queues of other CPUs, which may take long. It also waits for
 *  releases that other CPUs have begun, even those of other caches, so hold no lock that any cache's @release takes. */
KASAN_HOOK void kasan_cache_shrink(struct kasan_cache *cache) KASAN_OFF();

/* --- Slabs and slots --- */

/** kasan_poison_slab() - pages become a slab: all of it is redzone until objects are handed out. */
KASAN_HOOK void kasan_poison_slab(const void *slab, size_t size) KASAN_OFF();

/** kasan_init_slab_object() - clear the metadata of a slot in a new slab. The slot's memory must be writable; its
 *  contents may be anything. */
KASAN_HOOK void kasan_init_slab_object(struct kasan_cache *cache, void *object) KASAN_OFF();

/** kasan_init_slab_slot() - kasan_init_slab_object(), with a result. Return: the pointer that the allocator must keep
 *  in its list and pass to a constructor. In tag modes an object of a cache with a constructor or RCU readers keeps one
 *  tag as long as its slab exists, because it may contain pointers to itself. */
#ifdef CONFIG_KASAN_TAGS
void *kasan_init_slab_slot(struct kasan_cache *cache, void *object);
#else
static inline void *kasan_init_slab_slot(struct kasan_cache *cache, void *object)
{
	kasan_init_slab_object(cache, object);
	return object;
}
#endif

/** kasan_unpoison_object(), kasan_poison_object() - make an unallocated slot accessible to its constructor, and poison
 *  it again afterwards. */
KASAN_HOOK void kasan_unpoison_object(struct kasan_cache *cache, void *object) KASAN_OFF();
KASAN_HOOK void kasan_poison_object(struct kasan_cache *cache, void *object) KASAN_OFF();

/* --- Objects --- */

enum kasan_free_verdict {
	KASAN_FREE_NOW,		/* the allocator releases the slot now */
	KASAN_FREE_QUARANTINED, /* the runtime keeps it and calls @release later */
	KASAN_FREE_BAD, /* reported: double or invalid free; the allocator must not touch it */
};

/**
 * kasan_slab_alloc() - an object is handed out
 * @object: its address; NULL is passed through. Tag modes: with the tag that its last user's pointer had, 0xFF if that
 * is not known.
 * @size: bytes asked for, at most @cache->object_size; the slack after them becomes redzone.
 *
 * Records the allocation stack of the caller. Return: the pointer to give to the user.
 */
KASAN_HOOK void *kasan_slab_alloc(struct kasan_cache *cache, void *object, size_t size)
	KASAN_OFF(return object);

/**
 * kasan_has_integrated_init() - is clearing memory while it is tagged cheaper than afterwards?
 *
 * If so, call kasan_slab_alloc_init(), kasan_alloc_pages_init() and kasan_unpoison_vmalloc_init() with @init true for
 * memory that must read as zero, and do not clear it yourself. They clear memory only if this function returns true.
 * Objects are cleared to the end of their last granule, areas to the end of their last page.
 */
#ifdef CONFIG_KASAN_HW_TAGS
static inline bool kasan_has_integrated_init(void)
{
	return kasan_on();
}
void *kasan_slab_alloc_init(struct kasan_cache *cache, void *object, size_t size, bool init);
#else
static inline bool kasan_has_integrated_init(void)
{
	return false;
}
#define kasan_slab_alloc_init(cache, object, size, init) kasan_slab_alloc((cache), (object), (size))
#endif

/** kasan_slab_realloc() - the object stays where it is and now has @size bytes. */
KASAN_HOOK void *kasan_slab_realloc(struct kasan_cache *cache, void *object, size_t size)
	KASAN_OFF(return object);

/** kasan_slab_resize() - cut @object, which kasan_slab_alloc() has just handed out with all its bytes, to the @size
 *  that its user asked for. For allocators whose size classes learn of the size later. The recorded stack stays, if no
 *  interrupt came in between. Return: the pointer to give to the user. */
KASAN_HOOK void *kasan_slab_resize(struct kasan_cache *cache, void *object, size_t size)
	KASAN_OFF(return object);

#ifdef CONFIG_KASAN_GENERIC
/** kasan_slab_free_search() - kasan_slab_free() for allocators that would have to divide to find the start of a slot.
 *  @slot(): finds it; called only if @object, not NULL, is not clearly the start of a live object. Reports of a bad free
 *  name the caller of this function's caller. Return: must the allocator leave the slot alone? */
bool kasan_slab_free_search(struct kasan_cache *cache, void *object,
			    void *(*slot)(struct kasan_cache *cache, void *object));

/** kasan_slab_is_live() - is @object certainly the start of a live object of @cache? For allocators that would have to
 *  divide to find the start of its slot. False says nothing: its metadata may have been overwritten. Not for slots
 *  without metadata (kasan=off). Any context. */
bool kasan_slab_is_live(const struct kasan_cache *cache, const void *object);
#endif

#ifdef CONFIG_KASAN_TAGS
/** kasan_slab_free_start() - kasan_slab_free() of @object, not NULL, that starts at its slot. Reports of a bad free name the
 *  caller of this function's caller. Return: must the allocator leave the slot alone? */
bool kasan_slab_free_start(struct kasan_cache *cache, void *object);
#endif

/** kasan_object_size() - Return: bytes asked for when the live object at @object of @cache was allocated (without
 *  KASAN: @cache->object_size). Does not unpoison anything. */
KASAN_HOOK size_t kasan_object_size(struct kasan_cache *cache, const void *object)
	KASAN_OFF(return cache->object_size);

/**
 * kasan_slab_free() - an object comes back
 * @object: the pointer that the user gave.
 * @base: start of the slot that holds @object, as the allocator knows it.
 * @ip: code address that frees, for the report.
 *
 * Reports a double or invalid free. Otherwise it poisons the object, records the stack, and may put the object into the
 * quarantine.
 *
 * Return: what the allocator must do with the slot.
 */
KASAN_HOOK enum kasan_free_verdict kasan_slab_free(struct kasan_cache *cache, void *object,
						   void *base, uintptr_t ip)
	KASAN_OFF(return KASAN_FREE_NOW);

/**
 * kasan_slab_free_deferred() - the last reader has left an object of a KASAN_CACHE_NO_QUARANTINE cache for which
 * kasan_slab_free() returned KASAN_FREE_NOW
 * @object: freed, and not handed out since.
 *
 * For allocators that hold such objects back until their readers have left (SLAB_TYPESAFE_BY_RCU). Only this call
 * poisons and queues the object.
 *
 * Return: as kasan_slab_free(), but never KASAN_FREE_BAD.
 */
KASAN_HOOK enum kasan_free_verdict kasan_slab_free_deferred(struct kasan_cache *cache, void *object)
	KASAN_OFF(return KASAN_FREE_NOW);

/**
 * kasan_cache_check_slack() - look for objects with overwritten bytes past their end (kasan.slack=check)
 * @cache: compare its live objects; NULL: all live objects, also those of whole pages.
 *
 * A free and krealloc() check their object too. This call also finds the overflow of an object that is never freed. It
 * reports each overflow once, as slab-out-of-bounds "found in a walk"; a later free does not repeat the report. Other
 * CPUs may allocate and free meanwhile. The time grows with the number of objects, and no lock is taken. Any context;
 * it may report, so no lock of the console may be held.
 *
 * Return: number of such objects; 0 in modes and kernels that do not check.
 */
KASAN_HOOK size_t kasan_cache_check_slack(struct kasan_cache *cache) KASAN_OFF(return 0);

/** kasan_record_aux_stack() - remember the current stack as one that creates work for the object at @addr. */
KASAN_HOOK void kasan_record_aux_stack(const void *addr) KASAN_OFF();

#ifdef CONFIG_KASAN
/* kasan_slab_flags - why the hooks of slab objects do more, or less, than set tags. It is one word because every
 * allocation and every free reads it; 0 is the production case of the tag modes. */
#define KASAN_SLAB_OFF	  1U /* kasan_on() is false */
#define KASAN_SLAB_TRACES 2U /* kasan.stacktrace= is not off */
#define KASAN_SLAB_SLOW \
	4U /* an option wants the general functions for every object: kasan.tag_policy=random, kasan.slack=check */
extern unsigned int kasan_slab_flags;
#endif

#ifdef __cplusplus
}
#endif

#endif /* KASAN_SLAB_H */
