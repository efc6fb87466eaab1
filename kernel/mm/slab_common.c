// SPDX-License-Identifier: MIT
/*
 * slab_common.c - caches: the layout of their slots, and how they are created, shrunk and destroyed.
 */
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/string.h>

#include "slab_internal.h"

#define SLAB_MAX_SIZE 65536U
/* Slabs get no larger than this order, unless one object needs it. With KASAN slots are up to twice
 * as large. */
#define SLAB_MAX_ORDER (MM_REDZONES ? 5U : 3U)
/* If a slab would have fewer objects than this, a larger slab is tried. */
#define SLAB_WANT_OBJECTS 4U

/* All caches that were not destroyed. The lock is never taken in an interrupt. */
static LIST_HEAD(slab_caches);
static DEFINE_RAW_SPINLOCK(slab_caches_lock);

/* The first cache: it holds the other struct kmem_cache. */
static struct kmem_cache cache_cache;

/* --- Layout ----------------------------------------------------------------------------------- */

static u32 choose_align(u32 size, u32 align, u32 flags)
{
	u32 line = SMP_CACHE_BYTES;

	if (flags & SLAB_HWCACHE_ALIGN) {
		/* Several small objects may share a cache line, but no object may be in two. */
		while (size <= line / 2)
			line /= 2;
		align = max(align, line);
	}
	return ALIGN(max(align, MM_SLAB_ALIGN), MM_SLAB_ALIGN);
}

/* Lay out a slot: the object, the runtime's part, and the allocator's part. */
static void layout_slot(struct kmem_cache *cache)
{
	if (MM_KASAN)
		cache->size = kasan_cache_create(&cache->kasan, cache->align);
	else
		cache->size = ALIGN(max(cache->object_size, 8U), cache->align);
	slab_layout_slot(cache);
}

/* Decide how many pages a slab has, and lay it out. */
static void layout_slab(struct kmem_cache *cache)
{
	u32 order, span, fit;

	/* A redzone before the first slot: without it an underflow there would hit another page. */
	cache->first = MM_REDZONES ? max(cache->align, 16U) : 0;
	for (order = 0;; order++) {
		span = (u32)(PAGE_SIZE << order);
		fit = span > cache->first ? (span - cache->first) / cache->size : 0;
		fit = min(fit, (u32)SLAB_MAX_OBJECTS);
		if (order >= SLAB_MAX_ORDER && fit)
			break;
		if (fit >= SLAB_WANT_OBJECTS && span - fit * cache->size <= span / 8)
			break;
	}
	cache->nr_pages = (u32)(PAGE_ALIGN(cache->first + fit * cache->size) >> PAGE_SHIFT);
	cache->min_pages = (u32)(PAGE_ALIGN(cache->first + cache->size) >> PAGE_SHIFT);
	cache->start_mask = ~0UL;
	if (!(cache->size & (cache->size - 1)) && cache->size <= PAGE_SIZE &&
	    /* Slots fill each page, or are among redzones. */
	    (cache->first || fit * cache->size == (size_t)cache->nr_pages << PAGE_SHIFT)) {
		cache->start_mask = cache->size - 1;
		cache->start_bits = cache->first & cache->start_mask;
	}
}

