/* SPDX-License-Identifier: MIT */
/*
 * rtmutex.c - rt_mutexes: taking, waiting, releasing. rtmutex_pi.c has the inheritance.
 *
 * A lock without waiters is one word, changed by one atomic exchange. The first waiter sets RT_MUTEX_HAS_WAITERS in
 * it, so that all others come here, and the last one clears it. A release of a lock with waiters leaves it without an
 * owner and wakes the first one, which takes it when it runs.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/lock_events.h>
#include <kernel/rt.h>
#include <kernel/stacktrace.h>
#include <asm/barrier.h>

#include "rtmutex.h"

#ifdef CONFIG_LOCKDEP
struct lock_class_key rt_mutex_wait_lock_key;
#endif

void rt_mutex_base_init(struct rt_mutex_base *lock)
{
	*lock = (struct rt_mutex_base)RT_MUTEX_BASE_INIT;
}

void __rt_mutex_init(struct rt_mutex *lock, const char *name, const struct lock_class_key *key)
{
	rt_mutex_base_init(&lock->base);
	lockdep_init_map(&lock->dep_map, name, key, 0, LD_WAIT_SLEEP);
}

/* --- The word. The wait_lock is held. ------------------------------------------------------------------------- */

/* May the running task, which has not waited, go ahead of @first? Fair tasks do not in mutexes, where everybody is to
 * have a turn. They do in spin locks, which are held so shortly that a switch of tasks costs more than the wait. */
static bool may_overtake(const struct rt_mutex_waiter *first)
{
	int prio = READ_ONCE(current->prio);

	if (prio < first->node.prio)
		return true;
	return first->wake_state == TASK_RTLOCK_WAIT && prio == first->node.prio && !rt_prio(prio);
}

/* Return: true if the running task has become the owner. @waiter: its own one, which is then off the lock, or NULL.
 * Without success RT_MUTEX_HAS_WAITERS is set even without a waiter: see clear_waiters_bit(). */
static bool take(struct rt_mutex_base *lock, struct rt_mutex_waiter *waiter)
{
	struct rt_mutex_waiter *first;

	/* From here on everybody else needs wait_lock. */
	if (__atomic_fetch_or(&lock->owner, RT_MUTEX_HAS_WAITERS, __ATOMIC_ACQ_REL) &
	    ~RT_MUTEX_HAS_WAITERS)
		return false;
	first = rt_mutex_first(lock);
	if (waiter) {
		if (first != waiter)
			return false;
		prio_list_del(&lock->waiters, &waiter->node);
	} else if (first && !may_overtake(first)) {
		return false;
	}
	rt_mutex_own(lock, waiter);
	WRITE_ONCE(lock->owner, (unsigned long)current | RT_MUTEX_HAS_WAITERS);
	return true;
}

