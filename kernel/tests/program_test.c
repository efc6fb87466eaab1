// SPDX-License-Identifier: MIT
/*
 * program_test.c - what the kernel does for programs in place of their C library: memory and jumps.
 */
#include <kernel/errno.h>
#include <kernel/fpu.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/string.h>

#include "../program/heap.h"
#include "../program/internal.h"
#include "../program/setjmp.h"
#include "kasan_test.h"

/* --- Memory ----------------------------------------------------------------------------------- */

static void heap(struct kunit *test)
{
	static const size_t sizes[] = {1, 8, 13, 96, 100, 192, 5000, 100000, 6UL << 20};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned char *p = malloc(sizes[i]), *q;
		size_t bigger = sizes[i] + 10;

		KUNIT_ASSERT_NOT_NULL(test, p);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((uintptr_t)p, sizes[i] > 8 ? 16 : 8));
		memset(p, 0x5a, sizes[i]);
		/* Without KASAN the exact size is not recorded; hardware tags record granules. */
		if (kasan_on() && sizes[i] == KASAN_END(sizes[i]))
			KUNIT_EXPECT_PTR_EQ(test, realloc(p, sizes[i]), p);
		q = realloc(p, bigger);
		KUNIT_ASSERT_NOT_NULL(test, q);
		/* Never in place: the old pointer must be stale. */
		KUNIT_EXPECT_PTR_NE(test, q, p);
		KUNIT_EXPECT_EQ(test, q[0] + q[sizes[i] - 1], 2 * 0x5a);
		q[bigger - 1] = 1;
		free(q);
	}
	free(NULL);
	KUNIT_EXPECT_NULL(test, calloc(SIZE_MAX / 2, 4));
	*program_errno() = 0;
	KUNIT_EXPECT_NULL(test, malloc(SIZE_MAX / 2));
	KUNIT_EXPECT_EQ(test, *program_errno(), ENOMEM);
}

static void heap_of_nothing(struct kunit *test)
{
	size_t none = 0;
	char *p, *q;

	HIDE_VAR(none);
	p = malloc(none);
	q = malloc(none);
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_NOT_NULL(test, q);
	KUNIT_EXPECT_PTR_NE(test, p, q);
	free(q);
	p = realloc(p, 20);
	KUNIT_ASSERT_NOT_NULL(test, p);
	p[19] = 1;
	p = realloc(p, none);
	KUNIT_ASSERT_NOT_NULL(test, p);
	free(p);
}

static void aligned_heap(struct kunit *test)
{
	char *p, *q;

	for (size_t align = 8; align <= 4UL << 20; align *= 2)
		for (size_t size = 0; size <= 20000; size = size * 3 + 1) {
			p = aligned_alloc(align, size);
			KUNIT_ASSERT_NOT_NULL(test, p);
			KUNIT_EXPECT_TRUE(test, IS_ALIGNED((uintptr_t)p, align));
			memset(p, 1, size);
			KUNIT_EXPECT_GE(test, malloc_usable_size(p), size);
			q = NULL;
			KUNIT_EXPECT_EQ(test, posix_memalign((void **)&q, align, size), 0);
			KUNIT_EXPECT_TRUE(test, q && IS_ALIGNED((uintptr_t)q, align));
			free(p);
			p = realloc(q, size + 1);
			KUNIT_ASSERT_NOT_NULL(test, p);
			p[size] = 1;
			free(p);
		}
	KUNIT_EXPECT_NULL(test, aligned_alloc(24, 24));
	KUNIT_EXPECT_EQ(test, *program_errno(), EINVAL);
	KUNIT_EXPECT_EQ(test, posix_memalign((void **)&q, 4, 24), EINVAL);
	KUNIT_EXPECT_EQ(test, posix_memalign((void **)&q, 3UL << 20, 24), EINVAL);
	*program_errno() = 0;
	KUNIT_EXPECT_EQ(test, posix_memalign((void **)&q, 1UL << 62, 24), ENOMEM);
	KUNIT_EXPECT_EQ(test, *program_errno(), 0);
	KUNIT_EXPECT_NULL(test, aligned_alloc(1UL << 20, SIZE_MAX - 100));
	KUNIT_EXPECT_EQ(test, *program_errno(), ENOMEM);
	/* No power of two, and yet every C library takes it. */
	p = aligned_alloc(0, 24);
	KUNIT_EXPECT_NOT_NULL(test, p);
	free(p);
}