static void init_cache(struct kmem_cache *cache, const char *name, u32 size, u32 align, u32 flags,
		       void (*ctor)(void *), bool kmalloc)
{
	memset(cache, 0, sizeof(*cache));
	cache->magic = SLAB_MAGIC;
	cache->name = name;
	cache->object_size = size;
	cache->align = choose_align(size, align, flags);
	cache->flags = flags;
	cache->ctor = ctor;
	cache->kasan.name = name;
	cache->kasan.object_size = size;
	cache->kasan.release = slab_release;
	cache->kasan.release_bulk = slab_release_bulk;
	cache->kasan.flags = KASAN_CACHE_RELEASE_BULK;
	if (ctor)
		cache->kasan.flags |= KASAN_CACHE_NO_FREE_META_IN_OBJECT;
	if (flags & SLAB_TYPESAFE_BY_RCU)
		cache->kasan.flags |=
			KASAN_CACHE_NO_FREE_META_IN_OBJECT | KASAN_CACHE_NO_QUARANTINE;
	if (kmalloc)
		cache->kasan.flags |= KASAN_CACHE_KMALLOC;
	raw_spin_lock_init(&cache->list_lock);
	INIT_LIST_HEAD(&cache->partial);
	INIT_LIST_HEAD(&cache->full);
	layout_slot(cache);
	layout_slab(cache);
	slab_layout_done(cache);
	raw_spin_lock(&slab_caches_lock);
	list_add_tail(&cache->list, &slab_caches);
	raw_spin_unlock(&slab_caches_lock);
}

/* --- Creating --------------------------------------------------------------------------------- */

struct kmem_cache *kmem_cache_setup(const char *name, unsigned int size, unsigned int align,
				    unsigned int flags, void (*ctor)(void *), bool kmalloc)
{
	struct kmem_cache *cache = kmem_cache_alloc(&cache_cache, GFP_KERNEL);

	if (cache)
		init_cache(cache, name, size, align, flags, ctor, kmalloc);
	return cache;
}

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size, unsigned int align,
				     unsigned int flags, void (*ctor)(void *))
{
	struct kmem_cache *cache = NULL;
	const char *copy;

	if (WARN(!name || !size || size > SLAB_MAX_SIZE || align & (align - 1) || align > PAGE_SIZE,
		 "kmem_cache_create(%s): bad size %u or alignment %u\n", name ? name : "?", size,
		 align))
		return NULL;
	copy = kstrdup(name, GFP_KERNEL);
	if (copy) {
		cache = kmem_cache_setup(copy, size, align, flags, ctor, false);
		if (cache)
			cache->name_is_copy = true;
		else
			kfree(copy);
	}
	if (!cache && flags & SLAB_PANIC)
		panic("kmem_cache_create(%s): no memory", name);
	return cache;
}

void kmem_cache_init(void)
{
	init_cache(&cache_cache, "kmem_cache", sizeof(struct kmem_cache),
		   __alignof__(struct kmem_cache), SLAB_PANIC, NULL, false);
	kmalloc_init();
}

/* --- Shrinking -------------------------------------------------------------------------------- */

int kmem_cache_shrink(struct kmem_cache *cache)
{
	kasan_cache_shrink(&cache->kasan);
	slab_flush_cpus(cache);
	slab_discard_empty(cache);
	return READ_ONCE(cache->nr_slabs) != 0;
}

size_t kmem_cache_check_slack(struct kmem_cache *cache)
{
	return kasan_cache_check_slack(cache ? &cache->kasan : NULL);
}

void kmem_cache_shrink_all(void)
{
	struct kmem_cache *cache;

	kasan_cache_shrink(NULL);
	/* The holder of the lock may be short of memory itself, and may be the caller of this
	 * function. */
	if (!raw_spin_trylock(&slab_caches_lock))
		return;
	list_for_each_entry (cache, &slab_caches, list) {
		slab_flush_cpus(cache);
		slab_discard_empty(cache);
	}
	raw_spin_unlock(&slab_caches_lock);
}

/* --- Destroying ------------------------------------------------------------------------------- */

static void list_leaked_in(struct kmem_cache *cache, struct page *slab)
{
	const char *start = page_to_virt(slab), *slot = slab->first_slot;
	u32 i;

	for (i = 0; i < slab->objects; i++, slot += cache->size) {
		if (!slab_slot_is_free(cache, slab, slot))
			pr_err("Object 0x%016lx @offset=%u\n", (unsigned long)slot,
			       (u32)(slot - start));
	}
}

