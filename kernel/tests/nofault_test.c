// SPDX-License-Identifier: MIT
/* nofault_test.c - copies between kernel memory and addresses that may be wrong. */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/uaccess.h>
#include <kernel/vmalloc.h>

#include "kasan_test.h"

#define ROOM 64U

static const u8 constant[ROOM] = "written by the compiler";

static void pattern(u8 *p, size_t size, unsigned int seed)
{
	for (size_t i = 0; i < size; i++)
		p[i] = (u8)(i * 7 + seed);
}

/* Every size and both alignments within a word; the bytes around stay. */
static void sizes(struct kunit *test)
{
	u8 from[ROOM], to[ROOM], wanted[ROOM];

	for (size_t size = 0; size <= 40; size++) {
		for (size_t at = 0; at < 16; at++) {
			const size_t source = at * 5 % 16;

			pattern(from, ROOM, 1);
			pattern(wanted, ROOM, 99);
			memcpy(wanted + at, from + source, size);
			pattern(to, ROOM, 99);
			KUNIT_EXPECT_EQ(test, copy_to_kernel_nofault(to + at, from + source, size),
					0L);
			KUNIT_EXPECT_MEMEQ(test, to, wanted, ROOM);
			pattern(to, ROOM, 99);
			KUNIT_EXPECT_EQ(test,
					copy_from_kernel_nofault(to + at, from + source, size), 0L);
			KUNIT_EXPECT_MEMEQ(test, to, wanted, ROOM);
		}
	}
}

/* Nothing is mapped there: a guard page, the page behind it, and addresses outside of all memory. */
static void unmapped(struct kunit *test)
{
	u8 *p = vmalloc(PAGE_SIZE);
	const unsigned long guard = (unsigned long)kasan_reset_tag(p) + PAGE_SIZE;
	const unsigned long wrong[] = {guard, guard + PAGE_SIZE - ROOM, VMALLOC_END - PAGE_SIZE,
				       0xfffffffffffffff0UL - ROOM};
	u8 bytes[ROOM];

	KUNIT_ASSERT_NOT_NULL(test, p);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		for (size_t size = 1; size <= ROOM; size += 7)
			KUNIT_EXPECT_EQ_MSG(
				test, copy_from_kernel_nofault(bytes, (const void *)wrong[i], size),
				(long)-EFAULT, "%lx, %zu bytes", wrong[i], size);
	}
	/* It ends where the memory ends, and says so. */
	memset(p, 0x5a, PAGE_SIZE);
	memset(bytes, 0, sizeof(bytes));
	KUNIT_EXPECT_EQ(test, copy_from_kernel_nofault(bytes, p + PAGE_SIZE - 20, ROOM),
			(long)-EFAULT);
	KUNIT_EXPECT_NULL(test, memchr_inv(bytes, 0x5a, 20));
	KUNIT_EXPECT_NULL(test, memchr_inv(bytes + 20, 0, ROOM - 20));
	vfree(p);
}

/* Memory that may only be read, and user memory, which has functions of its own. */
static void refused(struct kunit *test)
{
	u8 bytes[ROOM] = {0};

	KUNIT_EXPECT_EQ(test, copy_from_kernel_nofault(bytes, constant, ROOM), 0L);
	KUNIT_EXPECT_MEMEQ(test, bytes, constant, ROOM);
	bytes[0] ^= 1;
	KUNIT_EXPECT_EQ(test, copy_to_kernel_nofault((void *)constant, bytes, ROOM), (long)-EFAULT);
	KUNIT_EXPECT_EQ(test, constant[0], (u8)(bytes[0] ^ 1));
	KUNIT_EXPECT_EQ(test, copy_from_kernel_nofault(bytes, (void *)0x10000, 8), (long)-ERANGE);
	KUNIT_EXPECT_EQ(test, copy_to_kernel_nofault((void *)0x10000, bytes, 8), (long)-ERANGE);
	KUNIT_EXPECT_EQ(test, copy_from_kernel_nofault(bytes, NULL, 1), (long)-ERANGE);
}

#ifdef CONFIG_KASAN
/* A read may be of any memory; writes, and their sources, are checked. */
static void poisoned(struct kunit *test)
{
	const size_t size = ROOM - KASAN_GRANULE_SIZE;
	u8 *p = kmalloc(size, GFP_KERNEL), bytes[ROOM];
	long error = 0;

	KUNIT_ASSERT_NOT_NULL(test, p);
	HIDE_VAR(p);
	memset(p, 1, size);
	KUNIT_EXPECT_EQ(test, copy_from_kernel_nofault(bytes, p, ROOM), 0L);
	if (!kasan_enabled()) {
		kfree(p);
		kunit_skip(test, "KASAN is off (kasan=off)");
	}
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, ROOM,
			 error = copy_to_kernel_nofault(bytes, p, ROOM));
	KUNIT_EXPECT_EQ(test, error, (long)-EFAULT);
	memset(bytes, 2, ROOM);
	error = 0;
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, ROOM,
			 error = copy_to_kernel_nofault(p, bytes, ROOM));
	KUNIT_EXPECT_EQ(test, error, (long)-EFAULT);
	/* Nothing moved. */
	KUNIT_EXPECT_NULL(test, memchr_inv(p, 1, size));
	kfree(p);
}
#endif

static struct kunit_case nofault_test_cases[] = {
	KUNIT_CASE(sizes),
	KUNIT_CASE(unmapped),
	KUNIT_CASE(refused),
#ifdef CONFIG_KASAN
	KUNIT_CASE(poisoned),
#endif
	{},
};

KUNIT_SUITE(nofault, nofault_test_cases, KASAN_SUITE_INIT);
