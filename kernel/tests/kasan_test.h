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
#include <kernel/task.h>
#include <kernel/types.h>
#include <asm/current.h>
#include <kunit/test.h>

#ifdef REDZONE_REMOVE_BUGS
#define KASAN_TEST_BUG(...) ((void)0)
#else
#define KASAN_TEST_BUG(...) __VA_ARGS__
#endif

/* Bugs use HIDE_VAR() to hide a value from the compiler, so that it neither warns of a bug that it could prove nor
 * removes one as undefined behaviour. */

/* A load and a store that the compiler keeps, although the value is not used. */
#define READ_ACCESS(lvalue)	    ((void)*(const volatile __typeof__(lvalue) *)&(lvalue))
#define WRITE_ACCESS(lvalue, value) (*(volatile __typeof__(lvalue) *)&(lvalue) = (value))

/** stale_stack() - Return: granules of the running task's stack that may not be accessed, below all of its
 *  frames: poison of functions that are gone. */
static noinline __attribute__((unused)) size_t stale_stack(void)
{
	const char *frame = __builtin_frame_address(0), *p = current->stack;
	size_t n = 0;

	for (; p < frame; p += 8)
		n += !kasan_byte_accessible(p);
	return n;
}

enum kasan_access {
	KASAN_ANY,
	KASAN_READ,
	KASAN_WRITE,
	KASAN_FREE,
};
#define KASAN_ANY_SIZE ((size_t)-1)

/*
 * Differences between the modes. kasan_needs_generic(): skips the case in the other modes, with a reason.
 * KASAN_TYPE(): the bug type, if tags say less than Generic mode's shadow.
 * KASAN_TYPE_BESIDE: of an access behind the last slot of a slab, or behind a block of pages. Tags may take
 * it for a use after free, if the object there was freed and its last owner had the same tag, which is as
 * good a guess. KASAN_TYPE_UNMAPPED: for an unmapped address of vmalloc space, which has no hardware tag.
 * KASAN_TEST_BYTES: a bad byte is seen in the granule that it shares with good ones. Hardware compares
 * whole granules; KASAN_END() is where behind a heap object of @size bytes an access is seen.
 * KASAN_STACK_END: where behind a variable of @size bytes on the stack an access is seen: at the next byte,
 * or with tags that the compiler gives in whole granules at the next granule.
 */
#ifdef CONFIG_KASAN_GENERIC
#define KASAN_TEST_GENERIC	  true
#define KASAN_TYPE(generic, tags) generic
#else
#define KASAN_TEST_GENERIC	  false
#define KASAN_TYPE(generic, tags) tags
#endif
/* Of memory of a variable that is out of scope, which hardware tags tell from an overrun. */
#ifdef CONFIG_KASAN_SW_TAGS
#define KASAN_TYPE_SCOPE "invalid-access"
#else
#define KASAN_TYPE_SCOPE "use-after-scope"
#endif
/* What @place, behind a variable, holds already: with tags there may be a frame record, as there is no redzone. */
#ifdef CONFIG_KASAN_TAGS
#define KASAN_KEPT(place) (*(volatile __typeof__(place) *)kasan_reset_tag(&(place)))
#else
#define KASAN_KEPT(place) 0
#endif
#define KASAN_TYPE_BESIDE KASAN_TYPE("slab-out-of-bounds", NULL)
#ifdef CONFIG_KASAN_HW_TAGS
#define KASAN_TEST_STACK    CONFIG_KASAN_STACK
#define KASAN_TEST_HW	    true
#define KASAN_TEST_BYTES    false
#define KASAN_END(size)	    ALIGN(size, KASAN_GRANULE_SIZE)
#define KASAN_TYPE_UNMAPPED "wild-memory-access"
#else
#define KASAN_TEST_STACK    true
#define KASAN_TEST_HW	    false
#define KASAN_TEST_BYTES    true
#define KASAN_END(size)	    (size)
#define KASAN_TYPE_UNMAPPED KASAN_TYPE("vmalloc-out-of-bounds", "invalid-access")
#endif
#ifdef __clang__
#define KASAN_TEST_CLANG true
#else
#define KASAN_TEST_CLANG false
#endif
/* Have global variables redzones or tags? */
#ifdef CONFIG_KASAN_TAGGED_GLOBALS
#define KASAN_TEST_GLOBALS true
#else
#define KASAN_TEST_GLOBALS KASAN_TEST_GENERIC
#endif

#define kasan_needs_generic(test) kunit_needs(test, KASAN_TEST_GENERIC, "CONFIG_KASAN_GENERIC=y")
#define kasan_needs_globals(test) \
	kunit_needs(test, KASAN_TEST_GLOBALS, "CONFIG_KASAN_TAGGED_GLOBALS=y")
#define kasan_needs_stack(test) kunit_needs(test, KASAN_TEST_STACK, "CONFIG_KASAN_STACK=y")
#if defined(CONFIG_KASAN_GENERIC) || (defined(CONFIG_KASAN_INLINE) && defined(__clang__))
#define KASAN_STACK_END(size) (size)
#else
#define KASAN_STACK_END(size) ALIGN(size, KASAN_GRANULE_SIZE)
#endif

#ifdef CONFIG_KASAN_TAGS
/** kasan_tags_without_traces() - let the allocator tag slab objects itself, as after kasan.stacktrace=off. Return: for
 *  kasan_tags_with_traces(), which undoes it. In between use caches that are new: the slots of others may have had a
 *  random policy. */
