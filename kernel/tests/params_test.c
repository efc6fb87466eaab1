// SPDX-License-Identifier: MIT
/*
 * params_test.c - the types of boot parameters, and the values of all parameters in this boot.
 *
 * The last case checks little. It prints a line for every parameter that can be read back, so that
 * ./redzone test boot-parameters can compare two boots: a wrong value must change nothing.
 */
#include <kasan/stats.h>
#include <kernel/kernel.h>
#include <kernel/page_quarantine.h>
#include <kernel/page_redzone.h>
#include <kernel/param.h>
#include <kernel/program.h>
#include <kernel/random.h>
#include <kernel/string.h>

#include "kasan_test.h"

/* --- Types -------------------------------------------------------------------------------------- */

static void switches(struct kunit *test)
{
	static const char *const wrong[] = {"",	   "yes", "y",	"true", "no", "2",
					    "on ", "ON",  "1x", "-1",	"00", "offf"};
	bool on = false;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		/* From either value: it stays. */
		on = i % 2;
		KUNIT_EXPECT_LT_MSG(test, param_set_bool(wrong[i], &on), 0, "%s", wrong[i]);
		KUNIT_EXPECT_EQ_MSG(test, on, i % 2, "%s", wrong[i]);
	}
	KUNIT_EXPECT_EQ(test, param_set_bool("off", &on), 0);
	KUNIT_EXPECT_FALSE(test, on);
	KUNIT_EXPECT_EQ(test, param_set_bool("1", &on), 0);
	KUNIT_EXPECT_TRUE(test, on);
	KUNIT_EXPECT_EQ(test, param_set_bool("0", &on), 0);
	KUNIT_EXPECT_FALSE(test, on);
	KUNIT_EXPECT_EQ(test, param_set_bool("on", &on), 0);
	KUNIT_EXPECT_TRUE(test, on);
	on = false;
	KUNIT_EXPECT_EQ(test, param_set_bool(NULL, &on), 0);
	KUNIT_EXPECT_TRUE(test, on);
}

static void ranges(struct kunit *test)
{
	static const char *const wrong[] = {NULL, "",	"?",  "1",  "9",	  "-2", "-",
					    "3x", " 3", "3 ", "0x", "4294967299", "2.5"};
	unsigned int number = 5;
	struct param_range range = {&number, 2, 8}, all = {&number, 0, UINT_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		KUNIT_EXPECT_LT_MSG(test, param_set_range(wrong[i], &range), 0, "%s",
				    wrong[i] ? wrong[i] : "(none)");
		KUNIT_EXPECT_EQ(test, number, 5);
	}
	KUNIT_EXPECT_EQ(test, param_set_range("2", &range), 0);
	KUNIT_EXPECT_EQ(test, number, 2);
	KUNIT_EXPECT_EQ(test, param_set_range("8", &range), 0);
	KUNIT_EXPECT_EQ(test, number, 8);
	KUNIT_EXPECT_EQ(test, param_set_range("4294967295", &all), 0);
	KUNIT_EXPECT_EQ(test, number, UINT_MAX);
}

static void sizes(struct kunit *test)
{
	static const char *const wrong[] = {NULL,
					    "",
					    "K",
					    "-1",
					    "+1",
					    "1T",
					    "64KB",
					    " 64K",
					    "64 K",
					    "0x40",
					    "64k ",
					    "1e6",
					    "99999999999999999999",
					    "17179869184G"};
	static const struct {
		const char *text;
		size_t size;
	} right[] = {{"0", 0},
		     {"4097", 4097},
		     {"0512", 512},
		     {"64k", 64UL << 10},
		     {"3M", 3UL << 20},
		     {"99G", 99UL << 30},
		     {"18446744073709551615", SIZE_MAX}};
	size_t size = 77;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		KUNIT_EXPECT_LT_MSG(test, param_parse_size(wrong[i], &size), 0, "%s",
				    wrong[i] ? wrong[i] : "(none)");
		KUNIT_EXPECT_EQ(test, size, 77);
	}
	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		KUNIT_EXPECT_EQ_MSG(test, param_parse_size(right[i].text, &size), 0, "%s",
				    right[i].text);
		KUNIT_EXPECT_EQ_MSG(test, size, right[i].size, "%s", right[i].text);
	}
}

