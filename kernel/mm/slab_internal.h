/* SPDX-License-Identifier: MIT */
/*
 * slab_internal.h - the inside of a cache, shared by slab*.c, slub*.c and kmalloc.c.
 *
 * There are two allocators; CMake's REDZONE_ALLOCATOR chooses one.
 *
 *  slub  slub.c, slub_freelist.c: each CPU keeps slots at hand; the free slots of a slab are a list
 *        that is linked through the slots themselves
 *  slab  slab_bitmap.c (CONFIG_SLAB): one lock for a cache, and CPUs keep nothing; a bitmap beside
 *        the slab says which slots are free, and slabs start at different offsets
 *
 * Each supplies slab_layout_slot(), slab_layout_done(), slab_take(), slab_put(), slab_put_many(),
 * slab_flush_cpus(), slab_first(), slab_prepare(), slab_add_slot(), slab_retire(), slab_own_pages() and
 * slab_slot_is_free().
 */
#ifndef MM_SLAB_INTERNAL_H
#define MM_SLAB_INTERNAL_H

#include <kernel/static_entry.h>
#include <kernel/string.h>
#include <asm/builtins.h>

#include "internal.h"

/* A function that is rarely called. Callers keep values in registers that other calls change, and so need not save any for
 * it. */
#if defined(__clang__) && defined(ARCH_PRESERVE_MOST)
#define __rarely_called __attribute__((__noinline__, __preserve_most__))
#else
#define __rarely_called noinline
#endif

/* If a cache has more partial slabs than this, empty ones go back to the page allocator. */
#define SLAB_MIN_PARTIAL 5
/* Shows a report that a pointer in a page descriptor points to a cache. */
#define SLAB_MAGIC 0x536c6162U

/* How much of a cache one CPU keeps at hand at most: slots, and bytes in all; but at least a few
 * slots of any size. */
#define SLAB_READY	 62U
#define SLAB_READY_BYTES (128U << 10)
#define SLAB_READY_MIN	 8U

/* The most slots that a slab can have. */
#ifdef CONFIG_SLAB
#define SLAB_MAX_OBJECTS 512UL
#else
#define SLAB_MAX_OBJECTS 65535UL
#endif

/**
 * struct kmem_cache_cpu - the slots of a cache that one CPU keeps at hand
 * @lock: taken by the CPU itself, and by a CPU that empties it.
 * @nr, @ready: free slots of any slab, last in first out. Most allocations and frees only take a slot
 *	from here or put one back; they look at slabs only when no slot is left or there is no room.
 */
struct kmem_cache_cpu {
	struct bare_lock lock;
	u32 nr;
	void *ready[SLAB_READY];
} __aligned(SMP_CACHE_BYTES);

/**
 * struct kmem_cache - a cache
 * @kasan: the runtime's part.
 * @magic: SLAB_MAGIC.
 * @object_size: bytes that the user gets.
 * @size: distance from one slot to the next, in bytes.
 * @start_mask, @start_bits: an address in a slab is the start of a slot if it has these of the bits of the mask. ~0UL, 0:
 *	that takes a division. Without redzones @start_bits is 0.
 * @first: least offset of the first slot in a slab. In Generic mode it is not 0: the redzone before
 *	the slot catches underflows that would otherwise hit another page.
 * @fp_offset: slub: offset of the link to the next free slot in a free slot.
 * @max_ready: slub: the most slots that a CPU keeps at hand.
 * @colour: slab: counts slabs, so that they get different first offsets.
 * @nr_pages: pages of a slab; @min_pages: pages of a slab for a single object, for when memory is
 *	fragmented.
 * @list: in slab_caches.
 * @list_lock: guards all members after it but @cpu, and the slabs' free lists.
 * @partial: slabs with free slots; @full: slabs without. Slots that CPUs keep at hand do not count as
 *	free.
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
	unsigned long start_mask, start_bits;
	void (*ctor)(void *);
	struct list_head list;
	raw_spinlock_t list_lock;
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

/* --- slab_bitmap.c ---------------------------------------------------------------------------- */

void *slab_take(struct kmem_cache *cache, gfp_t gfp);
void slab_put(struct kmem_cache *cache, void *slot, bool check, uintptr_t ip);

