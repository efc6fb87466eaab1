// SPDX-License-Identifier: MIT
/*
 * cache.c - what the runtime knows of each cache, in Generic mode: its layout.
 *
 * Linux's struct kmem_cache has eight bytes for KASAN. They hold the address of the runtime's struct: kasan_cache().
 */
#include <linux/export.h>
#include <linux/kfence.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/unaligned.h>

#include "../slab.h"

#include "redzone.h"

#include "arch.h"
#include "cache.h"
#include "internal.h"

/**
 * struct entry - a cache
 * @added: bytes that KASAN has added to the slot, for redzone and metadata.
 * @owner: for which it was made; once that is destroyed, the entry waits in the list for a cache at the same address,
 *	because somebody may still have an object of the old one until that memory is reused.
 */
struct entry {
	struct redzone_cache kasan;
	const struct kmem_cache *owner;
	struct entry *next;
	unsigned int added;
};

static struct entry *entries, *unused_entries;
static DEFINE_RAW_SPINLOCK(entries_lock);

static struct entry *entry_of(const struct kmem_cache *cache)
{
	struct redzone_cache *kasan = kasan_cache(cache);

	return kasan ? container_of(kasan, struct entry, kasan) : NULL;
}

/* Return: an entry for @cache, NULL if there is no memory. */
static struct entry *get_entry(const struct kmem_cache *cache)
{
	struct entry *entry, *fresh = NULL;
	unsigned long flags;
	size_t i;

	if (!READ_ONCE(unused_entries))
		fresh = kasan_port_alloc(PAGE_SIZE);
	raw_spin_lock_irqsave(&entries_lock, flags);
	for (i = 0; fresh && i < PAGE_SIZE / sizeof(*fresh); i++) {
		fresh[i].next = unused_entries;
		unused_entries = &fresh[i];
	}
	for (entry = entries; entry && entry->owner != cache; entry = entry->next)
		;
	if (!entry && unused_entries) {
		entry = unused_entries;
		unused_entries = entry->next;
		entry->owner = cache;
		entry->next = entries;
		entries = entry;
	}
	raw_spin_unlock_irqrestore(&entries_lock, flags);
	return entry;
}

/* --- Objects that leave the quarantine --- */

#ifdef CONFIG_PREEMPT_RT
/*
 * The runtime gives them back with interrupts off. There SLUB must not take its locks, which sleep in a real-time kernel. So
 * each CPU keeps a list of them until the next free, linked where SLUB will have its own link.
 */
static DEFINE_PER_CPU(struct llist_head, released);

/* While it is held, objects that are in no list are being freed. */
static DEFINE_SPINLOCK(freeing);

static void free_list(struct llist_head *list)
{
	struct llist_node *node = llist_del_all(list), *next;

	for (; node; node = next) {
		struct kmem_cache *cache = virt_to_slab(node)->slab_cache;

		next = node->next;
		___cache_free(cache, (void *)node - cache->offset, _THIS_IP_);
	}
}

void kasan_free_released(void)
{
	struct llist_head *list = raw_cpu_ptr(&released);

	/* Not from kfree_nolock(). The lock is taken if SLUB frees something of its own meanwhile. */
	if (unlikely(!llist_empty(list)) && preemptible() && spin_trylock(&freeing)) {
		free_list(list);
		spin_unlock(&freeing);
	}
}

static void free_all_released(void)
{
	int cpu;

	spin_lock(&freeing);
	for_each_possible_cpu (cpu)
		free_list(per_cpu_ptr(&released, cpu));
	spin_unlock(&freeing);
}

static void give_back(struct kmem_cache *cache, void *object)
{
	struct llist_head *list = this_cpu_ptr(&released);
	struct llist_node *node = object + cache->offset, *first = READ_ONCE(list->first);

	/* Not by llist_add(), which would be reported: only this file may write to the object. */
	do {
		node->next = first;
	} while (!try_cmpxchg(&list->first, &first, node));
}
#else
static void free_all_released(void)
{
}

static void give_back(struct kmem_cache *cache, void *object)
{
	___cache_free(cache, object, _THIS_IP_);
}
#endif

