// SPDX-License-Identifier: MIT
/*
 * slab_entry.c - short ways through the allocators, which the boot chooses once.
 *
 * kmalloc(), kfree() and three more functions start with a static branch (<kernel/static_entry.h>), which
 * slab_choose_entries() may point at one of the functions here:
 *
 *  ..._off     kasan=off: as in a kernel without KASAN, for the price of one jump
 *  ..._tagged  tags without stack traces: the inline hooks of <kasan/slab_inline.h> do what the hooks do, within the section
 *		without interrupts that takes a slot or puts it back
 *
 * They handle only the common case and call nothing that returns, so they have no frame and save no register. In every
 * other case they have changed nothing yet, and go on in the public function after its branch. They appear in no report and
 * no stack trace, because the public functions make both.
 */
#include <kasan/slab_inline.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/string.h>

#include "slab_internal.h"

/* --- kasan=off ---------------------------------------------------------------------------------- */

static __always_inline void *clear(const struct kmem_cache *cache, void *object)
{
	return memset(object, 0, cache->object_size);
}

static void *kmalloc_off(size_t size, gfp_t gfp)
{
	struct kmem_cache *cache;
	void *object;

	if (unlikely(size - 1 >= KMALLOC_MAX_CACHE_SIZE) || slab_is_special())
		return STATIC_ENTRY_REST(kmalloc)(size, gfp);
	cache = kmalloc_cache(size);
	object = slab_take_ready(cache);
	if (unlikely(!object))
		return STATIC_ENTRY_REST(kmalloc)(size, gfp);
	return gfp & __GFP_ZERO ? clear(cache, object) : object;
}

static void *kmem_cache_alloc_off(struct kmem_cache *cache, gfp_t gfp)
{
	void *object;

	/* Clearing would destroy what a constructor made. */
	if ((gfp & __GFP_ZERO && cache->ctor) || slab_is_special())
		return STATIC_ENTRY_REST(kmem_cache_alloc)(cache, gfp);
	object = slab_take_ready(cache);
	if (unlikely(!object))
		return STATIC_ENTRY_REST(kmem_cache_alloc)(cache, gfp);
	return gfp & __GFP_ZERO ? clear(cache, object) : object;
}

/* Return: false if nothing was done. The rest are jumps. */
static __always_inline bool free_off(struct kmem_cache *cache, const struct page *slab,
				     void *object)
{
	enum slab_put_result result;
	unsigned long flags;

	if (unlikely(cache->flags & SLAB_TYPESAFE_BY_RCU || !slab_starts_at(cache, slab, object)))
		return false;
	local_irq_save(flags);
	result = slab_put_here(cache, &cache->cpu[smp_processor_id()], object, true, flags);
	if (unlikely(result == SLAB_PUT_TWICE))
		slab_double_free_here(object);
	else if (unlikely(result == SLAB_PUT_FULL))
		slab_put_slow(cache, object);
	return true;
}

static void kfree_off(const void *p)
{
	/* NULL and the like are not in RAM. */
	struct page *slab = slab_of(p);

	if (unlikely(!slab || !free_off(slab->slab_cache, slab, (void *)(uintptr_t)p)))
		STATIC_ENTRY_REST(kfree)(p);
}

static void kmem_cache_free_off(struct kmem_cache *cache, void *object)
{
	struct page *slab = slab_of(object);

	if (unlikely(!slab || slab->slab_cache != cache || !free_off(cache, slab, object)))
		STATIC_ENTRY_REST(kmem_cache_free)(cache, object);
}

static void *krealloc_off(const void *p, size_t size, gfp_t gfp)
{
	return likely(kmalloc_fits(p, size, gfp)) ? (void *)(uintptr_t)p
						  : STATIC_ENTRY_REST(krealloc)(p, size, gfp);
}

/* --- Tags, no traces ---------------------------------------------------------------------------- */

#ifdef CONFIG_KASAN_TAGS

/* KASAN may have been told to store traces since the boot. */
static __always_inline bool is_plain(void)
{
	return likely(!READ_ONCE(kasan_slab_flags));
}

static __always_inline void *open_tagged(struct kmem_cache *cache, void *slot, size_t size)
{
	void *object = slot;

	if (unlikely(!kasan_slab_tag_inline(&cache->kasan, &object, size)))
		return kasan_slab_alloc(&cache->kasan, slot, size);
	return kasan_slab_open_inline(object, size);
}

