// SPDX-License-Identifier: MIT
/* workqueue_test.c - workqueues: order, waiting, cancelling, sleeping and dying items. */
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/time.h>

#include "workqueue_test.h"

void wq_test_count(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, work);

	atomic_inc(&item->runs);
	item->cpu = smp_processor_id();
	complete_all(&item->done);
}

void wq_test_count_delayed(struct work_struct *work)
{
	struct item *item = container_of(to_delayed_work(work), struct item, dwork);

	item->when = clock_ns();
	atomic_inc(&item->runs);
	complete_all(&item->done);
}

/* Completes @start, and stays until @go is completed. */
void wq_test_stay(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, work);

	if (atomic_inc_return(&item->inside) != 1)
		atomic_inc(&item->errors);
	complete(&item->start);
	wait_for_completion(&item->go);
	atomic_dec(&item->inside);
	atomic_inc(&item->runs);
}

struct item *wq_test_item(struct kunit *test, work_func_t func)
{
	struct item *item = kunit_kzalloc(test, sizeof(*item), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, item);
	INIT_WORK(&item->work, func);
	INIT_DELAYED_WORK(&item->dwork, wq_test_count_delayed);
	init_completion(&item->start);
	init_completion(&item->go);
	init_completion(&item->done);
	return item;
}

static void destroy(void *wq)
{
	destroy_workqueue(wq);
}

struct workqueue_struct *wq_test_wq(struct kunit *test, unsigned int flags, unsigned int max)
{
	struct workqueue_struct *wq = alloc_workqueue("test/%u", flags, max, flags);

	KUNIT_ASSERT_NOT_NULL(test, wq);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy, wq), 0);
	return wq;
}

/* --- One item ---------------------------------------------------------------------------------------- */

static void runs_once(struct kunit *test)
{
	struct item *item = wq_test_item(test, wq_test_count);

	KUNIT_EXPECT_FALSE(test, flush_work(&item->work));
	KUNIT_EXPECT_TRUE(test, schedule_work(&item->work));
	wait_for_completion(&item->done);
	flush_work(&item->work);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 1);
	KUNIT_EXPECT_FALSE(test, work_pending(&item->work));
	KUNIT_EXPECT_TRUE(test, schedule_work(&item->work));
	flush_workqueue(system_wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 2);
}

static void runs_on_its_cpu(struct kunit *test)
{
	struct item *item = wq_test_item(test, wq_test_count);
	unsigned int cpu;

	for_each_online_cpu (cpu) {
		KUNIT_EXPECT_TRUE(test, queue_work_on(cpu, system_wq, &item->work));
		flush_work(&item->work);
		KUNIT_EXPECT_EQ(test, item->cpu, cpu);
	}
}

static void queued_while_running(struct kunit *test)
{
	struct item *item = wq_test_item(test, wq_test_stay);
	unsigned int cpu;

	queue_work(system_wq, &item->work);
	wait_for_completion(&item->start);
	/* It runs, so it can be queued once more. It never runs twice at once, whichever CPU it is queued
	 * on. */
	for_each_online_cpu (cpu)
		KUNIT_EXPECT_EQ(test, queue_work_on(cpu, system_wq, &item->work), cpu == 0);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, completion_done(&item->start));
	complete(&item->go);
	wait_for_completion(&item->start);
	complete(&item->go);
	KUNIT_EXPECT_TRUE(test, flush_work(&item->work) || atomic_read(&item->runs) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->errors), 0);
}

static void delayed(struct kunit *test)
{
	struct item *item = wq_test_item(test, wq_test_count);
	u64 before;
	int runs;

	/* A busy host may stop this CPU for a while between two lines: only the time that is waited for is short. */
	KUNIT_EXPECT_TRUE(test, schedule_delayed_work(&item->dwork, 1000 * HZ));
	KUNIT_EXPECT_FALSE(test, schedule_delayed_work(&item->dwork, HZ / 10));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&item->dwork));
	KUNIT_EXPECT_TRUE(test, cancel_delayed_work_sync(&item->dwork));
	before = clock_ns();
	KUNIT_EXPECT_TRUE(test, schedule_delayed_work(&item->dwork, HZ / 10));
	wait_for_completion(&item->done);
	KUNIT_EXPECT_GE(test, item->when - before, (HZ / 10 - 1) * TICK_NSEC);

	/* It is cancelled before its timer runs, or else it has run. */
	KUNIT_EXPECT_TRUE(test, schedule_delayed_work(&item->dwork, 2));
	runs = cancel_delayed_work_sync(&item->dwork) ? 1 : 2;
	KUNIT_EXPECT_FALSE(test, cancel_delayed_work(&item->dwork));
	msleep(50);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), runs);
	KUNIT_EXPECT_TRUE(test, schedule_delayed_work(&item->dwork, 1000 * HZ));
	KUNIT_EXPECT_TRUE(test, cancel_delayed_work_sync(&item->dwork));

	/* Moved to another time, and then flushed before its timer runs. */
	KUNIT_EXPECT_FALSE(test, mod_delayed_work(system_wq, &item->dwork, 1000 * HZ));
	KUNIT_EXPECT_TRUE(test, mod_delayed_work(system_wq, &item->dwork, 2000 * HZ));
	flush_delayed_work(&item->dwork);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), runs + 1);
	/* No delay at all. */
	KUNIT_EXPECT_TRUE(test, schedule_delayed_work(&item->dwork, 0));
	flush_delayed_work(&item->dwork);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), runs + 2);
}

