// SPDX-License-Identifier: MIT
/* sched_test.c - threads, preemption, sleeping, locks, wait queues, timers, and more than one CPU.
 */
#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/mutex.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/spinlock.h>
#include <kernel/time.h>
#include <kernel/timer.h>
#include <kernel/wait.h>

#include "kasan_test.h"

/* --- Threads ---------------------------------------------------------------------------------- */

static int return_arg(void *arg)
{
	return (int)(intptr_t)arg;
}

static int exit_arg(void *arg)
{
	kthread_exit((int)(intptr_t)arg);
}

static void exit_values(struct kunit *test)
{
	struct task *task = kthread_run(return_arg, (void *)42, "return");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 42);
	task = kthread_run(exit_arg, (void *)-7, "exit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), -7);
	task = kthread_create(return_arg, (void *)1, "never started");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), -EINTR);
}

static volatile bool spinning, went_on;

static int spin_for_ever(void *arg)
{
	spinning = true;
	for (;;)
		cpu_relax();
	return 0;
}

/* Killed where it must not be preempted, it ends only behind that place. */
static int spin_atomically(void *arg)
{
	preempt_disable();
	kthread_kill(current);
	for (unsigned long end = jiffies + 3; time_before(jiffies, end);)
		cpu_relax();
	went_on = true;
	preempt_enable();
	for (;;)
		cpu_relax();
	return 0;
}

static void kill(struct kunit *test)
{
	struct task *task;
	int value = 0;

	spinning = false;
	task = kthread_run(spin_for_ever, NULL, "endless");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	while (!spinning)
		msleep(10);
	KUNIT_EXPECT_FALSE(test, kthread_join_timeout(task, 2, &value));
	kthread_kill(task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), -EFAULT);
	went_on = false;
	task = kthread_run(spin_atomically, NULL, "atomic");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), -EFAULT);
	KUNIT_EXPECT_TRUE(test, went_on);
}

static void join_with_timeout(struct kunit *test)
{
	struct task *task = kthread_run(return_arg, (void *)9, "return");
	int value = 0;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_TRUE(test, kthread_join_timeout(task, MAX_SCHEDULE_TIMEOUT, &value));
	KUNIT_EXPECT_EQ(test, value, 9);
}

static int wait_for_stop(void *arg)
{
	atomic_t *rounds = arg;

	while (!kthread_should_stop()) {
		atomic_inc(rounds);
		msleep(10);
	}
	return 5;
}

static void stop(struct kunit *test)
{
	atomic_t rounds = ATOMIC_INIT(0);
	struct task *task = kthread_run(wait_for_stop, &rounds, "stop");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	while (!atomic_read(&rounds))
		msleep(10);
	KUNIT_EXPECT_EQ(test, kthread_stop(task), 5);
}

static int deep_stack(void *arg)
{
	volatile u8 big[60000];

	big[0] = 1;
	big[sizeof(big) - 1] = 2;
	return big[0] + big[sizeof(big) - 1];
}

static void sized_stack(struct kunit *test)
{
	struct task *task = kthread_create_sized(deep_stack, NULL, 128 * 1024, "deep");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	wake_up_process(task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 3);
}

static void many_threads(struct kunit *test)
{
	struct task *tasks[40];

	for (int round = 0; round < 5; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
			tasks[i] = kthread_run(return_arg, (void *)i, "many/%zu", i);
			KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
		}
		for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
			KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), i);
	}
}

/* --- Preemption and time ---------------------------------------------------------------------- */

struct spinner {
	volatile bool stop;
	volatile unsigned long rounds;
};

static int spin(void *arg)
{
	struct spinner *spinner = arg;

	while (!spinner->stop)
		spinner->rounds++;
	return 0;
}