static void others(struct kunit *test)
{
	static const char *const wrong[] = {NULL, "", "?", "-1", "7x", "18446744073709551616"};
	unsigned long number = 5;
	const char *text = "before";

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		KUNIT_EXPECT_LT(test, param_set_ulong(wrong[i], &number), 0);
	KUNIT_EXPECT_EQ(test, number, 5);
	KUNIT_EXPECT_LT(test, param_set_charp(NULL, &text), 0);
	KUNIT_EXPECT_LT(test, param_set_charp("", &text), 0);
	KUNIT_EXPECT_STREQ(test, text, "before");
	KUNIT_EXPECT_EQ(test, param_set_charp("after", &text), 0);
	KUNIT_EXPECT_STREQ(test, text, "after");
}

/* --- Values ------------------------------------------------------------------------------------- */

#define SHOW(name, format, value) kunit_info(test, "value: %s=" format, name, value)

static void show_param(struct kunit *test, const struct kernel_param *param)
{
	if (param->set == param_set_bool) {
		SHOW(param->name, "%d", *(bool *)param->var);
	} else if (param->set == param_set_range) {
		const struct param_range *range = param->var;
		const unsigned int number = *range->variable;

		SHOW(param->name, "%u", number);
		KUNIT_EXPECT_GE_MSG(test, number, range->low, "%s", param->name);
		KUNIT_EXPECT_LE_MSG(test, number, range->high, "%s", param->name);
	} else if (param->set == param_set_ulong) {
		SHOW(param->name, "%lu", *(unsigned long *)param->var);
	} else if (param->set == param_set_charp) {
		const char *text = *(const char **)param->var;

		SHOW(param->name, "%s", text ? text : "");
	} else {
		/* One with a parser of its own. */
		KUNIT_EXPECT_NULL_MSG(test, param->var, "%s has a type that is not known here",
				      param->name);
	}
}

#ifdef CONFIG_KASAN
static void show_kasan(struct kunit *test)
{
	struct kasan_quarantine_stats quarantine;
	struct kasan_depot_stats depot;
	unsigned int number;
	size_t count;
	const struct kasan_option_doc *docs = kasan_options(&count);

	kasan_quarantine_stats(&quarantine);
	kasan_depot_stats(&depot);
	SHOW("kasan", "%d", kasan_enabled());
	SHOW("kasan.depot_size", "%zu", depot.max_bytes);
	SHOW("kasan.quarantine_size", "%zu", quarantine.max_bytes);
	/* Not kasan_multi_shot, which this suite sets, as all do. */
	for (size_t i = 0; i < count; i++)
		if (strcmp(docs[i].name, "kasan_multi_shot") != 0 &&
		    kasan_option_number(docs[i].name, &number))
			SHOW(docs[i].name, "%u", number);
	SHOW("kasan.page_quarantine", "%lu", page_quarantine_max << PAGE_SHIFT);
	SHOW("kasan.page_redzone", "%u", page_redzone);
}
#endif

static void values(struct kunit *test)
{
	for (const struct kernel_param *param = __init_params_start; param < __init_params_end;
	     param++)
		show_param(test, param);
	SHOW("program.stack", "%zu", program_stack_size);
	SHOW("random.seed", "%lu", (unsigned long)random_seed);
#ifdef CONFIG_KASAN
	show_kasan(test);
#endif
}

KUNIT_CASES(params_test_cases, KUNIT_CASE(switches), KUNIT_CASE(ranges), KUNIT_CASE(sizes),
	    KUNIT_CASE(others), KUNIT_CASE(values));

KUNIT_SUITE(params, params_test_cases);
