/* SPDX-License-Identifier: MIT */
/*
 * rtlock.c - the spin locks of a real-time kernel: struct rt_mutex_base, which keeps the state that its task has set.
 *
 * The lock validator is told before the lock is touched: it asks KASAN whether the memory is the caller's.
 */
#include <kernel/kernel.h>
#include <kernel/lock_events.h>
#include <kernel/spinlock.h>
#include <asm/barrier.h>

#include "rtlock.h"
#include "../../sched/sched.h"

void set_rtlock_wait_state(void)
{
	struct task *task = current;

	raw_spin_lock_irq(&task->wake_lock);
	task->saved_state = task->state;
	WRITE_ONCE(task->state, TASK_RTLOCK_WAIT);
	raw_spin_unlock_irq(&task->wake_lock);
	/* As in set_current_state(). */
	smp_mb();
}

void restore_rtlock_wait_state(void)
{
	struct task *task = current;

	raw_spin_lock_irq(&task->wake_lock);
	WRITE_ONCE(task->state, task->saved_state);
	task->saved_state = TASK_RUNNING;
	raw_spin_unlock_irq(&task->wake_lock);
	smp_mb();
}

void __rtlock_might_sleep(const char *file, int line)
{
	if (unlikely(!preemptible()))
		sched_sleep_bug(file, line);
}

void rtlock_slow_lock(struct rt_mutex_base *lock, const char *kind)
{
	if (rt_mutex_base_owned(lock))
		panic("%s recursion, %s/%d, lock %pS", kind, current->comm, current->pid, lock);
	lock_event_inc(LOCKEVENT_rtlock_slowlock);
	set_rtlock_wait_state();
	if (rt_mutex_slow_lock(lock, TASK_RTLOCK_WAIT, MAX_SCHEDULE_TIMEOUT))
		rt_mutex_sleep_for_ever(lock, TASK_RTLOCK_WAIT);
	restore_rtlock_wait_state();
}

void __rt_spin_lock_init(spinlock_t *lock, const char *name, const struct lock_class_key *key)
{
	rt_mutex_base_init(&lock->base);
	lockdep_init_map(&lock->dep_map, name, key, 0, LD_WAIT_CONFIG);
}

static __always_inline void take(spinlock_t *lock, unsigned int subclass,
				 const struct lockdep_map *nest_lock, unsigned long ip)
{
	rtlock_might_sleep();
	rtlock_begin();
	lock_acquire(&lock->dep_map, subclass, false, LOCK_EXCLUSIVE, nest_lock, ip);
	if (unlikely(!rt_mutex_fast_lock(&lock->base))) {
		lock_contended(&lock->dep_map, ip);
		rtlock_slow_lock(&lock->base, "spinlock");
		lock_acquired(&lock->dep_map, ip);
	}
	rtlock_got();
}

void spin_lock(spinlock_t *lock)
{
	take(lock, 0, NULL, _RET_IP_);
}

#ifdef CONFIG_LOCKDEP

void spin_lock_nested(spinlock_t *lock, unsigned int subclass)
{
	take(lock, subclass, NULL, _RET_IP_);
}

void spin_lock_nest(spinlock_t *lock, const struct lockdep_map *outer)
{
	take(lock, 0, outer, _RET_IP_);
}

#endif

bool spin_trylock(spinlock_t *lock)
{
	rtlock_begin();
	if (!rt_mutex_fast_lock(&lock->base) && !rt_mutex_slow_trylock(&lock->base)) {
		rtlock_end();
		return false;
	}
	lock_acquire(&lock->dep_map, 0, true, LOCK_EXCLUSIVE, NULL, _RET_IP_);
	rtlock_got();
	return true;
}

void spin_unlock(spinlock_t *lock)
{
	lock_release(&lock->dep_map, _RET_IP_);
	rtlock_leave();
	rtlock_unlock(&lock->base);
	rtlock_end();
}