unsigned int kasan_tags_without_traces(void);
void kasan_tags_with_traces(unsigned int before);
#endif

#ifdef CONFIG_KASAN

/** kasan_expect_begin() - reports from here on are expected. */
void kasan_expect_begin(void);

/**
 * kasan_expect_end() - check what was reported since kasan_expect_begin()
 * @type: bug type, NULL: any. @access, @size: of the access; size of a free is 0.
 * @exactly_one: more than one report fails as well.
 */
void kasan_expect_end(struct kunit *test, const struct kunit_loc *loc, const char *expression,
		      const char *type, enum kasan_access access, size_t size, bool exactly_one);

/** kasan_expect_count() - Return: reports since kasan_expect_begin(), also of other CPUs. */
unsigned int kasan_expect_count(void);

/** kasan_expect_last() - Return: the first report of the last expectation. */
const struct kasan_report_info *kasan_expect_last(void);

/**
 * kasan_may_be_late() - Return: may the CPU report such an access some time later, and without details?
 *
 * It may with kasan.mode=async, and with asymm for writes. The report is then an "invalid-access" without
 * details, and expectations adapt: the caller of kasan_expect_end() need not care.
 */
bool kasan_may_be_late(enum kasan_access access);

/**
 * kasan_kmalloc_beside() - a heap object for writes behind its end
 *
 * The tag-based modes have no redzones: another object lies behind one that fills its slot, and the write takes
 * place after the report. Here that object is the case's own, and is freed at its end.
 */
void *kasan_kmalloc_beside(struct kunit *test, size_t size);
/** kasan_kmalloc_node_beside() - the same by kmalloc_node() of node 0 */
void *kasan_kmalloc_node_beside(struct kunit *test, size_t size);

/** kasan_settle() - report now what this CPU has noted, as the next context switch would. */
static inline void kasan_settle(void)
{
#ifdef CONFIG_KASAN_HW_TAGS
	kasan_check_async_faults();
#endif
}

/** kasan_expect_in() - the last expected report and its title name @function as the place. */
void kasan_expect_in(struct kunit *test, const struct kunit_loc *loc, const char *function);
#define KASAN_EXPECT_IN(test, function)                             \
	do {                                                        \
		_KUNIT_SAVE_LOC(test);                              \
		kasan_expect_in(test, KUNIT_CURRENT_LOC, function); \
	} while (0)

/** KASAN_EXPECT_ADDR() - the last expected report was of an access to @address, or has no address. */
#define KASAN_EXPECT_ADDR(test, address)                     \
	KUNIT_EXPECT_PTR_EQ(test, kasan_expect_last()->addr, \
			    kasan_expect_last()->is_async ? 0 : (uintptr_t)(address))

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

/* These functions, as members of a suite. */
#define KASAN_SUITE_INIT                                                          \
	.suite_init = kasan_test_suite_init, .suite_exit = kasan_test_suite_exit, \
	.init = kasan_test_init, .exit = kasan_test_exit
#define KASAN_BUG_SUITE_INIT                                                      \
	.suite_init = kasan_test_suite_init, .suite_exit = kasan_test_suite_exit, \
	.init = kasan_bug_test_init, .exit = kasan_test_exit

/** KASAN_SUITE(), KASAN_BUG_SUITE() - define the suite @suite of the cases that follow it. The cases of the second one expect
 *  reports. */
#define KASAN_SUITE(suite, ...)                  \
	KUNIT_CASES(suite##_cases, __VA_ARGS__); \
	KUNIT_SUITE(suite, suite##_cases, KASAN_SUITE_INIT)
#define KASAN_BUG_SUITE(suite, ...)              \
	KUNIT_CASES(suite##_cases, __VA_ARGS__); \
	KUNIT_SUITE(suite, suite##_cases, KASAN_BUG_SUITE_INIT)

/* @text: of the bug. @exactly: one report, else at least one. */
#define _KASAN_EXPECT(test, text, type, access, size, exactly, ...)                           \
	do {                                                                                  \
		_KUNIT_SAVE_LOC(test);                                                        \
		kasan_expect_begin();                                                         \
		barrier();                                                                    \
		__VA_ARGS__;                                                                  \
		barrier();                                                                    \
		kasan_expect_end(test, KUNIT_CURRENT_LOC, text, type, access, size, exactly); \
	} while (0)

/** KUNIT_EXPECT_KASAN_FAIL() - @expression causes at least one report, of whatever kind. */
#define KUNIT_EXPECT_KASAN_FAIL(test, ...) \
	_KASAN_EXPECT(test, #__VA_ARGS__, NULL, KASAN_ANY, KASAN_ANY_SIZE, false, __VA_ARGS__)

/** KUNIT_EXPECT_KASAN_REPORT() - @expression causes exactly one report: this one. */
#define KUNIT_EXPECT_KASAN_REPORT(test, type, access, size, ...) \
	_KASAN_EXPECT(test, #__VA_ARGS__, type, access, size, true, __VA_ARGS__)

/** KASAN_EXPECT_BUG() - the same of a KASAN_TEST_BUG(). */
#define KASAN_EXPECT_BUG(test, type, access, size, ...) \
	_KASAN_EXPECT(test, #__VA_ARGS__, type, access, size, true, KASAN_TEST_BUG(__VA_ARGS__))

/* The cases of suite `kasan`, in the file that is named before them. */
#define KASAN_CASE(name) void name(struct kunit *test);
#include "kasan_cases.h"
#undef KASAN_CASE

#endif
