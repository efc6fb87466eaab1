// SPDX-License-Identifier: MIT
/*
 * sched_rt_test.c - real-time priorities: which task runs first on one CPU, which ones on several, lent priorities, tasks that must
 * stay on their CPU, and waiting for a lock in the middle of going to sleep.
 *
 * Where the order on one CPU matters, the test stays on its CPU as the most urgent task, binds its threads to that CPU,
 * wakes them all, and then sleeps until they end. Each thread adds letters to a text that is compared then. The threads
 * use no timers: in a real-time kernel timers run in threads as well, which these ones may keep off the CPU.
 */
#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>

#include "kasan_test.h"

#define TEST_PRIORITY 90U

static char text[64];
static atomic_t text_len;

static void say(char c)
{
	int at = atomic_inc_return(&text_len) - 1;

	if (at < (int)sizeof(text) - 1)
		text[at] = c;
}

static void spin_ticks(unsigned long ticks)
{
	for (unsigned long end = jiffies + ticks; time_before(jiffies, end);)
		cpu_relax();
}

/* Become the most urgent task and stay on this CPU. Return: its number. */
static unsigned int take_cpu(void)
{
	memset(text, 0, sizeof(text));
	atomic_set(&text_len, 0);
	migrate_disable();
	sched_setscheduler(current, SCHED_FIFO, TEST_PRIORITY);
	return smp_processor_id();
}

static void leave_cpu(void)
{
	sched_set_normal(current);
	migrate_enable();
}

/* Make a thread that is bound to this CPU; rt_priority 0: a fair one. */
static struct task *bound(struct kunit *test, int (*fn)(void *), void *arg,
			  unsigned int rt_priority)
{
	struct task *task = kthread_create(fn, arg, "bound/%u", rt_priority);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	kthread_bind(task, smp_processor_id());
	if (rt_priority)
		KUNIT_EXPECT_EQ(test, sched_setscheduler(task, SCHED_FIFO, rt_priority), 0);
	return task;
}

/* --- One CPU ----------------------------------------------------------------------------------------- */

