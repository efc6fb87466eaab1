// SPDX-License-Identifier: MIT
/* vmalloc_test.c - virtually contiguous memory and task stacks. */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>

#include "kasan_test.h"

static void sizes(struct kunit *test)
{
	static const size_t bytes[] = {1, 100, 4095, 4096, 4097, 65536, 1000003, 8UL << 20};

	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++) {
		struct vm_struct *area;
		u8 *p = vmalloc(bytes[i]);

		KUNIT_ASSERT_NOT_NULL_MSG(test, p, "%zu bytes", bytes[i]);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((uintptr_t)p, PAGE_SIZE));
		KUNIT_EXPECT_TRUE(test, is_vmalloc_addr(p));
		area = find_vm_area(p + bytes[i] - 1);
		KUNIT_ASSERT_NOT_NULL(test, area);
		KUNIT_EXPECT_PTR_EQ(test, area->addr, p);
		KUNIT_EXPECT_EQ(test, area->size, bytes[i]);
		memset(p, 0x3c, bytes[i]);
		KUNIT_EXPECT_NULL(test, memchr_inv(p, 0x3c, bytes[i]));
		vfree(p);
		KUNIT_EXPECT_NULL(test, find_vm_area(p));
	}
}

static void cleared(struct kunit *test)
{
	for (int i = 0; i < 5; i++) {
		u8 *p = vzalloc(3 * PAGE_SIZE + 5);

		KUNIT_ASSERT_NOT_NULL(test, p);
		KUNIT_EXPECT_NULL(test, memchr_inv(p, 0, 3 * PAGE_SIZE + 5));
		memset(p, 0xff, 3 * PAGE_SIZE + 5);
		vfree(p);
	}
	vfree(NULL);
}

static void pages_behind(struct kunit *test)
{
	u8 *p = vmalloc(4 * PAGE_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, p);
	for (size_t i = 0; i < 4; i++) {
		struct page *page = vmalloc_to_page(p + i * PAGE_SIZE + 123);
		u8 *linear;

		KUNIT_ASSERT_NOT_NULL(test, page);
		linear = page_to_virt(page);
		linear[7] = (u8)(i + 1);
		KUNIT_EXPECT_EQ(test, ((volatile u8 *)p)[i * PAGE_SIZE + 7], i + 1);
	}
	vfree(p);
}

static void areas_are_apart(struct kunit *test)
{
	u8 *p[16];

	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = vmalloc(PAGE_SIZE * (1 + i % 3));
		KUNIT_ASSERT_NOT_NULL(test, p[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		for (size_t j = 0; j < ARRAY_SIZE(p); j++)
			/* At least the guard page lies between an area's end and the next one. */
			if (p[j] > p[i])
				KUNIT_EXPECT_GE(test, (size_t)(p[j] - p[i]),
						PAGE_SIZE * (1 + i % 3) + PAGE_SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		vfree(p[i]);
}

static void addresses_come_back(struct kunit *test)
{
	unsigned long areas = vmalloc_nr_areas();

	/* Far more areas than the address space could hold if none came back: 16 TiB / 64 MiB. */
	for (int i = 0; i < 2000; i++) {
		void *p = vmalloc(PAGE_SIZE * (1 + (size_t)i % 20));

		KUNIT_ASSERT_NOT_NULL(test, p);
		vfree(p);
	}
	vmalloc_purge();
	KUNIT_EXPECT_LE(test, vmalloc_nr_areas(), areas + 8);
}

static void memory_comes_back(struct kunit *test)
{
	unsigned long before, after;

	vmalloc_purge();
	drain_all_pages();
	before = nr_free_pages();
	for (int i = 0; i < 20; i++) {
		void *p = vmalloc(1UL << 20);

		KUNIT_ASSERT_NOT_NULL(test, p);
		vfree(p);
	}
	vmalloc_purge();
	drain_all_pages();
	after = nr_free_pages();
	/* Shadow pages once made are kept; the memory itself, twenty times more, is not. */
	KUNIT_EXPECT_GE(test, after + 1024, before);
}

static void stacks(struct kunit *test)
{
	u8 *stack = stack_alloc(THREAD_SIZE, NULL);

	KUNIT_ASSERT_NOT_NULL(test, stack);
	memset(stack, 0, THREAD_SIZE);
	stack_free(stack);
	stack_free(NULL);
}

static void kvmalloc_either_kind(struct kunit *test)
{
	void *small = kvmalloc(100, GFP_KERNEL), *large = kvmalloc(16UL << 20, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, small);
	KUNIT_ASSERT_NOT_NULL(test, large);
	KUNIT_EXPECT_FALSE(test, is_vmalloc_addr(small));
	KUNIT_EXPECT_TRUE(test, is_vmalloc_addr(large));
	memset(large, 1, 16UL << 20);
	kvfree(small);
	kvfree(large);
}

static int vmalloc_thread(void *arg)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, (u64)(uintptr_t)arg);
	for (int i = 0; i < 200; i++) {
		size_t size = 1 + prandom_u32_state(&rnd) % (20 * PAGE_SIZE);
		u8 *p = vmalloc(size);

		if (!p)
			return -ENOMEM;
		p[0] = p[size - 1] = (u8)i;
		vfree(p);
	}
	return 0;
}

static void on_all_cpus(struct kunit *test)
{
	struct task *tasks[NR_CPUS];
	unsigned int n = num_online_cpus();

	for (unsigned int i = 0; i < n; i++) {
		tasks[i] =
			kthread_run(vmalloc_thread, (void *)(uintptr_t)(i + 1), "vmalloc_stress");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
}

KASAN_SUITE(vmalloc, KUNIT_CASE(sizes), KUNIT_CASE(cleared), KUNIT_CASE(pages_behind),
	    KUNIT_CASE(areas_are_apart), KUNIT_CASE(addresses_come_back),
	    KUNIT_CASE(memory_comes_back), KUNIT_CASE(stacks), KUNIT_CASE(kvmalloc_either_kind),
	    KUNIT_CASE(on_all_cpus));
