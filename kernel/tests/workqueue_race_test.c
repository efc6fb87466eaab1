// SPDX-License-Identifier: MIT
/*
 * workqueue_race_test.c - two threads that use one work item: each is held at a point inside the workqueue
 * code until the other one is where the test needs it. Also items in the memory of an item that still runs.
 */
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/string.h>
#include <kernel/time.h>

#include "../workqueue/internal.h"
#include "workqueue_test.h"

/* --- An item moves to another pool while somebody locks the old one --------------------------------- */

/* A thread on TO_CPU queues the item there. A thread on FROM_CPU locks the pool where the item was last. */
#define FROM_CPU 0U
#define TO_CPU	 1U
/* A thread that waits so long for the other one gives up, and the case fails. */
#define HOLD_NSEC (20 * NSEC_PER_SEC)

enum action { CANCEL, CANCEL_SYNC, CANCEL_DELAYED_SYNC, FLUSH };

struct moved {
	const char *name;
	enum workqueue_point hold;
	enum action action;
};

static const struct moved moves[] = {
	{"cancel_work, before the look", WQ_POOL_LOCKED, CANCEL},
	{"cancel_work, after the look", WQ_POOL_FOUND, CANCEL},
	{"cancel_work_sync, before the look", WQ_POOL_LOCKED, CANCEL_SYNC},
	{"cancel_work_sync, after the look", WQ_POOL_FOUND, CANCEL_SYNC},
	{"cancel_delayed_work_sync, after the look", WQ_POOL_FOUND, CANCEL_DELAYED_SYNC},
	{"flush_work, before the look", WQ_POOL_LOCKED, FLUSH},
	{"flush_work, after the look", WQ_POOL_FOUND, FLUSH},
};

static void describe_move(const struct moved *moved, char *desc)
{
	strscpy(desc, moved->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(move, moves, describe_move);

const void *moved_gen_params(const void *prev, char *desc)
{
	return move_gen_params(prev, desc);
}

/**
 * struct race - the state of the two threads
 * @queueing: the queueing thread has locked the new pool. @locked: the acting thread has locked the old
 *	pool.
 * @queued: the queueing thread has finished. @acted: the acting thread has finished.
 * @alone: a thread has waited for the other one in vain.
 * @changes: how often the acting thread changed lists and counters. @wrong: how often it had another pool
 *	locked than the item's.
 */
static struct race {
	struct item *item;
	struct work_struct *work;
	enum workqueue_point hold;
	enum action action;
	bool queueing, locked, queued, acted, alone, result;
	atomic_t changes, wrong;
} race;

/* Waits without sleeping, because interrupts may be off. */
static void wait_for(const bool *flag)
{
	u64 end = clock_ns() + HOLD_NSEC;

	while (!smp_load_acquire(flag)) {
		if (clock_ns() > end) {
			WRITE_ONCE(race.alone, true);
			return;
		}
		cpu_relax();
	}
}

static void hold_both(enum workqueue_point point, struct work_struct *work,
		      struct worker_pool *pool)
{
	if (work != race.work)
		return;
	if (point == WQ_TARGET_LOCKED && pool == cpu_pool(TO_CPU)) {
		smp_store_release(&race.queueing, true);
		wait_for(&race.locked);
	} else if (point == race.hold && pool == cpu_pool(FROM_CPU)) {
		smp_store_release(&race.locked, true);
		wait_for(&race.queued);
	} else if (point == WQ_CHANGE) {
		atomic_inc(&race.changes);
		if (work->pwq->pool != pool)
			atomic_inc(&race.wrong);
	}
}

static int queue_it(void *unused)
{
	if (race.action == CANCEL_DELAYED_SYNC)
		mod_delayed_work_on(TO_CPU, race.item->wq, &race.item->dwork, 0);
	else
		queue_work_on(TO_CPU, race.item->wq, &race.item->work);
	smp_store_release(&race.queued, true);
	return 0;
}

static int act_on_it(void *unused)
{
	wait_for(&race.queueing);
	switch (race.action) {
	case CANCEL:
		race.result = cancel_work(race.work);
		break;
	case CANCEL_SYNC:
		race.result = cancel_work_sync(race.work);
		break;
	case CANCEL_DELAYED_SYNC:
		race.result = cancel_delayed_work_sync(&race.item->dwork);
		break;
	case FLUSH:
		race.result = flush_work(race.work);
	}
	WRITE_ONCE(race.acted, true);
	return 0;
}

void moved_while_locking(struct kunit *test)
{
	const struct moved *moved = test->param_value;
	struct item *first, *item;
	struct task *queuer, *actor;
	struct workqueue_struct *wq;

	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	wq = wq_test_wq(test, 0, 1);
	first = wq_test_item(test, wq_test_stay);
	item = wq_test_item(test, wq_test_count);
	item->wq = wq;
	race = (struct race){.item = item, .hold = moved->hold, .action = moved->action};
	race.work = moved->action == CANCEL_DELAYED_SYNC ? &item->dwork.work : &item->work;
	queue_work_on(FROM_CPU, wq, race.work);
	flush_work(race.work);
	/* On TO_CPU one item may be active, and this one is. So the item will stay in the queue there. */
	queue_work_on(TO_CPU, wq, &first->work);
	wait_for_completion(&first->start);

	queuer = kthread_create(queue_it, NULL, "wq_queuer");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, queuer);
	actor = kthread_create(act_on_it, NULL, "wq_actor");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, actor);
	kthread_bind(queuer, TO_CPU);
	kthread_bind(actor, FROM_CPU);
	WRITE_ONCE(workqueue_hook, hold_both);
	wake_up_process(actor);
	wake_up_process(queuer);
	kthread_join(queuer);
	/* A flush ends only after the item has run, and it cannot run before this one has ended. */
	while (!READ_ONCE(race.acted) && !atomic_read(&race.changes))
		msleep(10);
	complete(&first->go);
	kthread_join(actor);
	WRITE_ONCE(workqueue_hook, NULL);
	flush_workqueue(wq);

	KUNIT_EXPECT_FALSE(test, race.alone);
	KUNIT_EXPECT_EQ(test, atomic_read(&race.wrong), 0);
	if (moved->action == FLUSH) {
		KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 2);
		/* A flush that has looked already need not wait for an item that is queued later. */
		if (moved->hold == WQ_POOL_LOCKED)
			KUNIT_EXPECT_TRUE(test, race.result);
	} else {
		KUNIT_EXPECT_TRUE(test, race.result);
		KUNIT_EXPECT_EQ(test, atomic_read(&race.changes), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 1);
	}
	KUNIT_EXPECT_FALSE(test, work_pending(race.work));
	for (unsigned int i = 0; i < wq->nr_pwqs; i++) {
		KUNIT_EXPECT_EQ(test, wq->pwqs[i].nr_active, 0);
		KUNIT_EXPECT_EQ(test, wq->pwqs[i].in_flight[0] + wq->pwqs[i].in_flight[1], 0);
	}
}