static void arguments(struct kunit *test)
{
	struct task *task = kthread_create(NULL, NULL, "arguments");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, task->prio, DEFAULT_PRIO);
	KUNIT_EXPECT_EQ(test, sched_setscheduler(task, SCHED_FIFO, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, sched_setscheduler(task, SCHED_FIFO, 100), -EINVAL);
	KUNIT_EXPECT_EQ(test, sched_setscheduler(task, SCHED_NORMAL, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, sched_setscheduler(task, 7, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, sched_setscheduler(&init_task, SCHED_FIFO, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, task->prio, DEFAULT_PRIO);
	KUNIT_EXPECT_FALSE(test, rt_task(task));
	KUNIT_EXPECT_EQ(test, sched_setscheduler(task, SCHED_FIFO, 99), 0);
	KUNIT_EXPECT_EQ(test, task->prio, 0);
	KUNIT_EXPECT_TRUE(test, rt_task(task));
	sched_set_fifo(task);
	KUNIT_EXPECT_EQ(test, task->rt_priority, 50);
	KUNIT_EXPECT_EQ(test, task->prio, 49);
	sched_set_fifo_low(task);
	KUNIT_EXPECT_EQ(test, task->prio, 98);
	sched_set_normal(task);
	KUNIT_EXPECT_EQ(test, task->prio, DEFAULT_PRIO);
	KUNIT_EXPECT_EQ(test, task->policy, SCHED_NORMAL);
	KUNIT_EXPECT_EQ(test, task->rt_priority, 0);
	KUNIT_EXPECT_EQ(test, kthread_join(task), -EINTR);
}

/* Longer than a time slice: fair tasks would take turns. */
static int say_twice(void *arg)
{
	char c = (char)(uintptr_t)arg;

	say(c);
	spin_ticks(RR_TIMESLICE + 1);
	say(c);
	return 0;
}

static void order(struct kunit *test)
{
	static const unsigned int priorities[] = {0, 10, 30, 20, 30, 99, 20, 1};
	struct task *tasks[ARRAY_SIZE(priorities)];

	take_cpu();
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		tasks[i] = bound(test, say_twice, (void *)('a' + i), priorities[i]);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		wake_up_process(tasks[i]);
	/* f alone is more urgent than the test. */
	KUNIT_EXPECT_STREQ(test, text, "ff");
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		kthread_join(tasks[i]);
	KUNIT_EXPECT_STREQ(test, text, "ffcceeddggbbhhaa");
	leave_cpu();
}

static int say_once(void *arg)
{
	say((char)(uintptr_t)arg);
	return 0;
}

static struct task *to_wake, *to_wake_masked;

static int wakes_others(void *arg)
{
	static DEFINE_RAW_SPINLOCK(lock);
	unsigned long flags;

	say('(');
	wake_up_process(to_wake);
	say('|');
	raw_spin_lock_irqsave(&lock, flags);
	wake_up_process(to_wake_masked);
	say('-');
	raw_spin_unlock_irqrestore(&lock, flags);
	say(')');
	return 0;
}

/* @rt_priority: of the task that wakes two of 20. */
static void check_wake_up(struct kunit *test, unsigned int rt_priority, const char *expected)
{
	struct task *waker;

	take_cpu();
	waker = bound(test, wakes_others, NULL, rt_priority);
	to_wake = bound(test, say_once, (void *)'a', 20);
	to_wake_masked = bound(test, say_once, (void *)'b', 20);
	wake_up_process(waker);
	kthread_join(waker);
	kthread_join(to_wake);
	kthread_join(to_wake_masked);
	KUNIT_EXPECT_STREQ(test, text, expected);
	leave_cpu();
}

static void wake_up_preempts(struct kunit *test)
{
	check_wake_up(test, 0, "(a|-b)");
	check_wake_up(test, 19, "(a|-b)");
}

static int say_yield_say(void *arg)
{
	char c = (char)(uintptr_t)arg;

	say(c);
	if (c == 'a')
		wake_up_process(to_wake);
	say(c);
	yield();
	say(c);
	return 0;
}

/* A task that is preempted goes on before its equals, one that yields behind them. */
static void equals(struct kunit *test)
{
	struct task *a, *b;

	take_cpu();
	a = bound(test, say_yield_say, (void *)'a', 20);
	b = bound(test, say_yield_say, (void *)'b', 20);
	to_wake = bound(test, say_once, (void *)'!', 21);
	wake_up_process(a);
	wake_up_process(b);
	kthread_join(a);
	kthread_join(b);
	kthread_join(to_wake);
	KUNIT_EXPECT_STREQ(test, text, "a!abbab");
	leave_cpu();
}

static int lowers_itself(void *arg)
{
	say('(');
	sched_setscheduler(current, SCHED_FIFO, 20);
	say('=');
	sched_setscheduler(current, SCHED_FIFO, 10);
	say('-');
	sched_set_normal(current);
	say(')');
	return 0;
}

static void change(struct kunit *test)
{
	struct task *a, *b, *c, *d;

	take_cpu();
	a = bound(test, lowers_itself, NULL, 30);
	b = bound(test, say_once, (void *)'b', 20);
	c = bound(test, say_once, (void *)'c', 2);
	d = bound(test, say_once, (void *)'d', 0);
	wake_up_process(c);
	wake_up_process(d);
	wake_up_process(b);
	wake_up_process(a);
	/* They wait already. */
	KUNIT_EXPECT_EQ(test, sched_setscheduler(d, SCHED_FIFO, 40), 0);
	KUNIT_EXPECT_STREQ(test, text, "");
	/* This one is now more urgent than the test. */
	KUNIT_EXPECT_EQ(test, sched_setscheduler(c, SCHED_FIFO, 91), 0);
	KUNIT_EXPECT_STREQ(test, text, "c");
	kthread_join(d);
	KUNIT_EXPECT_STREQ(test, text, "cd");
	kthread_join(a);
	kthread_join(b);
	kthread_join(c);
	KUNIT_EXPECT_STREQ(test, text, "cd(=b-)");
	leave_cpu();
}

/* --- Lent priorities ----------------------------------------------------------------------------------- */

static void lending(struct kunit *test)
{
	struct task *a, *b, *c;

	take_cpu();
	a = bound(test, say_once, (void *)'a', 0);
	b = bound(test, say_once, (void *)'b', 20);
	c = bound(test, say_once, (void *)'c', 10);
	wake_up_process(b);
	wake_up_process(c);
	wake_up_process(a);
	rt_mutex_setprio(a, 60);
	KUNIT_EXPECT_EQ(test, a->prio, 60);
	KUNIT_EXPECT_EQ(test, a->normal_prio, DEFAULT_PRIO);
	/* Its own priority changes, the lent one stays in effect, until the own one is more urgent. */
	sched_setscheduler(a, SCHED_FIFO, 5);
	KUNIT_EXPECT_EQ(test, a->prio, 60);
	sched_setscheduler(a, SCHED_FIFO, 45);
	KUNIT_EXPECT_EQ(test, a->prio, 54);
	sched_set_normal(a);
	KUNIT_EXPECT_EQ(test, a->prio, 60);
	/* Lent to c and taken back: it is again behind b. */
	rt_mutex_setprio(c, 50);
	KUNIT_EXPECT_EQ(test, c->prio, 50);
	rt_mutex_setprio(c, MAX_PRIO);
	KUNIT_EXPECT_EQ(test, c->prio, 89);
	KUNIT_EXPECT_STREQ(test, text, "");
	kthread_join(a);
	kthread_join(b);
	kthread_join(c);
	KUNIT_EXPECT_STREQ(test, text, "abc");
	leave_cpu();
}

static int borrows(void *arg)
{
	say('(');
	rt_mutex_setprio(current, 5);
	wake_up_process(to_wake);
	say('+');
	rt_mutex_setprio(current, MAX_PRIO);
	say(')');
	return 0;
}

/* The task that runs has a lent priority, and runs on until it gives that back. */
static void lent_to_running(struct kunit *test)
{
	struct task *task;

	take_cpu();
	task = bound(test, borrows, NULL, 10);
	to_wake = bound(test, say_once, (void *)'a', 20);
	wake_up_process(task);
	kthread_join(task);
	kthread_join(to_wake);
	KUNIT_EXPECT_STREQ(test, text, "(+a)");
	leave_cpu();
}

/* --- Several CPUs ---------------------------------------------------------------------------------------- */

struct hog {
	struct task *task;
	volatile unsigned long beats;
	volatile bool stop;
	bool pinned;
	volatile unsigned int cpu;
};

static int hog(void *arg)
{
	struct hog *h = arg;

	if (h->pinned)
		migrate_disable();
	while (!h->stop) {
		h->cpu = smp_processor_id();
		h->beats++;
		cpu_relax();
	}
	if (h->pinned)
		migrate_enable();
	return 0;
}

static void start_hog(struct kunit *test, struct hog *h, unsigned int rt_priority)
{
	h->task = kthread_create(hog, h, "hog/%u", rt_priority);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, h->task);
	if (rt_priority)
		sched_setscheduler(h->task, SCHED_FIFO, rt_priority);
	wake_up_process(h->task);
}

/* Wait, up to ten seconds, for a while in which each of the hogs of @run runs, and none of those of @wait does. */
static bool settled(struct hog *hogs, size_t nr, unsigned long run, unsigned long wait)
{
	unsigned long end = jiffies + 10 * HZ, before[32];

	while (time_before(jiffies, end)) {
		unsigned long moved = 0;

		for (size_t i = 0; i < nr; i++)
			before[i] = hogs[i].beats;
		spin_ticks(1);
		do {
			for (size_t i = 0; i < nr; i++) {
				if (hogs[i].beats != before[i])
					moved |= BIT(i);
			}
		} while ((moved & run) != run && time_before(jiffies, end));
		if ((moved & run) == run && !(moved & wait))
			return true;
	}
	return false;
}

static void stop_hogs(struct kunit *test, struct hog *hogs, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		hogs[i].stop = true;
	for (size_t i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(hogs[i].task), 0);
}

/* The most urgent tasks of all run, wherever they were woken, and follow a change of priority. The test has one CPU. */
static void most_urgent_run(struct kunit *test)
{
	unsigned int n = num_online_cpus();
	size_t nr = 2UL * n;
	struct hog hogs[2 * NR_CPUS] = {0};
	unsigned long all = BIT(nr) - 1, top;

	kunit_needs(test, n >= 2, "two CPUs");
	take_cpu();
	/* From the least urgent to the most urgent one. */
	for (size_t i = 0; i < nr; i++)
		start_hog(test, &hogs[i], 10 + (unsigned int)i);
	top = all & ~(BIT(nr - (n - 1)) - 1);
	KUNIT_EXPECT_TRUE(test, settled(hogs, nr, top, all & ~top));
	/* The least urgent one becomes the most urgent one, by a loan. */
	rt_mutex_setprio(hogs[0].task, 20);
	top = (top & (top - 1)) | 1;
	KUNIT_EXPECT_TRUE(test, settled(hogs, nr, top, all & ~top));
	rt_mutex_setprio(hogs[0].task, MAX_PRIO);
	top = all & ~(BIT(nr - (n - 1)) - 1);
	KUNIT_EXPECT_TRUE(test, settled(hogs, nr, top, all & ~top));
	/* The most urgent one becomes fair. */
	sched_set_normal(hogs[nr - 1].task);
	top = (top | top >> 1) & ~BIT(nr - 1);
	KUNIT_EXPECT_TRUE(test, settled(hogs, nr, top, all & ~top));
	/* One ends, and the next one takes its place. */
	hogs[nr - 2].stop = true;
	top = (top | top >> 1) & ~BIT(nr - 2);
	KUNIT_EXPECT_TRUE(test, settled(hogs, nr, top, all & ~top));
	stop_hogs(test, hogs, nr);
	leave_cpu();
}

/* A task that must stay on its CPU waits for it, even if others are idle. One that may move does. */
static void migration(struct kunit *test)
{
	struct hog hogs[2] = {0};
	unsigned int cpu;

	kunit_needs(test, num_online_cpus() >= 3, "three CPUs");
	for (int pinned = 0; pinned < 2; pinned++) {
		take_cpu();
		memset(hogs, 0, sizeof(hogs));
		hogs[0].pinned = pinned;
		start_hog(test, &hogs[0], 0);
		KUNIT_EXPECT_TRUE(test, settled(hogs, 1, 1, 0));
		/* The other one takes the CPU that the first one is on. */
		cpu = hogs[0].cpu;
		hogs[1].task = kthread_create(hog, &hogs[1], "bound hog");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hogs[1].task);
		kthread_bind(hogs[1].task, cpu);
		sched_setscheduler(hogs[1].task, SCHED_FIFO, 10);
		wake_up_process(hogs[1].task);
		if (pinned) {
			KUNIT_EXPECT_TRUE(test, settled(hogs, 2, 2, 1));
			spin_ticks(5);
			KUNIT_EXPECT_TRUE(test, settled(hogs, 2, 2, 1));
			KUNIT_EXPECT_EQ(test, hogs[0].cpu, cpu);
		} else {
			KUNIT_EXPECT_TRUE(test, settled(hogs, 2, 3, 0));
		}
		leave_cpu();
		hogs[1].stop = true;
		KUNIT_EXPECT_EQ(test, kthread_join(hogs[1].task), 0);
		hogs[0].stop = true;
		KUNIT_EXPECT_EQ(test, kthread_join(hogs[0].task), 0);
	}
}

/* A real-time task that waits for its own CPU is none of the other CPUs' business. */
static void others_go_on(struct kunit *test)
{
	struct hog h = {0};
	struct task *task;

	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	take_cpu();
	task = bound(test, say_once, (void *)'a', 10);
	wake_up_process(task);
	start_hog(test, &h, 0);
	for (int i = 0; i < 5; i++) {
		KUNIT_EXPECT_TRUE(test, settled(&h, 1, 1, 0));
		spin_ticks(2);
	}
	KUNIT_EXPECT_STREQ(test, text, "");
	leave_cpu();
	stop_hogs(test, &h, 1);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
}

static void migration_nests(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, current->migration_disabled, 0);
	migrate_disable();
	migrate_disable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, current->migration_disabled, 1);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, current->migration_disabled, 0);
}

