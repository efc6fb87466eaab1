/* SPDX-License-Identifier: MIT */
/*
 * fault_walk.h - no memory, at every place that allocates, one after the other: the walk that the suites
 * fault_inject and fault_sites consist of.
 */
#ifndef TESTS_FAULT_WALK_H
#define TESTS_FAULT_WALK_H

#include <kernel/fault_inject.h>
#include <kunit/test.h>

/** fault_work_fn - allocates in many places, and gives all of it back. Return: 0, or an error; memory as before
 *  either way. -EIO: something is wrong that lack of memory does not excuse. */
typedef int (*fault_work_fn)(void);

/**
 * fault_walk() - do @work with its first allocation failing, then its second, until none does
 * @kinds: FAULT_*, what fails.
 * @task: only what it allocates; NULL: what anybody does.
 * @least: places that have to be reached: different call chains of allocations that failed.
 *
 * Before, @work is done as it is, and must succeed. Fails the case if memory is lost; that no report comes
 * is seen by the case's own init and exit functions.
 */
void fault_walk(struct kunit *test, fault_work_fn work, unsigned int kinds, const struct task *task,
		unsigned int least);

/** fault_walk_own() - all that this task allocates for @work; other tasks are not disturbed. */
void fault_walk_own(struct kunit *test, fault_work_fn work, unsigned int least);

/** fault_walk_onwards() - the same, but with the one that fails all that follow fail: what is tried when the first
 *  way is closed is closed, too. */
void fault_walk_onwards(struct kunit *test, fault_work_fn work, unsigned int least);

/** fault_print_site() - with kasan_test.fault_sites, for the suite fault-sites of ./redzone test: @site, as
 *  fault_inject_stop() gives it, has been refused. */
void fault_print_site(struct kunit *test, const uintptr_t *site);

#endif