#else

/* --- slub_freelist.c: uninstrumented, because free slots are poisoned ------------------------- */

/** slab_set_next() - write the link from the free slot @slot to the free slot @next, or to NULL. */
void slab_set_next(const struct kmem_cache *cache, void *slot, void *next);

/** slab_get_next() - read the link back. @ok: set to false if the link was overwritten; the rest of
 *  the list is then lost. */
void *slab_get_next(const struct kmem_cache *cache, const struct page *slab, const void *slot,
		    bool *ok);

/* --- slub.c ----------------------------------------------------------------------------------- */

/** slab_take_slow() - slab_take() when this CPU has no slot at hand. */
__rarely_called void *slab_take_slow(struct kmem_cache *cache, gfp_t gfp);

/** slab_put_slow() - slab_put() when this CPU has no room for @slot. */
void slab_put_slow(struct kmem_cache *cache, void *slot);

/** slab_double_free() - without KASAN: report that @slot was freed twice in a row. */
void slab_double_free(const void *slot, uintptr_t ip);

/** slab_double_free_here() - slab_double_free() by the caller of the function that jumps here. */
void slab_double_free_here(const void *slot);

/** slab_take_ready() - Return: a slot that this CPU has at hand, still poisoned; NULL if it has none. */
static __always_inline void *slab_take_ready(struct kmem_cache *cache)
{
	struct kmem_cache_cpu *c;
	unsigned long flags;
	void *slot = NULL;
	u32 nr;

	local_irq_save(flags);
	c = &cache->cpu[smp_processor_id()];
	bare_lock(&c->lock);
	nr = c->nr;
	if (likely(nr)) {
		c->nr = --nr;
		slot = c->ready[nr];
		/* So callers do not look again. */
		if (!slot)
			__builtin_unreachable();
	}
	bare_unlock(&c->lock);
	local_irq_restore(flags);
	return slot;
}

/** slab_take() - take a free slot, which is still poisoned; the caller calls the KASAN hooks. Return:
 *  NULL if there is no memory. */
static __always_inline void *slab_take(struct kmem_cache *cache, gfp_t gfp)
{
	void *slot;

	slot = slab_take_ready(cache);
	return likely(slot) ? slot : slab_take_slow(cache, gfp);
}

enum slab_put_result {
	SLAB_PUT_DONE,
	SLAB_PUT_TWICE, /* it was freed twice in a row; nothing was done */
	SLAB_PUT_FULL,	/* this CPU has no room; nothing was done */
};

/* slab_put() on this CPU, whose slots are @c. Interrupts are off and come back as @flags say. @check: see slab_put(). */
static __always_inline enum slab_put_result slab_put_here(struct kmem_cache *cache,
							  struct kmem_cache_cpu *c, void *slot,
							  bool check, unsigned long flags)
{
	u32 nr;

	bare_lock(&c->lock);
	nr = c->nr;
	/* Only two frees in a row are noticed, for the price of one comparison. */
	if (check && nr && unlikely(c->ready[nr - 1] == slot)) {
		bare_unlock(&c->lock);
		local_irq_restore(flags);
		return SLAB_PUT_TWICE;
	}
	if (unlikely(nr >= cache->max_ready)) {
		bare_unlock(&c->lock);
		local_irq_restore(flags);
		return SLAB_PUT_FULL;
	}
	c->ready[nr] = slot;
	c->nr = nr + 1;
	bare_unlock(&c->lock);
	local_irq_restore(flags);
	return SLAB_PUT_DONE;
}

/** slab_put() - put back @slot, which is poisoned by now. @check: look for double frees, because KASAN does not.
 *  @ip: the caller that freed it. */
static __always_inline void slab_put(struct kmem_cache *cache, void *slot, bool check, uintptr_t ip)
{
	enum slab_put_result result;
	unsigned long flags;

	local_irq_save(flags);
	result = slab_put_here(cache, &cache->cpu[smp_processor_id()], slot, check, flags);
	if (check && unlikely(result == SLAB_PUT_TWICE))
		slab_double_free(slot, ip);
	else if (unlikely(result == SLAB_PUT_FULL))
		slab_put_slow(cache, slot);
}

