/* SPDX-License-Identifier: MIT */
/* kunit.h - the seams between the framework's own files. */
#ifndef KUNIT_KUNIT_H
#define KUNIT_KUNIT_H

#include <kunit/test.h>

/* --- try_catch.c ------------------------------------------------------------------------------ */

enum kunit_try_result {
	KUNIT_TRY_OK,	   /* the function returned, or ended itself with kunit_abort() */
	KUNIT_TRY_FAULTED, /* its thread was killed */
	KUNIT_TRY_TIMEOUT, /* its thread is still there, and may still use @test */
	KUNIT_TRY_NO_THREAD,
};

/**
 * kunit_try() - call @fn(@test) in a thread of its own, named kunit_try_catch
 * @timeout_ms: how long to wait for its end.
 *
 * May sleep.
 */
enum kunit_try_result kunit_try(struct kunit *test, void (*fn)(struct kunit *test),
				unsigned int timeout_ms);

/* --- resource.c ------------------------------------------------------------------------------- */

/** kunit_cleanup() - run the actions of @test, last added first. */
void kunit_cleanup(struct kunit *test);

/* --- filter.c --------------------------------------------------------------------------------- */

/** kunit_apply_filters() - mark in every case whether it runs, is skipped or is left out. Return:
 * number of suites that have a case left. */
size_t kunit_apply_filters(void);

/** kunit_filter_glob() - Return: text of kunit.filter_glob=, NULL if not given. */
const char *kunit_filter_glob(void);

#endif
