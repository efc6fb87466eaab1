/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - sleeping locks.
 *
 * If there are waiters, mutex_unlock() makes the first one the owner instead of releasing the mutex. So no
 * task overtakes another, and a waiter that wakes up is the owner.
 */
#include <kernel/kernel.h>
#include <kernel/mutex.h>
#include <kernel/sched.h>
#include <asm/barrier.h>

/* It lies on the waiter's stack, and is gone as soon as the waiter sees that it is the owner. */
struct mutex_waiter {
	struct list_head entry;
	struct task *task;
};

void(mutex_init)(struct mutex *mutex)
{
	raw_spin_lock_init(&mutex->lock);
	mutex->owner = NULL;
	INIT_LIST_HEAD(&mutex->waiters);
}

bool mutex_trylock(struct mutex *mutex)
{
	bool taken;

	raw_spin_lock(&mutex->lock);
	taken = !mutex->owner;
	if (taken)
		WRITE_ONCE(mutex->owner, current);
	raw_spin_unlock(&mutex->lock);
#ifdef CONFIG_LOCKDEP
	if (taken)
		lock_acquire(&mutex->dep_map, 0, true, LOCK_EXCLUSIVE, NULL, _RET_IP_);
#endif
	return taken;
}

static __always_inline void lock_common(struct mutex *mutex, unsigned int subclass,
					const struct lockdep_map *nest_lock, unsigned long ip)
{
	struct mutex_waiter waiter = {.task = current};

	might_sleep();
	lock_acquire(&mutex->dep_map, subclass, false, LOCK_EXCLUSIVE, nest_lock, ip);
	if (READ_ONCE(mutex->owner) == current)
		panic("mutex recursion, %s/%d, mutex %pS", current->comm, current->pid, mutex);
	raw_spin_lock(&mutex->lock);
	if (!mutex->owner) {
		WRITE_ONCE(mutex->owner, current);
		raw_spin_unlock(&mutex->lock);
		return;
	}
	list_add_tail(&waiter.entry, &mutex->waiters);
	raw_spin_unlock(&mutex->lock);
	lock_contended(&mutex->dep_map, ip);
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (smp_load_acquire(&mutex->owner) == current)
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	lock_acquired(&mutex->dep_map, ip);
}

void mutex_lock(struct mutex *mutex)
{
	lock_common(mutex, 0, NULL, _RET_IP_);
}

#ifdef CONFIG_LOCKDEP

void mutex_lock_nested(struct mutex *mutex, unsigned int subclass)
{
	lock_common(mutex, subclass, NULL, _RET_IP_);
}

void mutex_lock_nest(struct mutex *mutex, const struct lockdep_map *outer)
{
	lock_common(mutex, 0, outer, _RET_IP_);
}

#endif

void mutex_unlock(struct mutex *mutex)
{
	struct mutex_waiter *waiter;
	struct task *next = NULL;

	lock_release(&mutex->dep_map, _RET_IP_);
	if (WARN(READ_ONCE(mutex->owner) != current, "mutex_unlock() by %s/%d, not the owner\n",
		 current->comm, current->pid))
		return;
	raw_spin_lock(&mutex->lock);
	if (!list_empty(&mutex->waiters)) {
		waiter = list_first_entry(&mutex->waiters, struct mutex_waiter, entry);
		list_del(&waiter->entry);
		next = waiter->task;
		/* As the owner it may go on, and even end, before it is woken here. */
		get_task_struct(next);
	}
	smp_store_release(&mutex->owner, next);
	raw_spin_unlock(&mutex->lock);
	if (next) {
		wake_up_process(next);
		put_task_struct(next);
	}
}
