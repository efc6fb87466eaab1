// SPDX-License-Identifier: MIT
/*
 * kasan_mte_stack_test.c - stack variables with hardware tags: what is found, what legal code may do, and that no frame
 * leaves a tag behind, however it ends.
 *
 * Bad accesses change nothing: behind a variable may be a frame record.
 */
#include <kasan/tags_inline.h>
#include <kernel/fpu.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <kernel/time.h>

#include "../../../program/setjmp.h"
#include "../../../tests/kasan_test.h"

#define GRANULE KASAN_GRANULE_SIZE

static u8 memory_tag(const volatile void *p)
{
	return (u8)(kasan_mte_ldg((uintptr_t)kasan_reset_tag((const void *)p)) >> 56) | 0xf0;
}

/* Return: how many granules of [@low, @high) have another tag than the stack pointer's. */
static size_t tagged_granules(uintptr_t low, uintptr_t high)
{
	size_t found = 0;

	for (uintptr_t at = ALIGN(low, GRANULE); at + GRANULE <= high; at += GRANULE)
		found += memory_tag((void *)at) != KASAN_TAG_KERNEL;
	return found;
}

/* Return: how many of the task's stack below the caller's frames. Calls no function that tags a variable. */
static __always_inline size_t tagged_below(void)
{
	return tagged_granules((uintptr_t)current->stack,
			       (uintptr_t)__builtin_frame_address(0) - 1024);
}

/* --- Out of bounds -------------------------------------------------------------------------------- */

/* Each size that ends anywhere in a granule. */
#define SIZES(apply)                                                                           \
	apply(1) apply(2) apply(7) apply(15) apply(16) apply(17) apply(24) apply(31) apply(32) \
		apply(33) apply(47) apply(48) apply(63) apply(64) apply(65) apply(127) apply(500)

#define DEFINE_OVERFLOW(n)                                                            \
	static noinline void overflow_##n(struct kunit *test)                         \
	{                                                                             \
		char array[n], *p = array;                                            \
		size_t end = ALIGN(sizeof(array), GRANULE);                           \
                                                                                      \
		HIDE_VAR(p);                                                          \
		HIDE_VAR(end);                                                        \
		WRITE_ACCESS(p[0], 1);                                                \
		WRITE_ACCESS(p[(n) - 1], 1);                                          \
		KUNIT_EXPECT_KASAN_REPORT(test, "stack-out-of-bounds", KASAN_READ, 1, \
					  KASAN_TEST_BUG(READ_ACCESS(p[end])));       \
		KASAN_EXPECT_ADDR(test, p + end);                                     \
		KUNIT_EXPECT_KASAN_REPORT(                                            \
			test, "stack-out-of-bounds", KASAN_WRITE, 1,                  \
			KASAN_TEST_BUG(WRITE_ACCESS(p[end], KASAN_KEPT(p[end]))));    \
	}
SIZES(DEFINE_OVERFLOW)

static void overflow(struct kunit *test){
#define CALL_OVERFLOW(n) overflow_##n(test);
	SIZES(CALL_OVERFLOW)}

#define DEFINE_UNDERFLOW(n)                                                                        \
	static noinline void underflow_##n(struct kunit *test)                                     \
	{                                                                                          \
		char array[n], *p = array;                                                         \
                                                                                                   \
		HIDE_VAR(p);                                                                       \
		WRITE_ACCESS(p[0], 1);                                                             \
		KUNIT_EXPECT_KASAN_REPORT(test, "stack-out-of-bounds", KASAN_READ, 1,              \
					  KASAN_TEST_BUG(READ_ACCESS(p[-1])));                     \
		KASAN_EXPECT_ADDR(test, p - 1);                                                    \
		KUNIT_EXPECT_KASAN_REPORT(test, "stack-out-of-bounds", KASAN_WRITE, 1,             \
					  KASAN_TEST_BUG(WRITE_ACCESS(p[-1], KASAN_KEPT(p[-1])))); \
	}
