/* SPDX-License-Identifier: MIT */
/* test_globals.c - descriptors of global variables as Clang and GCC write them: redzones, the registry, and the lines
 * of a report about a variable. */
#include <string.h>

#include "../../runtime/alloc/globals.h"
#include "abi.h"
#include "unit.h"

static const struct kasan_source_location gcc_location = {"drivers/x.c", 12, 5};

/* Describe a variable of @size bytes with the redzone that compilers give it: 13 bytes take 64. */
static struct kasan_global describe(char *at, size_t size, const char *name,
				    const struct kasan_source_location *location)
{
	return (struct kasan_global){
		.beg = (uintptr_t)at,
		.size = size,
		.size_with_redzone = (size + 32 + 31) & ~31UL,
		.name = name,
		.module = "kernel/y.c",
		.location = location,
	};
}

static void redzones(void)
{
	for (size_t size = 1; size <= 200; size++) {
		char *p = unit_watched(4096);
		struct kasan_global g = describe(p + 512, size, "g", NULL);

		__asan_register_globals(&g, 1);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, 4096), (uintptr_t)p + 512 + size);
		for (size_t i = size; i < g.size_with_redzone; i++)
			CHECK(!kasan_byte_accessible(p + 512 + i));
		CHECK(kasan_byte_accessible(p + 512 + g.size_with_redzone));
		if (size % 8 == 0)
			CHECK_EQ(*kasan_shadow_of(p + 512 + size), KASAN_GLOBAL_REDZONE);
		CHECK(kasan_find_global((uintptr_t)p + 512) == &g);
		__asan_unregister_globals(&g, 1);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, 4096), 0);
		CHECK(!kasan_find_global((uintptr_t)p + 512));
	}
}

static void report_of_a_clang_global(void)
{
	char *p = unit_watched(4096);
	struct kasan_global g[2] = {describe(p, 13, "first_table", NULL),
				    describe(p + 64, 20, "second_table", NULL)};

	__asan_register_globals(g, 2);
	EXPECT_REPORT("global-out-of-bounds", __asan_load1_noabort((uintptr_t)p + 13));
	CHECK(unit_saw("The buggy address belongs to the variable:"));
	CHECK(unit_saw(" first_table+0xd/0xd"));
	CHECK(unit_saw(" defined in kernel/y.c"));
	EXPECT_REPORT("global-out-of-bounds", __asan_store4_noabort((uintptr_t)p + 64 + 18));
	CHECK(unit_saw(" second_table+0x12/0x14"));
	/* One element before the second variable: the report names that one, not the first. */
	EXPECT_REPORT("global-out-of-bounds", __asan_load4_noabort((uintptr_t)p + 60));
	CHECK(unit_saw(" 4 bytes to the left of second_table+0x0/0x14"));
	__asan_unregister_globals(g, 2);
}

static void report_of_a_gcc_global(void)
{
	char *p = unit_watched(4096);
	struct kasan_global g = describe(p, 24, "board_names", &gcc_location);

	__asan_register_globals(&g, 1);
	EXPECT_REPORT("global-out-of-bounds", __asan_load8_noabort((uintptr_t)p + 24));
	CHECK(unit_saw(" board_names+0x18/0x18"));
	CHECK(unit_saw(" defined at drivers/x.c:12"));
	__asan_unregister_globals(&g, 1);
}

/* An access starts outside all variables, or inside one, and runs past the end of one. */
static void first_bad_byte_of_a_long_access(void)
{
	char *p = unit_watched(4096);
	struct kasan_global g = describe(p + 512, 13, "table", NULL);

	__asan_register_globals(&g, 1);
	EXPECT_REPORT("global-out-of-bounds", kasan_check_write(p + 112, 1000));
	CHECK(unit_saw(" 400 bytes to the left of table+0x0/0xd"));
	EXPECT_REPORT("global-out-of-bounds", kasan_check_write(p + 516, 1000));
	CHECK(unit_saw(" table+0x4/0xd"));
	__asan_unregister_globals(&g, 1);
}

