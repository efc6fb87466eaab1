// SPDX-License-Identifier: MIT
/* slab_test.c - the slab allocator and kmalloc(): sizes, alignment, contents, caches, pressure. */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/page.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "../mm/slab_internal.h"
#include "kasan_test.h"

static void kmalloc_sizes(struct kunit *test)
{
	static const size_t sizes[] = {1,    7,	   8,	 9,    16,     24,     96,
				       97,   128,  192,	 193,  1000,   4095,   4096,
				       4097, 8192, 8193, 9000, 100000, 1 << 20};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t size = sizes[i];
		u8 *p = kmalloc(size, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL_MSG(test, p, "size %zu", size);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((uintptr_t)p, ARCH_KMALLOC_MINALIGN));
		if ((size & (size - 1)) == 0 && size >= 8 && size <= PAGE_SIZE)
			KUNIT_EXPECT_TRUE_MSG(test, IS_ALIGNED((uintptr_t)p, size), "size %zu",
					      size);
		memset(p, 0xa5, size);
		/* Large ones have whole pages. */
		KUNIT_EXPECT_GE(test, ksize(p),
				size > KMALLOC_MAX_CACHE_SIZE ? PAGE_ALIGN(size) : size);
		KUNIT_EXPECT_GE(test, kmalloc_size_roundup(size), size);
		kfree(p);
	}
}

static void kmalloc_zero_and_null(struct kunit *test)
{
	void *p = kmalloc(0, GFP_KERNEL);

	KUNIT_EXPECT_PTR_EQ(test, p, ZERO_SIZE_PTR);
	kfree(p);
	kfree(NULL);
	KUNIT_EXPECT_EQ(test, ksize(NULL), 0);
	KUNIT_EXPECT_EQ(test, ksize(ZERO_SIZE_PTR), 0);
	p = krealloc(NULL, 32, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_PTR_EQ(test, krealloc(p, 0, GFP_KERNEL), ZERO_SIZE_PTR);
}

static void kmalloc_overflow(struct kunit *test)
{
	size_t half = SIZE_MAX / 2 + 2;

	HIDE_VAR(half);
	KUNIT_EXPECT_NULL(test, kmalloc_array(2, half, GFP_KERNEL));
	KUNIT_EXPECT_NULL(test, kcalloc(half, 2, GFP_KERNEL));
	KUNIT_EXPECT_NULL(test, krealloc_array(NULL, half, 2, GFP_KERNEL));
	KUNIT_EXPECT_NULL(test, kmalloc(KMALLOC_MAX_SIZE + 1, GFP_KERNEL | __GFP_NOWARN));
	KUNIT_EXPECT_NULL(test, kmalloc(half, GFP_KERNEL | __GFP_NOWARN));
}

static void kzalloc_clears(struct kunit *test)
{
	static const size_t sizes[] = {8, 13, 200, 5000, 20000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		for (int round = 0; round < 20; round++) {
			u8 *p = kzalloc(sizes[i], GFP_KERNEL);

			KUNIT_ASSERT_NOT_NULL(test, p);
			KUNIT_ASSERT_NULL(test, memchr_inv(p, 0, sizes[i]));
			memset(p, 0xff, sizes[i]);
			kfree(p);
		}
}

static void krealloc_keeps_contents(struct kunit *test)
{
	static const size_t sizes[] = {7, 8, 9, 40, 3000, 100, 20000, 16, 17, 1, 64, 8192, 9000};
	size_t have = 0;
	u8 *p = NULL;

	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		p = krealloc(p, sizes[k], GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, p);
		for (size_t i = 0; i < min(have, sizes[k]); i++)
			KUNIT_ASSERT_EQ(test, p[i], (u8)(i * 3));
		for (size_t i = 0; i < sizes[k]; i++)
			p[i] = (u8)(i * 3);
		have = sizes[k];
	}
	kfree(p);
}

static void copies(struct kunit *test)
{
	char *s = kstrdup("twelve bytes", GFP_KERNEL), *n = kstrndup("twelve", 3, GFP_KERNEL);
	char *m = kmemdup("abc", 2, GFP_KERNEL);

	KUNIT_EXPECT_STREQ(test, s, "twelve bytes");
	KUNIT_EXPECT_STREQ(test, n, "twe");
	KUNIT_EXPECT_MEMEQ(test, m, "ab", 2);
	KUNIT_EXPECT_NULL(test, kstrdup(NULL, GFP_KERNEL));
	kfree(s);
	kfree(n);
	kfree(m);
}

static void kmem_cache_objects(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("slab_test", 72, 64, 0, NULL);
	void *objects[100];

	KUNIT_ASSERT_NOT_NULL(test, cache);
	KUNIT_EXPECT_EQ(test, kmem_cache_size(cache), 72);
	KUNIT_EXPECT_STREQ(test, kmem_cache_name(cache), "slab_test");
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((uintptr_t)objects[i], 64));
		memset(objects[i], (int)i, 72);
	}
	/* No two objects share a byte. */
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		KUNIT_EXPECT_NULL(test, memchr_inv(objects[i], (int)i, 72));
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		kmem_cache_free(cache, objects[i]);
	KUNIT_EXPECT_EQ(test, kmem_cache_shrink(cache), 0);
	kmem_cache_destroy(cache);
}

