/* SPDX-License-Identifier: MIT */
/* aux_stack.c - auxiliary stacks: where work for an object was created, kept in the object's metadata. */
#include "meta.h"

#include "../track/track.h"

#if CONFIG_KASAN_SLAB

/* Return: the handles of the object that holds @addr; NULL if it has none. */
static uint32_t *aux_stacks(const void *addr)
{
	struct kasan_object object;
	struct kasan_alloc_meta *meta = NULL;

	kasan_clear(&object);
	if (!kasan_find_object(addr, &object))
		return NULL;
	if (object.kind == KASAN_OBJECT_LARGE)
		return object.large ? object.large->aux_stack : NULL;
	if (object.kind == KASAN_OBJECT_SLAB)
		meta = kasan_alloc_meta(object.cache, object.start);
	return meta ? meta->aux_stack : NULL;
}

kasan_noinline void kasan_record_aux_stack(const void *addr)
{
	uint32_t *aux, stack;

	if (!addr || !kasan_opt_stacktrace || kasan_silent())
		return;
	aux = aux_stacks(addr);
	if (!aux)
		return;
	stack = kasan_save_stack(KASAN_CALLER_IP(), KASAN_CALLER_FP());
	/* If two CPUs queue work for one object at once, one of the two stacks may be lost; each handle stays whole. */
	__atomic_store_n(&aux[1], __atomic_load_n(&aux[0], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	__atomic_store_n(&aux[0], stack, __ATOMIC_RELAXED);
}

#endif /* CONFIG_KASAN_SLAB */
