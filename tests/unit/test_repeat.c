/* SPDX-License-Identifier: MIT */
/* test_repeat.c - kasan.repeat=: a bug at a place that was reported before gives one line with a count at the 2nd, 4th,
 * 8th time and so on. Nothing else about its report changes. */
#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../runtime/report/captured.h"
#include <kasan/asan_interface.h>

#include "abi.h"
#include "unit.h"

#define NOINLINE __attribute__((noinline))
#define RULER	 "=================================================================="
#define FRAME(f) f "\\+0x[0-9a-f]+/0x[0-9a-f]+"

static uintptr_t bad;

static void set_up(void)
{
	bad = (uintptr_t)unit_watched(4096);
	kasan_poison((void *)bad, 64, KASAN_SLAB_REDZONE);
	kasan_poison((void *)(bad + 64), 64, KASAN_SLAB_FREE);
	CHECK_EQ(kasan_option("kasan.repeat", "brief"), 0);
}

static bool is_whole(void)
{
	return unit_lines() > 10 && !strcmp(unit_line(0), RULER) &&
	       unit_find(0, "BUG: KASAN: ") == 1 && !strcmp(unit_line(unit_lines() - 1), RULER);
}

static bool has_line(unsigned int count)
{
	return !(count & (count - 1));
}

/* Return: true if the captured text is one line, and matches @pattern. */
static bool is_line(const char *pattern)
{
	char anchored[512];
	regex_t re;
	bool ok;

	snprintf(anchored, sizeof(anchored), "^%s$", pattern);
	REQUIRE(!regcomp(&re, anchored, REG_EXTENDED | REG_NOSUB));
	ok = unit_lines() == 1 && regexec(&re, unit_line(0), 0, NULL, 0) == 0;
	regfree(&re);
	if (!ok)
		unit_dump();
	return ok;
}

static NOINLINE void touch(uintptr_t addr)
{
	__asan_store4_noabort(addr);
	__asm__ volatile("");
}

static NOINLINE void first_caller(uintptr_t addr)
{
	touch(addr);
	__asm__ volatile("");
}

static NOINLINE void second_caller(uintptr_t addr)
{
	touch(addr);
	__asm__ volatile("");
}

static void lines_at_powers_of_two(void)
{
	const unsigned long before = kasan_report_count();
	char pattern[256];

	set_up();
	for (unsigned int i = 1; i <= 20; i++) {
		const uintptr_t addr = bad + 4 * (i % 4);

		/* The hooks of the port and the system are called each time. */
		EXPECT_REPORT("slab-out-of-bounds", first_caller(addr));
		CHECK_EQ(unit_last()->addr, addr);
		CHECK_EQ(unit_last()->size, 4);
		CHECK(unit_last()->is_write);
		if (i == 1) {
			CHECK(is_whole());
			continue;
		}
		if (!has_line(i)) {
			CHECK_EQ(unit_lines(), 0);
			continue;
		}
		snprintf(pattern, sizeof(pattern),
			 "KASAN: slab-out-of-bounds in " FRAME(
				 "touch") " again \\(%u times\\): "
					  "write of size 4 at addr %016lx by task test_repeat/%d, "
					  "called by " FRAME("first_caller") " < " FRAME(
						  "lines_at_powers_of_two"),
			 i, addr, getpid());
		CHECK(is_line(pattern));
	}
	CHECK_EQ(kasan_report_count(), before + 20);
}

/* The same line of a helper is a different place under another caller. Another type of bug there is a different place
 * as well. */
static void other_places(void)
{
	set_up();
	for (int i = 0; i < 4; i++) {
		EXPECT_REPORT("slab-out-of-bounds", second_caller(bad));
		CHECK_EQ(is_whole(), i == 0);
		EXPECT_REPORT("slab-use-after-free", second_caller(bad + 64));
		CHECK_EQ(is_whole(), i == 0);
		EXPECT_REPORT("invalid-free", kasan_report_invalid_free((void *)bad, 0));
		CHECK_EQ(is_whole(), i == 0);
	}
	CHECK(is_line("KASAN: invalid-free in " FRAME(
		"other_places") " again \\(4 times\\): "
				"free of addr [0-9a-f]{16} by task test_repeat/[0-9]+(, called by "
				".*)?"));
}

/* Between bugs that are only counted, another one of the same access is seen: by the memory, and by a type that is
 * given. A report that is only counted gets the type of its place, for the port and for programs. */
static void types_of_what_is_only_counted(void)
{
	uintptr_t addr = bad;

	set_up();
	/* The 5th to 7th report of this place have no line. */
	for (volatile int i = 1; i <= 9; i++) {
		const bool freed = i == 6 || i == 8;
		const char *type = freed ? "slab-use-after-free" : "slab-out-of-bounds";

		addr = freed ? bad + 64 : bad;
		EXPECT_REPORT(type, first_caller(addr));
		CHECK_EQ(unit_last()->addr, addr);
		CHECK(strcmp(__asan_get_report_description(), type) == 0);
		CHECK_EQ(__asan_get_report_address(), (void *)addr);
		if (i == 1 || i == 6)
			CHECK(is_whole());
		else
			/* 2, 4; i is 8: the second of the other place. */
			CHECK_EQ(unit_lines(), i == 2 || i == 4 || i == 8);
	}
	/* The trace of a free lies in the first bytes of freed memory, whose shadow differs from the rest's. */
	kasan_poison((void *)(bad + 64), 8, KASAN_SLAB_FREE_META);
	for (volatile int i = 0; i < 7; i++)
		EXPECT_REPORT("slab-use-after-free",
			      second_caller(bad + 64 + 8 * (uintptr_t)(i % 2)));
	CHECK_EQ(unit_lines(), 0);
	for (volatile int i = 0; i < 7; i++)
		EXPECT_REPORT(i == 6 ? "double-free" : "invalid-free",
			      kasan_report_call(i == 6 ? "double-free" : "invalid-free", bad, 1,
						NULL, 0, 0x1000, 0));
	CHECK(is_whole());
}

