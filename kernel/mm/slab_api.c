// SPDX-License-Identifier: MIT
/*
 * slab_api.c - the part that both slab allocators share: making and freeing slabs, the KASAN hooks of
 * allocations and frees, objects that stay valid for a while after their free, kmem_cache_alloc() and
 * related functions.
 *
 * slab_internal.h lists the functions that an allocator has to supply.
 */
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/string.h>

#include "slab_internal.h"

/* --- Slabs ------------------------------------------------------------------------------------ */

/* Construct a slot of a new slab. Return: the pointer to it that the allocator keeps, if it keeps
 * pointers. */
static void *init_slot(struct kmem_cache *cache, void *slot)
{
	slot = kasan_init_slab_slot(&cache->kasan, slot);
	if (cache->ctor) {
		kasan_unpoison_object(&cache->kasan, slot);
		cache->ctor(slot);
		kasan_poison_object(&cache->kasan, slot);
	}
	return slot;
}

struct page *slab_new(struct kmem_cache *cache, gfp_t gfp)
{
	struct page *slab;
	u32 i;

	/* If memory is too fragmented for a slab of the usual size, try one for a single object. */
	gfp = (gfp & ~__GFP_ZERO) | __GFP_SKIP_KASAN;
	slab = alloc_pages_exact(cache->min_pages < cache->nr_pages
					 ? (gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_NOWARN
					 : gfp,
				 cache->nr_pages);
	if (!slab && cache->min_pages < cache->nr_pages)
		slab = alloc_pages_exact(gfp, cache->min_pages);
	if (!slab)
		return NULL;
	slab->slab_cache = cache;
	slab->inuse = 0;
	slab->objects = (u16)min((page_size(slab) - cache->first) / cache->size, SLAB_MAX_OBJECTS);
	slab->first_slot = (char *)page_to_virt(slab) + slab_first(cache, slab);
	if (!slab_prepare(cache, slab, gfp & ~__GFP_SKIP_KASAN)) {
		slab->slab_cache = NULL;
		free_pages_exact(slab, slab->nr);
		return NULL;
	}
	kasan_poison_slab(page_to_virt(slab), page_size(slab));
	/* From the last slot to the first, so that a list of them begins with the lowest. */
	for (i = slab->objects; i; i--)
		slab_add_slot(cache, slab,
			      init_slot(cache,
					(char *)slab->first_slot + (i - 1U) * (size_t)cache->size));
	/* The flag comes last: a reader that sees it may use the other fields. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	page_set_flag(slab, PG_slab);
	return slab;
}

static void free_slab_now(struct page *slab)
{
	page_clear_flag(slab, PG_slab);
	slab_retire(slab);
	slab->slab_cache = NULL;
	free_pages_exact(slab, slab->nr);
}

static void free_slab_rcu(struct rcu_head *head)
{
	free_slab_now(container_of(head, struct page, rcu_head));
}

/* Free @slab, which is in no list and has no used slot. */
static void free_slab(struct page *slab)
{
	/* RCU readers may still look at objects of a type-safe cache: the memory must keep its type
	 * until they leave. */
	if (slab->slab_cache->flags & SLAB_TYPESAFE_BY_RCU)
		call_rcu(&slab->rcu_head, free_slab_rcu);
	else
		free_slab_now(slab);
}

void slab_free_all(struct list_head *empty)
{
	struct page *slab, *next;

	list_for_each_entry_safe (slab, next, empty, lru)
		free_slab(slab);
}

void slab_add(struct kmem_cache *cache, struct page *slab)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&cache->list_lock, flags);
	cache->nr_slabs++;
	cache->nr_slots += slab->objects;
	list_add_tail(&slab->lru, &cache->partial);
	cache->nr_partial++;
	raw_spin_unlock_irqrestore(&cache->list_lock, flags);
}

void slab_discard_empty(struct kmem_cache *cache)
{
	struct page *slab, *next;
	unsigned long flags;
	LIST_HEAD(empty);

	raw_spin_lock_irqsave(&cache->list_lock, flags);
	list_for_each_entry_safe (slab, next, &cache->partial, lru) {
		if (slab->inuse)
			continue;
		list_move(&slab->lru, &empty);
		cache->nr_partial--;
		cache->nr_slabs--;
		cache->nr_slots -= slab->objects;
	}
	raw_spin_unlock_irqrestore(&cache->list_lock, flags);
	slab_free_all(&empty);
}

/* --- Objects that leave the quarantine -------------------------------------------------------- */

void slab_release(struct kasan_cache *kasan, void *object)
{
	slab_put(container_of(kasan, struct kmem_cache, kasan), object, !MM_KASAN, 0);
}

void slab_release_bulk(struct kasan_cache *kasan, void *const *objects, size_t count)
{
	slab_put_many(container_of(kasan, struct kmem_cache, kasan), objects, count);
}

/* --- Objects that RCU readers may still look at ----------------------------------------------- */

struct deferred_free {
	struct rcu_head head;
	void *object;
};

