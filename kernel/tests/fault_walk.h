/* SPDX-License-Identifier: MIT */
/*
 * fault_walk.h - the walk of the suites fault_inject, fault_sites and fault_program: a piece of work is
 * repeated, and each time another of its allocations fails.
 */
#ifndef TESTS_FAULT_WALK_H
#define TESTS_FAULT_WALK_H

#include <kernel/fault_inject.h>
#include <kunit/test.h>

/** fault_work_fn - allocates in many places and gives everything back. Return: 0 or an error; memory is as before
 *  in both cases. -EIO: a fault that a lack of memory does not excuse. */
typedef int (*fault_work_fn)(void);

/**
 * fault_walk() - do @work with its first allocation failing, then its second, until none does
 * @kinds: FAULT_*, the kinds of allocations that fail.
 * @task: only its allocations fail; NULL: those of all tasks.
 * @least: places that have to be reached: different call chains of allocations that failed.
 *
 * First @work runs without failures and must succeed. The case fails if memory is lost; its init and exit
 * functions check that no report comes.
 */
void fault_walk(struct kunit *test, fault_work_fn work, unsigned int kinds, const struct task *task,
		unsigned int least);

/** fault_walk_own() - every allocation of this task in @work fails in turn; other tasks are not disturbed. */
void fault_walk_own(struct kunit *test, fault_work_fn work, unsigned int least);

/** fault_walk_onwards() - the same, but all allocations behind the failing one fail as well, so second ways
 * to get
 *  memory are closed. */
void fault_walk_onwards(struct kunit *test, fault_work_fn work, unsigned int least);

/** fault_print_site() - with kasan_test.fault_sites, for the suite fault-sites of ./redzone test: @site, as
 *  fault_inject_stop() gives it, has been refused. */
void fault_print_site(struct kunit *test, const uintptr_t *site);

#endif
