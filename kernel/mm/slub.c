// SPDX-License-Identifier: MIT
/*
 * slub.c - the allocator that REDZONE_ALLOCATOR=slub chooses: takes slots out of slabs and puts them
 * back.
 *
 * Each CPU keeps some free slots of each cache at hand. Most allocations and frees use only these and
 * touch no shared data; slab_internal.h has these two fast paths. The slow paths are here, for when a
 * CPU has no slot left or no room: many slots at once move between the CPU and their slabs, under the
 * cache's lock.
 *
 * No function here allocates pages or calls KASAN with a lock held.
 */
#include <kernel/kernel.h>

#include "slab_internal.h"

static noinline void report_corrupt_list(const struct kmem_cache *cache, const void *slot)
{
	WARN(1, "BUG %s: Freelist corrupt: link in free object %016lx was overwritten\n",
	     cache->name, (unsigned long)slot);
}

/* --- Layout ----------------------------------------------------------------------------------- */

/* Return: offset of a slot's metadata; of the slot's end if it has none. */
static u32 metadata_start(const struct kmem_cache *cache)
{
	const struct kasan_cache *kasan = &cache->kasan;
	u32 start = cache->size;

	if (MM_KASAN) {
		start = min(start, kasan->alloc_meta_offset);
		/* At offset 0 the metadata overlays the object. */
		if (kasan->free_meta_offset && kasan->free_meta_offset != KASAN_NO_FREE_META)
			start = min(start, kasan->free_meta_offset);
	}
	return ALIGN_DOWN(start, 8U);
}

/*
 * The link to the next free slot may overlay the object, because a free object is not in use. It may
 * not if the contents must survive the free, because a constructor ran once or an RCU reader may
 * still look. Then the link goes after the object, as far as there is room, out of the way of small
 * overflows.
 */
void slab_layout_slot(struct kmem_cache *cache)
{
	bool keep = cache->ctor || cache->flags & SLAB_TYPESAFE_BY_RCU;
	u32 start;

	if (!keep && (cache->object_size >= 8 || !MM_KASAN)) {
		cache->fp_offset = 0;
		return;
	}
	start = metadata_start(cache);
	if (start >= ALIGN(cache->object_size, 8U) + 8) {
		cache->fp_offset = start - 8;
		return;
	}
	cache->fp_offset = ALIGN(cache->size, 8U);
	cache->size = ALIGN(cache->fp_offset + 8, cache->align);
	/* With kasan=off the runtime has no layout, and the slot size of 0 says so. */
	if (MM_KASAN)
		cache->kasan.slot_size = cache->size;
}

void slab_layout_done(struct kmem_cache *cache)
{
	u32 i;

	for (i = 0; i < NR_CPUS; i++)
		cache->cpu[i].lock.locked = 0;
	cache->max_ready = max(SLAB_READY_BYTES / cache->size, SLAB_READY_MIN);
	cache->max_ready = min(cache->max_ready, SLAB_READY);
}

/* --- Free slots of a slab: a list linked through the slots ------------------------------------ */

u32 slab_first(struct kmem_cache *cache, const struct page *slab)
{
	return cache->first;
}

bool slab_prepare(struct kmem_cache *cache, struct page *slab, gfp_t gfp)
{
	slab->freelist = NULL;
	return true;
}

void slab_add_slot(struct kmem_cache *cache, struct page *slab, void *slot)
{
	slab_set_next(cache, slot, slab->freelist);
	slab->freelist = slot;
}

void slab_retire(struct page *slab)
{
}

unsigned long slab_own_pages(void)
{
	return 0;
}

bool slab_slot_is_free(const struct kmem_cache *cache, const struct page *slab, const void *slot)
{
	/* A walk of the list for each slot takes quadratic time, but it happens only once for each
	 * leak. */
	const void *free = slab->freelist;
	bool ok = true;

	while (free && kasan_reset_tag(free) != slot && ok)
		free = slab_get_next(cache, slab, free, &ok);
	return kasan_reset_tag(free) == slot;
}

/* --- Between a CPU and the slabs: list_lock is held in all of these --------------------------- */

/* Put the slot back into its slab. Return: the slab if it is to be freed now, or NULL. */
static struct page *put_shared(struct kmem_cache *cache, void *slot)
{
	struct page *slab = virt_to_head_page(slot);
	bool was_full = !slab->freelist;