static void construct(void *object)
{
	memset(object, 0x77, 50);
}

static void kmem_cache_constructor(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("slab_test_ctor", 50, 0, 0, construct);
	void *keep, *last = NULL;
	unsigned int again = 0;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	/* With an object in use the slab stays, and so do the slots that were constructed with it. */
	keep = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, keep);
	for (int i = 0; i < 50; i++) {
		u8 *object = kmem_cache_alloc(cache, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, object);
		/* Constructed once: objects go back in that state, so they always come in it. */
		KUNIT_EXPECT_NULL(test, memchr_inv(object, 0x77, 50));
		again += kasan_reset_tag(object) == last;
		last = kasan_reset_tag(object);
		kmem_cache_free(cache, object);
		/* Out of the quarantine, and back into the slab. */
		kmem_cache_shrink(cache);
	}
	KUNIT_EXPECT_EQ(test, again, 49);
	kmem_cache_free(cache, keep);
	kmem_cache_destroy(cache);
}

static void kmem_cache_bulk_objects(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("slab_test_bulk", 32, 0, 0, NULL);
	void *objects[64];

	KUNIT_ASSERT_NOT_NULL(test, cache);
	KUNIT_ASSERT_EQ(test, kmem_cache_alloc_bulk(cache, GFP_KERNEL, 64, objects), 64);
	for (size_t i = 0; i < 64; i++)
		for (size_t j = 0; j < i; j++)
			KUNIT_EXPECT_PTR_NE(test, objects[i], objects[j]);
	kmem_cache_free_bulk(cache, 64, objects);
	kmem_cache_destroy(cache);
}

/* --- Many objects, many CPUs ------------------------------------------------------------------ */

#define STRESS_LIVE   64
#define STRESS_ROUNDS 3000

struct stress {
	u64 seed;
	unsigned int wrong;
};

static int stress_thread(void *arg)
{
	struct stress *stress = arg;
	struct {
		u8 *p;
		size_t size;
		u8 mark;
	} live[STRESS_LIVE] = {0};
	struct rnd_state rnd;

	prandom_seed_state(&rnd, stress->seed);
	for (unsigned int i = 0; i < STRESS_ROUNDS; i++) {
		size_t k = prandom_u32_state(&rnd) % STRESS_LIVE;

		if (live[k].p) {
			stress->wrong += memchr_inv(live[k].p, live[k].mark, live[k].size) != NULL;
			kfree(live[k].p);
		}
		live[k].size = 1 + prandom_u32_state(&rnd) % (i % 50 ? 500 : 20000);
		live[k].mark = (u8)(i ^ stress->seed);
		live[k].p = kmalloc(live[k].size, GFP_KERNEL);
		if (!live[k].p)
			return -ENOMEM;
		memset(live[k].p, live[k].mark, live[k].size);
	}
	for (size_t k = 0; k < STRESS_LIVE; k++)
		kfree(live[k].p);
	return 0;
}

