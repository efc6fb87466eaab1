// SPDX-License-Identifier: MIT
/*
 * slab.c - taking objects out of slabs and putting them back: the paths that everybody runs.
 *
 * A CPU owns one slab of each cache, frozen, and with it a list of free slots that it takes from and
 * gives back to without looking at anything shared. What other CPUs free into that slab gathers in the
 * slab's own list, under the cache's lock, and is taken over as a whole when the CPU's list is empty.
 *
 * Nothing in here asks for pages or calls KASAN with a lock held.
 */
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/string.h>

#include "slab_internal.h"

static noinline void report_corrupt_list(const struct kmem_cache *cache, const void *slot)
{
	WARN(1, "BUG %s: Freelist corrupt: link in free object %016lx was overwritten\n",
	     cache->name, (unsigned long)slot);
}

/* --- Slabs ---------------------------------------------------------------------------------------------- */

static void init_slot(struct kmem_cache *cache, void *slot)
{
	kasan_init_slab_object(&cache->kasan, slot);
	if (cache->ctor) {
		kasan_unpoison_object(&cache->kasan, slot);
		cache->ctor(slot);
		kasan_poison_object(&cache->kasan, slot);
	}
}

static struct page *new_slab(struct kmem_cache *cache, gfp_t gfp)
{
	struct page *slab;
	char *slot;
	u32 i;

	/* If memory is too fragmented for a slab as it should be, one with a single object will do. */
	gfp &= ~__GFP_ZERO;
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
	slab->objects = (u16)((page_size(slab) - cache->first) / cache->size);
	slab->frozen = false;
	kasan_poison_slab(page_to_virt(slab), page_size(slab));
	slot = (char *)page_to_virt(slab) + cache->first;
	slab->freelist = slot;
	for (i = 0; i < slab->objects; i++, slot += cache->size) {
		init_slot(cache, slot);
		slab_set_next(cache, slot, i + 1U < slab->objects ? slot + cache->size : NULL);
	}
	/* Last: who sees the flag may look at the rest. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	page_set_flag(slab, PG_slab);
	return slab;
}

static void free_slab_now(struct page *slab)
{
	page_clear_flag(slab, PG_slab);
	slab->slab_cache = NULL;
	free_pages_exact(slab, slab->nr);
}

static void free_slab_rcu(struct rcu_head *head)
{
	free_slab_now(container_of(head, struct page, rcu_head));
}

/* @slab is in no list and no slot of it is used. */
static void free_slab(struct page *slab)
{
	/* A reader may still look at an object of a type-safe cache: it must stay one until he leaves. */
	if (slab->slab_cache->flags & SLAB_TYPESAFE_BY_RCU)
		call_rcu(&slab->rcu_head, free_slab_rcu);
	else
		free_slab_now(slab);
}

/* A slab that no CPU owns any more goes where it belongs. With list_lock held. */
static void list_slab(struct kmem_cache *cache, struct page *slab)
{
	slab->frozen = false;
	if (slab->freelist) {
		/* Behind the others: it may yet fill up with free slots while older ones are used. */
		list_add_tail(&slab->lru, &cache->partial);
		cache->nr_partial++;
	} else {
		list_add(&slab->lru, &cache->full);
	}
}

/* All free slots of @slab, for the CPU that freezes it. With list_lock held. */
static void *freeze_slab(struct page *slab)
{
	void *freelist = slab->freelist;

	slab->freelist = NULL;
	slab->inuse = slab->objects;
	slab->frozen = true;
	return freelist;
}

/* --- Taking ---------------------------------------------------------------------------------------------- */

/* Give the CPU slots that exist already. Return: true if it has some now. */
static bool refill_cpu(struct kmem_cache *cache, struct kmem_cache_cpu *c)
{
	spin_lock(&cache->list_lock);
	if (c->slab && !c->slab->freelist) {
		list_slab(cache, c->slab);
		c->slab = NULL;
	}
	if (!c->slab && !list_empty(&cache->partial)) {
		c->slab = list_first_entry(&cache->partial, struct page, lru);
		list_del(&c->slab->lru);
		cache->nr_partial--;
	}
	if (c->slab)
		c->freelist = freeze_slab(c->slab);
	spin_unlock(&cache->list_lock);
	return c->freelist;
}

static void add_slab(struct kmem_cache *cache, struct page *slab)
{
	unsigned long flags;

	spin_lock_irqsave(&cache->list_lock, flags);
	cache->nr_slabs++;
	cache->nr_slots += slab->objects;
	list_slab(cache, slab);
	spin_unlock_irqrestore(&cache->list_lock, flags);
}

/* --- Giving back ------------------------------------------------------------------------------------------ */

/* With list_lock held. Return: @slab if it is to be freed now. */
static struct page *put_shared(struct kmem_cache *cache, struct page *slab, void *slot)
{
	bool was_full = !slab->freelist;

