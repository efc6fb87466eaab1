/* SPDX-License-Identifier: MIT */
/*
 * gp.c - grace periods: the CPUs and tasks that each one waits for, and the thread that runs them.
 *
 * A grace period begins by noting every CPU that is online. A CPU is crossed off when it is seen in a
 * quiescent state, that is, outside of any reader. A context switch and the tick look for that, and so does
 * an interrupt that is sent for the purpose when a caller waits. A reader that is switched away does not
 * hold up its CPU: it goes into a list. If its CPU is not crossed off yet, the reader may have begun before
 * the grace period, and goes into the list of the current one, else into that of the next one. The grace
 * period ends when no CPU is left and its list is empty.
 *
 * Memory order: a writer unlinks an object before the grace period starts, and the start takes the lock. A
 * CPU takes the same lock to be crossed off, so readers that it runs later see the unlinking. All that its
 * earlier readers did comes before it took the lock, and so before the end of the grace period.
 */
#include <kernel/atomic.h>
#include <kernel/kernel.h>
#include <kernel/param.h>
#include <kernel/rtmutex.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/spinlock.h>
#include <kernel/wait.h>

#include "rcu.h"

/**
 * struct rcu_state - the grace periods of this kernel
 * @lock: guards the members below, up to @wanted. Taken with interrupts off; its holder wakes no task, but may
 *	change a reader's priority.
 * @seq: counts every start and every end of a grace period: odd while one runs.
 * @online: CPUs that take part, as a mask.
 * @pending: CPUs that the current grace period waits for, as a mask.
 * @blocking: tasks that were switched away inside a reader, and that the current grace period waits for.
 * @blocked: the same for the next grace period.
 * @boosting: readers that the current grace period waits for are lent a priority. In @blocking, those that have it come
 *	last. @boost_again: others have joined since.
 * @wanted: a callback needs a grace period that has not begun yet.
 * @expedited: number of callers that wait, and so want it to be quick.
 * @running: the thread has started.
 * @wait: where the thread waits for @wanted and @expedited, and for the end of a grace period.
 */
static struct {
	raw_spinlock_t lock;
	unsigned long seq;
	u32 online;
	u32 pending;
	struct list_head blocking;
	struct list_head blocked;
	bool boosting;
	bool boost_again;
	bool wanted;
	atomic_t expedited;
	bool running;
	struct wait_queue_head wait;
} rcu = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(rcu.lock),
	.blocking = LIST_HEAD_INIT(rcu.blocking),
	.blocked = LIST_HEAD_INIT(rcu.blocked),
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(rcu.wait),
};

/* A reader that others do not wait for in synchronize_rcu() has so many ticks before it is lent a priority. */
#define BOOST_DELAY (HZ / 2UL)

static unsigned int stall_timeout = 21;
range_param("rcupdate.rcu_cpu_stall_timeout", stall_timeout, 0, 4294967295, "a number of seconds",
	    "warn of a grace period that takes so long; 0: never");

#ifdef CONFIG_LOCKDEP

/* --- For the lock validator --------------------------------------------------------------------- */

struct lockdep_map rcu_lock_map = {.name = "rcu_read_lock", .wait_type = LD_WAIT_FREE};

void rcu_lock_acquire(void)
{
	/* As a try: a reader never waits. */
	lock_acquire(&rcu_lock_map, 0, true, LOCK_READ_RECURSIVE, NULL, _RET_IP_);
}

void rcu_lock_release(void)
{
	lock_release(&rcu_lock_map, _RET_IP_);
}

#endif

/* --- Quiescent states --------------------------------------------------------------------------- */

/* The lock is held. */
static bool gp_over(void)
{
	return !rcu.pending && list_empty(&rcu.blocking);
}

/* Cross off this CPU, which is outside of any reader. The lock is held. Return: true if the grace period
 * waited for nothing else. */
static bool cross_off_cpu(void)
{
	u32 bit = 1U << smp_processor_id();

	if (!(rcu.pending & bit))
		return false;
	WRITE_ONCE(rcu.pending, rcu.pending & ~bit);
	return gp_over();
}

static void report_cpu(void)
{
	unsigned long flags;
	bool over;

	raw_spin_lock_irqsave(&rcu.lock, flags);
	over = cross_off_cpu();
	raw_spin_unlock_irqrestore(&rcu.lock, flags);
	if (over)
		wake_up(&rcu.wait);
}

static bool cpu_pending(void)
{
	return READ_ONCE(rcu.pending) & 1U << smp_processor_id();
}

