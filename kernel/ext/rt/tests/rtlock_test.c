/* SPDX-License-Identifier: MIT */
/*
 * rtlock_test.c - the spin locks and rwlocks of a real-time kernel: what they do to their holders, and what those who
 * wait lend them.
 *
 * Delays are counted in the steps that another task did meanwhile, so nothing depends on the speed of the machine.
 */
#include <kernel/kernel.h>
#include <kernel/lock_events.h>
#include <kernel/mutex.h>
#include <kernel/random.h>
#include <kernel/rcupdate.h>
#include <kernel/rtmutex.h>
#include <kernel/rwlock.h>
#include <kernel/spinlock.h>

#include "rtmutex_test.h"

/* --- Holders --------------------------------------------------------------------------------------------------- */

static void holder(struct kunit *test)
{
	unsigned long flags;
	spinlock_t lock;
	rwlock_t rwlock;

	spin_lock_init(&lock);
	rwlock_init(&rwlock);
	KUNIT_EXPECT_FALSE(test, holds_rtlock());
	spin_lock_irqsave(&lock, flags);
	KUNIT_EXPECT_TRUE(test, preemptible());
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
	KUNIT_EXPECT_TRUE(test, holds_rtlock());
	KUNIT_EXPECT_TRUE(test, rcu_read_lock_held());
	KUNIT_EXPECT_EQ(test, current->migration_disabled, 1);
	read_lock(&rwlock);
	KUNIT_EXPECT_EQ(test, current->migration_disabled, 2);
	read_unlock(&rwlock);
	KUNIT_EXPECT_TRUE(test, spin_is_locked(&lock));
	KUNIT_EXPECT_FALSE(test, spin_trylock(&lock));
	spin_unlock_irqrestore(&lock, flags);
	KUNIT_EXPECT_FALSE(test, spin_is_locked(&lock));
	KUNIT_EXPECT_FALSE(test, rcu_read_lock_held());
	KUNIT_EXPECT_FALSE(test, holds_rtlock());
	KUNIT_EXPECT_EQ(test, current->migration_disabled, 0);
}

/* A task that takes a lock when told, and keeps it until told, without sleeping. */
struct keeper {
	spinlock_t *spin;
	rwlock_t *rw;
	bool write;
	struct task *task;
	volatile bool has_it, release;
	bool went_on;
};

static int keep(void *arg)
{
	struct keeper *k = arg;

	if (k->spin)
		spin_lock(k->spin);
	else if (k->write)
		write_lock(k->rw);
	else
		read_lock(k->rw);
	k->has_it = true;
	while (!k->release)
		cpu_relax();
	if (k->spin)
		spin_unlock(k->spin);
	else if (k->write)
		write_unlock(k->rw);
	else
		read_unlock(k->rw);
	k->went_on = true;
	return 0;
}

static void start_keeper(struct kunit *test, struct keeper *k, unsigned int rt_priority)
{
	k->task = make_task(test, keep, k, rt_priority);
	wake_up_process(k->task);
}

static void end_keeper(struct kunit *test, struct keeper *k, int value)
{
	k->release = true;
	KUNIT_EXPECT_EQ(test, kthread_join(k->task), value);
}

/* A grace period waits for a holder, as it waits for one with preemption off in other kernels. */
static void holder_is_reader(struct kunit *test)
{
	static DEFINE_SPINLOCK(lock);
	static struct keeper k;
	unsigned long cookie;

	k = (struct keeper){.spin = &lock};
	start_keeper(test, &k, 0);
	KUNIT_EXPECT_TRUE(test, soon(k.has_it));
	cookie = get_state_synchronize_rcu();
	msleep(100);
	KUNIT_EXPECT_FALSE(test, poll_state_synchronize_rcu(cookie));
	end_keeper(test, &k, 0);
	cond_synchronize_rcu(cookie);
	KUNIT_EXPECT_TRUE(test, poll_state_synchronize_rcu(cookie));
}

/* A holder that is killed goes on until it has released its lock, and no further. */
static void killed_holder(struct kunit *test)
{
	static DEFINE_SPINLOCK(lock);
	static struct keeper k;

	k = (struct keeper){.spin = &lock};
	start_keeper(test, &k, 0);
	KUNIT_EXPECT_TRUE(test, soon(k.has_it));
	kthread_kill(k.task);
	msleep(50);
	KUNIT_EXPECT_TRUE(test, spin_is_locked(&lock));
	end_keeper(test, &k, -EFAULT);
	KUNIT_EXPECT_FALSE(test, k.went_on);
	KUNIT_EXPECT_FALSE(test, spin_is_locked(&lock));
}

/* --- The state of a task that waits ------------------------------------------------------------------------------- */

struct sleeper {
	spinlock_t lock;
	unsigned int state; /* after the lock */
	volatile bool ready;
};

static int set_state_and_lock(void *arg)
{
	struct sleeper *s = arg;

	s->ready = true;
	set_current_state(TASK_INTERRUPTIBLE);
	spin_lock(&s->lock);
	s->state = READ_ONCE(current->state);
	spin_unlock(&s->lock);
	schedule();
	return 7;
}

