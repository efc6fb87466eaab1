// SPDX-License-Identifier: MIT
/*
 * kasan_runtime_test.c - the runtime's inside in Generic mode, through its public interface: shadow encoding,
 * tracks and the stack depot, the quarantine and its bound. The tag-based modes have kasan_tags_test.c.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>
#include <kasan/port.h>

#include "kasan_test.h"

#ifdef CONFIG_KASAN_GENERIC

/* --- Shadow ----------------------------------------------------------------------------------- */

static void shadow_values(struct kunit *test)
{
	char *ptr = kmalloc(13, GFP_KERNEL);
	u8 *shadow;

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	shadow = kasan_shadow_of(ptr);
	KUNIT_ASSERT_NOT_NULL(test, shadow);
	KUNIT_EXPECT_EQ(test, shadow[0], 0);
	KUNIT_EXPECT_EQ(test, shadow[1], 5);
	KUNIT_EXPECT_EQ(test, shadow[2], KASAN_SLAB_REDZONE);
	kfree(ptr);
	KUNIT_EXPECT_GE(test, shadow[0], KASAN_SLAB_FREE_META);
	KUNIT_EXPECT_LE(test, shadow[0], KASAN_SLAB_FREE);
	KUNIT_EXPECT_EQ(test, shadow[1], KASAN_SLAB_FREE);
}

/* Every start and size in a small object, against a model with one flag per byte. */
static void poison_and_unpoison(struct kunit *test)
{
	char *object = kmalloc(64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	for (size_t start = 0; start < 64; start += 8)
		for (size_t size = 0; start + size <= 64; size++) {
			kasan_poison(object, 64, KASAN_SLAB_REDZONE);
			kasan_unpoison(object + start, size);
			for (size_t i = 0; i < 64; i++)
				KUNIT_ASSERT_EQ_MSG(test, kasan_byte_accessible(object + i),
						    i >= start && i < start + size,
						    "byte %zu of [%zu, +%zu)", i, start, size);
		}
	kasan_poison_tail(object, 20, 64, KASAN_SLAB_REDZONE);
	KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(object + 19));
	KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(object + 20));
	KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(object + 63));
	kasan_unpoison(object, 64);
	kfree(object);
}

/* A range check finds a single bad byte wherever it is. */
static void range_checks(struct kunit *test)
{
	char *object = kmalloc(256, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	for (size_t hole = 0; hole < 256; hole += 8) {
		kasan_poison(object + hole, 8, KASAN_SLAB_REDZONE);
		for (size_t start = 0; start < 256; start += 13)
			for (size_t end = start + 1; end <= 256; end += 11) {
				bool touches = start < hole + 8 && end > hole, ok;

				kasan_disable_current();
				ok = kasan_check_read(object + start, end - start);
				kasan_enable_current();
				KUNIT_ASSERT_EQ_MSG(test, ok, !touches, "[%zu, %zu), hole at %zu",
						    start, end, hole);
			}
		kasan_unpoison(object + hole, 8);
	}
	kfree(object);
}

/* --- Tracks ----------------------------------------------------------------------------------- */

static struct kasan_track track_of(struct kunit *test, void *ptr)
{
	struct kasan_object object;
	struct kasan_alloc_meta *meta;
	struct kasan_track track;

	KUNIT_ASSERT_TRUE(test, kasan_port_find_object(ptr, &object));
	KUNIT_ASSERT_EQ(test, object.kind, KASAN_OBJECT_SLAB);
	KUNIT_ASSERT_PTR_EQ(test, object.start, ptr);
	meta = (struct kasan_alloc_meta *)((char *)ptr + object.cache->alloc_meta_offset);
	/* Metadata lies in the redzone, which instrumented code may not read: the unchecked form
	 * copies. */
	__memcpy(&track, &meta->alloc, sizeof(track));
	return track;
}

static noinline void *alloc_here(void)
{
	void *ptr = kmalloc(40, GFP_KERNEL);

	HIDE_VAR(ptr);
	return ptr;
}

static void depot_shares_stacks(struct kunit *test)
{
	void *same[10], *other;
	struct kasan_track first;

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		same[i] = alloc_here();
		KUNIT_ASSERT_NOT_NULL(test, same[i]);
	}
	other = alloc_here();
	KUNIT_ASSERT_NOT_NULL(test, other);
	first = track_of(test, same[0]);
	KUNIT_EXPECT_EQ(test, first.pid, current->pid);
	if (!first.stack)
		kunit_skip(test,
			   "stacks are not recorded (kasan.stacktrace=off), or the depot is full");
	/* One call site, one handle; another call site, another. */
	for (size_t i = 1; i < ARRAY_SIZE(same); i++)
		KUNIT_EXPECT_EQ(test, track_of(test, same[i]).stack, first.stack);
	KUNIT_EXPECT_NE(test, track_of(test, other).stack, first.stack);
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		kfree(same[i]);
	kfree(other);
}

static int alloc_thread(void *arg)
{
	*(void **)arg = kmalloc(40, GFP_KERNEL);
	return current->pid;
}