	slab_set_next(cache, slot, slab->freelist);
	slab->freelist = slot;
	slab->inuse--;
	if (slab->frozen)
		return NULL;
	if (was_full) {
		list_move_tail(&slab->lru, &cache->partial);
		cache->nr_partial++;
	}
	if (slab->inuse || cache->nr_partial <= SLAB_MIN_PARTIAL)
		return NULL;
	list_del(&slab->lru);
	cache->nr_partial--;
	cache->nr_slabs--;
	cache->nr_slots -= slab->objects;
	return slab;
}

/* --- Slots that are ready, under KASAN ---------------------------------------------------------------- */

#ifdef CONFIG_KASAN

static __always_inline void *ready_take(struct kmem_cache *cache)
{
	struct kmem_cache_cpu *c;
	unsigned long flags;
	void *slot = NULL;

	local_irq_save(flags);
	c = &cache->cpu[smp_processor_id()];
	cpu_lock(&c->lock);
	if (likely(c->nr))
		slot = c->ready[--c->nr];
	cpu_unlock(&c->lock);
	local_irq_restore(flags);
	return slot;
}

static __always_inline bool ready_put(struct kmem_cache *cache, void *slot)
{
	struct kmem_cache_cpu *c;
	unsigned long flags;
	bool kept;

	local_irq_save(flags);
	c = &cache->cpu[smp_processor_id()];
	cpu_lock(&c->lock);
	kept = c->nr < SLAB_READY;
	if (likely(kept))
		c->ready[c->nr++] = slot;
	cpu_unlock(&c->lock);
	local_irq_restore(flags);
	return kept;
}

/* Give them back to their slabs; those that are free as a whole then go to @empty. With both locks held. */
static void ready_flush(struct kmem_cache *cache, struct kmem_cache_cpu *c, struct list_head *empty)
{
	struct page *slab;
	void *slot;

	while (c->nr) {
		slot = c->ready[--c->nr];
		slab = put_shared(cache, virt_to_head_page(slot), slot);
		if (slab)
			list_add(&slab->lru, empty);
	}
}

#else

static __always_inline void *ready_take(struct kmem_cache *cache)
{
	return NULL;
}

static __always_inline bool ready_put(struct kmem_cache *cache, void *slot)
{
	return false;
}

static void ready_flush(struct kmem_cache *cache, struct kmem_cache_cpu *c, struct list_head *empty)
{
}

#endif

/* --- Taking and giving back --------------------------------------------------------------------------- */

static noinline void *slab_take_slow(struct kmem_cache *cache, gfp_t gfp)
{
	struct kmem_cache_cpu *c;
	unsigned long flags;
	struct page *slab;
	void *slot;
	bool ok;

	for (;;) {
		local_irq_save(flags);
		c = &cache->cpu[smp_processor_id()];
		cpu_lock(&c->lock);
		if (likely(c->freelist) || refill_cpu(cache, c))
			break;
		cpu_unlock(&c->lock);
		local_irq_restore(flags);

		slab = new_slab(cache, gfp);
		if (!slab)
			return NULL;
		add_slab(cache, slab);
	}
	slot = c->freelist;
	c->freelist = slab_get_next(cache, c->slab, slot, &ok);
	cpu_unlock(&c->lock);
	local_irq_restore(flags);
	if (unlikely(!ok))
		report_corrupt_list(cache, slot);
	return slot;
}

void *slab_take(struct kmem_cache *cache, gfp_t gfp)
{
	void *slot = ready_take(cache);

	return likely(slot) ? slot : slab_take_slow(cache, gfp);
}

static noinline void slab_put_slow(struct kmem_cache *cache, struct page *slab, void *slot)
{
	struct kmem_cache_cpu *c;
	struct page *empty = NULL;
	unsigned long flags;
	bool again = false;

	local_irq_save(flags);
	c = &cache->cpu[smp_processor_id()];
	cpu_lock(&c->lock);
	if (likely(slab == c->slab)) {
		again = slot == c->freelist;
		if (!again) {
			slab_set_next(cache, slot, c->freelist);
			c->freelist = slot;
		}
		cpu_unlock(&c->lock);
	} else {
		cpu_unlock(&c->lock);
		spin_lock(&cache->list_lock);
		again = slot == slab->freelist;
		if (!again)
			empty = put_shared(cache, slab, slot);
		spin_unlock(&cache->list_lock);
	}
	local_irq_restore(flags);
	if (empty)
		free_slab(empty);
	/* Twice in a row is all that can be seen without KASAN, at the price of one comparison. */
	if (unlikely(again))
		slab_bad_free(slot, "double free", MM_CALLER_IP());
}

void slab_put(struct kmem_cache *cache, struct page *slab, void *slot)
{
	if (!ready_put(cache, slot))
		slab_put_slow(cache, slab, slot);
}

void slab_release(struct kasan_cache *kasan, void *object)
{
	struct kmem_cache *cache = container_of(kasan, struct kmem_cache, kasan);

	if (!ready_put(cache, object))
		slab_put_slow(cache, virt_to_head_page(object), object);
}

/* --- Objects that readers may still look at ---------------------------------------------------------- */

struct deferred_free {
	struct rcu_head head;
	void *object;
};

static void free_after_rcu(struct rcu_head *head)
{
	struct deferred_free *deferred = container_of(head, struct deferred_free, head);
	struct page *slab = slab_page_of(deferred->object);
	struct kmem_cache *cache = slab->slab_cache;
	void *object = deferred->object;

	kfree(deferred);
	if (kasan_slab_free_deferred(&cache->kasan, object) == KASAN_FREE_NOW)
		slab_put(cache, slab, object);
}

void slab_put_typesafe(struct kmem_cache *cache, struct page *slab, void *object)
{
	struct deferred_free *deferred = NULL;

	/*
	 * The object could be reused at once. Under KASAN it is held back until its readers have left
	 * and poisoned then, as only after that every access is a bug. Without memory for the record
	 * there is nothing to be told.
	 */
	if (MM_KASAN)
		deferred = kmalloc(sizeof(*deferred), GFP_NOWAIT | __GFP_NOWARN);
	if (!deferred) {
		slab_put(cache, slab, object);
		return;
	}
	deferred->object = object;
	kasan_record_aux_stack(object);
	call_rcu(&deferred->head, free_after_rcu);
}

void *slab_slot(const struct kmem_cache *cache, const struct page *slab, const void *p)
{
	char *start = (char *)page_to_virt(slab) + cache->first;
	uintptr_t offset = (uintptr_t)p - (uintptr_t)start;
	/* Both fit into 32 bits, whose division is the fast one; before @start it wraps to large. */
	u32 index = offset < page_size(slab) ? (u32)offset / cache->size : slab->objects;

	return index < slab->objects ? start + (size_t)index * cache->size : NULL;
}

struct page *slab_page_of(const void *p)
{
	struct page *page;

