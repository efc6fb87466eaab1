/* SPDX-License-Identifier: MIT */
/*
 * slab_internal.h - the inside of a cache, shared by slab*.c and kmalloc.c.
 *
 * Two allocators can stand behind it; CMake's REDZONE_ALLOCATOR chooses one.
 *
 *	slub  slub.c, slub_freelist.c: slots at hand for each CPU; in a slab the free slots are a list
 *	      through the slots themselves
 *	slab  slab_bitmap.c (CONFIG_SLAB): one lock for a cache, nothing for each CPU; which slots are free
 *	      is written beside the slab, and slabs start at different offsets
 *
 * Each brings slab_layout_slot(), slab_layout_done(), slab_take(), slab_put(), slab_put_many(),
 * slab_flush_cpus(), slab_first(), slab_prepare(), slab_add_slot(), slab_retire(), slab_own_pages() and slab_slot_is_free().
 */
#ifndef MM_SLAB_INTERNAL_H
#define MM_SLAB_INTERNAL_H

#include "internal.h"

/* Empty slabs beyond this many partial ones go back to the page allocator. */
#define SLAB_MIN_PARTIAL 5
/* What proves to a report that a pointer out of a page descriptor leads to a cache. */
#define SLAB_MAGIC 0x536c6162U

/* What one CPU may keep at hand of a cache: slots, and bytes in all, but a few slots of any size. */
#define SLAB_READY	 62U
#define SLAB_READY_BYTES (128U << 10)
#define SLAB_READY_MIN	 8U

/* Most slots of a slab. */
#ifdef CONFIG_SLAB
#define SLAB_MAX_OBJECTS 512UL
#else
#define SLAB_MAX_OBJECTS 65535UL
#endif

/**
 * struct kmem_cache_cpu - what one CPU has of a cache
 * @lock: taken by the CPU itself, and by whoever empties it.
 * @nr, @ready: free slots of any slab, last in first out. Taking one and putting one back is all that most
 *	allocations and frees do; slabs are only looked at when there is none left or no room.
 */
struct kmem_cache_cpu {
	struct bare_lock lock;
	u32 nr;
	void *ready[SLAB_READY];
} __aligned(SMP_CACHE_BYTES);

/**
 * struct kmem_cache - a cache
 * @kasan: what the runtime knows of it.
 * @magic: SLAB_MAGIC.
 * @object_size: bytes the user gets.
 * @size: distance of two slots.
 * @first: least offset of the first slot in a slab. Under KASAN it is not 0: the redzone before it
 *	catches what would else be an access to some other page.
 * @fp_offset: slub: where in a free slot the link to the next free one is.
 * @max_ready: slub: slots that a CPU keeps at hand.
 * @colour: slab: counts slabs, so that they get different first offsets.
 * @nr_pages: pages of a slab; @min_pages: of one for a single object, when memory is fragmented.
 * @list: in slab_caches.
 * @list_lock: guards all that follows it but @cpu, and the slabs' free lists.
 * @partial: slabs with free slots; @full: those without, as far as CPUs do not have them at hand.
 */
struct kmem_cache {
	struct kasan_cache kasan;
	u32 magic;
	u32 flags;
	const char *name;
	u32 object_size;
	u32 size;
	u32 align;
	u32 first;
#ifdef CONFIG_SLAB
	u32 colour;
#else
	u32 fp_offset;
	u32 max_ready;
#endif
	u32 nr_pages;
	u32 min_pages;
	bool name_is_copy;
	void (*ctor)(void *);
	struct list_head list;
	spinlock_t list_lock;
	unsigned long nr_partial;
	unsigned long nr_slabs;
	unsigned long nr_slots;
	struct list_head partial;
	struct list_head full;
#ifndef CONFIG_SLAB
	struct kmem_cache_cpu cpu[NR_CPUS];
#endif
};

#ifdef CONFIG_SLAB

/* --- slab_bitmap.c ------------------------------------------------------------------------------------------ */

void *slab_take(struct kmem_cache *cache, gfp_t gfp);
void slab_put(struct kmem_cache *cache, void *slot, uintptr_t ip);