/* Fair tasks that a FIFO task keeps off their CPU get a share of the others, though those are never idle. */
static void fair_move_away(struct kunit *test)
{
	unsigned int n = num_online_cpus();
	struct hog hogs[2 * NR_CPUS] = {0};
	size_t nr = 2UL * n;

	kunit_needs(test, n >= 2, "two CPUs");
	for (size_t i = 0; i < nr; i++)
		start_hog(test, &hogs[i], 0);
	/* The test is the FIFO task, and spins. */
	take_cpu();
	KUNIT_EXPECT_TRUE(test, settled(hogs, nr, BIT(nr) - 1, 0));
	leave_cpu();
	stop_hogs(test, hogs, nr);
}

/* --- Everything at once ---------------------------------------------------------------------------------- */

#define STRESS_TASKS 12

static struct {
	struct task *tasks[STRESS_TASKS];
	atomic_t rounds;
	volatile bool stop;
} stress;

static int sleep_and_lend(void *arg)
{
	while (!stress.stop) {
		u32 r = get_random_u32();
		struct task *other = stress.tasks[r % STRESS_TASKS];
		unsigned int rt_priority = (r >> 8) % 40;

		atomic_inc(&stress.rounds);
		if (r & BIT(31))
			migrate_disable();
		switch ((r >> 16) % 6) {
		case 0:
			rt_mutex_setprio(other, 60 + (int)((r >> 8) % 60));
			break;
		case 1:
			rt_mutex_setprio(other, MAX_PRIO);
			break;
		case 2:
			sched_setscheduler(other, rt_priority ? SCHED_FIFO : SCHED_NORMAL,
					   rt_priority);
			break;
		case 3:
			yield();
			break;
		case 4:
			wake_up_process(other);
			break;
		default:
			schedule_timeout_uninterruptible(1);
		}
		if (r & BIT(31))
			migrate_enable();
	}
	return 0;
}

