/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - the rwlocks of a real-time kernel.
 *
 * A word has the number of readers, and whether somebody writes or is about to. A struct rt_mutex_base is the queue for
 * all who cannot go on at once: a writer owns it from the beginning of its wait to the end of its writing, a reader that
 * has to wait owns it for a moment. So those in the queue lend their priority to the writer in front.
 *
 * Whoever takes the lock may free it afterwards. So each way out ends with the access that lets the next one in.
 */
#include <kernel/kernel.h>
#include <kernel/rwlock.h>
#include <asm/barrier.h>

#include "rtlock.h"

/* lock->state: the number of readers and these bits. */
#define WRITER	0x80000000U /* the owner of lock->base writes */
#define PENDING 0x40000000U /* the owner of lock->base waits until all readers are gone */
#define READERS (~(WRITER | PENDING))

void __rwlock_init(rwlock_t *lock, const char *name, const struct lock_class_key *key)
{
	rt_mutex_base_init(&lock->base);
	lock->state = 0;
	lockdep_init_map(&lock->dep_map, name, key, 0, LD_WAIT_CONFIG);
}

/* Own the queue. */
static void enter_queue(rwlock_t *lock)
{
	if (unlikely(!rt_mutex_fast_lock(&lock->base)))
		rtlock_slow_lock(&lock->base, "rwlock");
	/* The last writer has left the queue, and clears its bit next. It cannot be preempted in between. */
	while (unlikely(READ_ONCE(lock->state) & WRITER))
		cpu_relax();
}

/* --- Readers ---------------------------------------------------------------------------------------------- */

static bool try_read(rwlock_t *lock)
{
	u32 state = READ_ONCE(lock->state);

	while (!(state & (WRITER | PENDING))) {
		if (__atomic_compare_exchange_n(&lock->state, &state, state + 1, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static noinline void wait_read(rwlock_t *lock)
{
	enter_queue(lock);
	/* Only the owner of the queue sets the bits that keep readers out. */
	__atomic_fetch_add(&lock->state, 1, __ATOMIC_ACQUIRE);
	rtlock_unlock(&lock->base);
}

void read_lock(rwlock_t *lock)
{
	rtlock_might_sleep();
	rtlock_begin();
	lock_acquire(&lock->dep_map, 0, false, LOCK_READ, NULL, _RET_IP_);
	if (unlikely(!try_read(lock))) {
		lock_contended(&lock->dep_map, _RET_IP_);
		wait_read(lock);
		lock_acquired(&lock->dep_map, _RET_IP_);
	}
	rtlock_got();
}

bool read_trylock(rwlock_t *lock)
{
	rtlock_begin();
	if (!try_read(lock)) {
		rtlock_end();
		return false;
	}
	lock_acquire(&lock->dep_map, 0, true, LOCK_READ, NULL, _RET_IP_);
	rtlock_got();
	return true;
}

/* A writer waits. It looks at the number of readers under wait_lock, so it is not gone before this is over. */
static noinline void release_read_slow(rwlock_t *lock)
{
	struct task *writer = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&lock->base.wait_lock, flags);
	if (!(__atomic_sub_fetch(&lock->state, 1, __ATOMIC_RELEASE) & READERS)) {
		writer = rt_mutex_owner(&lock->base);
		get_task_struct(writer);
	}
	raw_spin_unlock_irqrestore(&lock->base.wait_lock, flags);
	if (writer) {
		wake_up_state(writer, TASK_RTLOCK_WAIT);
		put_task_struct(writer);
	}
}

void read_unlock(rwlock_t *lock)
{
	u32 state = READ_ONCE(lock->state);

	lock_release(&lock->dep_map, _RET_IP_);
	rtlock_leave();
	for (;;) {
		if (unlikely(state & PENDING)) {
			release_read_slow(lock);
			break;
		}
		if (__atomic_compare_exchange_n(&lock->state, &state, state - 1, false,
						__ATOMIC_RELEASE, __ATOMIC_RELAXED))
			break;
	}
	rtlock_end();
}

/* --- Writers ---------------------------------------------------------------------------------------------- */

static bool try_write(rwlock_t *lock)
{
	u32 free = 0;

	return __atomic_compare_exchange_n(&lock->state, &free, WRITER, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* The running task owns the queue. */
static noinline void wait_for_readers(rwlock_t *lock)
{
	unsigned long flags;

	set_rtlock_wait_state();
	__atomic_fetch_or(&lock->state, PENDING, __ATOMIC_RELAXED);
	raw_spin_lock_irqsave(&lock->base.wait_lock, flags);
	for (;;) {
		set_current_state(TASK_RTLOCK_WAIT);
		if (!(__atomic_load_n(&lock->state, __ATOMIC_ACQUIRE) & READERS))
			break;
		raw_spin_unlock_irqrestore(&lock->base.wait_lock, flags);
		schedule_rtlock();
		raw_spin_lock_irqsave(&lock->base.wait_lock, flags);
	}
	WRITE_ONCE(lock->state, WRITER);
	raw_spin_unlock_irqrestore(&lock->base.wait_lock, flags);
	restore_rtlock_wait_state();
}

static __always_inline void take_write(rwlock_t *lock, unsigned int subclass, unsigned long ip)
{
	rtlock_might_sleep();
	rtlock_begin();
	lock_acquire(&lock->dep_map, subclass, false, LOCK_EXCLUSIVE, NULL, ip);
	if (unlikely(rwlock_is_locked(lock)))
		lock_contended(&lock->dep_map, ip);
	enter_queue(lock);
	if (unlikely(!try_write(lock)))
		wait_for_readers(lock);
	lock_acquired(&lock->dep_map, ip);
	rtlock_got();
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
	rtlock_begin();
	if (!rt_mutex_fast_lock(&lock->base) && !rt_mutex_slow_trylock(&lock->base)) {
		rtlock_end();
		return false;
	}
	while (unlikely(READ_ONCE(lock->state) & WRITER))
		cpu_relax();
	if (!try_write(lock)) {
		rtlock_unlock(&lock->base);
		rtlock_end();
		return false;
	}
	lock_acquire(&lock->dep_map, 0, true, LOCK_EXCLUSIVE, NULL, _RET_IP_);
	rtlock_got();
	return true;
}

void write_unlock(rwlock_t *lock)
{
	lock_release(&lock->dep_map, _RET_IP_);
	rtlock_leave();
	preempt_disable();
	rtlock_unlock(&lock->base);
	smp_store_release(&lock->state, 0);
	preempt_enable();
	rtlock_end();
}
