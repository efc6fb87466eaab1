// SPDX-License-Identifier: MIT
/* kunit_test.c - the test framework itself: skips, parameters, actions, threads of cases. */
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "../kunit/kunit.h"
#include "kasan_test.h"

/* --- Actions ---------------------------------------------------------------------------------- */

struct trace {
	char text[16];
	size_t len;
};
static struct trace trace;
static bool deferred;

static void add_a(void *ctx)
{
	struct trace *t = ctx;

	t->text[t->len++] = 'a';
}

static void add_b(void *ctx)
{
	struct trace *t = ctx;

	t->text[t->len++] = 'b';
}

static void actions_at_once(struct kunit *test)
{
	memset(&trace, 0, sizeof(trace));
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, add_a, &trace), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, add_b, &trace), 0);
	kunit_remove_action(test, add_a, &trace);
	kunit_release_action(test, add_b, &trace);
	kunit_release_action(test, add_b, &trace);
	KUNIT_EXPECT_STREQ(test, trace.text, "b");
}

static void actions_deferred(struct kunit *test)
{
	memset(&trace, 0, sizeof(trace));
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, add_a, &trace), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, add_b, &trace), 0);
	KUNIT_EXPECT_STREQ(test, trace.text, "");
	deferred = true;
}

/* Runs behind actions_deferred(). */
static void actions_ran_in_reverse(struct kunit *test)
{
	if (!deferred)
		kunit_skip(test, "actions_deferred() did not run");
	KUNIT_EXPECT_STREQ(test, trace.text, "ba");
}

static void *kept;

static void managed_memory(struct kunit *test)
{
	u8 *p = kunit_kzalloc(test, 100, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_NULL(test, memchr_inv(p, 0, 100));
	kept = p;
	p = kunit_kmalloc(test, 10, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	kunit_kfree(test, p);
	kunit_kfree(test, NULL);
}

#ifdef CONFIG_KASAN
static void managed_memory_is_freed(struct kunit *test)
{
	if (!kasan_enabled() || !kept)
		kunit_skip(test, "KASAN is off, or managed_memory() did not run");
	KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(kept));
}
#endif

/* --- Ends of cases ---------------------------------------------------------------------------- */

static volatile int reached;

static void skip_ends_the_case(struct kunit *test)
{
	reached = 1;
	kunit_skip(test, "to see that it can be skipped (%d)", reached);
	reached = 2;
}

static void skip_was_seen(struct kunit *test)
{
	if (!reached)
		kunit_skip(test, "skip_ends_the_case() did not run");
	KUNIT_EXPECT_EQ(test, reached, 1);
}

static void mark_skipped_goes_on(struct kunit *test)
{
	kunit_mark_skipped(test, "marked");
	reached = 3;
}

static void mark_skipped_went_on(struct kunit *test)
{
	if (!reached)
		kunit_skip(test, "mark_skipped_goes_on() did not run");
	KUNIT_EXPECT_EQ(test, reached, 3);
}

static void own_thread(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, current->comm, "kunit_try_catch");
	KUNIT_EXPECT_TRUE(test, preemptible());
}

/* --- Failures, looked at from outside --------------------------------------------------------- */

/*
 * A second struct kunit takes the failures, so that this case itself passes. Their text appears as
 * KTAP diagnostics of a case called "inner".
 */
static void expectations_fail(struct kunit *test)
{
	struct kunit *inner = kunit_kzalloc(test, sizeof(*inner), GFP_KERNEL);
	size_t size = 3;

	KUNIT_ASSERT_NOT_NULL(test, inner);
	inner->name = "inner";
	KUNIT_EXPECT_EQ(inner, size, 3);
	KUNIT_EXPECT_STREQ(inner, "a", "a");
	KUNIT_EXPECT_EQ(test, inner->status, KUNIT_SUCCESS);

#define EXPECT_FAILS(...)                                            \
	do {                                                         \
		inner->status = KUNIT_SUCCESS;                       \
		__VA_ARGS__;                                         \
		KUNIT_EXPECT_EQ(test, inner->status, KUNIT_FAILURE); \
	} while (0)
	EXPECT_FAILS(KUNIT_EXPECT_EQ(inner, size, 4));
	EXPECT_FAILS(KUNIT_EXPECT_NE_MSG(inner, size, 3, "with a message: %d", 1));
	EXPECT_FAILS(KUNIT_EXPECT_LT(inner, size, 3));
	EXPECT_FAILS(KUNIT_EXPECT_LE(inner, size, 2));
	EXPECT_FAILS(KUNIT_EXPECT_GT(inner, size, 3));
	EXPECT_FAILS(KUNIT_EXPECT_GE(inner, size, 4));
	EXPECT_FAILS(KUNIT_EXPECT_TRUE(inner, size == 4));
	EXPECT_FAILS(KUNIT_EXPECT_FALSE(inner, size == 3));
	EXPECT_FAILS(KUNIT_EXPECT_NULL(inner, inner));
	EXPECT_FAILS(KUNIT_EXPECT_NOT_NULL(inner, inner->priv));
	EXPECT_FAILS(KUNIT_EXPECT_NOT_ERR_OR_NULL(inner, ERR_PTR(-EINVAL)));
	EXPECT_FAILS(KUNIT_EXPECT_PTR_EQ(inner, inner, test));
	EXPECT_FAILS(KUNIT_EXPECT_PTR_NE(inner, test, test));
	EXPECT_FAILS(KUNIT_EXPECT_STREQ(inner, inner->name, "outer"));
	EXPECT_FAILS(KUNIT_EXPECT_STRNEQ(inner, inner->name, "inner"));
	EXPECT_FAILS(KUNIT_EXPECT_MEMEQ(inner, "abcd", "abxd", 4));
	EXPECT_FAILS(KUNIT_EXPECT_MEMNEQ(inner, "abcd", "abcd", 4));
	EXPECT_FAILS(KUNIT_FAIL(inner, "on purpose"));
#undef EXPECT_FAILS
}

