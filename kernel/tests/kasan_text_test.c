// SPDX-License-Identifier: MIT
/*
 * kasan_text_test.c - what reports say of variables: names and places of those on stacks, names and lines of
 * globals. The types are the business of kasan_test_stack.c.
 */
#include <kernel/kernel.h>
#include <kernel/string.h>

#include "kasan_test.h"
#include "kasan_whole.h"

#define LINES_MAX 8

/* Texts that must be in lines of the report, and whether they were. */
static const char *wanted[LINES_MAX];
static bool found[LINES_MAX];

static void look_for_wanted(unsigned int complete, const char *text)
{
	for (unsigned int i = 0; i < LINES_MAX && wanted[i]; i++)
		found[i] |= strstr(text, wanted[i]) != NULL;
}

/* The report that @expression causes must have lines with these texts; NULL behind the last. */
#define EXPECT_TEXT(test, type, texts, ...)                                                     \
	do {                                                                                    \
		memset(wanted, 0, sizeof(wanted));                                              \
		memset(found, 0, sizeof(found));                                                \
		for (unsigned int __i = 0; (texts)[__i]; __i++)                                 \
			wanted[__i] = (texts)[__i];                                             \
		_KUNIT_SAVE_LOC(test);                                                          \
		kasan_expect_begin();                                                           \
		kasan_watch_begin(1, look_for_wanted);                                          \
		barrier();                                                                      \
		__VA_ARGS__;                                                                    \
		barrier();                                                                      \
		KUNIT_EXPECT_EQ(test, kasan_watch_end(test, KUNIT_CURRENT_LOC), 1);             \
		kasan_expect_end(test, KUNIT_CURRENT_LOC, #__VA_ARGS__, type, KASAN_ANY,        \
				 KASAN_ANY_SIZE, true);                                         \
		for (unsigned int __i = 0; wanted[__i]; __i++)                                  \
			KUNIT_EXPECT_TRUE_MSG(test, found[__i], "no line \"%s\"", wanted[__i]); \
	} while (0)

static noinline void read_behind(char *p)
{
	HIDE_VAR(p);
	KASAN_TEST_BUG(READ_ACCESS(*p));
}

/* --- Stacks ----------------------------------------------------------------------------------- */

static noinline void two_arrays(void)
{
	char first_array[24], second_array[40];
	char *p = first_array, *q = second_array;

	HIDE_VAR(p);
	HIDE_VAR(q);
	q[0] = p[0] = 1;
	read_behind(p + sizeof(first_array));
}

/* The frame is named by the function that has it, not by the one that runs into it. */
static void variables_of_a_frame(struct kunit *test)
{
	static const char *const texts[] = {"The buggy address belongs to stack of task ",
					    "This frame has 2 objects:",
					    "'first_array'",
					    "'second_array'",
					    " two_arrays+0x",
					    NULL};

	EXPECT_TEXT(test, "stack-out-of-bounds", texts, two_arrays());
}

static noinline void ended_block(void)
{
	char *stale = NULL;

	for (int i = 0; i < 1; i++) {
		char inner_array[32];

		stale = inner_array;
		HIDE_VAR(stale);
		stale[i] = 1;
	}
	read_behind(stale + 3);
}

static void variable_of_an_ended_block(struct kunit *test)
{
	static const char *const texts[] = {"This frame has 1 object:", "'inner_array'",
					    " ended_block+0x", NULL};

	EXPECT_TEXT(test, "use-after-scope", texts, ended_block());
}

/* --- Globals ---------------------------------------------------------------------------------- */

enum { LINE_BEFORE = __LINE__ };
static char named_global[20];

static void name_and_line_of_a_global(struct kunit *test)
{
	/* Clang's description of a global has no line. */
	char line[32];
	const char *texts[] = {"The buggy address belongs to the variable:",
			       " named_global+0x14/0x14", "kasan_text_test.c", line, NULL};
	char *p = named_global;

#ifdef __clang__
	strscpy(line, " defined in ", sizeof(line));
#else
	snprintf(line, sizeof(line), "kasan_text_test.c:%d", LINE_BEFORE + 1);
#endif
	HIDE_VAR(p);
	p[0] = 1;
	EXPECT_TEXT(test, "global-out-of-bounds", texts, read_behind(p + sizeof(named_global)));
}

static struct kunit_case kasan_text_test_cases[] = {
	KUNIT_CASE(variables_of_a_frame),
	KUNIT_CASE(variable_of_an_ended_block),
	KUNIT_CASE(name_and_line_of_a_global),
	{},
};

static struct kunit_suite kasan_text_test_suite = {
	.name = "kasan_text",
	.suite_init = kasan_test_suite_init,
	.suite_exit = kasan_test_suite_exit,
	.init = kasan_bug_test_init,
	.exit = kasan_test_exit,
	.test_cases = kasan_text_test_cases,
};

kunit_test_suite(kasan_text_test_suite);
