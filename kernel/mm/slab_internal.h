/* SPDX-License-Identifier: MIT */
/* slab_internal.h - the inside of a cache, shared by slab*.c and kmalloc.c. */
#ifndef MM_SLAB_INTERNAL_H
#define MM_SLAB_INTERNAL_H

#include "internal.h"

/* Empty slabs beyond this many partial ones go back to the page allocator. */
#define SLAB_MIN_PARTIAL 5
/* What proves to a report that a pointer out of a page descriptor leads to a cache. */
#define SLAB_MAGIC 0x536c6162U

/**
 * struct kmem_cache_cpu - what one CPU has of a cache
 * @lock: taken by the CPU itself, and by whoever empties it.
 * @freelist: free slots of @slab that only this CPU takes from.
 * @slab: the slab that it allocates from; frozen.
 * @nr, @ready: KASAN only: free slots of any slab, last in first out. What leaves the quarantine belongs to
 *	slabs of long ago, which without these would be locked and listed for every single object.
 */
#define SLAB_READY 29U
struct kmem_cache_cpu {
	struct cpu_lock lock;
	u32 nr;
	void *freelist;
	struct page *slab;
#ifdef CONFIG_KASAN
	void *ready[SLAB_READY];
#endif
} __aligned(SMP_CACHE_BYTES);

/**
 * struct kmem_cache - a cache
 * @kasan: what the runtime knows of it.
 * @magic: SLAB_MAGIC.
 * @object_size: bytes the user gets.
 * @size: distance of two slots.
 * @first: offset of the first slot in a slab. Under KASAN it is not 0: the redzone before it
 *	catches what would else be an access to some other page.
 * @fp_offset: where in a free slot the link to the next free one is.
 * @nr_pages: pages of a slab; @min_pages: of one for a single object, when memory is fragmented.
 * @list: in slab_caches.
 * @list_lock: guards all that follows it but @cpu, and the slabs' free lists.
 * @partial: slabs with free slots; @full: those without. Frozen slabs are in neither.
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
	u32 fp_offset;
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
	struct kmem_cache_cpu cpu[NR_CPUS];
};

/* --- slab_freelist.c: uninstrumented, as free slots are poisoned -------------------------------------- */

/** slab_set_next() - @slot, which is free, is followed by @next (NULL: by none). */
void slab_set_next(const struct kmem_cache *cache, void *slot, void *next);

/** slab_get_next() - read it back. @ok: false if what is stored there was overwritten; the rest of the
 *  list is then lost. */
void *slab_get_next(const struct kmem_cache *cache, const struct page *slab, const void *slot,
		    bool *ok);

/* --- slab.c ---------------------------------------------------------------------------------------------- */

/** slab_take() - a slot, still poisoned; the caller does the KASAN part. NULL: no memory. */
void *slab_take(struct kmem_cache *cache, gfp_t gfp);

/** slab_put() - @slot of @slab is free again; poisoned by now. */
void slab_put(struct kmem_cache *cache, struct page *slab, void *slot);

/** slab_put_typesafe() - the same for a SLAB_TYPESAFE_BY_RCU cache. */
void slab_put_typesafe(struct kmem_cache *cache, struct page *slab, void *slot);

/** slab_release() - the same as the runtime calls it. */
void slab_release(struct kasan_cache *cache, void *object);

/** slab_slot() - Return: start of the slot of @slab that @p lies in, NULL if it lies in none. */
void *slab_slot(const struct kmem_cache *cache, const struct page *slab, const void *p);

/** slab_flush_cpus() - take back the slots that CPUs hold. */
void slab_flush_cpus(struct kmem_cache *cache);

/** slab_discard_empty() - free all slabs in which no slot is used. */
void slab_discard_empty(struct kmem_cache *cache);

/** slab_clear() - clear a new object of @size requested bytes for __GFP_ZERO. */
void slab_clear(const struct kmem_cache *cache, void *object, size_t size);

/** slab_page_of() - Return: head of the slab that @p lies in, NULL if it lies in none. */
struct page *slab_page_of(const void *p);

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

	if (unlikely(!slot || (!MM_KASAN && slot != object)))
		slab_bad_free(object, "not the start of an object", ip);
	else if (kasan_slab_free(&cache->kasan, object, slot, ip) != KASAN_FREE_NOW)
		return;
	else if (unlikely(cache->flags & SLAB_TYPESAFE_BY_RCU))
		slab_put_typesafe(cache, slab, slot);
	else
		slab_put(cache, slab, slot);
}

/* --- slab_common.c ------------------------------------------------------------------------------------------ */

/** kmem_cache_setup() - make a cache of @name, which is not copied, with kmalloc's KASAN behaviour if
 *  @kmalloc. NULL: no memory. */
struct kmem_cache *kmem_cache_setup(const char *name, unsigned int size, unsigned int align,
				    unsigned int flags, void (*ctor)(void *), bool kmalloc);

#endif /* MM_SLAB_INTERNAL_H */
