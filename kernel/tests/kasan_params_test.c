// SPDX-License-Identifier: MIT
/* kasan_params_test.c - the runtime's options: names, values, what is refused, single and multi
 * shot. */
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "kasan_test.h"

static void options_are_documented(struct kunit *test)
{
	const struct kasan_option_doc *docs;
	size_t count = 0;

	docs = kasan_options(&count);
	KUNIT_ASSERT_GE(test, count, 4);
	for (size_t i = 0; i < count; i++) {
		KUNIT_EXPECT_EQ(test, strncmp(docs[i].name, "kasan", 5), 0);
		KUNIT_EXPECT_GT(test, strlen(docs[i].values), 0);
		KUNIT_EXPECT_GT(test, strlen(docs[i].help), 0);
		KUNIT_EXPECT_STREQ(test, kasan_option_values(docs[i].name), docs[i].values);
	}
}

static void unknown_names(struct kunit *test)
{
	static const char *const names[] = {"kasan.", "kasan.fualt", "kasanx", "", "kasan.fault.x"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		KUNIT_EXPECT_EQ(test, kasan_option(names[i], "on"), KASAN_OPTION_UNKNOWN);
		KUNIT_EXPECT_NULL(test, kasan_option_values(names[i]));
	}
}

static void bad_values(struct kunit *test)
{
	static const struct {
		const char *name, *value;
	} bad[] = {
		{"kasan", "maybe"},
		{"kasan", ""},
		{"kasan", NULL},
		{"kasan.fault", "panics"},
		{"kasan.fault", ""},
		{"kasan.fault", NULL},
		{"kasan.stacktrace", "2"},
		{"kasan.stacktrace", NULL},
		{"kasan_multi_shot", "yes "},
		{"kasan.depot_size", "63K"},
		{"kasan.depot_size", "1G"},
		{"kasan.depot_size", NULL},
		{"kasan.depot_size", "8MB"},
		{"kasan.quarantine_size", "-1"},
		{"kasan.quarantine_size", "much"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, kasan_option(bad[i].name, bad[i].value),
				    KASAN_OPTION_INVALID, "%s=%s", bad[i].name,
				    bad[i].value ? bad[i].value : "(none)");
	/* What was refused changed nothing. */
	KUNIT_EXPECT_TRUE(test, kasan_enabled());
}

static void cause_report(char *freed)
{
	HIDE_VAR(freed);
	KASAN_TEST_BUG(READ_ACCESS(freed[20]));
}

static void single_and_multi_shot(struct kunit *test)
{
	char *ptr = kmalloc(32, GFP_KERNEL);
	unsigned long before;
	bool saved;

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kfree(ptr);
	before = kasan_report_count();
	/* The suite runs in multi shot, so every one is reported. */
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, cause_report(ptr));
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, cause_report(ptr));
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 2);

	saved = kasan_save_multi_shot();
	KUNIT_EXPECT_TRUE(test, saved);
	KUNIT_EXPECT_EQ(test, kasan_option("kasan_multi_shot", "off"), 0);
	/* Single shot: at most the first of the system's life. */
	kasan_expect_begin();
	cause_report(ptr);
	before = kasan_report_count();
	cause_report(ptr);
	cause_report(ptr);
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before);
	KUNIT_EXPECT_EQ(test, kasan_option("kasan_multi_shot", NULL), 0);
	cause_report(ptr);
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 1);
	kasan_expect_end(test, KUNIT_CURRENT_LOC, "cause_report()", NULL, KASAN_READ, 1, false);
	kasan_restore_multi_shot(saved);
}

static void disabled_for_a_while(struct kunit *test)
{
	char *ptr = kmalloc(32, GFP_KERNEL);
	unsigned long before;

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kfree(ptr);
	before = kasan_report_count();
	kasan_disable_current();
	kasan_disable_current();
	cause_report(ptr);
	kasan_enable_current();
	cause_report(ptr);
	KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(ptr + 20));
	kasan_enable_current();
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before);
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, cause_report(ptr));
}

static void report_fields(struct kunit *test)
{
	char *ptr = kmalloc(32, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kfree(ptr);
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, cause_report(ptr));
	KUNIT_EXPECT_PTR_EQ(test, kasan_expect_last()->addr, ptr + 20);
	KUNIT_EXPECT_FALSE(test, kasan_expect_last()->is_write);
	KUNIT_EXPECT_FALSE(test, kasan_expect_last()->is_free);
	KUNIT_EXPECT_NE(test, kasan_expect_last()->ip, 0);
	KUNIT_EXPECT_KASAN_REPORT(test, "double-free", KASAN_FREE, 0, KASAN_TEST_BUG(kfree(ptr)));
	KUNIT_EXPECT_EQ(test, kasan_expect_last()->size, 0);
}

static struct kunit_case kasan_params_test_cases[] = {
	KUNIT_CASE(options_are_documented),
	KUNIT_CASE(unknown_names),
	KUNIT_CASE(bad_values),
	KUNIT_CASE(single_and_multi_shot),
	KUNIT_CASE(disabled_for_a_while),
	KUNIT_CASE(report_fields),
	{},
};

static struct kunit_suite kasan_params_test_suite = {
	.name = "kasan_params",
	.suite_init = kasan_test_suite_init,
	.suite_exit = kasan_test_suite_exit,
	.init = kasan_bug_test_init,
	.exit = kasan_test_exit,
	.test_cases = kasan_params_test_cases,
};

kunit_test_suite(kasan_params_test_suite);