	if (!is_linear_address(p) || !pfn_valid(__pa(p) >> PAGE_SHIFT))
		return NULL;
	page = virt_to_head_page(p);
	return PageSlab(page) ? page : NULL;
}

/* --- The interface ------------------------------------------------------------------------------------------- */

void slab_clear(const struct kmem_cache *cache, void *object, size_t size)
{
	/*
	 * Without KASAN nobody knows later how much was asked for, so that all of it is cleared: then
	 * krealloc() can grow into the rest.
	 */
	memset(object, 0, MM_KASAN ? size : cache->object_size);
}

static void clear_if_wanted(const struct kmem_cache *cache, void *object, gfp_t gfp)
{
	if (!(gfp & __GFP_ZERO) || !object)
		return;
	/* Clearing would destroy what the constructor made. */
	if (!WARN_ON_ONCE(cache->ctor))
		slab_clear(cache, object, cache->object_size);
}

void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp)
{
	void *object = slab_take(cache, gfp);

	object = kasan_slab_alloc(&cache->kasan, object, cache->object_size);
	clear_if_wanted(cache, object, gfp);
	return object;
}

void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	struct page *slab;

	if (!object)
		return;
	slab = slab_page_of(object);
	if (unlikely(!slab)) {
		slab_bad_free(object, "no slab object", MM_CALLER_IP());
		return;
	}
	if (unlikely(slab->slab_cache != cache)) {
		WARN(1, "kmem_cache_free: object %016lx is of cache %s, not of %s\n",
		     (unsigned long)object, slab->slab_cache->name, cache->name);
		cache = slab->slab_cache;
	}
	slab_free(cache, slab, object, MM_CALLER_IP());
}

