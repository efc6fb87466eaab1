// SPDX-License-Identifier: MIT
/*
 * lockdep_wait_test.c - waiting for what another task does: completions, work items, workqueues. A task that waits with
 * a lock held, for work that takes the same lock, waits for ever. The cases let the work end first, so that they do
 * not wait; the validator remembers which locks it took.
 */
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/mutex.h>
#include <kernel/sched.h>
#include <kernel/workqueue.h>

#include "lockdep_expect.h"

#define CIRCULAR "BUG: lockdep: possible circular dependency in "

/* --- Work items --------------------------------------------------------------------------------------- */

static DEFINE_MUTEX(flush_mutex);

static void takes_flush_mutex(struct work_struct *work)
{
	mutex_lock(&flush_mutex);
	mutex_unlock(&flush_mutex);
}

static DECLARE_WORK(flushed_work, takes_flush_mutex);

static noinline void flush_with_mutex(void)
{
	mutex_lock(&flush_mutex);
	flush_work(&flushed_work);
	mutex_unlock(&flush_mutex);
}

static noinline void flush_without_mutex(void)
{
	schedule_work(&flushed_work);
	flush_work(&flushed_work);
	mutex_lock(&flush_mutex);
	mutex_unlock(&flush_mutex);
}

/* The classic. */
static void flush_under_its_lock(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, flush_without_mutex());
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR, "flushed_work", "holds:", "flush_mutex", "-> #1 (",
				     "flushed_work", "flush_with_mutex+0x",
				     "-> #0 (flush_mutex), taken while (", "takes_flush_mutex+0x",
				     "How it deadlocks:"),
		       flush_with_mutex());
}

static DEFINE_MUTEX(cancel_mutex);

static void takes_cancel_mutex(struct work_struct *work)
{
	mutex_lock(&cancel_mutex);
	mutex_unlock(&cancel_mutex);
}

static DECLARE_WORK(cancelled_work, takes_cancel_mutex);

static noinline void cancel_with_mutex(void)
{
	mutex_lock(&cancel_mutex);
	cancel_work_sync(&cancelled_work);
	mutex_unlock(&cancel_mutex);
}

static noinline void cancel_only_with_mutex(void)
{
	mutex_lock(&cancel_mutex);
	cancel_work(&cancelled_work);
	mutex_unlock(&cancel_mutex);
}

static void cancel_under_its_lock(struct kunit *test)
{
	schedule_work(&cancelled_work);
	flush_work(&cancelled_work);
	/* That does not wait for a running function. */
	LOCKDEP_EXPECT_NONE(test, cancel_only_with_mutex());
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR, "cancelled_work", "cancel_mutex",
				     "cancel_with_mutex+0x", "takes_cancel_mutex+0x"),
		       cancel_with_mutex());
}

/* --- Workqueues --------------------------------------------------------------------------------------- */

static DEFINE_MUTEX(queue_mutex);
static DEFINE_MUTEX(unrelated_mutex);

static void takes_queue_mutex(struct work_struct *work)
{
	mutex_lock(&queue_mutex);
	mutex_unlock(&queue_mutex);
}

static noinline void flush_queue_with(struct workqueue_struct *wq, struct mutex *mutex)
{
	mutex_lock(mutex);
	flush_workqueue(wq);
	mutex_unlock(mutex);
}

static void flush_queue_under_its_lock(struct kunit *test)
{
	static DECLARE_WORK(work, takes_queue_mutex);
	struct workqueue_struct *wq = alloc_workqueue("lockdep_test", 0, 1);

	KUNIT_ASSERT_NOT_NULL(test, wq);
	queue_work(wq, &work);
	LOCKDEP_EXPECT_NONE(test, flush_queue_with(wq, &unrelated_mutex));
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR, "lockdep_test", "holds:", "queue_mutex",
				     "flush_queue_with+0x", "takes_queue_mutex+0x"),
		       flush_queue_with(wq, &queue_mutex));
	destroy_workqueue(wq);
}

/* --- Completions -------------------------------------------------------------------------------------- */

static DEFINE_MUTEX(done_mutex);
static DECLARE_COMPLETION(done_event);

static noinline void wait_with_mutex(void)
{
	mutex_lock(&done_mutex);
	wait_for_completion(&done_event);
	mutex_unlock(&done_mutex);
}

static int complete_with_mutex(void *unused)
{
	mutex_lock(&done_mutex);
	complete(&done_event);
	mutex_unlock(&done_mutex);
	return 0;
}

static noinline void complete_twice_with_mutex(struct kunit *test)
{
	lockdep_in_thread(test, complete_with_mutex, NULL);
	lockdep_in_thread(test, complete_with_mutex, NULL);
}

/* The waiter holds the mutex that the other one needs before it completes. */
static void completion_under_its_lock(struct kunit *test)
{
	complete_twice_with_mutex(test);
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR, "done_event", "holds:", "done_mutex",
				     "wait_with_mutex+0x", "complete_with_mutex+0x",
				     "How it deadlocks:"),
		       wait_with_mutex());
}

static DEFINE_MUTEX(before_mutex);
static DECLARE_COMPLETION(before_event);

static int complete_behind_mutex(void *unused)
{
	mutex_lock(&before_mutex);
	mutex_unlock(&before_mutex);
	complete(&before_event);
	return 0;
}

static noinline void wait_before_mutex(void)
{
	wait_for_completion(&before_event);
	mutex_lock(&before_mutex);
	mutex_unlock(&before_mutex);
}

static noinline void complete_and_wait(struct kunit *test)
{
	lockdep_in_thread(test, complete_behind_mutex, NULL);
	wait_before_mutex();
}

static noinline int complete_holding(void *unused)
{
	mutex_lock(&before_mutex);
	complete(&before_event);
	mutex_unlock(&before_mutex);
	return 0;
}

static noinline void holding_and_wait(struct kunit *test)
{
	lockdep_in_thread(test, complete_holding, NULL);
	wait_before_mutex();
}

/* The waiter holds nothing. */
static void completion_in_order(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, complete_and_wait(test));
	LOCKDEP_EXPECT_NONE(test, holding_and_wait(test));
}

LOCKDEP_SUITE(lockdep_wait, KUNIT_CASE(flush_under_its_lock), KUNIT_CASE(cancel_under_its_lock),
	      KUNIT_CASE(flush_queue_under_its_lock), KUNIT_CASE(completion_under_its_lock),
	      KUNIT_CASE(completion_in_order));
