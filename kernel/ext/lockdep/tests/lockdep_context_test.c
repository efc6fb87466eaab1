// SPDX-License-Identifier: MIT
/*
 * lockdep_context_test.c - locks in places where they must not be taken or still be held: sleeping locks inside of
 * spinning ones and of RCU readers, releases by the wrong task, locks at the end of a thread, on the way to user mode,
 * in a sleep. And what code states about its locks: lockdep_assert_held(), might_lock().
 */
#include <kernel/kernel.h>
#include <kernel/mutex.h>
#include <kernel/process.h>
#include <kernel/rcupdate.h>
#include <kernel/rwlock.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>

#include "lockdep_expect.h"
#include "user_test.h"

#define WAIT_CONTEXT "BUG: lockdep: invalid wait context in "
#define BAD_UNLOCK   "BUG: lockdep: bad unlock in "
#define CIRCULAR     "BUG: lockdep: possible circular dependency in "

/* --- Waiting where that is not allowed ----------------------------------------------------------------- */

static DEFINE_RAW_SPINLOCK(wait_raw);
static DEFINE_SPINLOCK(wait_spin);
static DEFINE_MUTEX(wait_mutex);
static DEFINE_RAW_SPINLOCK(inner_raw);
static DEFINE_SPINLOCK(inner_spin);
static DEFINE_MUTEX(outer_mutex);

/* might_lock() says that the code may take the mutex: the warning of might_sleep() would come in between. */
static noinline void mutex_in_raw_spin(void)
{
	raw_spin_lock(&wait_raw);
	might_lock(&wait_mutex);
	raw_spin_unlock(&wait_raw);
}

static noinline void try_mutex_in_raw_spin(struct kunit *test)
{
	raw_spin_lock(&wait_raw);
	KUNIT_EXPECT_TRUE(test, mutex_trylock(&wait_mutex));
	mutex_unlock(&wait_mutex);
	raw_spin_unlock(&wait_raw);
}

static noinline void spin_in_mutex(void)
{
	mutex_lock(&outer_mutex);
	spin_lock(&inner_spin);
	raw_spin_lock(&inner_raw);
	raw_spin_unlock(&inner_raw);
	spin_unlock(&inner_spin);
	mutex_unlock(&outer_mutex);
}

static void mutex_under_spin_lock(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, spin_in_mutex());
	LOCKDEP_EXPECT_NONE(test, try_mutex_in_raw_spin(test));
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(WAIT_CONTEXT "mutex_in_raw_spin+0x", " (wait_mutex){",
				     "wait_raw", "What to do:"),
		       mutex_in_raw_spin());
}

static noinline void spin_in_raw_spin(void)
{
	raw_spin_lock(&wait_raw);
	might_lock(&wait_spin);
	raw_spin_unlock(&wait_raw);
}

/* It works today, and does not in a real-time kernel, where a spin lock sleeps. */
static void spin_lock_under_raw_spin_lock(struct kunit *test)
{
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(WAIT_CONTEXT "spin_in_raw_spin+0x", " (wait_spin){"),
		       spin_in_raw_spin());
}

static DEFINE_RAW_SPINLOCK(irq_raw);
static DEFINE_SPINLOCK(irq_spin);
static DEFINE_MUTEX(irq_mutex);

static void raw_in_interrupt(void *unused)
{
	might_lock(&irq_raw);
}

static void spin_in_interrupt(void *unused)
{
	might_lock(&irq_spin);
}

static void mutex_in_interrupt(void *unused)
{
	might_lock(&irq_mutex);
}

static void waits_in_interrupts(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, lockdep_in_hardirq(test, raw_in_interrupt, NULL));
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(WAIT_CONTEXT "mutex_in_interrupt+0x", " (irq_mutex){",
				     "(nothing)", "In an interrupt that is not allowed."),
		       lockdep_in_hardirq(test, mutex_in_interrupt, NULL));
	/* A real-time kernel handles interrupts in threads, if they take such locks. */
#ifdef CONFIG_PREEMPT_RT
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(WAIT_CONTEXT "spin_in_interrupt+0x", " (irq_spin){"),
		       lockdep_in_hardirq(test, spin_in_interrupt, NULL));
#else
	LOCKDEP_EXPECT_NONE(test, lockdep_in_hardirq(test, spin_in_interrupt, NULL));
#endif
}

static DEFINE_MUTEX(rcu_mutex);
static DEFINE_SPINLOCK(rcu_spin);

static noinline void mutex_in_reader(void)
{
	rcu_read_lock();
	mutex_lock(&rcu_mutex);
	mutex_unlock(&rcu_mutex);
	rcu_read_unlock();
}

static noinline void reader_in_mutex(void)
{
	mutex_lock(&rcu_mutex);
	rcu_read_lock();
	rcu_read_lock();
	spin_lock(&rcu_spin);
	spin_unlock(&rcu_spin);
	rcu_read_unlock();
	rcu_read_unlock();
	mutex_unlock(&rcu_mutex);
}