static void keeps_state(struct kunit *test)
{
	static struct sleeper s;
	int value = 0;

	/* 0: nobody wakes it before it sleeps. 1: somebody does, while it waits for the lock. */
	for (int woken = 0; woken < 2; woken++) {
		unsigned long before = lock_event_read(LOCKEVENT_rtlock_slowlock);
		struct task *task = make_task(test, set_state_and_lock, &s, 0);

		s = (struct sleeper){.ready = false};
		spin_lock_init(&s.lock);
		spin_lock(&s.lock);
		wake_up_process(task);
		/* Not soon(), which sleeps. */
		for (u64 end = clock_ns() + 10 * NSEC_PER_SEC; clock_ns() < end;) {
			if (READ_ONCE(task->state) == TASK_RTLOCK_WAIT && task->pi_blocked_on)
				break;
		}
		KUNIT_EXPECT_EQ(test, task->state, TASK_RTLOCK_WAIT);
		if (woken)
			wake_up_state(task, TASK_NORMAL);
		KUNIT_EXPECT_EQ(test, task->state, TASK_RTLOCK_WAIT);
		spin_unlock(&s.lock);
		if (!woken) {
			KUNIT_EXPECT_FALSE(test, kthread_join_timeout(task, HZ / 10, &value));
			wake_up_process(task);
		}
		KUNIT_EXPECT_EQ(test, kthread_join(task), 7);
		KUNIT_EXPECT_EQ(test, s.state, woken ? TASK_RUNNING : TASK_INTERRUPTIBLE);
		KUNIT_EXPECT_GT(test, lock_event_read(LOCKEVENT_rtlock_slowlock), before);
	}
}

/* --- Three priorities, as in rtmutex_test.c ------------------------------------------------------------------------------ */

struct inversion {
	spinlock_t spin;
	rwlock_t rw;
	bool use_rw;
	struct task *low, *mid, *high;
	unsigned long work;
	volatile unsigned long done;
	unsigned long delay;
};

static void take(struct inversion *t)
{
	if (t->use_rw)
		write_lock(&t->rw);
	else
		spin_lock(&t->spin);
}

static void release(struct inversion *t)
{
	if (t->use_rw)
		write_unlock(&t->rw);
	else
		spin_unlock(&t->spin);
}

static int low_task(void *arg)
{
	struct inversion *t = arg;

	take(t);
	wake_up_process(t->high);
	wake_up_process(t->mid);
	release(t);
	return 0;
}

static int mid_task(void *arg)
{
	struct inversion *t = arg;

	while (t->done < t->work)
		t->done++;
	return 0;
}

/* It writes, or with an rwlock it reads. */
static int high_task(void *arg)
{
	struct inversion *t = arg;

	if (t->use_rw)
		read_lock(&t->rw);
	else
		spin_lock(&t->spin);
	t->delay = t->done;
	if (t->use_rw)
		read_unlock(&t->rw);
	else
		spin_unlock(&t->spin);
	return 0;
}

static void invert(struct kunit *test, bool use_rw, bool inherit)
{
	static struct inversion t;

	t = (struct inversion){.work = 10000, .use_rw = use_rw};
	spin_lock_init(&t.spin);
	rwlock_init(&t.rw);
	t.low = make_task(test, low_task, &t, 10);
	t.mid = make_task(test, mid_task, &t, 20);
	t.high = make_task(test, high_task, &t, 30);
	kthread_bind(t.low, 0);
	kthread_bind(t.mid, 0);
	kthread_bind(t.high, 0);
	rt_mutex_set_inheritance(inherit);
	wake_up_process(t.low);
	KUNIT_EXPECT_EQ(test, kthread_join(t.low), 0);
	KUNIT_EXPECT_EQ(test, kthread_join(t.mid), 0);
	KUNIT_EXPECT_EQ(test, kthread_join(t.high), 0);
	rt_mutex_set_inheritance(true);
	KUNIT_EXPECT_EQ(test, t.delay, inherit ? 0 : t.work);
}

static void inversion(struct kunit *test)
{
	for (int use_rw = 0; use_rw < 2; use_rw++) {
		invert(test, use_rw, true);
		invert(test, use_rw, false);
	}
}

/* --- rwlocks ---------------------------------------------------------------------------------------------------------------- */

/* A writer waits for readers, new readers wait behind it, and lend it their priority. */
static void writer_between_readers(struct kunit *test)
{
	static DEFINE_RWLOCK(lock);
	static struct keeper first, writer, second;

	first = (struct keeper){.rw = &lock};
	writer = (struct keeper){.rw = &lock, .write = true};
	second = (struct keeper){.rw = &lock, .release = true};
	start_keeper(test, &first, 0);
	KUNIT_EXPECT_TRUE(test, soon(first.has_it));
	start_keeper(test, &writer, 0);
	KUNIT_EXPECT_TRUE(test, soon(READ_ONCE(writer.task->state) == TASK_RTLOCK_WAIT));
	KUNIT_EXPECT_FALSE(test, read_trylock(&lock));
	KUNIT_EXPECT_FALSE(test, write_trylock(&lock));
	start_keeper(test, &second, 30);
	EXPECT_TASK_PRIO(test, writer.task, PRIO(30));
	KUNIT_EXPECT_FALSE(test, writer.has_it);
	KUNIT_EXPECT_FALSE(test, second.has_it);
	/* The writer keeps the CPU that it gets, so it must not run with a lent priority until this task says so. */
	writer.release = true;
	end_keeper(test, &first, 0);
	KUNIT_EXPECT_EQ(test, kthread_join(writer.task), 0);
	KUNIT_EXPECT_EQ(test, kthread_join(second.task), 0);
	KUNIT_EXPECT_TRUE(test, writer.has_it && second.has_it);
	KUNIT_EXPECT_FALSE(test, rwlock_is_locked(&lock));
	KUNIT_EXPECT_EQ(test, lock.base.owner, 0);
}