SIZES(DEFINE_UNDERFLOW)

	static void underflow(struct kunit *test)
{
#define CALL_UNDERFLOW(n) underflow_##n(test);
	SIZES(CALL_UNDERFLOW)
}

/* Variables of one frame have different tags, so none reaches another. */
static void neighbours(struct kunit *test)
{
	char a[32], b[48], c[16], d[64], *vars[] = {a, b, c, d};

	for (size_t i = 0; i < ARRAY_SIZE(vars); i++) {
		HIDE_VAR(vars[i]);
		WRITE_ACCESS(vars[i][0], 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(vars); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(vars); j++) {
			char *p = vars[i] + ((char *)kasan_reset_tag(vars[j]) -
					     (char *)kasan_reset_tag(vars[i]));

			if (i == j) {
				READ_ACCESS(p[0]);
				continue;
			}
			KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_READ, 1,
					 READ_ACCESS(p[0]));
		}
	}
}

/* --- Out of scope --------------------------------------------------------------------------------- */

static void use_after_scope(struct kunit *test)
{
	volatile char *stale;

	{
		volatile char local[256];
		volatile char *p = local;

		HIDE_VAR(p);
		p[1] = 1;
		(void)p[1];
		stale = p;
	}
	HIDE_VAR(stale);
	KASAN_EXPECT_BUG(test, "use-after-scope", KASAN_READ, 1, (void)stale[128]);
	KASAN_EXPECT_ADDR(test, &stale[128]);
}

static noinline volatile char *address_of_local(size_t i)
{
	volatile char local[256];
	volatile char *p = local;

	HIDE_VAR(p);
	p[i] = 1;
	(void)p[i];
	return p;
}

static void use_after_return(struct kunit *test)
{
	volatile char *stale = address_of_local(3);

	HIDE_VAR(stale);
	KUNIT_EXPECT_NE(test, kasan_get_tag((const void *)stale), KASAN_TAG_KERNEL);
	KUNIT_EXPECT_EQ(test, memory_tag(stale), KASAN_TAG_KERNEL);
	KASAN_EXPECT_BUG(test, "use-after-scope", KASAN_READ, 1, (void)stale[128]);
	KASAN_EXPECT_ADDR(test, &stale[128]);
}

/* --- Large, deep and of unknown size -------------------------------------------------------------- */

static noinline u8 big_frame(struct kunit *test)
{
	char big[8000], *p = big;
	const u8 tag = kasan_get_tag(p);

	HIDE_VAR(p);
	for (size_t i = 0; i < sizeof(big); i++)
		WRITE_ACCESS(p[i], (char)i);
	for (size_t i = 0; i < sizeof(big); i += GRANULE)
		KUNIT_EXPECT_EQ(test, memory_tag(p + i), tag);
	KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[sizeof(big)]));
	return tag;
}

static void large_variable(struct kunit *test)
{
	KUNIT_EXPECT_NE(test, big_frame(test), KASAN_TAG_KERNEL);
	KUNIT_EXPECT_EQ(test, tagged_below(), 0UL);
}

static noinline size_t recurse(struct kunit *test, size_t depth)
{
	char local[24], *p = local;
	size_t sum = 0;

	HIDE_VAR(p);
	memset(p, (int)depth, sizeof(local));
	if (depth)
		sum = recurse(test, depth - 1);
	else
		KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[32]));
	/* The calls have not touched it. */
	for (size_t i = 0; i < sizeof(local); i++)
		sum += p[i] == (char)depth;
	return sum;
}

static void recursion(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, recurse(test, 100), 101UL * 24);
	KUNIT_EXPECT_EQ(test, tagged_below(), 0UL);
}

/*
 * Clang 19 and 22 do not tag memory of alloca() and variable-length arrays: pointers to it match all memory. What lies
 * beside it is safe from the variables with a fixed size. A compiler that tags it must get it right.
 */