static void track_names_the_task(struct kunit *test)
{
	struct task *task;
	void *ptr = NULL;
	int pid;

	task = kthread_run(alloc_thread, &ptr, "alloc");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	pid = kthread_join(task);
	KUNIT_ASSERT_NOT_NULL(test, ptr);
	KUNIT_EXPECT_NE(test, pid, current->pid);
	KUNIT_EXPECT_EQ(test, track_of(test, ptr).pid, pid);
	kfree(ptr);
}

static void object_sizes(struct kunit *test)
{
	for (size_t size = 1; size <= 8192; size += 1 + size / 3) {
		char *ptr = kmalloc(size, GFP_KERNEL);
		struct kasan_object object;

		KUNIT_ASSERT_NOT_NULL(test, ptr);
		KUNIT_ASSERT_TRUE(test, kasan_port_find_object(ptr + size - 1, &object));
		KUNIT_EXPECT_PTR_EQ(test, object.start, ptr);
		KUNIT_EXPECT_EQ(test, kasan_object_size(object.cache, ptr), size);
		kfree(ptr);
	}
}

static void vmalloc_areas(struct kunit *test)
{
	char *ptr = vmalloc(5000);
	struct kasan_area area;

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	KUNIT_ASSERT_TRUE(test, kasan_port_find_area(ptr + 4999, &area));
	KUNIT_EXPECT_PTR_EQ(test, area.start, ptr);
	KUNIT_EXPECT_GE(test, area.size, 5000);
	vfree(ptr);
}

/* --- Quarantine ------------------------------------------------------------------------------- */

static void quarantine_is_released_by_shrink(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("quarantine_test", 128, 0, 0, NULL);
	struct slabinfo info;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	for (int i = 0; i < 100; i++) {
		void *object = kmem_cache_alloc(cache, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, object);
		kmem_cache_free(cache, object);
	}
	kmem_cache_info(cache, &info);
	/* All were freed, but they are held back. */
	KUNIT_EXPECT_GE(test, info.active, 100);
	KUNIT_EXPECT_EQ(test, kmem_cache_shrink(cache), 0);
	kmem_cache_info(cache, &info);
	KUNIT_EXPECT_EQ(test, info.slabs, 0);
	kmem_cache_destroy(cache);
}

/* Objects that leave the quarantine stay poisoned. The stack of the free is lost if the allocator writes
 * its links into free slots, and kept if it does not. */
static void released_objects(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("released", 128, 0, 0, NULL);
	char *object, *neighbour;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	/* Its slab stays, because of the neighbour. */
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	neighbour = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_NOT_NULL(test, neighbour);
	KUNIT_ASSERT_PTR_EQ(test, virt_to_head_page(object), virt_to_head_page(neighbour));
	kmem_cache_free(cache, object);
	KUNIT_EXPECT_EQ(test, *kasan_shadow_of(object), KASAN_SLAB_FREE_META);
	KUNIT_EXPECT_EQ(test, kmem_cache_shrink(cache), 1);
	KUNIT_EXPECT_EQ(test, *kasan_shadow_of(object),
			SLAB_IS_BITMAP ? KASAN_SLAB_FREE_META : KASAN_SLAB_FREE);
	KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(object + 127));
	kmem_cache_free(cache, neighbour);
	kmem_cache_destroy(cache);
}

static void quarantine_is_bounded(struct kunit *test)
{
	unsigned long total = totalram_pages(), before, lowest;
	/* Twice the memory of the machine, in freed objects of 4 KiB. */
	unsigned long rounds = min(total * 2, 200000UL);

	before = lowest = nr_free_pages();
	for (unsigned long i = 0; i < rounds; i++) {
		void *ptr = kmalloc(4096, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL_MSG(test, ptr, "round %lu", i);
		kfree(ptr);
		if (i % 512 == 0)
			lowest = min(lowest, nr_free_pages());
	}
	/* 1/32 of memory, plus room for redzones, slabs that are only partly held, and the CPUs' queues.
	 */
	KUNIT_EXPECT_LE(test, before - lowest, total / 8 + 2048);
}

static void quarantine_delays_on_every_size(struct kunit *test)
{
	static const size_t sizes[] = {1, 8, 16, 33, 96, 192, 500, 1024, 4096};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *ptr = kmalloc(sizes[i], GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, ptr);
		kfree(ptr);
		for (int k = 0; k < 20; k++) {
			char *other = kmalloc(sizes[i], GFP_KERNEL);

			KUNIT_EXPECT_PTR_NE(test, ptr, other);
			kfree(other);
		}
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(ptr));
	}
}

KASAN_BUG_SUITE(kasan_runtime, KUNIT_CASE(shadow_values), KUNIT_CASE(poison_and_unpoison),
		KUNIT_CASE(range_checks), KUNIT_CASE(depot_shares_stacks),
		KUNIT_CASE(track_names_the_task), KUNIT_CASE(object_sizes),
		KUNIT_CASE(vmalloc_areas), KUNIT_CASE(quarantine_is_released_by_shrink),
		KUNIT_CASE(released_objects), KUNIT_CASE(quarantine_is_bounded),
		KUNIT_CASE(quarantine_delays_on_every_size));

#endif /* CONFIG_KASAN_GENERIC */