static void stress_on_all_cpus(struct kunit *test)
{
	struct stress stress[NR_CPUS] = {0};
	struct task *tasks[NR_CPUS];
	unsigned int n = num_online_cpus();

	for (unsigned int i = 0; i < n; i++) {
		stress[i].seed = i + 1;
		tasks[i] = kthread_run(stress_thread, &stress[i], "slab_stress");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (unsigned int i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
		KUNIT_EXPECT_EQ(test, stress[i].wrong, 0);
	}
}

/* An object freed by another CPU than the one it came from. */
static int free_thread(void *arg)
{
	void **objects = arg;

	for (int i = 0; i < 64; i++)
		kfree(objects[i]);
	return 0;
}

static void free_on_other_cpu(struct kunit *test)
{
	void *objects[64];

	for (int round = 0; round < 10; round++) {
		struct task *task;

		for (int i = 0; i < 64; i++) {
			objects[i] = kmalloc(100, GFP_KERNEL);
			KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		}
		task = kthread_run(free_thread, objects, "slab_free");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	}
}

#define MANY 600

/* Many slabs of one cache: no slot is handed out twice, all lie in slabs, and all slabs go again. */
static void slabs_of_a_cache(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("slabs", 200, 0, 0, NULL);
	u16 **objects = kunit_kzalloc(test, MANY * sizeof(*objects), GFP_KERNEL);
	unsigned long first_offsets = 0;
	struct slabinfo info;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	KUNIT_ASSERT_NOT_NULL(test, objects);
	for (u16 i = 0; i < MANY; i++) {
		objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		*objects[i] = i;
	}
	kmem_cache_info(cache, &info);
	KUNIT_EXPECT_GE(test, info.slabs, MANY / info.objs_per_slab);
	KUNIT_EXPECT_GE(test, info.active, MANY);
	for (u16 i = 0; i < MANY; i++) {
		struct page *slab = virt_to_head_page(objects[i]);
		size_t offset = (uintptr_t)slab->first_slot - (uintptr_t)page_to_virt(slab);

		KUNIT_EXPECT_EQ(test, *objects[i], i);
		KUNIT_EXPECT_TRUE(test, PageSlab(slab));
		KUNIT_EXPECT_LE(test, offset + slab->objects * info.slot_size, page_size(slab));
		first_offsets |= BIT(offset / 64);
	}
	if (SLAB_IS_BITMAP) {
		/* Colours: not all slabs start at one offset. */
		KUNIT_EXPECT_NE(test, first_offsets & (first_offsets - 1), 0);
	}
	/* Every other one, then the rest: slabs become partly free before they are empty. */
	for (int half = 0; half < 2; half++)
		for (int i = half; i < MANY; i += 2)
			kmem_cache_free(cache, objects[i]);
	KUNIT_EXPECT_EQ(test, kmem_cache_shrink(cache), 0);
	kmem_cache_info(cache, &info);
	KUNIT_EXPECT_EQ(test, info.slabs, 0);
	KUNIT_EXPECT_EQ(test, info.active, 0);
	kmem_cache_destroy(cache);
}

/* An object freed into the wrong cache: the console says so, which report-extras checks, and the object
 * goes to the right cache. */
static void free_into_wrong_cache(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("right", 64, 0, 0, NULL);
	struct kmem_cache *other = kmem_cache_create("wrong", 64, 0, 0, NULL);
	void *object, *kmalloced = kmalloc(64, GFP_KERNEL), *mine;
	struct slabinfo info;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_ASSERT_NOT_NULL(test, kmalloced);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	kmem_cache_free(other, object);
	kmem_cache_free(other, kmalloced);
	/* Neither object comes out of the wrong cache. */
	kasan_cache_shrink(NULL);
	mine = kmem_cache_alloc(other, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mine);
	KUNIT_EXPECT_PTR_EQ(test, virt_to_head_page(mine)->slab_cache, other);
	kmem_cache_free(other, mine);
	KUNIT_EXPECT_EQ(test, kmem_cache_shrink(other), 0);
	kmem_cache_info(other, &info);
	KUNIT_EXPECT_EQ(test, info.slabs, 0);
	KUNIT_EXPECT_EQ(test, info.active, 0);
	/* Both have gone back to their own. */
	KUNIT_EXPECT_EQ(test, kmem_cache_shrink(cache), 0);
	kmem_cache_info(cache, &info);
	KUNIT_EXPECT_EQ(test, info.slabs, 0);
	KUNIT_EXPECT_EQ(test, info.active, 0);
	kmem_cache_destroy(other);
	kmem_cache_destroy(cache);
}

/* Reads a freed object, which only unchecked code may do. */
static noinline __no_sanitize_address bool reads_as_zero(const void *freed, size_t from, size_t to)
{
	const volatile u8 *p = kasan_reset_tag(freed);
	u8 sum = 0;

	for (size_t i = from; i < to; i++)
		sum |= p[i];
	return !sum;
}

static void kfree_sensitive_clears(struct kunit *test)
{
	u8 *p = kmalloc(200, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	memset(p, 0xa5, 200);
	kfree_sensitive(p);
	HIDE_VAR(p);
	/* Behind what the allocator or the runtime have written to its first bytes since. */
	KUNIT_EXPECT_TRUE(test, reads_as_zero(p, 32, 192));
	kfree_sensitive(NULL);
	kfree_sensitive(ZERO_SIZE_PTR);
}

/* The console names each object that is still there; report-extras looks. The cache stays, so that what
 * uses and frees them later does no harm. */
static void destroy_with_live_objects(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create("leaky", 64, 0, 0, NULL);
	u8 *objects[5];

	KUNIT_ASSERT_NOT_NULL(test, cache);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
	}
	kmem_cache_free(cache, objects[0]);
	kmem_cache_free(cache, objects[3]);
	kunit_info(test, "live %016lx %016lx %016lx", (unsigned long)kasan_reset_tag(objects[1]),
		   (unsigned long)kasan_reset_tag(objects[2]),
		   (unsigned long)kasan_reset_tag(objects[4]));
	kmem_cache_destroy(cache);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		if (i % 3 == 0)
			continue;
		memset(objects[i], (int)i, 64);
		KUNIT_EXPECT_NULL(test, memchr_inv(objects[i], (int)i, 64));
		kfree(objects[i]);
	}
}