static void changes_at_random(struct kunit *test)
{
	memset(&stress, 0, sizeof(stress));
	for (size_t i = 0; i < STRESS_TASKS; i++) {
		stress.tasks[i] = kthread_create(sleep_and_lend, NULL, "stress/%zu", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, stress.tasks[i]);
	}
	for (size_t i = 0; i < STRESS_TASKS; i++)
		wake_up_process(stress.tasks[i]);
	sched_setscheduler(current, SCHED_FIFO, TEST_PRIORITY);
	for (unsigned long end = jiffies + HZ; time_before(jiffies, end);)
		schedule_timeout_uninterruptible(1);
	stress.stop = true;
	for (size_t i = 0; i < STRESS_TASKS; i++)
		KUNIT_EXPECT_TRUE(
			test, wait_for_completion_timeout(&stress.tasks[i]->exited, 20 * HZ) > 0);
	sched_set_normal(current);
	for (size_t i = 0; i < STRESS_TASKS; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(stress.tasks[i]), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&stress.rounds), STRESS_TASKS);
}

#ifdef CONFIG_PREEMPT_RT

/* --- Waiting for a lock ------------------------------------------------------------------------------------ */

static volatile bool lock_free;

/* It is about to sleep, and first has to wait for a lock. */
static int sleep_behind_lock(void *arg)
{
	say('(');
	set_current_state(TASK_UNINTERRUPTIBLE);
	rcu_read_lock();
	set_rtlock_wait_state();
	while (!lock_free) {
		schedule_rtlock();
		set_current_state(TASK_RTLOCK_WAIT);
	}
	restore_rtlock_wait_state();
	rcu_read_unlock();
	say('|');
	schedule();
	say(')');
	return 0;
}