size_t kmem_cache_alloc_bulk(struct kmem_cache *cache, gfp_t gfp, size_t nr, void **objects)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		objects[i] =
			kasan_slab_alloc(&cache->kasan, slab_take(cache, gfp), cache->object_size);
		if (!objects[i]) {
			kmem_cache_free_bulk(cache, i, objects);
			return 0;
		}
		clear_if_wanted(cache, objects[i], gfp);
	}
	return nr;
}

void kmem_cache_free_bulk(struct kmem_cache *cache, size_t nr, void **objects)
{
	size_t i;

	for (i = 0; i < nr; i++)
		kmem_cache_free(cache, objects[i]);
}

/* --- Taking slots back from CPUs ------------------------------------------------------------------------------ */

void slab_flush_cpus(struct kmem_cache *cache)
{
	struct page *slab, *next;
	unsigned int cpu;
	LIST_HEAD(empty);

	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		struct kmem_cache_cpu *c = &cache->cpu[cpu];
		unsigned long flags;

		local_irq_save(flags);
		cpu_lock(&c->lock);
		spin_lock(&cache->list_lock);
		ready_flush(cache, c, &empty);
		if (c->slab) {
			while (c->freelist) {
				void *slot = c->freelist;
				bool ok;

				c->freelist = slab_get_next(cache, c->slab, slot, &ok);
				put_shared(cache, c->slab, slot);
			}
			list_slab(cache, c->slab);
			c->slab = NULL;
		}
		spin_unlock(&cache->list_lock);
		cpu_unlock(&c->lock);
		local_irq_restore(flags);
	}
	list_for_each_entry_safe (slab, next, &empty, lru)
		free_slab(slab);
}

void slab_discard_empty(struct kmem_cache *cache)
{
	struct page *slab, *next;
	unsigned long flags;
	LIST_HEAD(empty);

	spin_lock_irqsave(&cache->list_lock, flags);
	list_for_each_entry_safe (slab, next, &cache->partial, lru) {
		if (slab->inuse)
			continue;
		list_move(&slab->lru, &empty);
		cache->nr_partial--;
		cache->nr_slabs--;
		cache->nr_slots -= slab->objects;
	}
	spin_unlock_irqrestore(&cache->list_lock, flags);
	list_for_each_entry_safe (slab, next, &empty, lru)
		free_slab(slab);
}
