// SPDX-License-Identifier: MIT
/*
 * slab_bitmap.c - the allocator that REDZONE_ALLOCATOR=slab chooses. A bitmap beside each slab says
 * which slots are free, and CPUs keep no slots of their own.
 *
 * It is for small machines: CPUs hold back no memory, a cache's descriptor is 4 KiB smaller, and
 * objects with constructors need no room for a link. Without KASAN it finds every double free; with
 * KASAN the stack of a free is known until the slot is used again. The price is a lock for each
 * allocation, which all CPUs share.
 *
 * For the KASAN hooks it is the opposite of slub.c. It never reads or writes a free slot. It takes
 * the lowest free slot of a slab, not the one that was freed last. Slabs of one cache start at
 * different offsets ("colours": a part of the space that is left over in a slab goes in front, so
 * that first slots do not all share cache lines). And a new slab takes two allocations, and the
 * second can fail.
 *
 * No function here allocates pages or calls KASAN with a lock held.
 */
#include <kernel/kernel.h>

#include "slab_internal.h"

/* --- Bitmaps: many in one page, after its header ---------------------------------------------- */

#define WORDS ((u32)(SLAB_MAX_OBJECTS / 64))

/**
 * struct slab_bitmap - the bitmap of one slab
 * @free: one bit for each slot.
 * @tag: in tag modes constructed objects keep the tag that they got when the slab was made, and while
 *	they are free it is stored only here.
 */
struct slab_bitmap {
	u64 free[WORDS];
#ifdef CONFIG_KASAN_TAGS
	u8 tag[SLAB_MAX_OBJECTS];
#endif
};

struct bitmap_page {
	struct list_head list; /* in bitmap_pages, if a bitmap is free */
	u64 free;	       /* bit n: bitmap n; bit 0, this header, is never set */
};

#define PER_PAGE (PAGE_SIZE / sizeof(struct slab_bitmap))
#define ALL_FREE (~0ULL >> (64 - PER_PAGE) & ~1ULL)
_Static_assert(PER_PAGE > 1 && PER_PAGE <= 64 &&
		       sizeof(struct bitmap_page) <= sizeof(struct slab_bitmap),
	       "a page is one word of bitmaps, the first of which is its head");

static LIST_HEAD(bitmap_pages);
static DEFINE_RAW_SPINLOCK(bitmap_lock);
static unsigned long nr_bitmap_pages;

/* bitmap_lock is held. Return: a free bitmap; NULL if no page has one. */
static struct slab_bitmap *take_bitmap(void)
{
	struct bitmap_page *page;
	unsigned int index;

	if (list_empty(&bitmap_pages))
		return NULL;
	page = list_first_entry(&bitmap_pages, struct bitmap_page, list);
	index = (unsigned int)__builtin_ctzll(page->free);
	page->free &= ~(1ULL << index);
	if (!page->free)
		list_del_init(&page->list);
	return (struct slab_bitmap *)page + index;
}

static struct slab_bitmap *alloc_bitmap(gfp_t gfp)
{
	struct slab_bitmap *bitmap;
	struct bitmap_page *page;
	unsigned long flags;

	raw_spin_lock_irqsave(&bitmap_lock, flags);
	bitmap = take_bitmap();
	raw_spin_unlock_irqrestore(&bitmap_lock, flags);
	if (bitmap)
		return bitmap;
	page = (struct bitmap_page *)__get_free_page(gfp);
	if (!page)
		return NULL;
	page->free = ALL_FREE;
	raw_spin_lock_irqsave(&bitmap_lock, flags);
	list_add(&page->list, &bitmap_pages);
	nr_bitmap_pages++;
	bitmap = take_bitmap();
	raw_spin_unlock_irqrestore(&bitmap_lock, flags);
	return bitmap;
}

static void free_bitmap(struct slab_bitmap *bitmap)
{
	struct bitmap_page *page = (struct bitmap_page *)((uintptr_t)bitmap & PAGE_MASK);
	bool empty = false;
	unsigned long flags;

	raw_spin_lock_irqsave(&bitmap_lock, flags);
	if (!page->free)
		list_add_tail(&page->list, &bitmap_pages);
	page->free |= 1ULL << (bitmap - (struct slab_bitmap *)page);
	if (page->free == ALL_FREE) {
		list_del(&page->list);
		nr_bitmap_pages--;
		empty = true;
	}
	raw_spin_unlock_irqrestore(&bitmap_lock, flags);
	if (empty)
		free_page((unsigned long)page);
}

unsigned long slab_own_pages(void)
{
	return READ_ONCE(nr_bitmap_pages);
}

/* --- Layout ----------------------------------------------------------------------------------- */

void slab_layout_slot(struct kmem_cache *cache)
{
}

void slab_layout_done(struct kmem_cache *cache)
{
	cache->colour = 0;
	cache->kasan.flags |= KASAN_CACHE_LEAVES_FREE;
}

u32 slab_first(struct kmem_cache *cache, const struct page *slab)
{
	const u32 step = max(cache->align, (u32)SMP_CACHE_BYTES);
	const u32 spare = (u32)page_size(slab) - cache->first - slab->objects * cache->size;
	const u32 colour = __atomic_fetch_add(&cache->colour, 1, __ATOMIC_RELAXED);

	return cache->first + colour % (spare / step + 1) * step;
}