#ifndef CONFIG_SLAB
static void free_page_of_slots(void *page)
{
	__free_pages(page, 0);
}

/* After any write to a free slot the list is cut off; it never leads elsewhere. */
static void overwritten_links(struct kunit *test)
{
	struct kmem_cache *cache = kunit_kzalloc(test, sizeof(*cache), GFP_KERNEL);
	struct page *page = alloc_pages(GFP_KERNEL, 0);
	char *slots;
	bool ok;

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_page_of_slots, page), 0);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	slots = page_address(page);
	for (unsigned int i = 0; i < 64; i++) {
		char *slot = slots + i * 64UL, *next = i == 63 ? NULL : slot + 64;
		u8 *link = kasan_reset_tag(slot);

		/* In the tag-based modes the uppermost is the pointer's tag, which may be any. */
		for (unsigned int byte = 0; byte < (KASAN_TEST_GENERIC ? 8 : 7); byte++) {
			for (unsigned int flip = 1; flip < 256; flip++) {
				slab_set_next(cache, slot, next);
				link[byte] ^= (u8)flip;
				slab_get_next(cache, page, slot, &ok);
				KUNIT_ASSERT_FALSE_MSG(test, ok, "slot %u, byte %u ^ %02x", i, byte,
						       flip);
			}
		}
		for (unsigned int size = 1; size <= 8; size++) {
			slab_set_next(cache, slot, next);
			__memset(link, 0, size);
			slab_get_next(cache, page, slot, &ok);
			KUNIT_ASSERT_FALSE_MSG(test, ok, "slot %u, %u bytes cleared", i, size);
		}
		slab_set_next(cache, slot, next);
		KUNIT_ASSERT_PTR_EQ(test, slab_get_next(cache, page, slot, &ok), next);
		KUNIT_ASSERT_TRUE(test, ok);
		/* Another slot's, as a copy of a whole object leaves it. */
		if (i) {
			__memcpy(link, link - 64, 8);
			slab_get_next(cache, page, slot, &ok);
			KUNIT_ASSERT_FALSE_MSG(test, ok, "slot %u, as before it", i);
			slab_set_next(cache, slot, next);
		}
	}
}
#endif

