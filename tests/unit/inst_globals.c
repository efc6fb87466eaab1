/* SPDX-License-Identifier: MIT */
/* inst_globals.c - global variables of instrumented files. The tests catch two mistakes: "globals whose constructors
 * never run" (then no overflow is seen), and "instrumented code that runs before there is shadow" (the constructor
 * below is such code, and crashes if the port starts after it). */
#include <string.h>

#include "unit.h"

#define NOINLINE __attribute__((noinline))

static volatile int zero;
static volatile long sink;
static char *volatile pointer;

int public_numbers[10];
static char private_text[13] = "twelve chars";
static const char constant_text[] = "constant";
const char *const names[] = {"one", "two", "three"};
static struct {
	long a;
	char b[3];
} odd = {1, "ab"};

static int constructor_ran;

/* The highest priority that is not reserved. It runs before other files' constructors, including those of globals. */
__attribute__((constructor(101))) static void early(void)
{
	char bytes[100];

	memset(bytes, 3, sizeof(bytes));
	pointer = bytes;
	for (int i = 0; i < 100; i++)
		constructor_ran += pointer[i];
}

static void constructors_ran(void)
{
	CHECK_EQ(constructor_ran, 300);
	CHECK_EQ(kasan_report_count(), 0);
	CHECK(!kasan_byte_accessible((char *)public_numbers + sizeof(public_numbers)));
	CHECK(!kasan_byte_accessible(private_text + sizeof(private_text)));
}

static NOINLINE long get(const char *base, long at)
{
	pointer = (char *)base;
	return pointer[at + zero];
}

static bool says(const char *part)
{
	for (size_t i = 0; i < unit_lines(); i++)
		if (strstr(unit_line(i), part))
			return true;
	return false;
}

static void every_kind_of_global(void)
{
	static const struct {
		const char *name;
		const char *start;
		long size;
	} globals[] = {
		{"public_numbers", (const char *)public_numbers, sizeof(public_numbers)},
		{"private_text", private_text, sizeof(private_text)},
		{"constant_text", constant_text, sizeof(constant_text)},
		{"names", (const char *)names, sizeof(names)},
		{"odd", (const char *)&odd, sizeof(odd)},
	};

	for (size_t i = 0; i < sizeof(globals) / sizeof(globals[0]); i++) {
		char line[100];

		EXPECT_NO_REPORT(sink = get(globals[i].start, 0);
				 sink = get(globals[i].start, globals[i].size - 1));
		EXPECT_REPORT("global-out-of-bounds",
			      sink = get(globals[i].start, globals[i].size));
		CHECK(unit_find(0, "The buggy address belongs to the variable:") > 0);
		strcpy(line, " ");
		strcat(line, globals[i].name);
		strcat(line, "+0x");
		CHECKF(unit_find(0, line) > 0, "%s is not named", globals[i].name);
		CHECK(says("inst_globals.c"));
	}
	EXPECT_REPORT("global-out-of-bounds", sink = get((const char *)public_numbers, -1));
}

/* A static variable inside a function is also a global. */
static NOINLINE long function_static(int i)
{
	static short table[5] = {1, 2, 3, 4, 5};

	return table[i + zero];
}

static void function_statics(void)
{
	EXPECT_NO_REPORT(sink = function_static(4));
	EXPECT_REPORT("global-out-of-bounds", sink = function_static(5));
	CHECK_EQ(unit_last()->size, 2);
	CHECK(says("table"));
}

UNIT_MAIN(constructors_ran, every_kind_of_global, function_statics)
