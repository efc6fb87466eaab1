/* SPDX-License-Identifier: MIT */
/*
 * heap_tags.c - the heap in the tag-based modes: objects of seven sizes, each in a region of its own, by the
 * hooks for slab allocators. Objects have neither header nor redzone: whose memory it is, its tag says.
 *
 * Not instrumented: the list of free slots lies in the slots, in memory that no other code may touch, and
 * is walked by pointers without a tag. The list keeps the pointer that was freed, because the runtime gives
 * the slot's next owner another tag than that.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "board.h"
#include "heap.h"

#ifdef CONFIG_KASAN_TAGS

#define SIZES 7 /* 16, 32, ... 1024 */

static struct size_class {
	struct kasan_cache cache;
	void *freed;
	char *fresh; /* no slot from here on was ever handed out */
} classes[SIZES];
static size_t region;
char *early_chunk;

void heap_watch(void)
{
	static const char *const names[SIZES] = {"heap-16",  "heap-32",	 "heap-64",  "heap-128",
						 "heap-256", "heap-512", "heap-1024"};
	unsigned int i;

	region = (size_t)(__heap_end - __heap_start) / SIZES & ~(size_t)4095;
	kasan_poison_slab(__heap_start, SIZES * region);
	for (i = 0; i < SIZES; i++) {
		classes[i].cache.name = names[i];
		classes[i].cache.object_size = 16U << i;
		classes[i].cache.flags = KASAN_CACHE_KMALLOC;
		kasan_cache_create(&classes[i].cache, 16U << i);
		classes[i].fresh = __heap_start + i * region;
	}
}

/* The slot that holds @ptr; NULL: it was never handed out. */
static void *slot_of(const void *ptr, struct size_class **class)
{
	const size_t at = (size_t)((char *)kasan_reset_tag(ptr) - __heap_start);

	if (at >= SIZES * region)
		return NULL;
	*class = &classes[at / region];
	if (__heap_start + at >= (*class)->fresh)
		return NULL;
	return __heap_start + (at & ~((size_t)(*class)->cache.slot_size - 1));
}

void *memalign(size_t align, size_t size)
{
	struct size_class *class = classes;
	void *slot;

	while (class->cache.object_size < size || class->cache.object_size < align) {
		if (++class == classes + SIZES)
			return NULL;
	}
	slot = class->freed;
	if (slot) {
		class->freed = *(void **)kasan_reset_tag(slot);
	} else {
		if (class->fresh == __heap_start + (size_t)(class - classes + 1) * region)
			return NULL;
		slot = kasan_init_slab_slot(&class->cache, class->fresh);
		class->fresh += class->cache.slot_size;
	}
	return kasan_slab_alloc(&class->cache, slot, size);
}

void *malloc(size_t size)
{
	return memalign(16, size);
}

void free(void *ptr)
{
	const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
	struct size_class *class;
	void *slot;

	if (!ptr)
		return;
	slot = slot_of(ptr, &class);
	if (!slot) {
		kasan_report_invalid_free(ptr, caller);
		return;
	}
	if (kasan_slab_free(&class->cache, ptr, slot, caller) != KASAN_FREE_NOW)
		return;
	*(void **)kasan_reset_tag(ptr) = class->freed;
	class->freed = ptr;
}

void *realloc(void *ptr, size_t size)
{
	struct size_class *class;
	void *moved = malloc(size);
	size_t old = 0;

	if (ptr && slot_of(ptr, &class))
		old = kasan_object_size(&class->cache, ptr);
	if (!moved)
		return NULL;
	__memcpy(moved, ptr, old < size ? old : size);
	free(ptr);
	return moved;
}

/* For reports: a bad pointer names an object through its slot. */
bool kasan_port_find_object(const void *addr, struct kasan_object *object)
{
	struct size_class *class;
	void *slot = slot_of(addr, &class);

	if (!slot)
		return false;
	object->kind = KASAN_OBJECT_SLAB;
	object->cache = &class->cache;
	object->start = slot;
	return true;
}

#endif