/* In an interrupt: cross this CPU off if the interrupt found it outside of any reader. */
static void look_at_interrupted(void)
{
	struct task *task = current;

	if (!cpu_pending())
		return;
	if (task->rcu_read_lock_nesting > 0 && !(task->rcu_special & RCU_SPECIAL_BLOCKED)) {
		WRITE_ONCE(task->rcu_special, task->rcu_special | RCU_SPECIAL_NEED_QS);
		return;
	}
	/* Code with preemption off counts as a reader; the next tick looks again. */
	if (preempt_count() & ~HARDIRQ_MASK)
		return;
	report_cpu();
}

void rcu_tick(void)
{
	look_at_interrupted();
}

static void expedite_cpu(void *unused)
{
	/* A CPU that waits with interrupts off serves the call too. Then this is not an interrupt, and
	 * the CPU may be in a reader. */
	if (in_hardirq())
		look_at_interrupted();
}

void rcu_note_context_switch(bool preempt)
{
	struct task *task = current;
	bool reader = task->rcu_read_lock_nesting > 0;
	bool wake = false;

	WARN_ONCE(reader && !preempt,
		  "rcu: voluntary context switch within a read-side critical section\n");
	if ((!reader || task->rcu_special & RCU_SPECIAL_BLOCKED) && !cpu_pending())
		return;
	raw_spin_lock(&rcu.lock);
	if (reader && !(task->rcu_special & RCU_SPECIAL_BLOCKED)) {
		task->rcu_special |= RCU_SPECIAL_BLOCKED;
		if (rcu.pending & 1U << smp_processor_id()) {
			list_add(&task->rcu_entry, &rcu.blocking);
			wake = rcu.boosting;
			WRITE_ONCE(rcu.boost_again, wake);
		} else {
			list_add(&task->rcu_entry, &rcu.blocked);
		}
	}
	wake |= cross_off_cpu();
	raw_spin_unlock(&rcu.lock);
	if (wake)
		wake_up(&rcu.wait);
}

void rcu_read_unlock_special(void)
{
	struct task *task = current;
	unsigned long flags;
	unsigned int special;
	bool over = false, boosted = false, quiet = preemptible();

	raw_spin_lock_irqsave(&rcu.lock, flags);
	special = task->rcu_special;
	WRITE_ONCE(task->rcu_special, 0);
	if (special & RCU_SPECIAL_BLOCKED) {
		list_del(&task->rcu_entry);
		over = rcu.seq & 1 && gp_over();
		/* Only readers that are in a list get it, so it does not come back. */
		boosted = task->rcu_prio != MAX_PRIO;
	}
	if (special & RCU_SPECIAL_NEED_QS && quiet)
		over |= cross_off_cpu();
	raw_spin_unlock_irqrestore(&rcu.lock, flags);
	if (over)
		wake_up(&rcu.wait);
	if (unlikely(boosted))
		rcu_setprio(task, MAX_PRIO);
}

void exit_rcu(void)
{
	if (!current->rcu_read_lock_nesting && !current->rcu_special)
		return;
	WRITE_ONCE(current->rcu_read_lock_nesting, 0);
	barrier();
	if (READ_ONCE(current->rcu_special))
		rcu_read_unlock_special();
}

void rcu_cpu_starting(void)
{
	unsigned long flags;

	/* A grace period that has begun does not wait for this CPU: its readers all begin later. */
	raw_spin_lock_irqsave(&rcu.lock, flags);
	rcu.online |= 1U << smp_processor_id();
	raw_spin_unlock_irqrestore(&rcu.lock, flags);
}

/* --- Requests --------------------------------------------------------------------------------------- */

void rcu_want_gp(void)
{
	/* The full barrier of xchg() keeps the caller's queueing before the flag: see gp_thread(). */
	if (!xchg(&rcu.wanted, true))
		wake_up(&rcu.wait);
}

void rcu_expedite(void)
{
	atomic_inc(&rcu.expedited);
	wake_up(&rcu.wait);
}

void rcu_unexpedite(void)
{
	atomic_dec(&rcu.expedited);
}

bool rcu_gp_running(void)
{
	return READ_ONCE(rcu.running);
}

/* --- The thread ----------------------------------------------------------------------------------- */

static void begin(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&rcu.lock, flags);
	WRITE_ONCE(rcu.seq, rcu.seq + 1);
	WRITE_ONCE(rcu.pending, rcu.online);
	rcu.boosting = false;
	WRITE_ONCE(rcu.boost_again, false);
	list_splice_init(&rcu.blocked, &rcu.blocking);
	raw_spin_unlock_irqrestore(&rcu.lock, flags);
	/* This thread is not a reader, and a reader that was on its CPU has been switched away. */
	report_cpu();
}

static bool check_over(void)
{
	unsigned long flags;
	bool over;

	raw_spin_lock_irqsave(&rcu.lock, flags);
	over = gp_over();
	raw_spin_unlock_irqrestore(&rcu.lock, flags);
	return over;
}

