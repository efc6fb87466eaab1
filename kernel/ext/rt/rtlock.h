/* SPDX-License-Identifier: MIT */
/*
 * rtlock.h - what the spin locks and rwlocks of a real-time kernel share: how a task becomes a holder, and how it waits.
 */
#ifndef SYNC_RTLOCK_H
#define SYNC_RTLOCK_H

#include <kernel/rcupdate.h>
#include <kernel/sched.h>

#include "../../sync/rtmutex.h"

/* A task is about to wait for a lock, or to hold one more: from here on it cannot be killed. */
static __always_inline void rtlock_begin(void)
{
	WRITE_ONCE(current->rtlocks, current->rtlocks + 1);
	barrier();
}

static __always_inline void rtlock_end(void)
{
	barrier();
	WRITE_ONCE(current->rtlocks, current->rtlocks - 1);
	barrier();
	/* Somebody has killed it meanwhile. */
	if (unlikely(READ_ONCE(current->flags) & BIT(TIF_KILL)) && !holds_rtlock() && preemptible())
		preempt_schedule();
}

/* It has the lock: as with a lock that spins, it stays on its CPU and is an RCU reader. The lock validator knows the lock,
 * and needs no second entry for the reader. */
static __always_inline void rtlock_got(void)
{
	__rcu_read_lock();
	migrate_disable();
}

static __always_inline void rtlock_leave(void)
{
	migrate_enable();
	__rcu_read_unlock();
}

/** rtlock_slow_lock() - take @lock, sleep until that is possible. @kind: of the lock, for messages. */
void rtlock_slow_lock(struct rt_mutex_base *lock, const char *kind);

static __always_inline void rtlock_unlock(struct rt_mutex_base *lock)
{
	if (unlikely(!rt_mutex_fast_unlock(lock)))
		rt_mutex_slow_unlock(lock);
}

#endif