static void *kmalloc_tagged(size_t size, gfp_t gfp)
{
	struct kmem_cache *cache;
	void *slot;

	if (unlikely(size - 1 >= KMALLOC_MAX_CACHE_SIZE || gfp & __GFP_ZERO) || slab_is_special() ||
	    !is_plain())
		return STATIC_ENTRY_REST(kmalloc)(size, gfp);
	cache = kmalloc_cache(size);
	slot = slab_take_ready(cache);
	if (unlikely(!slot))
		return STATIC_ENTRY_REST(kmalloc)(size, gfp);
	return open_tagged(cache, slot, size);
}

static void *kmem_cache_alloc_tagged(struct kmem_cache *cache, gfp_t gfp)
{
	void *slot;

	if (unlikely(gfp & __GFP_ZERO) || slab_is_special() || !is_plain())
		return STATIC_ENTRY_REST(kmem_cache_alloc)(cache, gfp);
	slot = slab_take_ready(cache);
	if (unlikely(!slot))
		return STATIC_ENTRY_REST(kmem_cache_alloc)(cache, gfp);
	return open_tagged(cache, slot, cache->object_size);
}

/* As free_off(). */
static __always_inline bool free_tagged(struct kmem_cache *cache, const struct page *slab,
					void *object)
{
	unsigned long flags;
	unsigned int cpu;

	if (unlikely(!cache->kasan.plain_free || !slab_starts_at(cache, slab, object)))
		return false;
	local_irq_save(flags);
	cpu = smp_processor_id();
	if (unlikely(!kasan_slab_free_inline(&cache->kasan, object, cpu))) {
		local_irq_restore(flags);
		return false;
	}
	if (unlikely(slab_put_here(cache, &cache->cpu[cpu], object, false, flags) != SLAB_PUT_DONE))
		slab_put_slow(cache, object);
	return true;
}

static void kfree_tagged(const void *p)
{
	struct page *slab = slab_of(p);

	if (unlikely(!slab || !is_plain() ||
		     !free_tagged(slab->slab_cache, slab, (void *)(uintptr_t)p)))
		STATIC_ENTRY_REST(kfree)(p);
}

static void kmem_cache_free_tagged(struct kmem_cache *cache, void *object)
{
	struct page *slab = slab_of(object);

	if (unlikely(!slab || slab->slab_cache != cache || !is_plain() ||
		     !free_tagged(cache, slab, object)))
		STATIC_ENTRY_REST(kmem_cache_free)(cache, object);
}

static void *krealloc_tagged(const void *p, size_t size, gfp_t gfp)
{
	struct page *slab = slab_of(p);

	if (unlikely(!slab || gfp & __GFP_ZERO || !is_plain() ||
		     !slab_starts_at(slab->slab_cache, slab, p) ||
		     !kasan_slab_realloc_inline(&slab->slab_cache->kasan, p, size)))
		return STATIC_ENTRY_REST(krealloc)(p, size, gfp);
	return (void *)(uintptr_t)p;
}

#define TAGGED(f) (const void *)(f)
#else
#define TAGGED(f) NULL
#endif

/* --- The choice --------------------------------------------------------------------------------- */

static const struct {
	const void *entry, *off, *tagged;
} entries[] = {
	{(const void *)kmalloc, (const void *)kmalloc_off, TAGGED(kmalloc_tagged)},
	{(const void *)kfree, (const void *)kfree_off, TAGGED(kfree_tagged)},
	{(const void *)krealloc, (const void *)krealloc_off, TAGGED(krealloc_tagged)},
	{(const void *)kmem_cache_alloc, (const void *)kmem_cache_alloc_off,
	 TAGGED(kmem_cache_alloc_tagged)},
	{(const void *)kmem_cache_free, (const void *)kmem_cache_free_off,
	 TAGGED(kmem_cache_free_tagged)},
};

void slab_choose_entries(void)
{
	const void *to;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		/* With traces from the start the hooks do the work. */
		to = !kasan_on() ? entries[i].off : kasan_slab_flags ? NULL : entries[i].tagged;
		if (to)
			static_entry_branch(entries[i].entry, to);
	}
}