	slab_set_next(cache, slot, slab->freelist);
	slab->freelist = slot;
	slab->inuse--;
	if (was_full) {
		/* It goes after the others: more of its slots may become free while older slabs are
		 * used. */
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

/* Put the @nr oldest slots of @c back into their slabs. Slabs that are to be freed go to @empty. */
static void put_ready(struct kmem_cache *cache, struct kmem_cache_cpu *c, u32 nr,
		      struct list_head *empty)
{
	struct page *slab;
	u32 i;

	for (i = 0; i < nr; i++) {
		slab = put_shared(cache, c->ready[i]);
		if (slab)
			list_add(&slab->lru, empty);
	}
	for (; i < c->nr; i++)
		c->ready[i - nr] = c->ready[i];
	c->nr -= nr;
}

/* Take the first free slot of @slab, which has one. @corrupt: filled with it if its link was
 * overwritten. */
static void *take_shared(struct kmem_cache *cache, struct page *slab, void **corrupt)
{
	void *slot = slab->freelist;
	bool ok;

	slab->freelist = slab_get_next(cache, slab, slot, &ok);
	slab->inuse++;
	if (unlikely(!ok))
		*corrupt = slot;
	if (!slab->freelist) {
		list_move(&slab->lru, &cache->full);
		cache->nr_partial--;
	}
	return slot;
}

/* Fill half of the room of a CPU that has no slots. Return: true if it has some now. */
static bool take_ready(struct kmem_cache *cache, struct kmem_cache_cpu *c, void **corrupt)
{
	u32 i, nr = 0;
	void *slot;

	while (nr < cache->max_ready / 2 && !list_empty(&cache->partial))
		c->ready[nr++] = take_shared(
			cache, list_first_entry(&cache->partial, struct page, lru), corrupt);
	/* The first slot of the slab is to be used first, so it must be last here. */
	for (i = 0; i < nr / 2; i++) {
		slot = c->ready[i];
		c->ready[i] = c->ready[nr - 1 - i];
		c->ready[nr - 1 - i] = slot;
	}
	c->nr = nr;
	return nr;
}

/* --- Taking and giving back ------------------------------------------------------------------- */

__rarely_called void *slab_take_slow(struct kmem_cache *cache, gfp_t gfp)
{
	void *slot = NULL, *corrupt = NULL;
	struct kmem_cache_cpu *c;
	unsigned long flags;
	struct page *slab;

	for (;;) {
		local_irq_save(flags);
		c = &cache->cpu[smp_processor_id()];
		bare_lock(&c->lock);
		/* An interrupt may have put back some slots by now, and this may be another CPU. */
		if (!c->nr) {
			raw_spin_lock(&cache->list_lock);
			take_ready(cache, c, &corrupt);
			raw_spin_unlock(&cache->list_lock);
		}
		if (c->nr)
			slot = c->ready[--c->nr];
		bare_unlock(&c->lock);
		local_irq_restore(flags);
		if (unlikely(corrupt))
			report_corrupt_list(cache, corrupt);
		if (slot)
			return slot;

		slab = slab_new(cache, gfp);
		if (!slab)
			return NULL;
		slab_add(cache, slab);
	}
}

/* Give the CPU @count free slots. When it has no room, the older half of its slots goes to the
 * slabs. */
void slab_put_many(struct kmem_cache *cache, void *const *slots, size_t count)
{
	struct kmem_cache_cpu *c;
	unsigned long flags;
	LIST_HEAD(empty);
	size_t i, some;

	local_irq_save(flags);
	c = &cache->cpu[smp_processor_id()];
	bare_lock(&c->lock);
	while (count) {
		if (unlikely(c->nr >= cache->max_ready)) {
			raw_spin_lock(&cache->list_lock);
			put_ready(cache, c, cache->max_ready / 2, &empty);
			raw_spin_unlock(&cache->list_lock);
		}
		some = min(count, (size_t)(cache->max_ready - c->nr));
#pragma GCC unroll 4
		for (i = 0; i < some; i++)
			c->ready[c->nr + i] = slots[i];
		c->nr += (u32)some;
		slots += some;
		count -= some;
	}
	bare_unlock(&c->lock);
	local_irq_restore(flags);
	slab_free_all(&empty);
}

noinline void slab_put_slow(struct kmem_cache *cache, void *slot)
{
	slab_put_many(cache, &slot, 1);
}

noinline void slab_double_free(const void *slot, uintptr_t ip)
{
	slab_bad_free(slot, "double free", ip);
}

noinline void slab_double_free_here(const void *slot)
{
	slab_double_free(slot, MM_CALLER_IP());
}

/* --- Slots that CPUs give back ---------------------------------------------------------------- */

void slab_flush_cpus(struct kmem_cache *cache)
{
	unsigned int cpu;
	LIST_HEAD(empty);

	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		struct kmem_cache_cpu *c = &cache->cpu[cpu];
		unsigned long flags;

		local_irq_save(flags);
		bare_lock(&c->lock);
		raw_spin_lock(&cache->list_lock);
		put_ready(cache, c, c->nr, &empty);
		raw_spin_unlock(&cache->list_lock);
		bare_unlock(&c->lock);
		local_irq_restore(flags);
	}
	slab_free_all(&empty);
}