static void preemption(struct kunit *test)
{
	struct spinner spinners[NR_CPUS + 2] = {0};
	struct task *tasks[NR_CPUS + 2];
	unsigned int n = num_online_cpus() + 2;

	/* More threads that never yield than CPUs: each gets a turn, and so does this one. */
	for (unsigned int i = 0; i < n; i++) {
		tasks[i] = kthread_run(spin, &spinners[i], "spin");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (int waited = 0; waited < 500; waited++) {
		unsigned int running = 0;

		for (unsigned int i = 0; i < n; i++)
			running += spinners[i].rounds != 0;
		if (running == n)
			break;
		msleep(10);
	}
	for (unsigned int i = 0; i < n; i++) {
		spinners[i].stop = true;
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
		KUNIT_EXPECT_GT(test, spinners[i].rounds, 0);
	}
}

static void sleeping(struct kunit *test)
{
	u64 before = clock_ns();

	msleep(50);
	KUNIT_EXPECT_GE(test, clock_ns() - before, 50 * NSEC_PER_MSEC);
	before = clock_ns();
	udelay(500);
	KUNIT_EXPECT_GE(test, clock_ns() - before, 500 * NSEC_PER_USEC);
}

static void preempt_counting(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
	KUNIT_EXPECT_TRUE(test, preemptible());
	preempt_disable();
	preempt_disable();
	KUNIT_EXPECT_EQ(test, preempt_count(), 2);
	KUNIT_EXPECT_TRUE(test, in_atomic());
	preempt_enable();
	preempt_enable();
	KUNIT_EXPECT_FALSE(test, in_atomic());
	KUNIT_EXPECT_FALSE(test, in_interrupt());
}

struct timer_test {
	struct timer_list timer;
	atomic_t fired;
	volatile bool in_softirq, irqs_on;
	struct completion done;
};

static void timer_fires(struct timer_list *timer)
{
	struct timer_test *t = from_timer(t, timer, timer);

	t->in_softirq = in_serving_softirq() && !in_hardirq();
	t->irqs_on = !irqs_disabled();
	if (atomic_inc_return(&t->fired) < 3)
		mod_timer(&t->timer, jiffies + 1);
	else
		complete(&t->done);
}

/* Runs for longer than a tick, and is due again all the time. */
struct slow_timer {
	struct timer_list timer;
	atomic_t running, runs, overlaps;
};

static void slow_fires(struct timer_list *timer)
{
	struct slow_timer *t = from_timer(t, timer, timer);
	u64 until = clock_ns() + 3 * TICK_NSEC;

	if (atomic_inc_return(&t->running) > 1)
		atomic_inc(&t->overlaps);
	if (atomic_inc_return(&t->runs) < 4)
		mod_timer(&t->timer, jiffies);
	while (clock_ns() < until)
		cpu_relax();
	atomic_dec(&t->running);
}

/* The other CPUs tick meanwhile, but the function is never in two places. */
static void timer_overlaps_never(struct kunit *test)
{
	struct slow_timer t = {0};

	timer_setup_on_stack(&t.timer, slow_fires, 0);
	mod_timer(&t.timer, jiffies);
	while (atomic_read(&t.runs) < 4 || atomic_read(&t.running))
		msleep(10);
	KUNIT_EXPECT_FALSE(test, del_timer_sync(&t.timer));
	KUNIT_EXPECT_EQ(test, atomic_read(&t.runs), 4);
	KUNIT_EXPECT_EQ(test, atomic_read(&t.overlaps), 0);
}

static void timers(struct kunit *test)
{
	struct timer_test t = {0};

	init_completion(&t.done);
	timer_setup_on_stack(&t.timer, timer_fires, 0);
	mod_timer(&t.timer, jiffies + 2);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&t.done, 5 * HZ), 0);
	KUNIT_EXPECT_FALSE(test, del_timer_sync(&t.timer));
	KUNIT_EXPECT_EQ(test, atomic_read(&t.fired), 3);
	KUNIT_EXPECT_TRUE(test, t.in_softirq);
	KUNIT_EXPECT_TRUE(test, t.irqs_on);
	mod_timer(&t.timer, jiffies + 1000 * HZ);
	KUNIT_EXPECT_TRUE(test, timer_pending(&t.timer));
	KUNIT_EXPECT_TRUE(test, del_timer_sync(&t.timer));
}

/* --- Locks ------------------------------------------------------------------------------------ */

#define LOCK_ROUNDS 5000

struct counter {
	spinlock_t spin;
	struct mutex mutex;
	bool sleeping_lock;
	volatile unsigned long value;
};

static int count_up(void *arg)
{
	struct counter *c = arg;
	unsigned long flags;

	for (int i = 0; i < LOCK_ROUNDS; i++) {
		if (c->sleeping_lock) {
			mutex_lock(&c->mutex);
			c->value++;
			if (i % 64 == 0)
				yield();
			mutex_unlock(&c->mutex);
		} else {
			spin_lock_irqsave(&c->spin, flags);
			c->value++;
			spin_unlock_irqrestore(&c->spin, flags);
		}
	}
	return 0;
}