static void list_leaked(struct kmem_cache *cache)
{
	struct page *slab;
	unsigned long flags;

	pr_err("BUG %s: Objects remaining on kmem_cache_destroy()\n", cache->name);
	raw_spin_lock_irqsave(&cache->list_lock, flags);
	list_for_each_entry (slab, &cache->full, lru)
		list_leaked_in(cache, slab);
	list_for_each_entry (slab, &cache->partial, lru)
		list_leaked_in(cache, slab);
	raw_spin_unlock_irqrestore(&cache->list_lock, flags);
	WARN(1, "kmem_cache_destroy %s: Slab cache still has objects\n", cache->name);
}

void kmem_cache_destroy(struct kmem_cache *cache)
{
	/* A cache is an object itself, so a second kmem_cache_destroy() is reported as a use after
	 * free. */
	if (!cache || !kasan_check_byte(cache))
		return;
	if (WARN(cache->magic != SLAB_MAGIC || list_empty(&cache->list),
		 "kmem_cache_destroy: %016lx is no cache, or was destroyed before\n",
		 (unsigned long)cache))
		return;
	raw_spin_lock(&slab_caches_lock);
	list_del_init(&cache->list);
	raw_spin_unlock(&slab_caches_lock);

	/* Wait for objects that are freed after a grace period. */
	if (cache->flags & SLAB_TYPESAFE_BY_RCU)
		rcu_barrier();
	kasan_cache_shrink(&cache->kasan);
	slab_flush_cpus(cache);
	slab_discard_empty(cache);
	if (cache->nr_slabs) {
		list_leaked(cache);
		return;
	}
	/* Wait for slabs too: they point to the cache until they are freed. */
	if (cache->flags & SLAB_TYPESAFE_BY_RCU)
		rcu_barrier();
	cache->magic = 0;
	if (cache->name_is_copy)
		kfree(cache->name);
	kmem_cache_free(&cache_cache, cache);
}

/* --- Information ------------------------------------------------------------------------------ */

unsigned int kmem_cache_size(const struct kmem_cache *cache)
{
	return cache->object_size;
}

const char *kmem_cache_name(const struct kmem_cache *cache)
{
	return cache->name;
}

void kmem_cache_info(struct kmem_cache *cache, struct slabinfo *info)
{
	struct page *slab;
	unsigned long flags;

	info->object_size = cache->object_size;
	info->slot_size = cache->size;
	info->slab_pages = cache->nr_pages;
	info->objs_per_slab = (cache->nr_pages * (u32)PAGE_SIZE - cache->first) / cache->size;
	info->objs_per_slab = min(info->objs_per_slab, (u32)SLAB_MAX_OBJECTS);
	raw_spin_lock_irqsave(&cache->list_lock, flags);
	info->slabs = cache->nr_slabs;
	/* All slots but those that the slabs show as free. Slots that a CPU keeps at hand count as
	 * active. */
	info->active = cache->nr_slots;
	list_for_each_entry (slab, &cache->partial, lru)
		info->active -= slab->objects - slab->inuse;
	raw_spin_unlock_irqrestore(&cache->list_lock, flags);
}

static unsigned long pages_of(struct kmem_cache *cache)
{
	unsigned long flags, sum = 0;
	struct page *slab;

	raw_spin_lock_irqsave(&cache->list_lock, flags);
	list_for_each_entry (slab, &cache->partial, lru)
		sum += slab->nr;
	list_for_each_entry (slab, &cache->full, lru)
		sum += slab->nr;
	raw_spin_unlock_irqrestore(&cache->list_lock, flags);
	return sum;
}

void kmem_cache_totals(unsigned long *pages, unsigned long *active)
{
	struct kmem_cache *cache;
	struct slabinfo info;

	*pages = slab_own_pages();
	*active = 0;
	raw_spin_lock(&slab_caches_lock);
	list_for_each_entry (cache, &slab_caches, list) {
		kmem_cache_info(cache, &info);
		*pages += pages_of(cache);
		*active += info.active;
	}
	raw_spin_unlock(&slab_caches_lock);
}
