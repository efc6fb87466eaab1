/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - spin locks that readers share: one word has the number of readers, or the CPU of the writer.
 *
 * The lock validator is told before the lock is touched: it asks KASAN whether the memory is the caller's.
 */
#include <kernel/kernel.h>
#include <kernel/rwlock.h>
#include <kernel/sched.h>
#include <kernel/stacktrace.h>
#include <asm/barrier.h>
#include <asm/percpu.h>

#include "lockup.h"

/* lock->state: the number of readers, or this bit and the number of the CPU that writes. */
#define WRITER 0x80000000U

static void report_lockup(const rwlock_t *lock, const char *what)
{
	u32 state = READ_ONCE(lock->state);

	pr_emerg("BUG: rwlock lockup suspected on CPU#%u, %s/%d, %s\n", smp_processor_id(),
		 current->comm, current->pid, what);
	if (state & WRITER)
		pr_emerg(" lock: %pS, writer: CPU#%u\n", lock, state & ~WRITER);
	else
		pr_emerg(" lock: %pS, readers: %u\n", lock, state);
	dump_stack();
}

/* A CPU that waits for itself waits for ever. */
static void check_recursion(const rwlock_t *lock)
{
	if (READ_ONCE(lock->state) == (WRITER | smp_processor_id()))
		panic("rwlock recursion on CPU#%u, %s/%d, lock %pS", smp_processor_id(),
		      current->comm, current->pid, lock);
}

/* --- Readers ---------------------------------------------------------------------------------------------- */

static bool try_read(rwlock_t *lock)
{
	u32 state = READ_ONCE(lock->state);

	while (!(state & WRITER)) {
		if (__atomic_compare_exchange_n(&lock->state, &state, state + 1, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static noinline void wait_read(rwlock_t *lock, bool recursive)
{
	struct lockup_watch watch = {0};

	check_recursion(lock);
	while ((!recursive && READ_ONCE(lock->waiting)) || !try_read(lock)) {
		cpu_relax();
		if (lockup_suspected(&watch))
			report_lockup(lock, "reader");
	}
}

void read_lock(rwlock_t *lock)
{
	bool recursive = in_interrupt();

	preempt_disable();
	lock_acquire(&lock->dep_map, 0, false, recursive ? LOCK_READ_RECURSIVE : LOCK_READ, NULL,
		     _RET_IP_);
	if (likely((recursive || !READ_ONCE(lock->waiting)) && try_read(lock)))
		return;
	lock_contended(&lock->dep_map, _RET_IP_);
	wait_read(lock, recursive);
	lock_acquired(&lock->dep_map, _RET_IP_);
}

bool read_trylock(rwlock_t *lock)
{
	preempt_disable();
	if (try_read(lock)) {
		lock_acquire(&lock->dep_map, 0, true, LOCK_READ, NULL, _RET_IP_);
		return true;
	}
	preempt_enable();
	return false;
}

static __always_inline void release_read(rwlock_t *lock, unsigned long ip)
{
	lock_release(&lock->dep_map, ip);
	__atomic_fetch_sub(&lock->state, 1, __ATOMIC_RELEASE);
}

void read_unlock(rwlock_t *lock)
{
	release_read(lock, _RET_IP_);
	preempt_enable();
}

void read_unlock_irq(rwlock_t *lock)
{
	release_read(lock, _RET_IP_);
	local_irq_enable();
	preempt_enable();
}

void read_unlock_irqrestore(rwlock_t *lock, unsigned long flags)
{
	release_read(lock, _RET_IP_);
	local_irq_restore(flags);
	preempt_enable();
}

/* --- Writers ---------------------------------------------------------------------------------------------- */

static bool try_write(rwlock_t *lock)
{
	u32 free = 0;

	return __atomic_compare_exchange_n(&lock->state, &free, WRITER | smp_processor_id(), false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static noinline void wait_write(rwlock_t *lock)
{
	struct lockup_watch watch = {0};

	check_recursion(lock);
	__atomic_fetch_add(&lock->waiting, 1, __ATOMIC_RELAXED);
	/* While the lock is taken, only load: a store would take the cache line away from the holder. */
	while (READ_ONCE(lock->state) || !try_write(lock)) {
		cpu_relax();
		if (lockup_suspected(&watch))
			report_lockup(lock, "writer");
	}
	__atomic_fetch_sub(&lock->waiting, 1, __ATOMIC_RELAXED);
}

static __always_inline void take_write(rwlock_t *lock, unsigned int subclass, unsigned long ip)
{
	preempt_disable();
	lock_acquire(&lock->dep_map, subclass, false, LOCK_EXCLUSIVE, NULL, ip);
	if (likely(try_write(lock)))
		return;
	lock_contended(&lock->dep_map, ip);
	wait_write(lock);
	lock_acquired(&lock->dep_map, ip);
}

void write_lock(rwlock_t *lock)
{
	take_write(lock, 0, _RET_IP_);
}

#ifdef CONFIG_LOCKDEP
void write_lock_nested(rwlock_t *lock, unsigned int subclass)
{
	take_write(lock, subclass, _RET_IP_);
}
#endif

bool write_trylock(rwlock_t *lock)
{
	preempt_disable();
	if (try_write(lock)) {
		lock_acquire(&lock->dep_map, 0, true, LOCK_EXCLUSIVE, NULL, _RET_IP_);
		return true;
	}
	preempt_enable();
	return false;
}

static __always_inline void release_write(rwlock_t *lock, unsigned long ip)
{
	lock_release(&lock->dep_map, ip);
	__atomic_store_n(&lock->state, 0, __ATOMIC_RELEASE);
}

void write_unlock(rwlock_t *lock)
{
	release_write(lock, _RET_IP_);
	preempt_enable();
}

void write_unlock_irq(rwlock_t *lock)
{
	release_write(lock, _RET_IP_);
	local_irq_enable();
	preempt_enable();
}

void write_unlock_irqrestore(rwlock_t *lock, unsigned long flags)
{
	release_write(lock, _RET_IP_);
	local_irq_restore(flags);
	preempt_enable();
}