#endif /* !CONFIG_SLAB */

/* --- Either allocator ------------------------------------------------------------------------- */

/** slab_layout_slot() - add the allocator's own part to the layout of a slot. @cache->size and
 *  @cache->kasan have the rest already. */
void slab_layout_slot(struct kmem_cache *cache);

/** slab_layout_done() - set up the allocator's own part of a new cache, whose sizes of slots and
 *  slabs are known. */
void slab_layout_done(struct kmem_cache *cache);

/** slab_put_many() - slab_put() for @count slots at once. */
void slab_put_many(struct kmem_cache *cache, void *const *slots, size_t count);

/** slab_flush_cpus() - take back the slots that CPUs hold. */
void slab_flush_cpus(struct kmem_cache *cache);

/** slab_first() - Return: the offset of the first slot in the new @slab, in bytes; @cache->first or
 *  more. */
u32 slab_first(struct kmem_cache *cache, const struct page *slab);

/** slab_prepare() - set up the allocator's part of a new slab, which has no slots yet. Return: false
 *  if there is no memory for that. */
bool slab_prepare(struct kmem_cache *cache, struct page *slab, gfp_t gfp);

/** slab_add_slot() - add the free slot @slot to the new @slab, and keep its tag. Called for the last
 *  slot first. */
void slab_add_slot(struct kmem_cache *cache, struct page *slab, void *slot);

/** slab_retire() - undo slab_prepare() before @slab is freed. */
void slab_retire(struct page *slab);

/** slab_own_pages() - Return: number of pages that hold the allocator's own data. */
unsigned long slab_own_pages(void);

/** slab_slot_is_free() - Return: true if @slab itself says that @slot is free; slots that a CPU keeps
 *  at hand are not. @cache->list_lock is held. */
bool slab_slot_is_free(const struct kmem_cache *cache, const struct page *slab, const void *slot);

/* --- slab_api.c ------------------------------------------------------------------------------- */

/** slab_new() - make a slab. Return: a slab that is in no list, with all slots free and poisoned;
 *  NULL: no memory. */
struct page *slab_new(struct kmem_cache *cache, gfp_t gfp);

/** slab_add() - put a new slab into the list of slabs with free slots. */
void slab_add(struct kmem_cache *cache, struct page *slab);

/** slab_free_all() - free the slabs in @empty, a list by page->lru. They have no used slots. */
void slab_free_all(struct list_head *empty);

/** slab_put_typesafe() - slab_put() for a SLAB_TYPESAFE_BY_RCU cache: the slot may be held back until
 *  readers have left. */
void slab_put_typesafe(struct kmem_cache *cache, void *slot, uintptr_t ip);

/** slab_release(), slab_release_bulk() - slab_put() for objects that leave the runtime's quarantine. */
void slab_release(struct kasan_cache *cache, void *object);
void slab_release_bulk(struct kasan_cache *cache, void *const *objects, size_t count);

/** slab_slot() - Return: start of the slot of @slab that holds @p, with the tag of @p; NULL if no
 *  slot does. */
static __always_inline void *slab_slot(const struct kmem_cache *cache, const struct page *slab,
				       const void *p)
{
	/* If @p is before the first slot, the offset wraps around and is large. */
	uintptr_t offset = kasan_untag_addr((uintptr_t)p) - (uintptr_t)slab->first_slot;
	uintptr_t index = offset / cache->size;

	if (unlikely(index >= slab->objects))
		return NULL;
	return (char *)(uintptr_t)p - (offset - index * cache->size);
}

/** slab_starts() - Return: does a slot of @slab start at @p? */
static __always_inline bool slab_starts(const struct kmem_cache *cache, const struct page *slab,
					const void *p)
{
	const uintptr_t offset = kasan_untag_addr((uintptr_t)p) - (uintptr_t)slab->first_slot;
	const uintptr_t index = offset / cache->size;

	return likely(index * cache->size == offset) && likely(index < slab->objects);
}

/** slab_discard_empty() - free all slabs that have no used slot. */
void slab_discard_empty(struct kmem_cache *cache);