/* @wake: what the sleep waits for happens while the task waits for the lock. */
static void check_lock_wait(struct kunit *test, bool wake)
{
	struct task *task;

	lock_free = false;
	take_cpu();
	task = bound(test, sleep_behind_lock, NULL, 20);
	wake_up_process(task);
	/* Now the task runs until it waits. */
	sched_setscheduler(current, SCHED_FIFO, 10);
	KUNIT_EXPECT_STREQ(test, text, "(");
	KUNIT_EXPECT_EQ(test, task->state, TASK_RTLOCK_WAIT);
	KUNIT_EXPECT_FALSE(test, wake_up_state(task, TASK_INTERRUPTIBLE));
	if (wake) {
		KUNIT_EXPECT_TRUE(test, wake_up_process(task));
		KUNIT_EXPECT_FALSE(test, wake_up_process(task));
	}
	/* Somebody else was quicker to take the lock: it waits on, and keeps the wake-up. */
	KUNIT_EXPECT_TRUE(test, wake_up_state(task, TASK_RTLOCK_WAIT));
	KUNIT_EXPECT_STREQ(test, text, "(");
	KUNIT_EXPECT_EQ(test, task->state, TASK_RTLOCK_WAIT);
	lock_free = true;
	KUNIT_EXPECT_TRUE(test, wake_up_state(task, TASK_RTLOCK_WAIT));
	KUNIT_EXPECT_STREQ(test, text, wake ? "(|)" : "(|");
	KUNIT_EXPECT_EQ(test, wake_up_process(task), !wake);
	KUNIT_EXPECT_STREQ(test, text, "(|)");
	leave_cpu();
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
}

