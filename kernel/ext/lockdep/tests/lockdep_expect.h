/* SPDX-License-Identifier: MIT */
/*
 * lockdep_expect.h - planted lock bugs: each must be reported exactly once, with these lines, and its harmless
 * variant not at all. For the suites lockdep_*.
 *
 * Every bug has locks of its own. A second report of the same locks would be a repetition, which the validator leaves
 * out, and a dependency that one case has made would hide or show a bug of another one.
 */
#ifndef TESTS_LOCKDEP_EXPECT_H
#define TESTS_LOCKDEP_EXPECT_H

#include <kernel/lockdep.h>
#include <kernel/types.h>
#include <kunit/test.h>
#include <ext/lockdep_test.h>

#include "kasan_test.h"

/* For a function that a report is to name: GCC would give a copy of it another name, or use an equal function in its place. */
#ifdef __clang__
#define noinline_named noinline
#else
#define noinline_named __attribute__((__noipa__))
#endif

/** LOCKDEP_LINES() - texts that lines of a report must have, in this order. See lockdep_expect_begin(). */
#define LOCKDEP_LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

/**
 * lockdep_expect_begin() - from here on all lines of the validator are read
 * @lines: texts, ended by NULL. Each must be in a line behind that of the text before. One that starts with '>' must
 *	be in the very next line; one that starts with '!' must be in no line at all. NULL: no report may come.
 */
void lockdep_expect_begin(struct kunit *test, const char *const *lines);

/** lockdep_expect_end() - @reports must have come since lockdep_expect_begin(), and no other line of the validator. */
void lockdep_expect_end(struct kunit *test, const struct kunit_loc *loc, const char *what,
			unsigned int reports);

/** lockdep_expect_about() - the newest report names these classes, and is of this kind. */
void lockdep_expect_about(struct kunit *test, const struct kunit_loc *loc, enum lockdep_kind kind,
			  const char *lock, const char *other);
#define LOCKDEP_EXPECT_ABOUT(test, kind, lock, other) \
	lockdep_expect_about(test, KUNIT_CURRENT_LOC, kind, lock, other)

/** lockdep_held_count() - Return: locks that the running task holds, as far as the validator knows. */
unsigned int lockdep_held_count(void);

/* Without the bug its functions are still referred to. */
#ifdef REDZONE_REMOVE_BUGS
#define LOCKDEP_BUG(...)             \
	do {                         \
		if (false) {         \
			__VA_ARGS__; \
		}                    \
	} while (0)
#else
#define LOCKDEP_BUG(...) __VA_ARGS__
#endif

/* The bug is committed twice, and there is one report: the first one. */
#define LOCKDEP_EXPECT(test, lines, ...)                                      \
	do {                                                                  \
		_KUNIT_SAVE_LOC(test);                                        \
		lockdep_expect_begin(test, lines);                            \
		for (int __i = 0; __i < 2; __i++)                             \
			LOCKDEP_BUG(__VA_ARGS__);                             \
		lockdep_expect_end(test, KUNIT_CURRENT_LOC, #__VA_ARGS__, 1); \
	} while (0)

/* The same of a bug that cannot be committed twice. */
#define LOCKDEP_EXPECT_ONCE(test, lines, ...)                                 \
	do {                                                                  \
		_KUNIT_SAVE_LOC(test);                                        \
		lockdep_expect_begin(test, lines);                            \
		LOCKDEP_BUG(__VA_ARGS__);                                     \
		lockdep_expect_end(test, KUNIT_CURRENT_LOC, #__VA_ARGS__, 1); \
	} while (0)

/* This is not a bug. */
#define LOCKDEP_EXPECT_NONE(test, ...)                                        \
	do {                                                                  \
		_KUNIT_SAVE_LOC(test);                                        \
		lockdep_expect_begin(test, NULL);                             \
		for (int __i = 0; __i < 2; __i++)                             \
			__VA_ARGS__;                                          \
		lockdep_expect_end(test, KUNIT_CURRENT_LOC, #__VA_ARGS__, 0); \
	} while (0)

/** lockdep_in_thread() - run fn(arg) in a thread of its own, and wait for its end. */
void lockdep_in_thread(struct kunit *test, int (*fn)(void *arg), void *arg);

/** lockdep_in_hardirq(), lockdep_in_softirq() - run fn(arg) in an interrupt or a soft interrupt, and wait for it. */
void lockdep_in_hardirq(struct kunit *test, void (*fn)(void *arg), void *arg);
void lockdep_in_softirq(struct kunit *test, void (*fn)(void *arg), void *arg);

/* For suites: a report that no case expects fails the case. */
int lockdep_suite_init(struct kunit_suite *suite);
void lockdep_suite_exit(struct kunit_suite *suite);
int lockdep_case_init(struct kunit *test);
void lockdep_case_exit(struct kunit *test);

/** LOCKDEP_SUITE() - define the suite @suite of the cases that follow it, with these functions. */
#define LOCKDEP_SUITE(suite, ...)                                                \
	KUNIT_CASES(suite##_cases, __VA_ARGS__);                                 \
	KUNIT_SUITE(suite, suite##_cases, .suite_init = lockdep_suite_init,      \
		    .suite_exit = lockdep_suite_exit, .init = lockdep_case_init, \
		    .exit = lockdep_case_exit)

#endif