/**
 * slab_clear() - clear a slot that was taken, before the hook opens it, for __GFP_ZERO
 * @slot: NULL: do nothing. @size: bytes of the object that were requested, read again, as is @cache; NULL: all of them.
 *
 * Return: @slot. All three are kept in memory: if they were in registers that survive the call, every allocation would save
 * those.
 */
static __always_inline void *slab_clear(struct kmem_cache **cache, void *slot, size_t *size)
{
#ifdef CONFIG_KASAN
	struct kmem_cache *volatile kept_cache = *cache;
	void *volatile kept_slot = slot;
	volatile size_t kept_size;

	if (size)
		kept_size = *size;
	/* No pointer may access the slot yet, so this is not checked. */
	if (likely(slot))
		__memset(kasan_reset_tag(slot), 0,
			 size && MM_KASAN ? *size : (*cache)->object_size);
	*cache = kept_cache;
	if (size)
		*size = kept_size;
	return kept_slot;
#else
	/* The requested size is not stored. So clear the whole object, because krealloc() may grow into the rest. */
	(void)size;
	return likely(slot) ? memset(slot, 0, (*cache)->object_size) : NULL;
#endif
}

/** slab_ram_page() - Return: descriptor of the page at @p, not always the head of its block; NULL if @p is not in the
 *  linear map of RAM. */
static __always_inline struct page *slab_ram_page(const void *p)
{
	const struct linear_ram *ram = &linear_ram;
	unsigned long offset;
	struct page *page;

	/* Otherwise the compiler forms the address twice. */
	HIDE_VAR(ram);
	offset = kasan_untag_addr((unsigned long)p) - ram->start;
	if (unlikely(offset >= ram->bytes))
		return NULL;
	page = &ram->pages[offset >> PAGE_SHIFT];
	/* So callers do not look again. */
	if (!page)
		__builtin_unreachable();
	return page;
}

/** slab_head_page() - ram_head_page(), one instruction shorter. */
static __always_inline struct page *slab_head_page(const void *p)
{
	struct page *page = slab_ram_page(p);

	if (unlikely(!page))
		return NULL;
	page = compound_head(page);
	if (!page)
		__builtin_unreachable();
	return page;
}

/** slab_page_of() - Return: the first page of the slab that holds @p; NULL if no slab does. */
static __always_inline struct page *slab_page_of(const void *p)
{
	struct page *page = slab_head_page(p);

	return likely(page && PageSlab(page)) ? page : NULL;
}

/** slab_of() - slab_page_of() for the ways that are short: shortest for the first page of a slab. */
static __always_inline struct page *slab_of(const void *p)
{
	struct page *page = slab_ram_page(p);

	if (unlikely(!page))
		return NULL;
	if (unlikely(!PageSlab(page))) {
		if (!PageTail(page))
			return NULL;
		page = page->head;
		if (!PageSlab(page))
			return NULL;
	}
	if (!page)
		__builtin_unreachable();
	return page;
}

/** slab_may_start() - slab_starts() without a division where that is possible. With redzones it is also true before the
 *  first slot and after the last, where the runtime finds no metadata. */
static __always_inline bool slab_may_start(const struct kmem_cache *cache, const struct page *slab,
					   const void *p)
{
	/* Slabs of the other allocator start at different offsets. */
#if defined(CONFIG_KASAN_GENERIC) && !defined(CONFIG_SLAB)
	if (likely(((uintptr_t)p & cache->start_mask) == cache->start_bits))
		return true;
#endif
	return slab_starts(cache, slab, p);
}

/** slab_starts_at() - the same where there are no redzones. */
static __always_inline bool slab_starts_at(const struct kmem_cache *cache, const struct page *slab,
					   const void *p)
{
	return likely(!((uintptr_t)p & cache->start_mask)) || slab_starts(cache, slab, p);
}

/* --- kmalloc.c -------------------------------------------------------------------------------- */

/* The cache for each (size + 7) / 8. The table takes 8 KiB, and a lookup is one load. */
extern struct kmem_cache *kmalloc_caches[KMALLOC_MAX_CACHE_SIZE / 8 + 1];

/** kmalloc_cache() - Return: the size class of @size bytes, at most KMALLOC_MAX_CACHE_SIZE. */
static __always_inline struct kmem_cache *kmalloc_cache(size_t size)
{
	return kmalloc_caches[(size + 7) / 8];
}

