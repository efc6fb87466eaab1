// SPDX-License-Identifier: MIT
/*
 * kasan_test_fault.c - accesses to addresses without memory. The access faults after the report and ends
 * its thread, so each case has its own thread.
 */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/fault.h>
#include <kernel/sched.h>
#include <kernel/slab.h>

#include "kasan_test.h"

static int read_int(void *arg)
{
	volatile int *p = arg;

	HIDE_VAR(p);
	KASAN_TEST_BUG((void)*p);
	return 0;
}

static int write_long(void *arg)
{
	volatile long *p = arg;

	HIDE_VAR(p);
	KASAN_TEST_BUG(*p = 1);
	return 0;
}

/* Run @fn(@address) in a thread, and expect the oops to end it. */
static void expect_fault(struct kunit *test, int (*fn)(void *), unsigned long address,
			 const char *type, enum kasan_access access, size_t size)
{
	unsigned int oopses = READ_ONCE(oops_count);
	struct task *task;
	int value = 0;

	KUNIT_EXPECT_KASAN_REPORT(test, type, access, size, {
		task = kthread_run(fn, (void *)address, "kasan_fault");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		value = kthread_join(task);
	});
	KASAN_EXPECT_ADDR(test, address);
	KUNIT_EXPECT_EQ(test, value, -EFAULT);
	KUNIT_EXPECT_EQ(test, READ_ONCE(oops_count), oopses + 1);
}

void kasan_null_ptr_deref(struct kunit *test)
{
	expect_fault(test, read_int, 0, "null-ptr-deref", KASAN_READ, 4);
	expect_fault(test, write_long, 0x18, "null-ptr-deref", KASAN_WRITE, 8);
}

static int call(void *arg)
{
	void (*function)(void) = arg;

	HIDE_VAR(function);
	KASAN_TEST_BUG(function());
	return 0;
}

void kasan_invalid_call(struct kunit *test)
{
	void *object = kunit_kmalloc(test, 64, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	expect_fault(test, call, 0, "invalid-call", KASAN_READ, 0);
	/* Some CPUs notice first that no instruction can begin there. */
	expect_fault(test, call, 0x41414141414142UL, "invalid-call", KASAN_READ, 0);
	/* Memory that may be read. A CPU that ignores tags removes them at a branch. */
	expect_fault(test, call, (unsigned long)kasan_reset_tag(object), "invalid-call", KASAN_READ,
		     0);
}

void kasan_wild_access(struct kunit *test)
{
	/* In neither half of the address space. */
	expect_fault(test, read_int, 0x5a5a5a5a5a5a5a58UL, "wild-memory-access", KASAN_READ, 4);
	expect_fault(test, write_long, 0x4141414141414140UL, "wild-memory-access", KASAN_WRITE, 8);
}
