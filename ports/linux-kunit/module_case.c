// SPDX-License-Identifier: MIT
/*
 * module_case.c - Linux's test of user copies as a KUnit case. There it is a module: loading it runs the
 * test in the loading process, which has user memory, and whoever loads it reads the console.
 */
#include <kasan/kasan.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <kernel/user_mm.h>
#include <kunit/test.h>
#include <linux/module.h>

/* Each way to copy, once, with one byte more than the kernel's side has. */
#define COPIES 7

static volatile unsigned int reports, others;

static void count(const struct kasan_report_info *info)
{
	if (!strcmp(info->bug_type, "slab-out-of-bounds"))
		reports++;
	else
		others++;
}

static void copy_user_test(struct kunit *test)
{
	kasan_report_hook_fn saved;
	struct mm_struct *mm = mm_alloc();
	int result;

	KUNIT_ASSERT_FALSE(test, IS_ERR(mm));
	kthread_use_mm(mm);
	mmput(mm);
	reports = others = 0;
	saved = kasan_report_hook(count);
	result = linux_module_init();
	kasan_report_hook(saved);
	/* So that it does not stay loaded. */
	KUNIT_EXPECT_EQ(test, result, -EAGAIN);
	KUNIT_EXPECT_EQ(test, reports, COPIES);
	KUNIT_EXPECT_EQ(test, others, 0);
	KUNIT_EXPECT_EQ(test, mm->nr_pages, 0);
}

static struct kunit_case cases[] = {KUNIT_CASE(copy_user_test), {}};

static struct kunit_suite suite = {
	.name = "kasan_test_module",
	.test_cases = cases,
};
kunit_test_suite(suite);
