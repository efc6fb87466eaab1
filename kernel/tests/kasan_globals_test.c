// SPDX-License-Identifier: MIT
/*
 * kasan_globals_test.c - tagged globals: which variables have a tag, and what reports say about them.
 * kasan_test_stack.c tests the types, module_test.c the globals of modules.
 */
#include <kernel/kernel.h>
#include <kernel/string.h>

#include "kasan_test.h"
#include "kasan_whole.h"

#define HEADLINE "The buggy address belongs to the variable:"

static const char *wanted;
static bool is_next, is_there;

static void look_for_wanted(unsigned int complete, const char *text)
{
	if (is_next && strstr(text, wanted))
		is_there = true;
	is_next = strstr(text, HEADLINE) != NULL;
}

/* The report that @expression causes must name the variable: "name+0xoffset/0xsize". */
#define EXPECT_VARIABLE(test, text, ...)                                                           \
	do {                                                                                       \
		wanted = text;                                                                     \
		is_next = is_there = false;                                                        \
		kasan_watch_begin(1, look_for_wanted);                                             \
		KUNIT_EXPECT_KASAN_REPORT(test, "global-out-of-bounds", KASAN_ANY, KASAN_ANY_SIZE, \
					  __VA_ARGS__);                                            \
		KUNIT_EXPECT_EQ(test, kasan_watch_end(test, KUNIT_CURRENT_LOC), 1);                \
		KUNIT_EXPECT_TRUE_MSG(test, is_there, "the report does not say \"%s\"", wanted);   \
	} while (0)

static char first_bytes[20], second_bytes[100];
static const u32 constants[6] = {1, 2, 3, 4, 5, 6};
char external_bytes[33];
static u8 large[70000];
static u64 in_a_section[4] __section(".data.in_a_section");
static u64 left_out[4] __no_sanitize_address;

static void read_at(const void *object, long offset)
{
	const volatile char *p = object;

	HIDE_VAR(p);
	KASAN_TEST_BUG(READ_ACCESS(p[offset]));
}

static void names_of_variables(struct kunit *test)
{
	static short counters[9];

	EXPECT_VARIABLE(test, " first_bytes+0x14/0x14", read_at(first_bytes, 20));
	EXPECT_VARIABLE(test, " second_bytes+0x64/0x64", read_at(second_bytes, 100));
	EXPECT_VARIABLE(test, " constants+0x18/0x18", read_at(constants, 24));
	EXPECT_VARIABLE(test, " external_bytes+0x21/0x21", read_at(external_bytes, 33));
	EXPECT_VARIABLE(test, " names_of_variables.counters+0x12/0x12", read_at(counters, 18));
	EXPECT_VARIABLE(test, " <unnamed constant>+0x6/0x6", read_at("words", 6));
}

/* Behind the neighbour and in front of the variable: the pointer's tag tells whose it is. */
static void far_from_the_variable(struct kunit *test)
{
	EXPECT_VARIABLE(test, " second_bytes+0x74/0x64", read_at(second_bytes, 116));
	EXPECT_VARIABLE(test, " 1 bytes to the left of second_bytes+0x0/0x64",
			read_at(second_bytes, -1));
	EXPECT_VARIABLE(test, " large+0x11170/0x11170", read_at(large, sizeof(large)));
}

/* Correct accesses are silent: each byte, whole granules, and operations on all of a variable. */
static void within_bounds(struct kunit *test)
{
	char *p = first_bytes;
	u8 *bytes = large;
	u32 sum = 0;

	HIDE_VAR(p);
	HIDE_VAR(bytes);
	for (size_t i = 0; i < sizeof(first_bytes); i++)
		p[i] = (char)i;
	memset(bytes, 3, sizeof(large));
	memcpy(second_bytes, bytes, sizeof(second_bytes));
	memcpy(p, second_bytes, sizeof(first_bytes));
	for (size_t i = 0; i < ARRAY_SIZE(constants); i++)
		sum += READ_ONCE(constants[i]);
	KUNIT_EXPECT_EQ(test, sum, 21U);
	KUNIT_EXPECT_EQ(test, p[19], 3);
}

static void expect_tag(struct kunit *test, const void *variable, size_t size)
{
	u8 state = 0;

	KUNIT_EXPECT_NE(test, kasan_get_tag(variable), KASAN_TAG_KERNEL);
	KUNIT_EXPECT_GE(test, kasan_get_tag(variable), 15);
	for (size_t at = 0; at + KASAN_GRANULE_SIZE <= size; at += KASAN_GRANULE_SIZE) {
		KUNIT_ASSERT_TRUE(test, kasan_memory_state((const char *)variable + at, &state));
		KUNIT_ASSERT_EQ(test, state, kasan_get_tag(variable));
	}
	if (size % KASAN_GRANULE_SIZE) {
		const u8 *last = kasan_reset_tag((const char *)variable +
						 size / KASAN_GRANULE_SIZE * KASAN_GRANULE_SIZE);

		KUNIT_ASSERT_TRUE(test, kasan_memory_state(last, &state));
		KUNIT_EXPECT_EQ(test, state, size % KASAN_GRANULE_SIZE);
		KUNIT_EXPECT_EQ(test, last[KASAN_GRANULE_SIZE - 1], kasan_get_tag(variable));
	}
}

static void tags_of_variables(struct kunit *test)
{
	expect_tag(test, first_bytes, sizeof(first_bytes));
	expect_tag(test, second_bytes, sizeof(second_bytes));
	expect_tag(test, constants, sizeof(constants));
	expect_tag(test, external_bytes, sizeof(external_bytes));
	expect_tag(test, large, sizeof(large));
	KUNIT_EXPECT_NE(test, kasan_get_tag(first_bytes), kasan_get_tag(second_bytes));
}

/* Arrays that the linker puts together from many files have no gaps and no tags. */
static void variables_without_tags(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, kasan_get_tag(in_a_section), KASAN_TAG_KERNEL);
	KUNIT_EXPECT_EQ(test, kasan_get_tag(left_out), KASAN_TAG_KERNEL);
	KUNIT_EXPECT_EQ(test, kasan_get_tag((void *)names_of_variables), KASAN_TAG_KERNEL);
}

KASAN_BUG_SUITE(kasan_globals, KUNIT_CASE(names_of_variables), KUNIT_CASE(far_from_the_variable),
		KUNIT_CASE(within_bounds), KUNIT_CASE(tags_of_variables),
		KUNIT_CASE(variables_without_tags));
