// SPDX-License-Identifier: MIT
/*
 * percpu.c - memory with one copy per CPU: redzones of variables, and copies from the heap.
 *
 *	object | first granule | unused, area | CPU 0's copy | redzone | CPU 1's copy | redzone ...
 *
 * An allocation is one object of kmalloc(), so its stacks, its quarantine and its bad frees are kmalloc()'s. Before the
 * first copy lies a description of the area, for the free and for reports. It stays readable after the free, and its seal
 * tells whether something else has been written over it. It lies after the bytes where the runtime and the allocator keep
 * what they need of freed objects. Not instrumented, because it reads the description, which is poisoned.
 */
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/string.h>

#include "internal.h"
#include "slab_internal.h"

#define AREA_SEAL 0x9e3779b97f4a7c15UL

/* Bytes of a freed object that are not its own any more. */
#define FREED_HEAD 32U

struct area {
	const char *name;
	void *object;
	size_t size, stride;
	unsigned long copies;
	unsigned long seal;
};

_Static_assert(FREED_HEAD + sizeof(struct area) + SMP_CACHE_BYTES <= PERCPU_HEAD,
	       "the area does not fit");

static unsigned long seal_of(const struct area *area)
{
	unsigned long sum = (unsigned long)area;

	sum = (sum ^ (unsigned long)area->name) * AREA_SEAL;
	sum = (sum ^ (unsigned long)area->object) * AREA_SEAL;
	sum = (sum ^ area->size) * AREA_SEAL;
	sum = (sum ^ area->stride) * AREA_SEAL;
	return (sum ^ area->copies) * AREA_SEAL;
}

/* @object: without a tag, as are the results of this and the next function. */
static uintptr_t first_copy(uintptr_t object)
{
	return ALIGN(object + FREED_HEAD + sizeof(struct area), SMP_CACHE_BYTES);
}

static struct area *area_before(uintptr_t first)
{
	return (struct area *)first - 1;
}

void *__alloc_percpu(const char *name, size_t size, size_t stride, gfp_t gfp)
{
	const unsigned int copies = nr_cpu_ids;
	struct area *area;
	uintptr_t before, first;
	char *object;

	if (WARN_ON(!size || size > PERCPU_MAX_SIZE || stride < size || stride % SMP_CACHE_BYTES))
		return NULL;
	object = kmalloc(PERCPU_HEAD + copies * stride, gfp | __GFP_ZERO);
	if (!object)
		return NULL;
	before = (uintptr_t)kasan_reset_tag(object);
	first = first_copy(before);
	area = area_before(first);
	area->name = name;
	area->object = object;
	area->size = size;
	area->stride = stride;
	area->copies = copies;
	area->seal = seal_of(area);
	object += first - before;
#ifdef CONFIG_KASAN
	/* A sampled object lies between closed pages, and has no redzones inside. */
	if (!kasan_sample_owns(object)) {
		/* A free looks at the first granule. */
		kasan_poison((char *)area->object + KASAN_GRANULE_SIZE,
			     first - before - KASAN_GRANULE_SIZE, KASAN_SLAB_REDZONE);
		kasan_percpu_open(object, size, stride, copies, KASAN_SLAB_REDZONE);
		kasan_poison(object + copies * stride, before + PERCPU_HEAD - first,
			     KASAN_SLAB_REDZONE);
	}
#endif
	return object;
}

void free_percpu(const void *pointer)
{
	const uintptr_t first = (uintptr_t)kasan_reset_tag(pointer);
	const struct area *area = area_before(first);
	const void *object = pointer;

	if (ZERO_OR_NULL_PTR(pointer))
		return;
	/* A pointer that is wrong may point anywhere. */
	if (first % SMP_CACHE_BYTES == 0 &&
	    (kasan_sample_owns(area) || (slab_head_page(area) && slab_head_page(pointer))) &&
	    area->seal == seal_of(area))
		/* The object may have a new owner, whose tag the area has. */
		object = kasan_set_tag(area->object, kasan_get_tag(pointer));
	kfree_by(object, MM_CALLER_IP());
	/* No tail call: the stack of the free has this function. */
	barrier();
}

#if defined(CONFIG_KASAN_PERCPU) && defined(CONFIG_KASAN)

void percpu_open(const struct percpu_var *vars, size_t nr)
{
	for (; nr; nr--, vars++) {
#ifdef CONFIG_KASAN_TAGS
		/* No pointer to it has a tag, so none would be refused. */
		if (kasan_get_tag(vars->first) == KASAN_TAG_KERNEL)
			continue;
#endif
		kasan_percpu_open(vars->first, vars->size, vars->stride, NR_CPUS,
				  KASAN_GLOBAL_REDZONE);
	}
}

bool percpu_find_object(const void *object, struct kasan_percpu *found)
{
	const uintptr_t start = (uintptr_t)kasan_reset_tag(object), first = first_copy(start);
	const struct area *area = area_before(first);

	if (area->seal != seal_of(area) || kasan_reset_tag(area->object) != (const void *)start)
		return false;
	found->first = first;
	found->size = area->size;
	found->stride = area->stride;
	found->copies = (unsigned int)area->copies;
	found->name = area->name;
	return true;
}

#endif