static void count_with_lock(struct kunit *test, bool sleeping_lock)
{
	struct counter c = {.sleeping_lock = sleeping_lock};
	struct task *tasks[4];

	spin_lock_init(&c.spin);
	mutex_init(&c.mutex);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		tasks[i] = kthread_run(count_up, &c, "count");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	KUNIT_EXPECT_EQ(test, c.value, ARRAY_SIZE(tasks) * LOCK_ROUNDS);
}

static void spinlocks(struct kunit *test)
{
	count_with_lock(test, false);
}

static void mutexes(struct kunit *test)
{
	struct mutex mutex;

	mutex_init(&mutex);
	count_with_lock(test, true);
	KUNIT_EXPECT_TRUE(test, mutex_trylock(&mutex));
	KUNIT_EXPECT_FALSE(test, mutex_trylock(&mutex));
	KUNIT_EXPECT_TRUE(test, mutex_is_locked(&mutex));
	mutex_unlock(&mutex);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&mutex));
}

/* --- Waiting ---------------------------------------------------------------------------------- */

struct ping_pong {
	struct wait_queue_head queue;
	volatile int turn;
};

static int pong(void *arg)
{
	struct ping_pong *p = arg;

	for (int i = 0; i < 200; i++) {
		wait_event(p->queue, p->turn == 1);
		p->turn = 0;
		wake_up_all(&p->queue);
	}
	return 0;
}

static void wait_queues(struct kunit *test)
{
	struct ping_pong p = {0};
	struct task *task;

	init_waitqueue_head(&p.queue);
	task = kthread_run(pong, &p, "pong");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	for (int i = 0; i < 200; i++) {
		p.turn = 1;
		wake_up_all(&p.queue);
		KUNIT_ASSERT_GT(test, wait_event_timeout(p.queue, p.turn == 0, 10 * HZ), 0);
	}
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	KUNIT_EXPECT_EQ(test, wait_event_timeout(p.queue, p.turn == 1, 3), 0);
}

static int complete_later(void *arg)
{
	msleep(20);
	complete(arg);
	return 0;
}

static void completions(struct kunit *test)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct task *task;

	KUNIT_EXPECT_FALSE(test, try_wait_for_completion(&done));
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&done, 2), 0);
	task = kthread_run(complete_later, &done, "complete");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	wait_for_completion(&done);
	KUNIT_EXPECT_FALSE(test, completion_done(&done));
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	complete_all(&done);
	wait_for_completion(&done);
	wait_for_completion(&done);
}

/* --- More than one CPU ------------------------------------------------------------------------ */

static void note_cpu(void *arg)
{
	atomic_t *calls = arg;

	atomic_inc(calls);
}

static void call_function(struct kunit *test)
{
	atomic_t calls = ATOMIC_INIT(0);

	smp_call_function_many(note_cpu, &calls, true);
	KUNIT_EXPECT_EQ(test, atomic_read(&calls), num_online_cpus() - 1);
}

struct migrant {
	volatile bool stop;
	volatile unsigned long seen; /* bit per CPU */
};

static int migrate(void *arg)
{
	struct migrant *m = arg;

	while (!m->stop) {
		preempt_disable();
		m->seen |= BIT(smp_processor_id());
		preempt_enable();
		msleep(10);
	}
	return 0;
}

static void spread_over_cpus(struct kunit *test)
{
	struct migrant migrants[8] = {0};
	struct task *tasks[8];
	unsigned long seen = 0;
	unsigned int n = num_online_cpus();

	kunit_needs(test, n >= 2, "two CPUs");
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		tasks[i] = kthread_run(migrate, &migrants[i], "migrate");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (int waited = 0; waited < 300 && seen != BIT(n) - 1; waited++) {
		msleep(10);
		for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
			seen |= migrants[i].seen;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		migrants[i].stop = true;
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, seen, BIT(n) - 1);
}

KASAN_SUITE(sched, KUNIT_CASE(exit_values), KUNIT_CASE(kill), KUNIT_CASE(join_with_timeout),
	    KUNIT_CASE(stop), KUNIT_CASE(sized_stack), KUNIT_CASE(many_threads),
	    KUNIT_CASE(preemption), KUNIT_CASE(sleeping), KUNIT_CASE(preempt_counting),
	    KUNIT_CASE(timers), KUNIT_CASE(timer_overlaps_never), KUNIT_CASE(spinlocks),
	    KUNIT_CASE(mutexes), KUNIT_CASE(wait_queues), KUNIT_CASE(completions),
	    KUNIT_CASE(call_function), KUNIT_CASE(spread_over_cpus));