/** kmalloc_fits() - krealloc() without KASAN. Return: true if the slab object at @p can have @size bytes and stays as
 *  it is. */
static __always_inline bool kmalloc_fits(const void *p, size_t size, gfp_t gfp)
{
	struct page *slab = gfp & __GFP_ZERO ? NULL : slab_of(p);

	return slab && size - 1 < slab->slab_cache->object_size &&
	       slab_starts_at(slab->slab_cache, slab, p);
}

/** slab_bad_free() - report the free of @p, which is not a valid object. @ip: the caller. */
void slab_bad_free(const void *p, const char *why, uintptr_t ip);

/** kmalloc_init() - create the size classes. */
void kmalloc_init(void);

/* --- slab_entry.c ----------------------------------------------------------------------------- */

/*
 * A function with SLAB_ENTRY starts with a static branch. With kasan=off it leads to a twin without hooks, with tags and
 * without traces to one that does the hooks' work itself. So the function need not ask whether KASAN is on, unless SLAB_ASKS
 * is true.
 */
#if defined(CONFIG_KASAN) && !defined(CONFIG_SLAB)
#define SLAB_ENTRY STATIC_ENTRY
#define SLAB_ASKS  false
#else
#define SLAB_ENTRY
#define SLAB_ASKS true
#endif

/* --- The beginning of an object --------------------------------------------------------------- */

/* slab_special(): the allocation fails. */
#define SLAB_REFUSED ((void *)1)

/** slab_is_special() - Return: must slab_special() be asked? An ordinary allocation takes one load and one branch. */
static __always_inline bool slab_is_special(void)
{
	return unlikely(READ_ONCE(fault_kinds));
}

/**
 * slab_special() - this allocation may have to fail for a test, or be sampled: look closer
 * @align: of the object; 0: as kmalloc() aligns, powers of two to their size.
 *
 * The stack of a sampled object begins with the function that calls this. Not inlined, because every allocation would
 * save the registers that this needs.
 *
 * Return: the sampled object, ready for its user; SLAB_REFUSED; NULL: it is an ordinary allocation.
 */
__rarely_called void *slab_special(struct kmem_cache *cache, size_t size, size_t align, gfp_t gfp);

/* --- The end of an object ---------------------------------------------------------------------- */

/** slab_put_freed() - put back the slot of @object, which was freed and is not held back. */
void slab_put_freed(void *object);

/** slab_free() - free an object for a user. @ip: the caller. @asks: SLAB_ASKS in a function with SLAB_ENTRY, true in
 *  others. Inlined, so that the stacks that the hook records start with the function that the user knows. */
static __always_inline void slab_free(struct kmem_cache *cache, struct page *slab, void *object,
				      uintptr_t ip, const bool asks)
{
	const bool off = asks && !MM_KASAN;
	void *slot = object;

	if (unlikely(!slab_may_start(cache, slab, object))) {
		slot = slab_slot(cache, slab, object);
		if (!slot || !MM_KASAN) {
			slab_bad_free(object, "not the start of an object", ip);
			return;
		}
	}
	if (likely(!off)) {
		if (kasan_slab_free(&cache->kasan, object, slot, ip) != KASAN_FREE_NOW)
			return;
#ifdef CONFIG_KASAN_GENERIC
		/* Nearly all objects are in the quarantine by now. So nothing is kept for the others, whose slot starts
		 * at @object, or else the free was bad. */
		slab_put_freed(object);
		return;
#endif
	}
	if (unlikely(cache->flags & SLAB_TYPESAFE_BY_RCU))
		slab_put_typesafe(cache, slot, ip);
	else
		slab_put(cache, slot, off, ip);
}

/* --- slab_common.c ---------------------------------------------------------------------------- */

/** kmem_cache_setup() - make a cache. @name is not copied. @kmalloc: use KASAN as for kmalloc().
 *  Return: NULL if there is no memory. */
struct kmem_cache *kmem_cache_setup(const char *name, unsigned int size, unsigned int align,
				    unsigned int flags, void (*ctor)(void *), bool kmalloc);

#endif /* MM_SLAB_INTERNAL_H */