#else

/* --- slub_freelist.c: uninstrumented, as free slots are poisoned -------------------------------------- */

/** slab_set_next() - @slot, which is free, is followed by @next (NULL: by none). */
void slab_set_next(const struct kmem_cache *cache, void *slot, void *next);

/** slab_get_next() - read it back. @ok: false if what is stored there was overwritten; the rest of the
 *  list is then lost. */
void *slab_get_next(const struct kmem_cache *cache, const struct page *slab, const void *slot,
		    bool *ok);

/* --- slub.c ---------------------------------------------------------------------------------------------- */

/** slab_take_slow() - slab_take() when this CPU has no slot at hand. */
void *slab_take_slow(struct kmem_cache *cache, gfp_t gfp);

/** slab_put_slow() - slab_put() when this CPU has no room for @slot. */
void slab_put_slow(struct kmem_cache *cache, void *slot);

/** slab_double_free() - without KASAN: @slot was freed twice in a row. */
void slab_double_free(const void *slot, uintptr_t ip);

/** slab_take() - a slot, still poisoned; the caller does the KASAN part. NULL: no memory. */
static __always_inline void *slab_take(struct kmem_cache *cache, gfp_t gfp)
{
	struct kmem_cache_cpu *c;
	unsigned long flags;
	void *slot = NULL;

	if (should_fail(FAULT_SLAB, cache->object_size))
		return NULL;
	local_irq_save(flags);
	c = &cache->cpu[smp_processor_id()];
	bare_lock(&c->lock);
	if (likely(c->nr))
		slot = c->ready[--c->nr];
	bare_unlock(&c->lock);
	local_irq_restore(flags);
	return likely(slot) ? slot : slab_take_slow(cache, gfp);
}

/** slab_put() - @slot is free again; poisoned by now. @ip: who freed it. */
static __always_inline void slab_put(struct kmem_cache *cache, void *slot, uintptr_t ip)
{
	struct kmem_cache_cpu *c;
	unsigned long flags;
	bool again = false, room;

	local_irq_save(flags);
	c = &cache->cpu[smp_processor_id()];
	bare_lock(&c->lock);
	/* Twice in a row is all that can be seen without KASAN, at the price of one comparison. */
	if (c->nr && unlikely(c->ready[c->nr - 1] == slot))
		again = !MM_KASAN;
	room = c->nr < cache->max_ready;
	if (likely(room && !again))
		c->ready[c->nr++] = slot;
	bare_unlock(&c->lock);
	local_irq_restore(flags);
	if (unlikely(again))
		slab_double_free(slot, ip);
	else if (unlikely(!room))
		slab_put_slow(cache, slot);
}

#endif /* !CONFIG_SLAB */

/* --- Either allocator --------------------------------------------------------------------------------------- */

/** slab_layout_slot() - @cache->size and @cache->kasan say what a slot has: add what the allocator keeps in
 *  it. */
void slab_layout_slot(struct kmem_cache *cache);

/** slab_layout_done() - the size of slots and slabs is known: the allocator's own part of a new cache. */
void slab_layout_done(struct kmem_cache *cache);

/** slab_put_many() - slab_put() of @count slots at once. */
void slab_put_many(struct kmem_cache *cache, void *const *slots, size_t count);

/** slab_flush_cpus() - take back the slots that CPUs hold. */
void slab_flush_cpus(struct kmem_cache *cache);

/** slab_first() - Return: where the first slot of the new @slab shall be, at least @cache->first. */
u32 slab_first(struct kmem_cache *cache, const struct page *slab);

/** slab_prepare() - a new slab, so far with no free slot. Return: false if there is no memory to keep book. */
bool slab_prepare(struct kmem_cache *cache, struct page *slab, gfp_t gfp);

/** slab_add_slot() - @slot of the new @slab exists and is free. Called from the last to the first. Its tag is to be
 *  kept with it. */
void slab_add_slot(struct kmem_cache *cache, struct page *slab, void *slot);