static void full_prints_all(void)
{
	set_up();
	CHECK_EQ(kasan_option("kasan.repeat", "full"), 0);
	/* Volatile, or GCC makes two loops of it, and so two places. */
	for (volatile int i = 0; i < 8; i++) {
		if (i == 3)
			CHECK_EQ(kasan_option("kasan.repeat", "brief"), 0);
		EXPECT_REPORT("slab-out-of-bounds", touch(bad));
		CHECK_EQ(is_whole(), i < 3);
	}
	/* The reports that were printed whole are counted as well. */
	CHECK(is_line("KASAN: .* again \\(8 times\\): write of size 4 .*"));
	CHECK_EQ(kasan_option("kasan.repeat", "shorter"), KASAN_OPTION_INVALID);
	CHECK_EQ(kasan_option("kasan.repeat", NULL), KASAN_OPTION_INVALID);
}

/* A report that ends the system is whole, even if its place is known. */
static void panics_are_whole(void)
{
	set_up();
	for (int i = 0; i < 4; i++) {
		if (i == 2)
			CHECK_EQ(kasan_option("kasan.fault", "panic_on_write"), 0);
		unit_clear();
		if (i < 2)
			touch(bad + 8);
		else
			EXPECT_PANIC(touch(bad + 8));
		CHECK_EQ(is_whole(), i != 1);
	}
	CHECK_EQ(kasan_option("kasan.fault", "report"), 0);
}

static void report_at(unsigned int place)
{
	/* There are no callers: the code address alone is the place. */
	CHECK(kasan_report_fault(bad, 1, false, 0x10000 + 16UL * place, 0));
}

/* When the table is full, the place that was quiet for longest is forgotten. A place in a loop never is. */
static void more_places_than_are_remembered(void)
{
	const unsigned int many = CONFIG_KASAN_REPEAT_PLACES;

	set_up();
	report_at(0);
	for (unsigned int i = 1; i <= 3 * many; i++) {
		unit_clear();
		report_at(i);
		CHECK(is_whole());
		unit_clear();
		report_at(0);
		CHECK(!is_whole());
	}
	unit_clear();
	report_at(3 * many - (many - 2));
	CHECK(!is_whole());
	unit_clear();
	report_at(3 * many - many);
	CHECK(is_whole());
}

#define THREADS 4
#define EACH	50

static atomic_uint ended;
static pthread_barrier_t barrier;

static void count_report(const struct kasan_report_info *info)
{
	(void)info;
	atomic_fetch_add(&ended, 1);
}

static void *report_often(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < EACH; i++)
		touch(bad + 32);
	return NULL;
}

/* All threads report the same place: once whole, then the lines, with each number once and in order. */
static void several_threads_at_once(void)
{
	void (*saved)(const struct kasan_report_info *) = kasan_posix_hooks.report_end;
	pthread_t threads[THREADS];
	unsigned int rulers = 0, lines = 0, count;
	const char *at;

	set_up();
	unit_clear();
	kasan_posix_hooks.report_end = count_report;
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, report_often, NULL));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	kasan_posix_hooks.report_end = saved;
	CHECK_EQ(ended, THREADS * EACH);
	for (size_t i = 0; i < unit_lines(); i++) {
		if (!strcmp(unit_line(i), RULER)) {
			rulers++;
			continue;
		}
		at = strstr(unit_line(i), " again (");
		if (!at)
			continue;
		CHECK_EQ(rulers, 2);
		CHECK_EQ(sscanf(at, " again (%u times): ", &count), 1);
		CHECK_EQ(count, 1U << ++lines);
	}
	CHECK_EQ(rulers, 2);
	/* Up to 128 of 200. */
	CHECK_EQ(lines, 7);
}

/* A line that is too long loses only its end, where the callers are. */
static void long_names(void)
{
	static struct kasan_report report = {.type = "slab-out-of-bounds",
					     .size = 4,
					     .depth = 3,
					     .comm = "a-task-whose-name-is-thirty-one"};

	report.pcs[0] = report.ip = (uintptr_t)lines_at_powers_of_two + 1;
	report.pcs[1] = (uintptr_t)more_places_than_are_remembered + 1;
	report.pcs[2] = (uintptr_t)more_places_than_are_remembered + 1;
	unit_clear();
	kasan_print_again(&report, ~0UL);
	CHECK_EQ(unit_lines(), 1);
	CHECK(strlen(unit_line(0)) <= 255);
	CHECK(strstr(unit_line(0), " again (18446744073709551615 times): read of size 4 at addr "));
}

UNIT_MAIN(lines_at_powers_of_two, other_places, types_of_what_is_only_counted, full_prints_all,
	  panics_are_whole, more_places_than_are_remembered, several_threads_at_once, long_names)
