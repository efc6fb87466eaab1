// SPDX-License-Identifier: MIT
/*
 * workqueue_stress_test.c - all that can be done with work items, by two threads for each CPU at once.
 *
 * In a round, every thread does OPS random operations with random items. Then all items are cancelled, all
 * workqueues are flushed, and every count must be 0 again. During the operations threads are held back at
 * the points where another CPU could do harm (see kernel/workqueue/internal.h), so that windows of a few
 * instructions are hit.
 *
 * workqueue_test.rounds= sets the number of rounds. They run in batches, and each batch has a result of its
 * own. So a long run shows how far it is, and a run that hangs ends.
 */
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/random.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/time.h>

#include "../workqueue/internal.h"
#include "workqueue_test.h"

static unsigned int rounds = 30;
range_param("workqueue_test.rounds", rounds, 1, 4294967295, "a number",
	    "rounds of the case stress_all of the suite workqueue");

#define ITEMS 64
#define OPS   32
#define BATCH 100U
/* How long a thread is held back, in turns of an empty loop: long enough to hit the window. Where pools are
 * locked, one time in HOLD_ONE_IN only, because cancel_work() locks again and again while it waits. */
#define HOLD_LOCKED 2000U
#define HOLD_TARGET 1000U
#define HOLD_ONE_IN 4U
/* A round takes a fraction of a second: a thread that has not finished by then hangs. */
#define HANG_SECONDS 120

enum op {
	OP_CANCEL_SYNC,
	OP_FLUSH,
	OP_CANCEL,
	OP_MOD_DELAYED,
	OP_CANCEL_DELAYED_SYNC,
	OP_FLUSH_DELAYED,
	OP_FLUSH_WORKQUEUE,
	OP_FREE_ITSELF,
	OP_QUEUE, /* and all numbers after it: queueing is what most operations do */
	NR_OPS = 14,
};

static const char *const op_names[] = {
	"cancel_work_sync()",
	"flush_work()",
	"cancel_work()",
	"mod_delayed_work()",
	"cancel_delayed_work_sync()",
	"flush_delayed_work()",
	"flush_workqueue()",
	"kmalloc() and queue_work()",
	"queue_work_on()",
};

struct stress {
	struct workqueue_struct *wqs[4];
	struct item items[ITEMS];
	atomic_long_t freed, made;
};

struct stress_thread {
	struct stress *stress;
	struct task *task;
	enum op op;
	unsigned int done;
};

/* --- Holding threads back -------------------------------------------------------------------------- */

static atomic_long_t holds, wrong_pools;

static void idle_turns(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		barrier();
}

static void hold_back(enum workqueue_point point, struct work_struct *work,
		      struct worker_pool *pool)
{
	switch (point) {
	case WQ_POOL_LOCKED:
	case WQ_POOL_FOUND:
		if (get_random_u32() % HOLD_ONE_IN)
			break;
		atomic_long_inc(&holds);
		idle_turns(HOLD_LOCKED);
		break;
	case WQ_TARGET_LOCKED:
		atomic_long_inc(&holds);
		idle_turns(HOLD_TARGET);
		break;
	case WQ_CHANGE:
		if (work->pwq->pool != pool)
			atomic_long_inc(&wrong_pools);
		break;
	default:
		break;
	}
}

static void let_go(void *unused)
{
	WRITE_ONCE(workqueue_hook, NULL);
}

/* --- The items ------------------------------------------------------------------------------------- */

static void stress_item(struct work_struct *work)
{
	struct item *item = container_of(work, struct item, work);

	if (atomic_inc_return(&item->inside) != 1)
		atomic_inc(&item->errors);
	if (get_random_u32() % 16 == 0)
		msleep(1);
	atomic_inc(&item->runs);
	atomic_dec(&item->inside);
}

struct passing {
	struct work_struct work;
	struct rcu_head rcu;
	struct stress *stress;
};