/** slab_retire() - @slab is about to be given back. */
void slab_retire(struct page *slab);

/** slab_own_pages() - Return: pages that the allocator keeps its books in. */
unsigned long slab_own_pages(void);

/** slab_slot_is_free() - is @slot of @slab free, and at no CPU's hand? @cache->list_lock is held. */
bool slab_slot_is_free(const struct kmem_cache *cache, const struct page *slab, const void *slot);

/* --- slab_api.c ---------------------------------------------------------------------------------------------- */

/** slab_new() - Return: a slab that is in no list, all its slots free and poisoned; NULL: no memory. */
struct page *slab_new(struct kmem_cache *cache, gfp_t gfp);

/** slab_add() - put it into the list of those with free slots. */
void slab_add(struct kmem_cache *cache, struct page *slab);

/** slab_free_all() - give back the slabs in @empty, a list by page->lru, which nobody uses. */
void slab_free_all(struct list_head *empty);

/** slab_put_typesafe() - the same for a SLAB_TYPESAFE_BY_RCU cache. */
void slab_put_typesafe(struct kmem_cache *cache, void *slot, uintptr_t ip);

/** slab_release(), slab_release_bulk() - the same as the runtime calls it. */
void slab_release(struct kasan_cache *cache, void *object);
void slab_release_bulk(struct kasan_cache *cache, void *const *objects, size_t count);

/** slab_slot() - Return: start of the slot of @slab that @p lies in, with @p's tag; NULL if it lies in none. */
static __always_inline void *slab_slot(const struct kmem_cache *cache, const struct page *slab,
				       const void *p)
{
	/* Before the first slot it wraps around and is large. */
	uintptr_t offset = kasan_untag_addr((uintptr_t)p) - (uintptr_t)slab->first_slot;
	uintptr_t index = offset / cache->size;

	if (unlikely(index >= slab->objects))
		return NULL;
	return (char *)(uintptr_t)p - (offset - index * cache->size);
}

/** slab_discard_empty() - free all slabs in which no slot is used. */
void slab_discard_empty(struct kmem_cache *cache);

/** slab_clear() - clear a new object of @size requested bytes for __GFP_ZERO. */
void slab_clear(const struct kmem_cache *cache, void *object, size_t size);

/** slab_page_of() - Return: head of the slab that @p lies in, NULL if it lies in none. */
static __always_inline struct page *slab_page_of(const void *p)
{
	struct page *page = ram_head_page(p);

	return likely(page && PageSlab(page)) ? page : NULL;
}

/* --- kmalloc.c --------------------------------------------------------------------------------------------- */

/** slab_bad_free() - @p was freed but is nobody's: report it. */
void slab_bad_free(const void *p, const char *why, uintptr_t ip);

/** kmalloc_init() - create the size classes. */
void kmalloc_init(void);

/** slab_free() - an object comes back from the user. @ip: who freed it. Inlined, so that the stacks that
 *  the hook records start with the function that the user knows. */
static __always_inline void slab_free(struct kmem_cache *cache, struct page *slab, void *object,
				      uintptr_t ip)
{
	void *slot = slab_slot(cache, slab, object);

	if (unlikely(slot != object) && (!slot || !MM_KASAN))
		slab_bad_free(object, "not the start of an object", ip);
	else if (kasan_slab_free(&cache->kasan, object, slot, ip) != KASAN_FREE_NOW)
		return;
	else if (unlikely(cache->flags & SLAB_TYPESAFE_BY_RCU))
		slab_put_typesafe(cache, slot, ip);
	else
		slab_put(cache, slot, ip);
}

/* --- slab_common.c ------------------------------------------------------------------------------------------ */

/** kmem_cache_setup() - make a cache of @name, which is not copied, with kmalloc's KASAN behaviour if
 *  @kmalloc. NULL: no memory. */
struct kmem_cache *kmem_cache_setup(const char *name, unsigned int size, unsigned int align,
				    unsigned int flags, void (*ctor)(void *), bool kmalloc);

#endif /* MM_SLAB_INTERNAL_H */