/* --- Waiting and cancelling ----------------------------------------------------------------------------- */

static int let_go(void *arg)
{
	struct item *item = arg;

	msleep(50);
	complete_all(&item->go);
	return 0;
}

static void flush_waits(struct kunit *test)
{
	struct item *item = wq_test_item(test, wq_test_stay),
		    *second = wq_test_item(test, wq_test_count);
	struct workqueue_struct *wq = wq_test_wq(test, 0, 1);
	struct task *task;

	queue_work_on(0, wq, &item->work);
	wait_for_completion(&item->start);
	/* Only one item may be active, so the second one waits in the workqueue. */
	queue_work_on(0, wq, &second->work);
	KUNIT_EXPECT_TRUE(test, work_pending(&second->work));
	task = kthread_run(let_go, item, "let_go");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_TRUE(test, flush_work(&second->work));
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&second->runs), 1);
	kthread_join(task);
}

static int flusher(void *arg)
{
	struct item *item = arg;

	flush_work(&item->work);
	complete_all(&item->done);
	return 0;
}

static void cancel_inactive(struct kunit *test)
{
	struct item *item = wq_test_item(test, wq_test_stay),
		    *second = wq_test_item(test, wq_test_count),
		    *third = wq_test_item(test, wq_test_count);
	struct workqueue_struct *wq = wq_test_wq(test, 0, 1);
	struct task *task;

	queue_work_on(0, wq, &item->work);
	wait_for_completion(&item->start);
	queue_work_on(0, wq, &second->work);
	queue_work_on(0, wq, &third->work);
	/* A thread waits for an item that is then cancelled: the thread must not wait for ever. */
	task = kthread_run(flusher, second, "flusher");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	msleep(30);
	KUNIT_EXPECT_TRUE(test, cancel_work_sync(&second->work));
	KUNIT_EXPECT_TRUE(test, cancel_work(&third->work));
	KUNIT_EXPECT_FALSE(test, cancel_work(&third->work));
	complete_all(&item->go);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	flush_workqueue(wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&second->runs) + atomic_read(&third->runs), 0);
}

static void again(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, work);

	atomic_inc(&item->runs);
	queue_work(item->wq, work);
}

static void cancel_self_queueing(struct kunit *test)
{
	struct item *item = wq_test_item(test, again);
	int runs = 0;

	item->wq = wq_test_wq(test, 0, 0);
	for (int i = 0; i < 20; i++) {
		queue_work(item->wq, &item->work);
		while (i % 2 && atomic_read(&item->runs) == runs)
			msleep(10);
		cancel_work_sync(&item->work);
		runs = atomic_read(&item->runs);
		if (i % 4 == 3)
			msleep(20);
		KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), runs);
		KUNIT_EXPECT_FALSE(test, work_pending(&item->work));
	}
	/* A flush waits for items that were queued before it, not for those that they queue. */
	queue_work(item->wq, &item->work);
	flush_workqueue(item->wq);
	flush_work(&item->work);
	cancel_work_sync(&item->work);
}

static void wait_for_other(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, work);

	if (item->other) {
		queue_work_on(0, system_wq, &item->other->work);
		flush_work(&item->other->work);
		if (!atomic_read(&item->other->runs))
			atomic_inc(&item->errors);
	}
	atomic_inc(&item->runs);
}

static void items_wait_for_items(struct kunit *test)
{
	struct item *items[40];
	/* Without the lock validator it has no size, so its elements cannot be counted. */
	static struct lock_class_key keys[ARRAY_SIZE(items)];

	/* Each item waits for the next one on the same CPU, so as many workers sleep at once. */
	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		items[i] = wq_test_item(test, wait_for_other);
		lockdep_set_class(&items[i]->work, &keys[i]);
		if (i)
			items[i - 1]->other = items[i];
	}
	queue_work_on(0, system_wq, &items[0]->work);
	flush_work(&items[0]->work);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&items[i]->runs), 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&items[i]->errors), 0);
	}
}

/* --- Workqueues ------------------------------------------------------------------------------------------- */

static atomic_t order;