#ifdef CONFIG_KASAN
/* A large area has a byte that the program did not ask for, so with tags the first one is not outside of it. */
#ifdef CONFIG_KASAN_TAGS
#define EMPTY_AREA "invalid-access"
#else
#define EMPTY_AREA "vmalloc-out-of-bounds"
#endif

static void heap_bugs(struct kunit *test)
{
	size_t none = 0;
	char *p, *q;

	kunit_needs(test, kasan_enabled(), "KASAN that is on");
	HIDE_VAR(none);
	p = malloc(none);
	/* Another slot lies behind the only granule. */
	if (KASAN_TEST_BYTES)
		KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1, WRITE_ACCESS(p[0], 1));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[KASAN_END(1)]));
	free(p);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, free(p));
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, q = realloc(p, 5));
	p = malloc(100);
	q = realloc(p, 40);
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(p[0]));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(q[KASAN_END(40)], 1));
	free(q);
	p = aligned_alloc(64, 100);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[KASAN_END(100)]));
	free(p);
	p = aligned_alloc(1UL << 20, 100);
	KASAN_EXPECT_BUG(test, "vmalloc-out-of-bounds", KASAN_READ, 1,
			 READ_ACCESS(p[KASAN_END(100)]));
	free(p);
	p = aligned_alloc(1UL << 20, none);
	KASAN_EXPECT_BUG(test, EMPTY_AREA, KASAN_READ, 1, READ_ACCESS(p[0]));
	free(p);
	p = malloc(6UL << 20);
	KASAN_EXPECT_BUG(test, "invalid-free", KASAN_FREE, 0, free(p + 16));
	free(p);
}
#endif

/* --- Jumps ------------------------------------------------------------------------------------ */

static struct program_jump target;

static noinline int jump_from(volatile int depth)
{
	volatile char array[40];

	array[depth % 40] = 1;
	if (depth == 0)
		longjmp(&target, 7);
	if (depth < 0)
		return array[2];
	return jump_from(depth - 1) + array[1];
}

static noinline int use_stack(int depth)
{
	volatile char array[100];

	for (size_t i = 0; i < sizeof(array); i++)
		array[i] = 1;
	return depth ? use_stack(depth - 1) + array[0] : 0;
}

static void jumps(struct kunit *test)
{
	volatile int rounds = 0;
	int value = setjmp(&target);

	if (value)
		KUNIT_EXPECT_EQ(test, value, 7);
	/* The frames that were jumped over must leave no poison for those that come after them. */
	KUNIT_EXPECT_EQ(test, stale_stack(), 0);
	KUNIT_EXPECT_EQ(test, use_stack(20), 20);
	if (rounds++ < 3)
		jump_from(20);
	KUNIT_EXPECT_EQ(test, rounds, 4);
}

/* Jumps restore floating-point registers. */
static int program_test_init(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, fpu_attach(current), 0);
#ifdef CONFIG_KASAN
	return kasan_test_init(test);
#else
	return 0;
#endif
}

static struct kunit_case program_test_cases[] = {
	KUNIT_CASE(heap),	  KUNIT_CASE(heap_of_nothing),
	KUNIT_CASE(aligned_heap),
#ifdef CONFIG_KASAN
	KUNIT_CASE(heap_bugs),
#endif
	KUNIT_CASE(jumps),	  {},
};

KUNIT_SUITE(program, program_test_cases, .suite_init = kasan_test_suite_init,
	    .suite_exit = kasan_test_suite_exit, .init = program_test_init,
	    .exit = kasan_test_exit);