/* A reader that sleeps holds up the grace period, and the owner of the mutex may wait for it. */
static void rcu_and_mutex(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, reader_in_mutex());
	LOCKDEP_EXPECT(
		test,
		LOCKDEP_LINES(WAIT_CONTEXT "mutex_in_reader+0x", " (rcu_mutex){", "rcu_read_lock"),
		mutex_in_reader());
}

/* --- Releases ------------------------------------------------------------------------------------------ */

static DEFINE_RAW_SPINLOCK(never_taken);

static noinline void release_free_lock(void)
{
	/* The lock itself would be released as well: only the validator's half. */
	lock_release(&never_taken.dep_map, _THIS_IP_);
}

static noinline void release_held_lock(void)
{
	lock_acquire(&never_taken.dep_map, 0, false, LOCK_EXCLUSIVE, NULL, _THIS_IP_);
	lock_release(&never_taken.dep_map, _THIS_IP_);
}

static void bad_unlock(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, release_held_lock());
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(BAD_UNLOCK "release_free_lock+0x", "never_taken"),
		       release_free_lock());
	LOCKDEP_EXPECT_NONE(test, release_held_lock());
}

static DEFINE_MUTEX(foreign_mutex);

static int unlock_foreign_mutex(void *unused)
{
	mutex_unlock(&foreign_mutex);
	return 0;
}

/* The kernel warns as well, and the mutex stays locked. */
static void unlock_of_another_task(struct kunit *test)
{
	mutex_lock(&foreign_mutex);
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(BAD_UNLOCK "unlock_foreign_mutex+0x", "lockdep_test/",
				     "foreign_mutex"),
		       lockdep_in_thread(test, unlock_foreign_mutex, NULL));
	KUNIT_EXPECT_TRUE(test, mutex_is_locked(&foreign_mutex));
	KUNIT_EXPECT_TRUE(test, lock_is_held(&foreign_mutex.dep_map));
	mutex_unlock(&foreign_mutex);
	KUNIT_EXPECT_FALSE(test, lock_is_held(&foreign_mutex.dep_map));
}

/* --- Ends ------------------------------------------------------------------------------------------------ */

static DEFINE_MUTEX(exit_mutex);

static int keep_at_exit(void *unused)
{
	mutex_lock(&exit_mutex);
	return 0;
}

static int release_at_exit(void *unused)
{
	mutex_lock(&exit_mutex);
	mutex_unlock(&exit_mutex);
	return 0;
}

static void held_at_task_exit(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, lockdep_in_thread(test, release_at_exit, NULL));
	/* Nobody can take it any more, so once only. */
	LOCKDEP_EXPECT_ONCE(test,
			    LOCKDEP_LINES("BUG: lockdep: lock held at task exit in ",
					  "lockdep_test/", "exit_mutex", "keep_at_exit+0x"),
			    lockdep_in_thread(test, keep_at_exit, NULL));
}

static DEFINE_MUTEX(user_mutex);
static DEFINE_MUTEX(user_released);

static long sys_keeps_lock(const u64 *args)
{
	if (mutex_is_locked(&user_mutex))
		mutex_unlock(&user_mutex);
	else
		mutex_lock(&user_mutex);
	return 0;
}

static long sys_releases_lock(const u64 *args)
{
	mutex_lock(&user_released);
	mutex_unlock(&user_released);
	return 0;
}

/* The program calls it twice; the second call releases the lock. */
static void run_program_with(struct kunit *test, syscall_fn fn)
{
	KUNIT_ASSERT_EQ(test, user_syscall_register(SYSCALL_FIRST_OWN, fn), 0);
	USER_TEST_PASSES(test, "own_twice", "0");
	user_syscall_register(SYSCALL_FIRST_OWN, NULL);
}

static void held_at_user_mode(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, user_test_init(test), 0);
	LOCKDEP_EXPECT_NONE(test, run_program_with(test, sys_releases_lock));
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES("BUG: lockdep: lock held at return to user mode in ",
				     "user_mutex", "sys_keeps_lock+0x", "What to do:"),
		       run_program_with(test, sys_keeps_lock));
}

static noinline void sleep_as_reader(void)
{
	rcu_read_lock();
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_timeout(1);
	rcu_read_unlock();
}

static DEFINE_MUTEX(sleep_mutex);

static noinline void sleep_with_mutex(void)
{
	mutex_lock(&sleep_mutex);
	msleep(1);
	mutex_unlock(&sleep_mutex);
}

static void held_while_sleeping(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, sleep_with_mutex());
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES("BUG: lockdep: lock held while sleeping in ", "rcu_read_lock",
				     "sleep_as_reader+0x"),
		       sleep_as_reader());
}

/* --- Statements ------------------------------------------------------------------------------------------- */