static void note_order(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, work);

	msleep(1);
	if (atomic_inc_return(&item->other->inside) != 1)
		atomic_inc(&item->errors);
	item->cpu = (unsigned int)atomic_inc_return(&order);
	atomic_dec(&item->other->inside);
}

static void ordered(struct kunit *test)
{
	struct workqueue_struct *wq = alloc_ordered_workqueue("ordered", 0);
	struct item *items[20], *shared = wq_test_item(test, wq_test_count);

	KUNIT_ASSERT_NOT_NULL(test, wq);
	atomic_set(&order, 0);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		items[i] = wq_test_item(test, note_order);
		items[i]->other = shared;
		queue_work(wq, &items[i]->work);
	}
	/* This waits for all of them. */
	destroy_workqueue(wq);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		KUNIT_EXPECT_EQ(test, items[i]->cpu, i + 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&items[i]->errors), 0);
	}
}

static void unbound_runs_all(struct kunit *test)
{
	struct workqueue_struct *wq = wq_test_wq(test, WQ_UNBOUND, 0);
	struct item *items[10];

	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		items[i] = wq_test_item(test, wq_test_stay);
		queue_work(wq, &items[i]->work);
	}
	/* They all run at the same time. */
	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&items[i]->start, 10 * HZ), 0);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		complete(&items[i]->go);
	flush_workqueue(wq);
}

static void max_active(struct kunit *test)
{
	struct workqueue_struct *wq = wq_test_wq(test, WQ_UNBOUND, 2);
	struct item *items[5];

	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		items[i] = wq_test_item(test, wq_test_stay);
		queue_work(wq, &items[i]->work);
	}
	wait_for_completion(&items[0]->start);
	wait_for_completion(&items[1]->start);
	msleep(30);
	KUNIT_EXPECT_FALSE(test, completion_done(&items[2]->start));
	complete(&items[1]->go);
	wait_for_completion(&items[2]->start);
	KUNIT_EXPECT_FALSE(test, completion_done(&items[3]->start));
	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		complete(&items[i]->go);
	flush_workqueue(wq);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		KUNIT_EXPECT_EQ(test, atomic_read(&items[i]->runs), 1);
}

static void chain(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, work);

	if (atomic_inc_return(&item->runs) < 8)
		queue_work(item->wq, work);
}

static void destroy_drains(struct kunit *test)
{
	struct workqueue_struct *wq = alloc_workqueue("chained", 0, 0);
	struct item *item = wq_test_item(test, chain);

	KUNIT_ASSERT_NOT_NULL(test, wq);
	item->wq = wq;
	queue_work(wq, &item->work);
	destroy_workqueue(wq);
	KUNIT_EXPECT_EQ(test, atomic_read(&item->runs), 8);
}

static atomic_t cpus_seen;

static void see_cpu(struct work_struct *work)
{
	atomic_or(1 << smp_processor_id(), &cpus_seen);
}

static void each_cpu(struct kunit *test)
{
	atomic_set(&cpus_seen, 0);
	KUNIT_EXPECT_EQ(test, schedule_on_each_cpu(see_cpu), 0);
	KUNIT_EXPECT_EQ(test, (u32)atomic_read(&cpus_seen), cpu_online_mask);
}

static void die(struct work_struct *work)
{
	kthread_exit(1);
}

static void worker_dies(struct kunit *test)
{
	struct item *item = wq_test_item(test, die), *next = wq_test_item(test, wq_test_count);

	for (int i = 0; i < 5; i++) {
		queue_work_on(0, system_wq, &item->work);
		flush_work(&item->work);
		queue_work_on(0, system_wq, &next->work);
		flush_work(&next->work);
		KUNIT_EXPECT_EQ(test, atomic_read(&next->runs), i + 1);
		INIT_WORK(&item->work, die);
	}
	flush_workqueue(system_wq);
}

KASAN_SUITE(workqueue, KUNIT_CASE(runs_once), KUNIT_CASE(runs_on_its_cpu),
	    KUNIT_CASE(queued_while_running), KUNIT_CASE(delayed), KUNIT_CASE(flush_waits),
	    KUNIT_CASE(cancel_inactive), KUNIT_CASE(cancel_self_queueing),
	    KUNIT_CASE(items_wait_for_items), KUNIT_CASE(ordered), KUNIT_CASE(unbound_runs_all),
	    KUNIT_CASE(max_active), KUNIT_CASE(destroy_drains), KUNIT_CASE(each_cpu),
	    KUNIT_CASE(worker_dies), KUNIT_CASE_PARAM(moved_while_locking, moved_gen_params),
	    KUNIT_CASE(pending_with_interrupts_off), KUNIT_CASE(reused_item_runs),
	    KUNIT_CASE(reused_item_is_flushed),
	    {.run_case = stress_all,
	     .name = "stress_all",
	     .speed = KUNIT_SPEED_SLOW,
	     .generate_params = stress_gen_params});