/* Names and locations are in memory that a bug may have overwritten. */
static void garbage_in_a_descriptor(void)
{
	char *p = unit_watched(4096);
	struct kasan_global g = describe(p, 8, "good", NULL);

	__asan_register_globals(&g, 1);
	for (int what = 0; what < 3; what++) {
		struct kasan_global saved = g;

		if (what == 0)
			g.name = (const char *)0xdead0000beef;
		else if (what == 1)
			g.module = (const char *)0x13;
		else
			g.location = (const void *)0x7;
		EXPECT_REPORT("global-out-of-bounds", __asan_load1_noabort((uintptr_t)p + 8));
		CHECK(unit_find(0, "Memory state around the buggy address:") > 0);
		g = saved;
	}
	__asan_unregister_globals(&g, 1);
}

#define ARRAYS 200
#define EACH   3

/* One array for each file: all are registered, found, and removed, from the ends first and then from the middle. */
static void many_arrays(void)
{
	static struct kasan_global g[ARRAYS][EACH];
	char *p = unit_watched(ARRAYS * EACH * 64);
	bool gone[ARRAYS] = {false};

	for (size_t a = 0; a < ARRAYS; a++) {
		for (size_t i = 0; i < EACH; i++)
			g[a][i] = describe(p + (a * EACH + i) * 64, 10, "many", NULL);
		__asan_register_globals(g[a], EACH);
	}
	/* Registering an array twice, as a wrong module loader does, changes nothing. */
	__asan_register_globals(g[7], EACH);
	for (int round = 0; round < 2 * ARRAYS; round++) {
		size_t victim = round == 0 ? ARRAYS - 1 : round == 1 ? 0 : unit_below(ARRAYS);

		if (round >= ARRAYS)
			victim = (size_t)round - ARRAYS;
		if (!gone[victim])
			__asan_unregister_globals(g[victim], EACH);
		gone[victim] = true;
		for (size_t i = 0; i < 20; i++) {
			size_t a = unit_below(ARRAYS), e = unit_below(EACH);
			const struct kasan_global *found = kasan_find_global(g[a][e].beg + 5);

			CHECK(found == (gone[a] ? NULL : &g[a][e]));
			CHECK(kasan_byte_accessible((void *)(g[a][e].beg + 10)) == gone[a]);
		}
	}
	/* An array that is not registered, and an empty one. */
	__asan_unregister_globals(g[3], EACH);
	__asan_register_globals(g[0], 0);
	__asan_unregister_globals(g[0], 0);
}

/* A module's descriptors are in its image: unloading forgets all of those, and no others. */
static void unloading(void)
{
	enum { FILES = 6 };
	static struct kasan_global g[FILES][2];
	char *p = unit_watched(4096);

	for (int a = 0; a < FILES; a++) {
		for (int i = 0; i < 2; i++)
			g[a][i] = describe(p + (a * 2 + i) * 64, 10, "image", NULL);
		__asan_register_globals(g[a], 2);
	}
	kasan_unload_globals(p, 4096);
	kasan_unload_globals(g[2], 0);
	CHECK(kasan_find_global(g[2][0].beg) == &g[2][0]);
	kasan_unload_globals(g[2], 3 * sizeof(g[2]));
	for (int a = 0; a < FILES; a++) {
		bool gone = a >= 2 && a < 5;

		CHECK(kasan_find_global(g[a][1].beg + 3) == (gone ? NULL : &g[a][1]));
		CHECK(kasan_byte_accessible((void *)(g[a][1].beg + 10)) == gone);
	}
	kasan_unload_globals(g, sizeof(g));
	CHECK_EQ(kasan_first_bad((uintptr_t)p, 4096), 0);
}

UNIT_MAIN(redzones, report_of_a_clang_global, report_of_a_gcc_global,
	  first_bad_byte_of_a_long_access, garbage_in_a_descriptor, many_arrays, unloading)