static DEFINE_SPINLOCK(stated_spin);
static DEFINE_MUTEX(stated_mutex);
static DEFINE_RWLOCK(stated_rw);

static noinline void needs_spin(void)
{
	lockdep_assert_held(&stated_spin);
}

static noinline void needs_mutex(void)
{
	lockdep_assert_held(&stated_mutex);
}

static int needs_mutex_thread(void *unused)
{
	needs_mutex();
	return 0;
}

static noinline void needs_rw(void)
{
	lockdep_assert_held(&stated_rw);
}

static void assert_held(struct kunit *test)
{
	unsigned long flags;

	LOCKDEP_EXPECT_NONE(test, {
		spin_lock_irqsave(&stated_spin, flags);
		needs_spin();
		spin_unlock_irqrestore(&stated_spin, flags);
		read_lock(&stated_rw);
		needs_rw();
		read_unlock(&stated_rw);
	});
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES("BUG: lockdep: lock not held in needs_spin+0x", "stated_spin"),
		       needs_spin());
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES("BUG: lockdep: lock not held in needs_rw+0x", "stated_rw"),
		       needs_rw());
	/* Another task's lock does not count. */
	mutex_lock(&stated_mutex);
	LOCKDEP_EXPECT_NONE(test, needs_mutex());
	LOCKDEP_EXPECT(
		test,
		LOCKDEP_LINES("BUG: lockdep: lock not held in needs_mutex+0x", "stated_mutex"),
		lockdep_in_thread(test, needs_mutex_thread, NULL));
	mutex_unlock(&stated_mutex);
}

static DEFINE_MUTEX(rare_a);
static DEFINE_MUTEX(rare_b);

static noinline_named void takes_rarely(bool really)
{
	might_lock(&rare_a);
	if (really) {
		mutex_lock(&rare_a);
		mutex_unlock(&rare_a);
	}
}

static noinline void rare_under_b(void)
{
	mutex_lock(&rare_b);
	takes_rarely(false);
	mutex_unlock(&rare_b);
}

static noinline void rare_in_order(void)
{
	mutex_lock(&rare_a);
	mutex_lock(&rare_b);
	mutex_unlock(&rare_b);
	mutex_unlock(&rare_a);
}

/* The code path without the lock shows the bug of the one with it. */
static void might_lock_counts(struct kunit *test)
{
	rare_in_order();
	LOCKDEP_EXPECT_NONE(test, takes_rarely(false));
	KUNIT_EXPECT_FALSE(test, lock_is_held(&rare_a.dep_map));
	LOCKDEP_EXPECT(
		test,
		LOCKDEP_LINES(
			CIRCULAR "takes_rarely+0x",
			"-> #1 (rare_a), taken while (rare_b) is held, now:", "rare_under_b+0x",
			"-> #0 (rare_b), taken while (rare_a) is held:", "rare_in_order+0x"),
		rare_under_b());
}

static void is_held(struct kunit *test)
{
	static DEFINE_SPINLOCK(held_lock);
	static DEFINE_SPINLOCK(other_lock);

	KUNIT_EXPECT_FALSE(test, lock_is_held(&held_lock.dep_map));
	spin_lock(&held_lock);
	KUNIT_EXPECT_TRUE(test, lock_is_held(&held_lock.dep_map));
	KUNIT_EXPECT_FALSE(test, lock_is_held(&other_lock.dep_map));
	spin_unlock(&held_lock);
	KUNIT_EXPECT_FALSE(test, lock_is_held(&held_lock.dep_map));
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, rcu_read_lock_held());
	rcu_read_unlock();
}

/* A lock in allocated memory has no address that could be its class. */
static void not_initialised(struct kunit *test)
{
	raw_spinlock_t *lock = kunit_kzalloc(test, sizeof(*lock), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, lock);
	LOCKDEP_EXPECT_ONCE(
		test,
		LOCKDEP_LINES("BUG: lockdep: lock not initialised in not_initialised+0x",
			      "What to do:"),
		{
			raw_spin_lock(lock);
			raw_spin_unlock(lock);
		});
	raw_spin_lock_init(lock);
	LOCKDEP_EXPECT_NONE(test, {
		raw_spin_lock(lock);
		raw_spin_unlock(lock);
	});
}

LOCKDEP_SUITE(lockdep_context, KUNIT_CASE(mutex_under_spin_lock),
	      KUNIT_CASE(spin_lock_under_raw_spin_lock), KUNIT_CASE(waits_in_interrupts),
	      KUNIT_CASE(rcu_and_mutex), KUNIT_CASE(bad_unlock), KUNIT_CASE(unlock_of_another_task),
	      KUNIT_CASE(held_at_task_exit), KUNIT_CASE(held_at_user_mode),
	      KUNIT_CASE(held_while_sleeping), KUNIT_CASE(assert_held),
	      KUNIT_CASE(might_lock_counts), KUNIT_CASE(is_held), KUNIT_CASE(not_initialised));