/* The last waiter has gone. */
static void clear_waiters_bit(struct rt_mutex_base *lock)
{
	/* For the next one that takes it without wait_lock, and must see what the last owner has done. */
	if (prio_list_empty(&lock->waiters))
		smp_store_release(&lock->owner, lock->owner & ~RT_MUTEX_HAS_WAITERS);
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

/* Return: what is left of @timeout. */
static long sleep(unsigned int state, long timeout)
{
	if (PREEMPT_RT && state == TASK_RTLOCK_WAIT) {
		schedule_rtlock();
		return timeout;
	}
	return schedule_timeout(timeout);
}

/* Sleep until the lock is taken. Called and left with wait_lock held. */
static int wait_to_take(struct rt_mutex_waiter *waiter, unsigned int state, long timeout,
			unsigned long *flags)
{
	struct rt_mutex_base *lock = waiter->lock;

	for (;;) {
		/* Before the look at the lock, so that a wake-up after the look is not lost. */
		set_current_state(state);
		if (take(lock, waiter))
			return 0;
		if (!timeout)
			return -ETIMEDOUT;
		raw_spin_unlock_irqrestore(&lock->wait_lock, *flags);
		timeout = sleep(state, timeout);
		raw_spin_lock_irqsave(&lock->wait_lock, *flags);
	}
}

int rt_mutex_slow_lock(struct rt_mutex_base *lock, unsigned int state, long timeout)
{
	struct rt_mutex_waiter waiter = {
		.task = current,
		.lock = lock,
		.wake_state = state == TASK_RTLOCK_WAIT ? TASK_RTLOCK_WAIT : TASK_NORMAL,
	};
	struct rt_mutex_chain chain = {0};
	struct task *wake = NULL;
	unsigned long flags;
	int err = 0;

	raw_spin_lock_irqsave(&lock->wait_lock, flags);
	if (take(lock, NULL))
		goto out;
	err = rt_mutex_block(lock, &waiter, &chain);
	if (err)
		goto out;
	if (chain.task) {
		raw_spin_unlock_irqrestore(&lock->wait_lock, flags);
		err = rt_mutex_walk(&chain);
		raw_spin_lock_irqsave(&lock->wait_lock, flags);
	}
	if (!err)
		err = wait_to_take(&waiter, state, timeout, &flags);
	if (state != TASK_RTLOCK_WAIT)
		__set_current_state(TASK_RUNNING);
	if (err)
		wake = rt_mutex_unblock(lock, &waiter, &chain);
out:
	clear_waiters_bit(lock);
	raw_spin_unlock_irqrestore(&lock->wait_lock, flags);
	if (wake) {
		wake_up_state(wake, TASK_NORMAL | TASK_RTLOCK_WAIT);
		put_task_struct(wake);
	}
	rt_mutex_walk(&chain);
	return err;
}

bool rt_mutex_slow_trylock(struct rt_mutex_base *lock)
{
	unsigned long flags;
	bool taken;

	if (rt_mutex_base_is_locked(lock))
		return false;
	raw_spin_lock_irqsave(&lock->wait_lock, flags);
	taken = take(lock, NULL);
	clear_waiters_bit(lock);
	raw_spin_unlock_irqrestore(&lock->wait_lock, flags);
	return taken;
}

void rt_mutex_slow_unlock(struct rt_mutex_base *lock)
{
	struct rt_mutex_waiter *first;
	unsigned int wake_state;
	unsigned long flags;
	struct task *task;

	for (;;) {
		raw_spin_lock_irqsave(&lock->wait_lock, flags);
		first = rt_mutex_first(lock);
		if (first)
			break;
		/* All have given up. Once the word is 0, the next owner may free the lock, so that must be the last
		 * access: it is made without wait_lock. */
		clear_waiters_bit(lock);
		raw_spin_unlock_irqrestore(&lock->wait_lock, flags);
		if (rt_mutex_fast_unlock(lock))
			return;
	}
	rt_mutex_disown(first);
	task = first->task;
	wake_state = first->wake_state;
	get_task_struct(task);
	WRITE_ONCE(lock->owner, RT_MUTEX_HAS_WAITERS);
	/* This task has just lost the priority of the one that it is to wake. It must not lose the CPU before that to
	 * one in between. */
	preempt_disable();
	raw_spin_unlock_irqrestore(&lock->wait_lock, flags);
	wake_up_state(task, wake_state);
	put_task_struct(task);
	preempt_enable();
}

static void report_deadlock(const struct rt_mutex_base *lock)
{
	const struct task *owner = rt_mutex_owner(lock);

	pr_err("BUG: deadlock: %s/%d waits for ever for lock %pS, owner %s/%d\n", current->comm,
	       current->pid, lock, owner ? owner->comm : "none", owner ? owner->pid : 0);
	dump_stack();
	if (panic_on_warn)
		panic("deadlock");
}

void rt_mutex_sleep_for_ever(const struct rt_mutex_base *lock, unsigned int state)
{
	report_deadlock(lock);
	for (;;) {
		set_current_state(state);
		sleep(state, MAX_SCHEDULE_TIMEOUT);
	}
}

/* --- rt_mutex ----------------------------------------------------------------------------------------------------- */

static void wait_for(struct rt_mutex *lock, unsigned long ip)
{
	lock_contended(&lock->dep_map, ip);
	lock_event_inc(LOCKEVENT_rtmutex_slowlock);
	if (rt_mutex_slow_lock(&lock->base, TASK_UNINTERRUPTIBLE, MAX_SCHEDULE_TIMEOUT))
		rt_mutex_sleep_for_ever(&lock->base, TASK_UNINTERRUPTIBLE);
	lock_acquired(&lock->dep_map, ip);
}

static void lock_nested(struct rt_mutex *lock, unsigned int subclass, unsigned long ip)
{
	might_sleep();
	lock_acquire(&lock->dep_map, subclass, false, LOCK_EXCLUSIVE, NULL, ip);
	if (!rt_mutex_fast_lock(&lock->base))
		wait_for(lock, ip);
	current->rt_mutexes_held++;
}

void rt_mutex_lock(struct rt_mutex *lock)
{
	lock_nested(lock, 0, _RET_IP_);
}

void rt_mutex_lock_nested(struct rt_mutex *lock, unsigned int subclass)
{
	lock_nested(lock, subclass, _RET_IP_);
}

int rt_mutex_timed_lock(struct rt_mutex *lock, long timeout)
{
	might_sleep();
	if (!rt_mutex_fast_lock(&lock->base)) {
		int err = timeout > 0
				  ? rt_mutex_slow_lock(&lock->base, TASK_UNINTERRUPTIBLE, timeout)
			  : rt_mutex_slow_trylock(&lock->base) ? 0
							       : -ETIMEDOUT;

		if (err)
			return err;
	}
	/* The caller is told of a deadlock, and of its time's end. So this wait alone is not a bug, as with a try. */
	lock_acquire(&lock->dep_map, 0, true, LOCK_EXCLUSIVE, NULL, _RET_IP_);
	current->rt_mutexes_held++;
	return 0;
}

bool rt_mutex_trylock(struct rt_mutex *lock)
{
	if (!rt_mutex_fast_lock(&lock->base) && !rt_mutex_slow_trylock(&lock->base))
		return false;
	lock_acquire(&lock->dep_map, 0, true, LOCK_EXCLUSIVE, NULL, _RET_IP_);
	current->rt_mutexes_held++;
	return true;
}

void rt_mutex_unlock(struct rt_mutex *lock)
{
	lock_release(&lock->dep_map, _RET_IP_);
	if (WARN(!rt_mutex_base_owned(&lock->base), "rt_mutex_unlock() by %s/%d, not the owner\n",
		 current->comm, current->pid))
		return;
	current->rt_mutexes_held--;
	if (!rt_mutex_fast_unlock(&lock->base))
		rt_mutex_slow_unlock(&lock->base);
}