static noinline void variable_length(struct kunit *test, size_t size)
{
	char fixed[32], *p = fixed, array[size], *q = array;
	ptrdiff_t distance;

	HIDE_VAR(p);
	HIDE_VAR(q);
	memset(q, 1, size);
	memset(p, 2, sizeof(fixed));
	KUNIT_EXPECT_EQ(test, q[size - 1], 1);
	distance = (char *)kasan_reset_tag(q) - (char *)kasan_reset_tag(p);
	KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[distance]));
	if (kasan_get_tag(q) != KASAN_TAG_KERNEL)
		KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_READ, 1, READ_ACCESS(q[-1]));
}

static void variable_lengths(struct kunit *test)
{
	static const size_t sizes[] = {1, 16, 100, 4000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		variable_length(test, sizes[i]);
	KUNIT_EXPECT_EQ(test, tagged_below(), 0UL);
}

/* --- After a report ------------------------------------------------------------------------------- */

/* The access runs without checks, and only it does. */
static void checks_go_on(struct kunit *test)
{
	char local[16], *p = local;

	HIDE_VAR(p);
	WRITE_ACCESS(p[0], 1);
	for (int i = 0; i < 3; i++) {
		KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[16]));
		KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[-1]));
	}
	READ_ACCESS(p[15]);
}

/* --- Frames that end without their epilogue ------------------------------------------------------- */

static struct program_jump target;
static uintptr_t jumped_from;

static noinline size_t jump_from(volatile int depth)
{
	volatile char array[40];
	volatile char *p = array;

	HIDE_VAR(p);
	p[depth % 40] = 1;
	if (depth == 0) {
		jumped_from = (uintptr_t)__builtin_frame_address(0);
		longjmp(&target, 7);
	}
	return jump_from(depth - 1) + p[1];
}

static void jumps(struct kunit *test)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	volatile int rounds = 0;

	/* Floating-point registers are part of what setjmp() keeps. */
	KUNIT_ASSERT_EQ(test, fpu_attach(current), 0);
	if (setjmp(&target)) {
		KUNIT_EXPECT_GT(test, here - jumped_from, 20 * 40UL);
		KUNIT_EXPECT_EQ(test, tagged_below(), 0UL);
	}
	if (rounds++ < 3)
		jump_from(40);
	KUNIT_EXPECT_EQ(test, rounds, 4);
}

/* It ends inside of its frames, as one that is killed does, or that a failed assertion of KUnit ends. */
static noinline void end_thread(int depth)
{
	volatile char array[200];
	volatile char *p = array;

	HIDE_VAR(p);
	p[depth] = 1;
	if (depth == 0)
		kthread_exit(memory_tag(p) == KASAN_TAG_KERNEL);
	end_thread(depth - 1);
	p[1] = 2;
}

static int leave_tags(void *unused)
{
	end_thread(20);
	return -1;
}

static int look_for_tags(void *unused)
{
	return (int)tagged_below();
}

static void dead_tasks(struct kunit *test)
{
	for (int i = 0; i < 8; i++) {
		struct task *task = kthread_run(leave_tags, NULL, "leave-tags");

		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
		task = kthread_run(look_for_tags, NULL, "look-for-tags");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	}
}

/* Interrupts run on the stack of whatever they interrupt, and call functions that tag their variables. */
static void interrupts(struct kunit *test)
{
	char local[64], *p = local;
	const unsigned long end = jiffies + 5;

	HIDE_VAR(p);
	memset(p, 5, sizeof(local));
	while (time_before(jiffies, end)) {
		for (size_t i = 0; i < sizeof(local); i++)
			KUNIT_ASSERT_EQ(test, p[i], 5);
	}
	KUNIT_EXPECT_EQ(test, tagged_below(), 0UL);
}

KASAN_BUG_SUITE(kasan_mte_stack, KUNIT_CASE(overflow), KUNIT_CASE(underflow),
		KUNIT_CASE(neighbours), KUNIT_CASE(use_after_scope), KUNIT_CASE(use_after_return),
		KUNIT_CASE(large_variable), KUNIT_CASE(recursion), KUNIT_CASE(variable_lengths),
		KUNIT_CASE(checks_go_on), KUNIT_CASE(jumps), KUNIT_CASE(dead_tasks),
		KUNIT_CASE(interrupts));