static void chosen_entries(struct kunit *test)
{
	static const void *const entries[] = {
		(const void *)kmalloc,	       (const void *)kfree,
		(const void *)krealloc,	       (const void *)kmem_cache_alloc,
		(const void *)kmem_cache_free,
	};
	bool writable = true;

#if !defined(CONFIG_KASAN) || defined(CONFIG_SLAB)
	kunit_skip(test, "there is one way into the allocator");
#endif
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		const bool jumps = arch_has_jump(entries[i]);

		/* All of them, or none. */
		KUNIT_EXPECT_EQ(test, jumps, arch_has_jump(entries[0]));
		if (!kasan_on())
			KUNIT_EXPECT_TRUE(test, jumps);
		else if (KASAN_TEST_GENERIC)
			KUNIT_EXPECT_FALSE(test, jumps);
		KUNIT_EXPECT_NE(test, kernel_va_to_pa((unsigned long)entries[i], &writable), 0);
		KUNIT_EXPECT_FALSE(test, writable);
	}
}

/* Every size of a small object to every other one: what is not the object's any more is not accessible. */
static void krealloc_in_place(struct kunit *test)
{
	static const size_t sizes[] = {16, 32, 48, 64, 80, 96, 112, 128, 256, 512, 1024};
#ifdef CONFIG_KASAN
	const bool is_checked = kasan_enabled();
#else
	const bool is_checked = false;
#endif

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		u8 *p = kmalloc(sizes[i], GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, p);
		for (size_t j = 0; j <= i; j++) {
			p = krealloc(p, sizes[j], GFP_KERNEL);
			KUNIT_ASSERT_NOT_NULL(test, p);
			for (size_t at = 0; is_checked && at < sizes[i]; at += 16)
				KUNIT_EXPECT_EQ_MSG(test, kasan_byte_accessible(p + at),
						    at < sizes[j], "%zu to %zu, byte %zu", sizes[i],
						    sizes[j], at);
			p = krealloc(p, sizes[i], GFP_KERNEL);
			KUNIT_ASSERT_NOT_NULL(test, p);
			for (size_t at = 0; at < sizes[i]; at += 16)
				KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(p + at));
		}
		kfree(p);
	}
}

static struct kunit_case slab_test_cases[] = {
	KUNIT_CASE(kmalloc_sizes),
	KUNIT_CASE(kmalloc_zero_and_null),
	KUNIT_CASE(kmalloc_overflow),
	KUNIT_CASE(kzalloc_clears),
	KUNIT_CASE(krealloc_keeps_contents),
	KUNIT_CASE(krealloc_in_place),
	KUNIT_CASE(copies),
	KUNIT_CASE(kmem_cache_objects),
	KUNIT_CASE(kmem_cache_constructor),
	KUNIT_CASE(kmem_cache_bulk_objects),
	KUNIT_CASE(stress_on_all_cpus),
	KUNIT_CASE(free_on_other_cpu),
	KUNIT_CASE(slabs_of_a_cache),
	KUNIT_CASE(free_into_wrong_cache),
	KUNIT_CASE(chosen_entries),
	KUNIT_CASE(kfree_sensitive_clears),
	KUNIT_CASE(destroy_with_live_objects),
#ifndef CONFIG_SLAB
	KUNIT_CASE(overwritten_links),
#endif
	{},
};

KUNIT_SUITE(slab, slab_test_cases, KASAN_SUITE_INIT);
