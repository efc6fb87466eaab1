/* SPDX-License-Identifier: MIT */
/*
 * spinlock.c - waiting for a spin lock, and noticing a wait that will never end; with the lock validator all
 * functions of spin locks.
 */
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>
#include <kernel/stacktrace.h>
#include <asm/barrier.h>

#include "lockup.h"

static void report_lockup(const raw_spinlock_t *lock, unsigned int cpu)
{
	pr_emerg("BUG: spinlock lockup suspected on CPU#%u, %s/%d\n"
		 " lock: %pS, holder: CPU#%d\n",
		 cpu, current->comm, current->pid, lock, (int)READ_ONCE(lock->holder) - 1);
	dump_stack();
}

void spin_lock_wait(raw_spinlock_t *lock)
{
	unsigned int cpu = smp_processor_id();
	struct lockup_watch watch = {0};

	/* A CPU that waits for itself waits for ever. */
	if (READ_ONCE(lock->holder) == cpu + 1)
		panic("spinlock recursion on CPU#%u, %s/%d, lock %pS", cpu, current->comm,
		      current->pid, lock);
	/* While the lock is taken, only load: a store would take the cache line away from the holder. */
	while (READ_ONCE(lock->holder) || !arch_spin_trylock(lock)) {
		cpu_relax();
		if (lockup_suspected(&watch))
			report_lockup(lock, cpu);
	}
}

#ifdef CONFIG_LOCKDEP

/* --- With the lock validator ------------------------------------------------------------------------------ */

/* The validator is told before the lock is touched: it asks KASAN whether the memory is the caller's. */
static __always_inline void take(raw_spinlock_t *lock, unsigned int subclass,
				 const struct lockdep_map *nest_lock, unsigned long ip)
{
	preempt_disable();
	lock_acquire(&lock->dep_map, subclass, false, LOCK_EXCLUSIVE, nest_lock, ip);
	if (likely(arch_spin_trylock(lock)))
		return;
	lock_contended(&lock->dep_map, ip);
	spin_lock_wait(lock);
	lock_acquired(&lock->dep_map, ip);
}

void raw_spin_lock_nested(raw_spinlock_t *lock, unsigned int subclass)
{
	take(lock, subclass, NULL, _RET_IP_);
}

void raw_spin_lock_nest(raw_spinlock_t *lock, const struct lockdep_map *outer)
{
	take(lock, 0, outer, _RET_IP_);
}

void raw_spin_lock(raw_spinlock_t *lock)
{
	take(lock, 0, NULL, _RET_IP_);
}

void raw_spin_lock_irq(raw_spinlock_t *lock)
{
	local_irq_disable();
	take(lock, 0, NULL, _RET_IP_);
}

bool raw_spin_trylock(raw_spinlock_t *lock)
{
	preempt_disable();
	if (arch_spin_trylock(lock)) {
		lock_acquire(&lock->dep_map, 0, true, LOCK_EXCLUSIVE, NULL, _RET_IP_);
		return true;
	}
	preempt_enable();
	return false;
}

void raw_spin_unlock(raw_spinlock_t *lock)
{
	lock_release(&lock->dep_map, _RET_IP_);
	arch_spin_unlock(lock);
	preempt_enable();
}

void raw_spin_unlock_irq(raw_spinlock_t *lock)
{
	lock_release(&lock->dep_map, _RET_IP_);
	arch_spin_unlock(lock);
	local_irq_enable();
	preempt_enable();
}

void raw_spin_unlock_irqrestore(raw_spinlock_t *lock, unsigned long flags)
{
	lock_release(&lock->dep_map, _RET_IP_);
	arch_spin_unlock(lock);
	local_irq_restore(flags);
	preempt_enable();
}

#endif