static void release_objects(struct redzone_cache *kasan, void *const *objects, size_t count)
{
	/* Not the entry's owner: the first caches move to another place while Linux boots. */
	struct kmem_cache *cache = virt_to_slab(objects[0])->slab_cache;
	size_t i;

	/* The track of the free was in them. */
	if (unlikely(slab_want_init_on_free(cache)) && !kasan->free_meta_offset) {
		for (i = 0; i < count; i++)
			memset(objects[i], 0, sizeof(struct redzone_free_meta));
	}
	for (i = 0; i < count; i++)
		give_back(cache, objects[i]);
}

static void release_object(struct redzone_cache *kasan, void *object)
{
	release_objects(kasan, &object, 1);
}

void __ref kasan_cache_create(struct kmem_cache *cache, unsigned int *size, slab_flags_t *flags)
{
	const unsigned int align = max_t(unsigned int, cache->align, KASAN_GRANULE_SIZE);
	static bool started;
	unsigned int slot, first, shift = 0;
	struct entry *entry;

	if (!started) {
		started = true;
		redzone_start();
	}
	/* Tells SLUB to keep out of what is after the object, and not to use the cache for objects that would fill that. */
	*flags |= SLAB_KASAN | SLAB_NO_MERGE;
	/* Without an entry the hooks leave the cache alone. */
	entry = kasan_arch_is_ready() ? get_entry(cache) : NULL;
	put_unaligned(entry ? (unsigned long)&entry->kasan : 0,
		      (unsigned long *)&cache->kasan_info);
	if (!entry)
		return;
	entry->kasan = (struct redzone_cache){
		.name = cache->name,
		.object_size = cache->object_size,
		.flags = KASAN_CACHE_RELEASE_BULK,
		.release = release_object,
		.release_bulk = release_objects,
	};
	if (cache->ctor)
		entry->kasan.flags |= KASAN_CACHE_NO_FREE_META_IN_OBJECT;
	if (cache->flags & SLAB_TYPESAFE_BY_RCU)
		entry->kasan.flags |=
			KASAN_CACHE_NO_QUARANTINE | KASAN_CACHE_NO_FREE_META_IN_OBJECT;
	if (is_kmalloc_cache(cache))
		entry->kasan.flags |= KASAN_CACHE_KMALLOC;
	slot = redzone_cache_create(&entry->kasan, align);
	if (!entry->kasan.slot_size)
		return;
	/* SLUB may keep something after the object: the free pointer, its own tracks. Metadata comes after these. */
	first = entry->kasan.free_meta_offset ?: entry->kasan.alloc_meta_offset;
	if (first < *size)
		shift = ALIGN(*size - first, align);
	entry->kasan.alloc_meta_offset += shift;
	if (entry->kasan.free_meta_offset)
		entry->kasan.free_meta_offset += shift;
	entry->kasan.slot_size += shift;
	entry->added = slot + shift - *size;
	*size = slot + shift;
}

/* Bytes that SLUB's own debugging must leave alone: at the object's start while it is free, or after it. */
size_t kasan_metadata_size(struct kmem_cache *cache, bool in_object)
{
	const struct entry *entry = entry_of(cache);

	if (!entry || !entry->kasan.slot_size)
		return 0;
	if (!in_object)
		return entry->added;
	return entry->kasan.free_meta_offset ? 0 : sizeof(struct redzone_free_meta);
}

void kasan_cache_shrink(struct kmem_cache *cache)
{
	struct entry *entry = entry_of(cache);

	if (!entry)
		return;
	redzone_cache_shrink(&entry->kasan);
	free_all_released();
}

void kasan_cache_shutdown(struct kmem_cache *cache)
{
	if (!__kmem_cache_empty(cache))
		kasan_cache_shrink(cache);
}

/* --- Related work --- */

#if KASAN_LINUX_7
/* There is one function, which does as the second one of Linux 6.12. */
#define kasan_record_aux_stack_noalloc kasan_record_aux_stack
#else
void kasan_record_aux_stack(void *addr)
{
	if (!is_kfence_address(addr))
		redzone_record_aux_stack(addr);
}
#endif

void kasan_record_aux_stack_noalloc(void *addr)
{
	unsigned long flags;

	if (is_kfence_address(addr))
		return;
	/* The caller may hold locks that the page allocator takes. */
	flags = kasan_begin_without_pages();
	redzone_record_aux_stack(addr);
	kasan_end_without_pages(flags);
}
/* For a module that tests NMIs. */
EXPORT_SYMBOL_GPL(kasan_record_aux_stack_noalloc);