static void free_itself(struct work_struct *work)
{
	struct passing *passing = container_of(work, struct passing, work);

	atomic_long_inc(&passing->stress->freed);
	if (get_random_u32() % 2)
		kfree(passing);
	else
		kfree_rcu(passing, rcu);
}

static void make_passing(struct stress *stress, struct workqueue_struct *wq)
{
	struct passing *passing = kmalloc(sizeof(*passing), GFP_KERNEL);

	if (!passing)
		return;
	INIT_WORK(&passing->work, free_itself);
	passing->stress = stress;
	atomic_long_inc(&stress->made);
	queue_work(wq, &passing->work);
}

/* --- The threads ----------------------------------------------------------------------------------- */

static void do_op(struct stress *stress, enum op op)
{
	struct item *item = &stress->items[get_random_u32() % ITEMS];
	struct workqueue_struct *wq = item->wq;

	switch (op) {
	case OP_CANCEL_SYNC:
		cancel_work_sync(&item->work);
		break;
	case OP_FLUSH:
		flush_work(&item->work);
		break;
	case OP_CANCEL:
		cancel_work(&item->work);
		break;
	case OP_MOD_DELAYED:
		mod_delayed_work(wq, &item->dwork, get_random_u32() % 3);
		break;
	case OP_CANCEL_DELAYED_SYNC:
		cancel_delayed_work_sync(&item->dwork);
		break;
	case OP_FLUSH_DELAYED:
		flush_delayed_work(&item->dwork);
		break;
	case OP_FLUSH_WORKQUEUE:
		if (get_random_u32() % 8 == 0)
			flush_workqueue(wq);
		break;
	case OP_FREE_ITSELF:
		make_passing(stress, wq);
		break;
	default:
		queue_work_on(get_random_u32() % num_online_cpus(), wq, &item->work);
	}
}

static int stress_thread(void *arg)
{
	struct stress_thread *thread = arg;

	for (unsigned int i = 0; i < OPS; i++) {
		enum op op = min(get_random_u32() % NR_OPS, (u32)OP_QUEUE);

		WRITE_ONCE(thread->op, op);
		do_op(thread->stress, op);
		WRITE_ONCE(thread->done, i + 1);
	}
	return 0;
}

/* Return: false if a thread hangs. It may still use everything, so nothing may be freed then. */
static bool run_threads(struct kunit *test, struct stress *stress, struct stress_thread *threads,
			unsigned int n)
{
	bool ended = true;
	int value;

	for (unsigned int i = 0; i < n; i++) {
		threads[i] = (struct stress_thread){.stress = stress};
		threads[i].task = kthread_run(stress_thread, &threads[i], "wq_stress/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, threads[i].task);
	}
	for (unsigned int i = 0; i < n; i++) {
		if (kthread_join_timeout(threads[i].task, HANG_SECONDS * HZ, &value)) {
			KUNIT_EXPECT_EQ(test, value, 0);
			continue;
		}
		KUNIT_FAIL(test, "thread %u hangs in %s after %u operations", i,
			   op_names[READ_ONCE(threads[i].op)], READ_ONCE(threads[i].done));
		ended = false;
	}
	return ended;
}

/* --- The rounds ------------------------------------------------------------------------------------ */

/* Return: true if no part of @wq has an item that is queued, runs or is counted. */
static bool at_rest(struct workqueue_struct *wq)
{
	bool rest = true;

	for (unsigned int i = 0; i < wq->nr_pwqs; i++) {
		struct pool_workqueue *pwq = &wq->pwqs[i];

		raw_spin_lock_irq(&pwq->pool->lock);
		rest &= !pwq->in_flight[0] && !pwq->in_flight[1] && !pwq->nr_active &&
			list_empty(&pwq->inactive);
		raw_spin_unlock_irq(&pwq->pool->lock);
	}
	return rest;
}

/* Return: how often items have run so far. */
static unsigned long come_to_rest(struct kunit *test, struct stress *stress)
{
	unsigned long runs = 0;

	for (unsigned int i = 0; i < ITEMS; i++) {
		struct item *item = &stress->items[i];

		cancel_delayed_work_sync(&item->dwork);
		cancel_work_sync(&item->work);
		KUNIT_EXPECT_EQ(test, atomic_read(&item->errors), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&item->inside), 0);
		KUNIT_EXPECT_FALSE(test, work_pending(&item->work));
		KUNIT_EXPECT_FALSE(test, delayed_work_pending(&item->dwork));
		runs += (unsigned long)atomic_read(&item->runs);
	}
	for (size_t i = 0; i < ARRAY_SIZE(stress->wqs); i++) {
		flush_workqueue(stress->wqs[i]);
		KUNIT_EXPECT_TRUE(test, at_rest(stress->wqs[i]));
	}
	KUNIT_EXPECT_EQ(test, atomic_long_read(&stress->freed), atomic_long_read(&stress->made));
	KUNIT_EXPECT_EQ(test, atomic_long_read(&wrong_pools), 0);
	return runs;
}