/* --- The pending bit and interrupts --------------------------------------------------------------- */

static struct {
	struct item *item;
	atomic_t taken, interruptible;
} pending;

static void note_interrupts(enum workqueue_point point, struct work_struct *work,
			    struct worker_pool *pool)
{
	if (point != WQ_PENDING ||
	    (work != &pending.item->work && work != &pending.item->dwork.work))
		return;
	atomic_inc(&pending.taken);
	if (!irqs_disabled())
		atomic_inc(&pending.interruptible);
}

/* An interrupt handler may call cancel_work(), which waits for the owner of the pending bit. If it had
 * interrupted the owner, it would wait for ever. */
void pending_with_interrupts_off(struct kunit *test)
{
	struct item *item = wq_test_item(test, wq_test_count);

	pending.item = item;
	atomic_set(&pending.taken, 0);
	atomic_set(&pending.interruptible, 0);
	WRITE_ONCE(workqueue_hook, note_interrupts);
	queue_work(system_wq, &item->work);
	cancel_work(&item->work);
	cancel_work_sync(&item->work);
	KUNIT_EXPECT_EQ(test, atomic_read(&pending.taken), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&pending.interruptible), 0);
	queue_delayed_work(system_wq, &item->dwork, 100 * HZ);
	flush_delayed_work(&item->dwork);
	mod_delayed_work(system_wq, &item->dwork, 100 * HZ);
	mod_delayed_work(system_wq, &item->dwork, 100 * HZ);
	cancel_delayed_work(&item->dwork);
	queue_delayed_work(system_wq, &item->dwork, 0);
	cancel_delayed_work_sync(&item->dwork);
	WRITE_ONCE(workqueue_hook, NULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&pending.taken), 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&pending.interruptible), 0);
}

/* --- An item in the memory of one that still runs ---------------------------------------------------- */

/* Make another item in the memory of @item and queue it, as happens when a function has freed its own
 * item. */
static void become_another(struct item *item)
{
	INIT_WORK(&item->work, wq_test_count);
	queue_work_on(0, system_wq, &item->work);
}

static void wait_for_successor(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, work);

	become_another(item);
	/* The new item must not wait until this function has ended. */
	if (!wait_for_completion_timeout(&item->done, 10 * HZ))
		atomic_inc(&item->errors);
}

static void flush_successor(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, work);

	/* A CPU's pool runs one function at a time, so the new item cannot run before this one sleeps. */
	become_another(item);
	if (!flush_work(&item->work) || atomic_read(&item->runs) != 1)
		atomic_inc(&item->errors);
}

void reused_item_runs(struct kunit *test)
{
	struct item *item = wq_test_item(test, wait_for_successor);
	struct item *second = wq_test_item(test, flush_successor);

	queue_work_on(0, system_wq, &item->work);
	queue_work_on(0, system_wq, &second->work);
	flush_workqueue(system_wq);
	flush_workqueue(system_wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->errors), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&second->errors), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&second->runs), 1);
}

static int flush_it(void *arg)
{
	struct item *item = arg;

	flush_work(&item->work);
	return 0;
}

void reused_item_is_flushed(struct kunit *test)
{
	struct item *item = wq_test_item(test, wq_test_stay);
	struct task *task;
	bool ended;
	int value;

	queue_work_on(0, system_wq, &item->work);
	wait_for_completion(&item->start);
	become_another(item);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&item->done, 10 * HZ), 0);
	/* The new item has run. The function that still runs belongs to another item. */
	task = kthread_run(flush_it, item, "wq_flusher");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	ended = kthread_join_timeout(task, 10 * HZ, &value);
	KUNIT_EXPECT_TRUE(test, ended);
	complete(&item->go);
	if (!ended)
		kthread_join(task);
	flush_workqueue(system_wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 2);
}