static void warn_stall(void)
{
	unsigned long flags;
	struct task *task;
	pid_t pids[8];
	u32 pending, n = 0;

	raw_spin_lock_irqsave(&rcu.lock, flags);
	pending = rcu.pending;
	list_for_each_entry (task, &rcu.blocking, rcu_entry) {
		if (n < ARRAY_SIZE(pids))
			pids[n++] = task->pid;
	}
	raw_spin_unlock_irqrestore(&rcu.lock, flags);
	pr_err("rcu: INFO: rcu_preempt detected stalls on CPUs/tasks: (%u s)\n", stall_timeout);
	for (unsigned int cpu = 0; pending; cpu++, pending >>= 1) {
		if (pending & 1)
			pr_err("rcu: \tCPU %u\n", cpu);
	}
	for (u32 i = 0; i < n; i++)
		pr_err("rcu: \tP%d\n", pids[i]);
}

/* Lend the readers that the grace period waits for a priority, and the owners of locks that those wait for. */
static void boost_readers(void)
{
	int prio = rcu_boost_prio();
	struct task *task;

	do {
		unsigned long flags;

		raw_spin_lock_irqsave(&rcu.lock, flags);
		rcu.boosting = true;
		WRITE_ONCE(rcu.boost_again, false);
		task = NULL;
		if (!list_empty(&rcu.blocking))
			task = list_first_entry(&rcu.blocking, struct task, rcu_entry);
		if (task && task->rcu_prio == MAX_PRIO && prio != MAX_PRIO) {
			get_task_struct(task);
			list_move_tail(&task->rcu_entry, &rcu.blocking);
			/* With the lock held: the reader gives it back when it has left the list. */
			rcu_setprio(task, prio);
		} else {
			task = NULL;
		}
		raw_spin_unlock_irqrestore(&rcu.lock, flags);
		if (task) {
			rt_mutex_adjust_pi(task);
			put_task_struct(task);
		}
	} while (task);
}

static void wait_for_end(void)
{
	unsigned long start = jiffies;
	unsigned long stall = stall_timeout ? (unsigned long)stall_timeout * HZ : LONG_MAX;
	bool sent = false, boosting = false;

	for (;;) {
		unsigned long waited = jiffies - start, limit = stall;

		if (!sent && atomic_read(&rcu.expedited)) {
			smp_call_function_many(expedite_cpu, NULL, false);
			sent = true;
		}
		if (rcu_boost_prio() != MAX_PRIO && !boosting) {
			boosting = sent || waited >= BOOST_DELAY;
			if (!boosting)
				limit = min(limit, BOOST_DELAY);
		}
		if (boosting)
			boost_readers();
		wait_event_timeout(rcu.wait,
				   check_over() || (!sent && atomic_read(&rcu.expedited)) ||
					   READ_ONCE(rcu.boost_again),
				   limit > waited ? (long)(limit - waited) : 0);
		if (check_over())
			return;
		if (jiffies - start >= stall) {
			warn_stall();
			stall += (unsigned long)stall_timeout * HZ;
		}
	}
}

static int gp_thread(void *unused)
{
	unsigned long flags;

	WRITE_ONCE(rcu.running, true);
	while (!kthread_should_stop()) {
		wait_event(rcu.wait, READ_ONCE(rcu.wanted));
		/* Cleared before the callbacks are taken, so that a later one sets it again. */
		xchg(&rcu.wanted, false);
		rcu_callbacks_assign();
		begin();
		wait_for_end();
		raw_spin_lock_irqsave(&rcu.lock, flags);
		WRITE_ONCE(rcu.seq, rcu.seq + 1);
		raw_spin_unlock_irqrestore(&rcu.lock, flags);
		rcu_callbacks_ready();
	}
	return 0;
}

void rcu_gp_init(void)
{
	struct task *task = kthread_create(gp_thread, NULL, "rcu_preempt");

	if (IS_ERR(task))
		panic("rcu: no memory for the grace-period thread");
	rcu_add_thread(task);
	wake_up_process(task);
	put_task_struct(task);
}

/* --- Polling --------------------------------------------------------------------------------------- */

unsigned long get_state_synchronize_rcu(void)
{
	/* The caller's stores come before the load of the counter. */
	smp_mb();
	/* One that runs now may have begun too early, so the one after it must have ended. */
	return (READ_ONCE(rcu.seq) + 3) & ~1UL;
}

bool poll_state_synchronize_rcu(unsigned long cookie)
{
	bool passed = (long)(READ_ONCE(rcu.seq) - cookie) >= 0;

	smp_mb();
	return passed;
}

void cond_synchronize_rcu(unsigned long cookie)
{
	if (!poll_state_synchronize_rcu(cookie))
		synchronize_rcu();
}