static bool make_wqs(struct stress *stress)
{
	static const unsigned int flags[] = {0, 0, WQ_UNBOUND, WQ_UNBOUND};
	static const unsigned int max_active[] = {0, 2, 0, 1};
	bool made = true;

	for (size_t i = 0; i < ARRAY_SIZE(stress->wqs); i++) {
		stress->wqs[i] = alloc_workqueue("stress/%zu", flags[i], max_active[i], i);
		made &= stress->wqs[i] != NULL;
	}
	return made;
}

static void run_batch(struct kunit *test, struct stress *stress, unsigned int n)
{
	struct stress_thread *threads;
	unsigned long runs = 0;
	u64 begin = clock_ns();

	threads = kcalloc(2 * num_online_cpus(), sizeof(*threads), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, threads);
	for (unsigned int i = 0; i < n && test->status != KUNIT_FAILURE; i++) {
		if (!run_threads(test, stress, threads, 2 * num_online_cpus()))
			return;
		runs = come_to_rest(test, stress);
	}
	kfree(threads);
	KUNIT_EXPECT_GT(test, runs, n);
	/* Without the hook this would show little. */
	KUNIT_EXPECT_GT(test, atomic_long_read(&holds), n);
	kunit_info(test, "%u rounds in %llu ms: %lu runs, %ld freed themselves, %ld holds", n,
		   (unsigned long long)(clock_ns() - begin) / NSEC_PER_MSEC, runs,
		   atomic_long_read(&stress->freed), atomic_long_read(&holds));
}

/* The first round of the batch, counted from 0. */
static unsigned int first_round;

const void *stress_gen_params(const void *prev, char *desc)
{
	unsigned int last;

	first_round = prev ? first_round + min(BATCH, rounds - first_round) : 0;
	if (first_round == rounds)
		return NULL;
	last = first_round + min(BATCH, rounds - first_round);
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "rounds %u to %u", first_round + 1, last);
	return &first_round;
}

void stress_all(struct kunit *test)
{
	struct stress *stress = kzalloc(sizeof(*stress), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, stress);
	/* Nothing is freed after a failure: a thread may still use it. */
	KUNIT_ASSERT_TRUE(test, make_wqs(stress));
	for (unsigned int i = 0; i < ITEMS; i++) {
		struct item *item = &stress->items[i];

		item->wq = stress->wqs[i % ARRAY_SIZE(stress->wqs)];
		INIT_WORK(&item->work, stress_item);
		INIT_DELAYED_WORK(&item->dwork, wq_test_count_delayed);
		init_completion(&item->done);
	}
	atomic_long_set(&holds, 0);
	atomic_long_set(&wrong_pools, 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, let_go, NULL), 0);
	WRITE_ONCE(workqueue_hook, hold_back);
	run_batch(test, stress, min(BATCH, rounds - first_round));
	let_go(NULL);
	if (test->status == KUNIT_FAILURE)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(stress->wqs); i++)
		destroy_workqueue(stress->wqs[i]);
	rcu_barrier();
	kfree(stress);
}
