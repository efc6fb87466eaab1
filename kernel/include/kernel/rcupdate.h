/* SPDX-License-Identifier: MIT */
/*
 * rcupdate.h - read-copy update: readers that never wait, and writers that wait for readers.
 *
 * A writer unlinks an object, so that no new reader finds it, and frees it a grace period later: by
 * then every reader that may have found it before has left its read-side critical section. Readers
 * may be preempted and interrupted, nest, and run in any context; they must not sleep by themselves.
 * Code with preemption or interrupts off counts as a reader too.
 */
#ifndef KERNEL_RCUPDATE_H
#define KERNEL_RCUPDATE_H

#include <kernel/lockdep.h>
#include <kernel/preempt.h>
#include <kernel/task.h>
#include <kernel/types.h>

/** struct rcu_head - lives in an object that is to be freed by RCU; 16 bytes */
struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
};
#define callback_head rcu_head

typedef void (*rcu_callback_t)(struct rcu_head *head);

/* --- Readers ---------------------------------------------------------------------------------- */

/** rcu_read_unlock_special() - the slow way out: the reader was preempted, or a grace period waits
 *  for this very CPU. Called by rcu_read_unlock(). */
void rcu_read_unlock_special(void);

#ifdef CONFIG_LOCKDEP
/* All readers, as one lock that is taken for reading. synchronize_rcu() takes it for writing. */
extern struct lockdep_map rcu_lock_map;

/** rcu_lock_acquire(), rcu_lock_release() - tell the lock validator that a reader begins, or ends. */
void rcu_lock_acquire(void);
void rcu_lock_release(void);
#else
static inline void rcu_lock_acquire(void)
{
}

static inline void rcu_lock_release(void)
{
}
#endif

/** __rcu_read_lock(), __rcu_read_unlock() - the same as below without the lock validator. */
static inline void __rcu_read_lock(void)
{
	/* Only the task itself and interrupts on top of it write the counter, and those leave it as
	 * they found it. */
	WRITE_ONCE(current->rcu_read_lock_nesting, current->rcu_read_lock_nesting + 1);
	barrier();
}

static inline void __rcu_read_unlock(void)
{
	int nesting = current->rcu_read_lock_nesting - 1;

	barrier();
	WRITE_ONCE(current->rcu_read_lock_nesting, nesting);
	barrier();
	if (unlikely(!nesting && READ_ONCE(current->rcu_special)))
		rcu_read_unlock_special();
}

/** rcu_read_lock(), rcu_read_unlock() - a read-side critical section. They nest. Any context. */
static inline void rcu_read_lock(void)
{
	__rcu_read_lock();
	rcu_lock_acquire();
}

static inline void rcu_read_unlock(void)
{
	rcu_lock_release();
	__rcu_read_unlock();
}

/** rcu_read_lock_held() - Return: true inside a read-side critical section of the running task. */
static inline bool rcu_read_lock_held(void)
{
	return READ_ONCE(current->rcu_read_lock_nesting) > 0;
}

/** rcu_dereference() - load a pointer that a writer may change, to follow it. Valid until the
 *  outermost rcu_read_unlock(). */
#define rcu_dereference(p) __atomic_load_n(&(p), __ATOMIC_CONSUME)

/** rcu_dereference_protected() - the same where a lock keeps writers out. */
#define rcu_dereference_protected(p, c) (p)

/** rcu_access_pointer() - look at the pointer without following it. */
#define rcu_access_pointer(p) READ_ONCE(p)

/** rcu_assign_pointer() - publish @v: a reader that loads @p sees all that was stored in *@v before. */
#define rcu_assign_pointer(p, v) __atomic_store_n(&(p), (v), __ATOMIC_RELEASE)

/** RCU_INIT_POINTER() - store where no reader can look yet, or NULL. */
#define RCU_INIT_POINTER(p, v) WRITE_ONCE(p, v)

/* --- Writers ---------------------------------------------------------------------------------- */

/** synchronize_rcu() - wait for a grace period: for all readers that have begun by now. Sleeps; not
 *  from within a reader. Interrupts other CPUs to make it short. */
void synchronize_rcu(void);

/**
 * call_rcu() - call @func(@head) after a grace period
 * @head: in the object; not queued already.
 * @func: runs in a kernel thread of this CPU with preemption off: it must not sleep. In real-time kernels preemption is
 *	on, and @func is a reader: it may wait for spin locks.
 *
 * Any context. The caller's stack is recorded in the object for KASAN reports.
 */
void call_rcu(struct rcu_head *head, rcu_callback_t func);

/** rcu_barrier() - wait until every callback queued so far has run. Sleeps. */
void rcu_barrier(void);

/** kfree_rcu() - kfree() or vfree() @ptr after a grace period. @rhf: its struct rcu_head member, in
 *  the first 4096 bytes. Any context. */
#define kfree_rcu(ptr, rhf)                                                                     \
	do {                                                                                    \
		__typeof__(ptr) __p = (ptr);                                                    \
                                                                                                \
		_Static_assert(__builtin_offsetof(__typeof__(*(ptr)), rhf) < KFREE_RCU_MAX,     \
			       "the rcu_head lies too far inside");                             \
		if (__p)                                                                        \
			call_rcu(&__p->rhf,                                                     \
				 (rcu_callback_t) __builtin_offsetof(__typeof__(*(ptr)), rhf)); \
	} while (0)
#define kvfree_rcu(ptr, rhf) kfree_rcu(ptr, rhf)
/* "Functions" below this are offsets of the head in an object that is just to be freed. */
#define KFREE_RCU_MAX 4096UL

/** kfree_rcu_mightsleep() - the same for an object without a head: it waits for the grace period. Sleeps. */
void kfree_rcu_mightsleep(const void *ptr);

/** get_state_synchronize_rcu() - Return: a cookie for poll_state_synchronize_rcu(). */
unsigned long get_state_synchronize_rcu(void);

/** poll_state_synchronize_rcu() - Return: true if a full grace period has passed since @cookie. */
bool poll_state_synchronize_rcu(unsigned long cookie);

/** cond_synchronize_rcu() - synchronize_rcu() unless one has passed since @cookie. */
void cond_synchronize_rcu(unsigned long cookie);

/** rcu_set_kthread_prio() - for tests: as the boot parameter rcutree.kthread_prio, which see. One caller at a time.
 *  @prio: 0 to 99. Return: the value before. */
unsigned int rcu_set_kthread_prio(unsigned int prio);

/* --- Called by the kernel --------------------------------------------------------------------- */

/** rcu_init() - make the threads; once, after sched_init(). Before that call_rcu() only queues. */
void rcu_init(void);

/** rcu_cpu_starting() - this CPU, whose interrupts are off, takes part from now on. */
void rcu_cpu_starting(void);

/** rcu_note_context_switch() - the running task is about to leave its CPU. Interrupts off, no run
 *  queue locked. @preempt: it did not ask for that. */
void rcu_note_context_switch(bool preempt);

/** rcu_tick() - from the timer interrupt of each CPU. */
void rcu_tick(void);

/** exit_rcu() - the running task ends; if it is in a read-side critical section, that ends too. */
void exit_rcu(void);

#endif
