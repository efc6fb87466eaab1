/* SPDX-License-Identifier: MIT */
/*
 * kasan_test.h - expecting KASAN reports in test cases.
 *
 * A bug stands inside KASAN_TEST_BUG(), alone. Compiled with -DREDZONE_REMOVE_BUGS all bugs are
 * gone, and every case that expects a report must then fail: that is how these tests are tested.
 */
#ifndef TESTS_KASAN_TEST_H
#define TESTS_KASAN_TEST_H

#include <kasan/kasan.h>
#include <kernel/types.h>
#include <kunit/test.h>

#ifdef REDZONE_REMOVE_BUGS
#define KASAN_TEST_BUG(...) ((void)0)
#else
#define KASAN_TEST_BUG(...) __VA_ARGS__
#endif

/* The compiler knows nothing of @var's value from here on: no warning of a bug it could prove, and
 * no bug optimized away because it is undefined. */
#define HIDE_VAR(var) __asm__ __volatile__("" : "+r"(var) : : "memory")

/* A load that stays, although nobody uses the value; a store that stays. */
#define READ_ACCESS(lvalue)	    ((void)*(const volatile __typeof__(lvalue) *)&(lvalue))
#define WRITE_ACCESS(lvalue, value) (*(volatile __typeof__(lvalue) *)&(lvalue) = (value))

enum kasan_access {
	KASAN_ANY,
	KASAN_READ,
	KASAN_WRITE,
	KASAN_FREE,
};
#define KASAN_ANY_SIZE ((size_t)-1)

#ifdef CONFIG_KASAN

/** kasan_expect_begin() - from here on reports are expected ones. */
void kasan_expect_begin(void);

/**
 * kasan_expect_end() - check what was reported since kasan_expect_begin()
 * @type: bug type, NULL: any. @access, @size: of the access; size of a free is 0.
 * @exactly_one: more than one report fails too.
 */
void kasan_expect_end(struct kunit *test, const struct kunit_loc *loc, const char *expression,
		      const char *type, enum kasan_access access, size_t size, bool exactly_one);

/** kasan_expect_last() - Return: the first report of the last expectation. */
const struct kasan_report_info *kasan_expect_last(void);

/**
 * kasan_test_suite_init() and others - for suites: every bug is reported, and a report that no
 * expectation surrounds fails the case. Suites that expect no report at all use them as well.
 */
int kasan_test_suite_init(struct kunit_suite *suite);
void kasan_test_suite_exit(struct kunit_suite *suite);
int kasan_test_init(struct kunit *test);
void kasan_test_exit(struct kunit *test);
/* For suites that do expect reports: skips the case if none can come. */
int kasan_bug_test_init(struct kunit *test);

#else
#define kasan_test_suite_init NULL
#define kasan_test_suite_exit NULL
#define kasan_test_init	      NULL
#define kasan_test_exit	      NULL
#endif

/** KUNIT_EXPECT_KASAN_FAIL() - @expression causes at least one report, of whatever kind. */
#define KUNIT_EXPECT_KASAN_FAIL(test, ...)                                               \
	do {                                                                             \
		_KUNIT_SAVE_LOC(test);                                                   \
		kasan_expect_begin();                                                    \
		barrier();                                                               \
		__VA_ARGS__;                                                             \
		barrier();                                                               \
		kasan_expect_end(test, KUNIT_CURRENT_LOC, #__VA_ARGS__, NULL, KASAN_ANY, \
				 KASAN_ANY_SIZE, false);                                 \
	} while (0)

/** KUNIT_EXPECT_KASAN_REPORT() - @expression causes exactly one report: this one. */
#define KUNIT_EXPECT_KASAN_REPORT(test, type, access, size, ...)                                   \
	do {                                                                                       \
		_KUNIT_SAVE_LOC(test);                                                             \
		kasan_expect_begin();                                                              \
		barrier();                                                                         \
		__VA_ARGS__;                                                                       \
		barrier();                                                                         \
		kasan_expect_end(test, KUNIT_CURRENT_LOC, #__VA_ARGS__, type, access, size, true); \
	} while (0)

/* The cases of suite `kasan`, in the file that is named before them. */
#define KASAN_CASE(name) void name(struct kunit *test);
#include "kasan_cases.h"
#undef KASAN_CASE

#endif
