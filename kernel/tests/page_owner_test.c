// SPDX-License-Identifier: MIT
/* page_owner_test.c - the records of page_owner=on. Without it the cases are skipped. */
#include <kernel/page_owner.h>
#include <kernel/sched.h>
#include <kernel/slab.h>

#include "kasan_test.h"

static int page_owner_test_init(struct kunit *test)
{
	kunit_needs(test, page_owner_on, "page_owner=on");
	return kasan_test_init(test);
}

static void blocks(struct kunit *test)
{
	struct page *page = alloc_pages(GFP_KERNEL, 2);
	struct page_owner owner;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (int i = 0; i < 4; i++) {
		KUNIT_ASSERT_TRUE(test, page_owner_get(page + i, &owner));
		KUNIT_EXPECT_TRUE(test, owner.allocated);
		KUNIT_EXPECT_EQ(test, owner.order, 2);
		KUNIT_EXPECT_EQ(test, owner.pid, current->pid);
		KUNIT_EXPECT_NE(test, owner.stack, 0);
	}
	__free_pages(page, 2);
	for (int i = 0; i < 4; i++) {
		KUNIT_ASSERT_TRUE(test, page_owner_get(page + i, &owner));
		/* Another CPU may have it by now. */
		KUNIT_EXPECT_TRUE(test, !owner.allocated || owner.ts >= owner.free_ts);
		KUNIT_EXPECT_NE(test, owner.free_stack, 0);
	}
}

static int free_page_fn(void *arg)
{
	__free_page(arg);
	return 0;
}

static void freed_by_another(struct kunit *test)
{
	struct page *page = alloc_page(GFP_ATOMIC | __GFP_ZERO);
	struct page_owner owner;
	struct task *task;
	pid_t pid;

	KUNIT_ASSERT_NOT_NULL(test, page);
	task = kthread_run(free_page_fn, page, "free_page");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	pid = task->pid;
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	KUNIT_ASSERT_TRUE(test, page_owner_get(page, &owner));
	KUNIT_EXPECT_EQ(test, owner.free_pid, pid);
	KUNIT_EXPECT_GE(test, owner.free_ts, owner.ts);
}

static void many_pages(struct kunit *test)
{
	/* Records are per page: repeated allocations add neither records nor stacks. */
	for (int i = 0; i < 2000; i++) {
		void *p = kmalloc((size_t)(1 + i % 20) << 12, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, p);
		kfree(p);
	}
}

KUNIT_CASES(page_owner_test_cases, KUNIT_CASE(blocks), KUNIT_CASE(freed_by_another),
	    KUNIT_CASE(many_pages));

KUNIT_SUITE(page_owner, page_owner_test_cases, .suite_init = kasan_test_suite_init,
	    .suite_exit = kasan_test_suite_exit, .init = page_owner_test_init,
	    .exit = kasan_test_exit);