bool slab_prepare(struct kmem_cache *cache, struct page *slab, gfp_t gfp)
{
	struct slab_bitmap *bitmap = alloc_bitmap(gfp);
	u32 i;

	if (!bitmap)
		return false;
	for (i = 0; i < WORDS; i++)
		bitmap->free[i] = 0;
	slab->bitmap = bitmap;
	return true;
}

static u32 index_of(const struct kmem_cache *cache, const struct page *slab, const void *slot)
{
	return (u32)((uintptr_t)kasan_reset_tag(slot) - (uintptr_t)slab->first_slot) / cache->size;
}

void slab_add_slot(struct kmem_cache *cache, struct page *slab, void *slot)
{
	const u32 index = index_of(cache, slab, slot);

	slab->bitmap->free[index / 64] |= 1ULL << index % 64;
#ifdef CONFIG_KASAN_TAGS
	slab->bitmap->tag[index] = kasan_get_tag(slot);
#endif
}

void slab_retire(struct page *slab)
{
	free_bitmap(slab->bitmap);
	slab->bitmap = NULL;
}

/* --- Slots: list_lock is held in all of these ------------------------------------------------- */

bool slab_slot_is_free(const struct kmem_cache *cache, const struct page *slab, const void *slot)
{
	const u32 index = index_of(cache, slab, slot);

	return slab->bitmap->free[index / 64] >> index % 64 & 1;
}

/* Take the lowest free slot of @slab, which has one. */
static void *take_lowest(struct kmem_cache *cache, struct page *slab)
{
	struct slab_bitmap *bitmap = slab->bitmap;
	u32 i = 0, index;
	void *slot;

	while (!bitmap->free[i])
		i++;
	index = i * 64 + (u32)__builtin_ctzll(bitmap->free[i]);
	bitmap->free[i] &= bitmap->free[i] - 1;
	if (++slab->inuse == slab->objects) {
		list_move(&slab->lru, &cache->full);
		cache->nr_partial--;
	}
	slot = (char *)slab->first_slot + (size_t)index * cache->size;
#ifdef CONFIG_KASAN_TAGS
	slot = kasan_set_tag(slot, bitmap->tag[index]);
#endif
	return slot;
}

/* Mark @slot as free. If its slab is to be freed, move that to @empty. Return: false if the slot was
 * free already. */
static bool put_back(struct kmem_cache *cache, const void *slot, struct list_head *empty)
{
	struct page *slab = virt_to_head_page(slot);
	const u32 index = index_of(cache, slab, slot);
	u64 *word = &slab->bitmap->free[index / 64];

	if (unlikely(*word >> index % 64 & 1))
		return false;
	*word |= 1ULL << index % 64;
	if (slab->inuse-- == slab->objects) {
		/* It goes after the others: more of its slots may become free while older slabs are
		 * used. */
		list_move_tail(&slab->lru, &cache->partial);
		cache->nr_partial++;
	}
	if (!slab->inuse && cache->nr_partial > SLAB_MIN_PARTIAL) {
		list_move(&slab->lru, empty);
		cache->nr_partial--;
		cache->nr_slabs--;
		cache->nr_slots -= slab->objects;
	}
	return true;
}

/* --- Taking and giving back ------------------------------------------------------------------- */

void *slab_take(struct kmem_cache *cache, gfp_t gfp)
{
	unsigned long flags;
	struct page *slab;
	void *slot;

	for (;;) {
		slot = NULL;
		raw_spin_lock_irqsave(&cache->list_lock, flags);
		if (!list_empty(&cache->partial))
			slot = take_lowest(cache,
					   list_first_entry(&cache->partial, struct page, lru));
		raw_spin_unlock_irqrestore(&cache->list_lock, flags);
		if (slot)
			return slot;
		slab = slab_new(cache, gfp);
		if (!slab)
			return NULL;
		slab_add(cache, slab);
	}
}

void slab_put(struct kmem_cache *cache, void *slot, bool check, uintptr_t ip)
{
	unsigned long flags;
	LIST_HEAD(empty);
	bool ok;

	raw_spin_lock_irqsave(&cache->list_lock, flags);
	ok = put_back(cache, slot, &empty);
	raw_spin_unlock_irqrestore(&cache->list_lock, flags);
	if (unlikely(!ok))
		slab_bad_free(slot, "double free", ip);
	slab_free_all(&empty);
}

void slab_put_many(struct kmem_cache *cache, void *const *slots, size_t count)
{
	unsigned long flags;
	LIST_HEAD(empty);
	size_t i, bad = count;

	raw_spin_lock_irqsave(&cache->list_lock, flags);
	for (i = 0; i < count; i++) {
		if (unlikely(!put_back(cache, slots[i], &empty)))
			bad = i;
	}
	raw_spin_unlock_irqrestore(&cache->list_lock, flags);
	if (unlikely(bad < count))
		slab_bad_free(slots[bad], "double free", 0);
	slab_free_all(&empty);
}

void slab_flush_cpus(struct kmem_cache *cache)
{
}
