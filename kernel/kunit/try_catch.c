// SPDX-License-Identifier: MIT
/*
 * try_catch.c - a function run in a kernel thread of its own, so that a failed assertion, an oops
 * or a hang ends that thread and not the run of the tests.
 */
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/time.h>

#include "kunit.h"

/** struct try - on the heap, because a thread that hangs keeps it. */
struct
try {
	struct kunit *test;
	void (*fn)(struct kunit *test);
};

static int kunit_generic_run_threadfn_adapter(void *arg)
{
	struct try *try = arg;

	try->fn(try->test);
	try->test->ended = true;
	return 0;
}

void kunit_abort(struct kunit *test)
{
	/* Set here and by a normal return only: a killed thread leaves it false. */
	test->ended = true;
	kthread_exit(0);
}

enum kunit_try_result kunit_try(struct kunit *test, void (*fn)(struct kunit *test),
				unsigned int timeout_ms)
{
	struct try *try = kzalloc(sizeof(*try), GFP_KERNEL);
	struct task *task;

	if (!try)
		return KUNIT_TRY_NO_THREAD;
	try->test = test;
	try->fn = fn;
	test->ended = false;
	task = kthread_run(kunit_generic_run_threadfn_adapter, try, "kunit_try_catch");
	if (IS_ERR(task)) {
		kfree(try);
		return KUNIT_TRY_NO_THREAD;
	}
	/* Waited for by its queue, not by wait_for_completion(): kthread_join() below needs the
	 * event. */
	if (!wait_event_timeout(task->exited.wait, completion_done(&task->exited),
				(long)msecs_to_jiffies(timeout_ms))) {
		put_task_struct(task);
		return KUNIT_TRY_TIMEOUT;
	}
	kthread_join(task);
	kfree(try);
	return test->ended ? KUNIT_TRY_OK : KUNIT_TRY_FAULTED;
}
