/* SPDX-License-Identifier: MIT */
/* fake_slab.c - see fake_slab.h. */
#include <stdlib.h>

#include "fake_slab.h"

static struct fake_slab *slabs;

static bool find_object(const void *addr, struct kasan_object *obj)
{
	for (struct fake_slab *slab = slabs; slab; slab = slab->next) {
		const char *p = addr;

		if (p < slab->memory || p >= slab->memory + slab->memory_size)
			continue;
		obj->kind = KASAN_OBJECT_SLAB;
		obj->cache = &slab->cache;
		obj->start = fake_slab_slot(slab, addr);
		return true;
	}
	return false;
}

void *fake_slab_slot(const struct fake_slab *slab, const void *addr)
{
	size_t i = (size_t)((const char *)addr - slab->memory) / slab->slot_size;

	/* The rest of the slab after the last slot counts as part of that slot. */
	if (i >= slab->slots)
		i = slab->slots - 1;
	return slab->memory + i * slab->slot_size;
}

void fake_slab_put(struct fake_slab *slab, void *slot)
{
	slab->free_list[slab->free_count++] =
		(unsigned int)((size_t)((char *)slot - slab->memory) / slab->slot_size);
}

static void release(struct kasan_cache *cache, void *object)
{
	struct fake_slab *slab = (struct fake_slab *)cache;

	CHECK_EQ(kasan_posix_locks_held(), 0);
	slab->released[slab->release_count++ % (sizeof(slab->released) / sizeof(void *))] = object;
	fake_slab_put(slab, object);
}

struct fake_slab *fake_slab_create(const char *name, uint32_t size, uint32_t align, uint32_t flags,
				   unsigned int slots)
{
	struct fake_slab *slab = calloc(1, sizeof(*slab));

	if (!slab || slots > FAKE_SLAB_SLOTS)
		abort();
	slab->cache.name = name;
	slab->cache.object_size = size;
	slab->cache.flags = flags;
	slab->cache.release = release;
	slab->slot_size = kasan_cache_create(&slab->cache, align);
	slab->slots = slots;
	slab->memory_size = ((size_t)slots * slab->slot_size + 4095) & ~4095UL;
	slab->memory = unit_arena(slab->memory_size);
	kasan_poison_slab(slab->memory, slab->memory_size);
	for (unsigned int i = 0; i < slots; i++) {
		kasan_init_slab_object(&slab->cache, slab->memory + (size_t)i * slab->slot_size);
		fake_slab_put(slab, slab->memory + (size_t)(slots - 1 - i) * slab->slot_size);
	}
	slab->next = slabs;
	slabs = slab;
	kasan_posix_hooks.find_object = find_object;
	return slab;
}

__attribute__((noinline)) void *fake_slab_alloc(struct fake_slab *slab, size_t size)
{
	void *slot;

	if (!slab->free_count)
		return NULL;
	slot = slab->memory + (size_t)slab->free_list[--slab->free_count] * slab->slot_size;
	return kasan_slab_alloc(&slab->cache, slot, size);
}

__attribute__((noinline)) enum kasan_free_verdict fake_slab_free(struct fake_slab *slab,
								 void *object)
{
	void *slot = fake_slab_slot(slab, object);
	enum kasan_free_verdict verdict =
		kasan_slab_free(&slab->cache, object, slot, (uintptr_t)__builtin_return_address(0));

	if (verdict == KASAN_FREE_NOW)
		fake_slab_put(slab, slot);
	return verdict;
}

void fake_slab_forget(void)
{
	slabs = NULL;
	kasan_posix_hooks.find_object = NULL;
}