static int assert_thread(void *arg)
{
	struct kunit *inner = arg;

	KUNIT_ASSERT_TRUE(inner, inner->priv == inner);
	inner->param_index = 1;
	return 0;
}

static void assertion_ends_the_thread(struct kunit *test)
{
	struct kunit *inner = kunit_kzalloc(test, sizeof(*inner), GFP_KERNEL);
	struct task *task;

	KUNIT_ASSERT_NOT_NULL(test, inner);
	inner->name = "inner";
	task = kthread_run(assert_thread, inner, "assert");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	kthread_join(task);
	KUNIT_EXPECT_EQ(test, inner->status, KUNIT_FAILURE);
	KUNIT_EXPECT_EQ(test, inner->param_index, 0);
}

static volatile bool hang_ends;
static volatile bool hang_ended;

static void hang(struct kunit *inner)
{
	while (!hang_ends)
		;
	hang_ended = true;
}

static void try_times_out(struct kunit *test)
{
	/* It stays in memory, as a real case does: after its function has ended, the thread still uses it. */
	static struct kunit inner = {.name = "inner"};

	hang_ends = hang_ended = false;
	KUNIT_EXPECT_EQ(test, kunit_try(&inner, hang, 50), KUNIT_TRY_TIMEOUT);
	hang_ends = true;
	while (!hang_ended)
		msleep(10);
}

static void fault(struct kunit *inner)
{
	volatile int *nowhere = NULL;

	HIDE_VAR(nowhere);
	KASAN_TEST_BUG((void)*nowhere);
}

static void try_survives_an_oops(struct kunit *test)
{
	struct kunit *inner = kunit_kzalloc(test, sizeof(*inner), GFP_KERNEL);
	enum kunit_try_result result = KUNIT_TRY_OK;

	KUNIT_ASSERT_NOT_NULL(test, inner);
	inner->name = "inner";
#ifdef CONFIG_KASAN
	if (kasan_enabled())
		KUNIT_EXPECT_KASAN_REPORT(test, "null-ptr-deref", KASAN_READ, 4,
					  result = kunit_try(inner, fault, 10000));
	else
#endif
		result = kunit_try(inner, fault, 10000);
	KUNIT_EXPECT_EQ(test, result, KUNIT_TRY_FAULTED);
}

/* --- Parameters ------------------------------------------------------------------------------- */

static const struct square {
	int n, squared;
} squares[] = {{0, 0}, {3, 9}, {-4, 16}};

static void describe_square(const struct square *square, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "square of %d", square->n);
}

KUNIT_ARRAY_PARAM(square, squares, describe_square);

static void parameters(struct kunit *test)
{
	const struct square *square = test->param_value;

	KUNIT_EXPECT_EQ(test, square->n * square->n, square->squared);
	KUNIT_EXPECT_PTR_EQ(test, square, &squares[test->param_index]);
}

static struct kunit_case kunit_test_cases[] = {
	KUNIT_CASE(actions_at_once),
	KUNIT_CASE(actions_deferred),
	KUNIT_CASE(actions_ran_in_reverse),
	KUNIT_CASE(managed_memory),
#ifdef CONFIG_KASAN
	KUNIT_CASE(managed_memory_is_freed),
#endif
	KUNIT_CASE(skip_ends_the_case),
	KUNIT_CASE(skip_was_seen),
	KUNIT_CASE(mark_skipped_goes_on),
	KUNIT_CASE(mark_skipped_went_on),
	KUNIT_CASE(own_thread),
	KUNIT_CASE(expectations_fail),
	KUNIT_CASE(assertion_ends_the_thread),
	KUNIT_CASE(try_times_out),
	KUNIT_CASE(try_survives_an_oops),
	KUNIT_CASE_PARAM(parameters, square_gen_params),
	{},
};

KUNIT_SUITE(kunit, kunit_test_cases, KASAN_SUITE_INIT);