/* --- Stress ----------------------------------------------------------------------------------------------------------------- */

#define STRESS_TASKS  8
#define STRESS_ROUNDS 1500

static struct {
	struct mutex mutex;
	spinlock_t spin;
	rwlock_t rw;
	/* Each pair is equal unless a task is inside its lock. */
	unsigned long mutex_values[2], spin_values[2], rw_values[2];
	atomic_t torn, wrong;
	volatile bool stop;
} stress;

static void change(unsigned long *values, int times)
{
	if (READ_ONCE(values[0]) != READ_ONCE(values[1]))
		atomic_inc(&stress.torn);
	WRITE_ONCE(values[0], values[0] + 1);
	for (int i = 0; i < times; i++)
		cpu_relax();
	WRITE_ONCE(values[1], values[1] + 1);
}

static int stress_task(void *arg)
{
	for (int i = 0; i < STRESS_ROUNDS; i++) {
		u32 dice = get_random_u32();
		int times = (int)(dice >> 24);

		if (dice % 4 == 0) {
			mutex_lock(&stress.mutex);
			change(stress.mutex_values, times);
		}
		if (dice % 8 < 5) {
			spin_lock(&stress.spin);
			change(stress.spin_values, times);
		}
		if (dice % 3) {
			read_lock(&stress.rw);
			if (READ_ONCE(stress.rw_values[0]) != READ_ONCE(stress.rw_values[1]))
				atomic_inc(&stress.torn);
			read_unlock(&stress.rw);
		} else if (write_trylock(&stress.rw)) {
			change(stress.rw_values, times);
			write_unlock(&stress.rw);
		} else {
			write_lock(&stress.rw);
			change(stress.rw_values, times);
			write_unlock(&stress.rw);
		}
		if (dice % 8 < 5)
			spin_unlock(&stress.spin);
		if (dice % 4 == 0)
			mutex_unlock(&stress.mutex);
		if (holds_rtlock() || current->migration_disabled || rcu_read_lock_held() ||
		    READ_ONCE(current->pi_prio) != MAX_PRIO)
			atomic_inc(&stress.wrong);
	}
	return 0;
}

static int change_priorities(void *arg)
{
	struct task **tasks = arg;

	while (!stress.stop) {
		unsigned int rt_priority = get_random_u32() % 6;

		sched_setscheduler(tasks[get_random_u32() % STRESS_TASKS],
				   rt_priority ? SCHED_FIFO : SCHED_NORMAL, rt_priority);
		if (get_random_u32() % 8 == 0)
			msleep(1);
	}
	return 0;
}

static void stress_all(struct kunit *test)
{
	struct task *tasks[STRESS_TASKS], *changer;

	mutex_init(&stress.mutex);
	spin_lock_init(&stress.spin);
	rwlock_init(&stress.rw);
	atomic_set(&stress.torn, 0);
	atomic_set(&stress.wrong, 0);
	stress.stop = false;
	for (unsigned int i = 0; i < STRESS_TASKS; i++)
		tasks[i] = make_task(test, stress_task, NULL, i % 4);
	changer = make_task(test, change_priorities, tasks, 40);
	wake_up_process(changer);
	for (unsigned int i = 0; i < STRESS_TASKS; i++)
		wake_up_process(tasks[i]);
	for (unsigned int i = 0; i < STRESS_TASKS; i++)
		KUNIT_EXPECT_TRUE(test, soon(completion_done(&tasks[i]->exited)));
	stress.stop = true;
	KUNIT_EXPECT_EQ(test, kthread_join(changer), 0);
	for (unsigned int i = 0; i < STRESS_TASKS; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&stress.torn), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&stress.wrong), 0);
	KUNIT_EXPECT_EQ(test, stress.mutex.base.owner, 0);
	KUNIT_EXPECT_EQ(test, stress.spin.base.owner, 0);
	KUNIT_EXPECT_EQ(test, stress.rw.base.owner, 0);
	KUNIT_EXPECT_EQ(test, stress.rw.state, 0);
}

KASAN_SUITE(rtlock, KUNIT_CASE(holder), KUNIT_CASE(holder_is_reader), KUNIT_CASE(killed_holder),
	    KUNIT_CASE(keeps_state), KUNIT_CASE(inversion), KUNIT_CASE(writer_between_readers),
	    KUNIT_CASE(stress_all));