static void wake_up_while_locking(struct kunit *test)
{
	check_lock_wait(test, false);
	check_lock_wait(test, true);
}

#endif

static struct kunit_case sched_rt_test_cases[] = {
	KUNIT_CASE(arguments),
	KUNIT_CASE(order),
	KUNIT_CASE(wake_up_preempts),
	KUNIT_CASE(equals),
	KUNIT_CASE(change),
	KUNIT_CASE(lending),
	KUNIT_CASE(lent_to_running),
	KUNIT_CASE(most_urgent_run),
	KUNIT_CASE(migration),
	KUNIT_CASE(others_go_on),
	KUNIT_CASE(migration_nests),
	KUNIT_CASE(fair_move_away),
	KUNIT_CASE(changes_at_random),
#ifdef CONFIG_PREEMPT_RT
	KUNIT_CASE(wake_up_while_locking),
#endif
	{},
};

static void sched_rt_test_exit(struct kunit *test)
{
	/* A case that failed may have left the test's thread as it was. */
	sched_set_normal(current);
	while (current->migration_disabled)
		migrate_enable();
#ifdef CONFIG_KASAN
	kasan_test_exit(test);
#endif
}

KUNIT_SUITE(sched_rt, sched_rt_test_cases, .suite_init = kasan_test_suite_init,
	    .suite_exit = kasan_test_suite_exit, .init = kasan_test_init,
	    .exit = sched_rt_test_exit);
