/* SPDX-License-Identifier: MIT */
/* workqueue_test.h - what the files of the suite workqueue share: an item, and how to make one. */
#ifndef WORKQUEUE_TEST_H
#define WORKQUEUE_TEST_H

#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/workqueue.h>

#include "kasan_test.h"

/**
 * struct item - a work item and a delayed work item, with what tests want to know of them
 * @start: completed when the function begins. @go: when it may end. @done: when it ends.
 * @runs: number of runs. @inside: number of workers that run it now. @errors: number of times that the
 *	function found something wrong.
 * @cpu: the CPU where it ran. @when: the time, from clock_ns().
 */
struct item {
	struct work_struct work;
	struct delayed_work dwork;
	struct completion start, go, done;
	struct workqueue_struct *wq;
	struct item *other;
	atomic_t runs, inside, errors;
	unsigned int cpu;
	u64 when;
};

/** wq_test_count() - a function that counts its runs. wq_test_count_delayed(): for @dwork.
 *  wq_test_stay(): it completes @start and waits for @go. */
void wq_test_count(struct work_struct *work);
void wq_test_count_delayed(struct work_struct *work);
void wq_test_stay(struct work_struct *work);

/** wq_test_item() - an item that calls @func; its memory goes with @test. */
struct item *wq_test_item(struct kunit *test, work_func_t func);

/** wq_test_wq() - a workqueue, destroyed with @test. @max: its max_active. */
struct workqueue_struct *wq_test_wq(struct kunit *test, unsigned int flags, unsigned int max);

/* --- workqueue_race_test.c ---------------------------------------------------------------------- */

void moved_while_locking(struct kunit *test);
const void *moved_gen_params(const void *prev, char *desc);
void pending_with_interrupts_off(struct kunit *test);
void reused_item_runs(struct kunit *test);
void reused_item_is_flushed(struct kunit *test);

/* --- workqueue_stress_test.c -------------------------------------------------------------------- */

void stress_all(struct kunit *test);
const void *stress_gen_params(const void *prev, char *desc);

#endif /* WORKQUEUE_TEST_H */
