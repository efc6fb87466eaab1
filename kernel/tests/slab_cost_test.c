// SPDX-License-Identifier: MIT
/* slab_cost_test.c - compares the documented cost of an object with its real cost. */
#include <kernel/kernel.h>
#include <kernel/page.h>
#include <kernel/slab.h>

#include "kasan_test.h"

static const struct {
	unsigned int size;
	struct {
		unsigned int slot, objects, pages;
	} off, generic;
} costs[] = {
#define SLAB_COST(size, slot, objects, pages, kasan_slot, kasan_objects, kasan_pages) \
	{size, {slot, objects, pages}, {kasan_slot, kasan_objects, kasan_pages}},
#define SLAB_COST_KEPT(...)
#include "slab_cost.h"
#undef SLAB_COST
#undef SLAB_COST_KEPT
};

static const struct {
	unsigned int size, off[2], generic[2];
} kept_costs[] = {
#define SLAB_COST(...)
#define SLAB_COST_KEPT(size, slot, kept, kasan_slot, kasan_kept) \
	{size, {slot, kept}, {kasan_slot, kasan_kept}},
#include "slab_cost.h"
#undef SLAB_COST
#undef SLAB_COST_KEPT
};

/* Objects never share a tag granule. */
#define TAG_GRANULE 16U
#ifdef CONFIG_KASAN_TAGS
#define HAS_TAGS true
#else
#define HAS_TAGS false
#endif

static void kmalloc_classes(struct kunit *test)
{
#ifdef CONFIG_KASAN_EXTRA_INFO
	/* It makes metadata larger. */
	kunit_needs(test, !kasan_on(), "CONFIG_KASAN_EXTRA_INFO=n");
#endif
	for (size_t i = 0; i < ARRAY_SIZE(costs); i++) {
		void *p = kmalloc(costs[i].size, GFP_KERNEL);
		struct slabinfo info;

		KUNIT_ASSERT_NOT_NULL(test, p);
		kmem_cache_info(virt_to_head_page(p)->slab_cache, &info);
		/* With tags a slot is its object, in whole granules. */
		if (HAS_TAGS && costs[i].size < TAG_GRANULE) {
			KUNIT_EXPECT_EQ(test, info.slot_size, TAG_GRANULE);
			kfree(p);
			continue;
		}
		if (KASAN_TEST_GENERIC && kasan_on()) {
			KUNIT_EXPECT_EQ(test, info.slot_size, costs[i].generic.slot);
			KUNIT_EXPECT_EQ(test, info.objs_per_slab, costs[i].generic.objects);
			KUNIT_EXPECT_EQ(test, info.slab_pages, costs[i].generic.pages);
		} else {
			KUNIT_EXPECT_EQ(test, info.slot_size, costs[i].off.slot);
			KUNIT_EXPECT_EQ(test, info.objs_per_slab, costs[i].off.objects);
			KUNIT_EXPECT_EQ(test, info.slab_pages, costs[i].off.pages);
		}
		KUNIT_EXPECT_EQ(test, info.object_size, costs[i].size);
		kfree(p);
	}
}

static void construct(void *object)
{
}

static unsigned int slot_of(struct kunit *test, unsigned int size, unsigned int flags,
			    void (*ctor)(void *))
{
	struct kmem_cache *cache = kmem_cache_create("slab_cost", size, 0, flags, ctor);
	struct slabinfo info;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	kmem_cache_info(cache, &info);
	kmem_cache_destroy(cache);
	return info.slot_size;
}

/* Where a free object must keep its bytes, the free list's link and the free metadata need room of their own. */
static void objects_that_are_kept(struct kunit *test)
{
	kunit_needs(test, !HAS_TAGS, "a mode without tags");
	kunit_needs(test, !SLAB_IS_BITMAP, "REDZONE_ALLOCATOR=slub");
#ifdef CONFIG_KASAN_EXTRA_INFO
	/* It makes metadata larger. */
	kunit_needs(test, !kasan_on(), "CONFIG_KASAN_EXTRA_INFO=n");
#endif
	for (size_t i = 0; i < ARRAY_SIZE(kept_costs); i++) {
		const unsigned int size = kept_costs[i].size;
		const unsigned int *slot = kasan_on() ? kept_costs[i].generic : kept_costs[i].off;

		KUNIT_EXPECT_EQ_MSG(test, slot_of(test, size, 0, NULL), slot[0], "size %u", size);
		KUNIT_EXPECT_EQ_MSG(test, slot_of(test, size, 0, construct), slot[1], "size %u",
				    size);
		KUNIT_EXPECT_EQ_MSG(test, slot_of(test, size, SLAB_TYPESAFE_BY_RCU, NULL), slot[1],
				    "size %u", size);
	}
}

KUNIT_CASES(slab_cost_test_cases, KUNIT_CASE(kmalloc_classes), KUNIT_CASE(objects_that_are_kept));

KUNIT_SUITE(slab_cost, slab_cost_test_cases);