static void free_after_rcu(struct rcu_head *head)
{
	struct deferred_free *deferred = container_of(head, struct deferred_free, head);
	struct kmem_cache *cache = slab_page_of(deferred->object)->slab_cache;
	void *object = deferred->object;

	kfree(deferred);
	if (kasan_slab_free_deferred(&cache->kasan, object) == KASAN_FREE_NOW)
		slab_put(cache, object, !MM_KASAN, 0);
}

void slab_put_freed(void *object)
{
	struct kmem_cache *cache = slab_page_of(object)->slab_cache;

	if (unlikely(cache->flags & SLAB_TYPESAFE_BY_RCU))
		slab_put_typesafe(cache, object, 0);
	else
		slab_put(cache, object, false, 0);
}

void slab_put_typesafe(struct kmem_cache *cache, void *object, uintptr_t ip)
{
	struct deferred_free *deferred = NULL;

	/*
	 * The object could be reused at once. With KASAN it is held back until its readers have left,
	 * and then poisoned, because only from then on each access is a bug. If there is no memory
	 * for the record, the slot is free at once, without that check.
	 */
	if (MM_KASAN)
		deferred = kmalloc(sizeof(*deferred), GFP_NOWAIT | __GFP_NOWARN);
	if (!deferred) {
		slab_put(cache, object, !MM_KASAN, ip);
		return;
	}
	deferred->object = object;
	kasan_record_aux_stack(object);
	call_rcu(&deferred->head, free_after_rcu);
}

/* --- The interface ---------------------------------------------------------------------------- */

__rarely_called void *slab_special(struct kmem_cache *cache, size_t size, size_t align, gfp_t gfp)
{
	void *object;

	if (should_fail(FAULT_SLAB, cache->object_size))
		return SLAB_REFUSED;
	/* Objects that keep their contents from one life to the next stay in their slabs. */
	if (!(READ_ONCE(fault_kinds) & FAULT_SAMPLE) || cache->ctor ||
	    cache->flags & SLAB_TYPESAFE_BY_RCU)
		return NULL;
	__atomic_fetch_and(&fault_kinds, ~FAULT_SAMPLE, __ATOMIC_RELAXED);
	if (!align)
		align = max(size & -size, ARCH_KMALLOC_MINALIGN);
	object = kasan_sample_alloc(size, align, cache->name, cache->object_size, MM_CALLER_IP());
	if (object && gfp & __GFP_ZERO)
		memset(object, 0, size);
	return object;
}

/* Clearing an object would destroy what the constructor made. */
static __rarely_called bool refuse_to_clear(void)
{
	return !WARN_ON_ONCE(true);
}

/* Inlined, so that allocation stacks start with the function that the user knows. */
static __always_inline void *alloc_object(struct kmem_cache *cache, gfp_t gfp)
{
	void *object;
	bool zero;

	if (slab_is_special()) {
		object = slab_special(cache, cache->object_size, cache->align, gfp);
		if (object)
			return object == SLAB_REFUSED ? NULL : object;
	}
	object = slab_take(cache, gfp);
	if (likely(!(gfp & __GFP_ZERO)))
		return kasan_slab_alloc(&cache->kasan, object, cache->object_size);
	zero = likely(!cache->ctor) || refuse_to_clear();
	if (zero && !kasan_has_integrated_init())
		object = slab_clear(&cache, object, NULL);
	return kasan_slab_alloc_init(&cache->kasan, object, cache->object_size, zero);
}

SLAB_ENTRY void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp)
{
	return alloc_object(cache, gfp);
}

/* Inlined, so that stacks start with the function that the user knows. @ip: the caller of that. @asks: see slab_free(). */
static __always_inline void free_object(struct kmem_cache *cache, void *object, uintptr_t ip,
					const bool asks)
{
	struct page *slab;

	if (!object)
		return;
	slab = slab_page_of(object);
	if (unlikely(!slab)) {
		if (!kasan_sample_free(object, ip))
			slab_bad_free(object, "no slab object", ip);
		return;
	}
	/* The object is valid and goes back to its own cache, so this is a warning and not a report. */
	if (unlikely(slab->slab_cache != cache)) {
		WARN(1, "kmem_cache_free: object %016lx is of cache %s, not of %s\n",
		     (unsigned long)object, slab->slab_cache->name, cache->name);
		cache = slab->slab_cache;
	}
	slab_free(cache, slab, object, ip, asks);
}

SLAB_ENTRY void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	free_object(cache, object, MM_CALLER_IP(), SLAB_ASKS);
}

void kmem_cache_free_by(struct kmem_cache *cache, void *object, uintptr_t ip)
{
	free_object(cache, object, ip, true);
}

size_t kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t nr, void **objects)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		objects[i] = alloc_object(cache, gfp);
		if (!objects[i]) {
			kmem_cache_free_bulk(cache, i, objects);
			return 0;
		}
	}
	return nr;
}

void kmem_cache_free_bulk(struct kmem_cache *cache, size_t nr, void **objects)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free_object(cache, objects[i], MM_CALLER_IP(), true);
}
