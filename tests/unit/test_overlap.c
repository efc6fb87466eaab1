/* SPDX-License-Identifier: MIT */
/* test_overlap.c - copies whose ranges overlap, with CONFIG_KASAN_OVERLAP. */
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "unit.h"

#define TYPE "memcpy-param-overlap"

static void ranges(void)
{
	char *p = kasan_posix_malloc(64);
	char want[80];

	memcpy(p, "0123456789", 11);
	EXPECT_REPORT(TYPE, __asan_memcpy(p + 1, p, 9));
	snprintf(want, sizeof(want), "The source overlaps the destination: [%016lx, %016lx)",
		 (unsigned long)p, (unsigned long)p + 9);
	CHECK(unit_find(0, "Write of size 9 at addr ") == 2 && unit_find(0, want) == 3);
	/* It is carried out as memmove() would do it. */
	CHECK(!strcmp(p, "0012345678"));
	EXPECT_REPORT(TYPE, __asan_memcpy(p, p + 9, 10));
	EXPECT_REPORT(TYPE, CHECK(!kasan_check_overlap(p + 3, p, 4)));
	EXPECT_REPORT(TYPE, CHECK(!kasan_check_overlap(p, p, 1)));
	kasan_posix_free(p);
}

static void no_bugs(void)
{
	char *p = kasan_posix_malloc(64);

	unit_clear();
	memset(p, 'x', 64);
	__asan_memcpy(p + 9, p, 9);
	__asan_memcpy(p, p + 9, 9);
	/* Compilers copy a structure to itself in this way. */
	__asan_memcpy(p, p, 64);
	__asan_memcpy(p + 1, p, 0);
	__asan_memmove(p + 1, p, 9);
	CHECK(kasan_check_overlap(p, p + 4, 4) && kasan_check_overlap(p, p, 0));
	CHECK_EQ(kasan_option("kasan.overlap", "off"), 0);
	__asan_memcpy(p + 1, p, 9);
	CHECK(kasan_check_overlap(p, p + 1, 4));
	CHECK_EQ(unit_reports(), 0);
	CHECK_EQ(kasan_option("kasan.overlap", "on"), 0);
	/* A bad range says more. */
	EXPECT_REPORT("slab-out-of-bounds", __asan_memcpy(p + 1, p, 64));
	kasan_posix_free(p);
}

UNIT_MAIN(ranges, no_bugs)
