// SPDX-License-Identifier: MIT
/*
 * lockdep_softirq_test.c - locks that soft interrupts take: they must be held with soft interrupts off, or all
 * interrupts. In a real-time kernel soft interrupts are threads, which interrupt nobody: the cases are skipped.
 */
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/spinlock.h>

#include "lockdep_expect.h"

#define INCONSISTENT "BUG: lockdep: inconsistent irq state in "
#define SOFT	     "BUG: lockdep: irq-inversion (soft) in "

static void needs_softirq(struct kunit *test)
{
#ifdef CONFIG_PREEMPT_RT
	kunit_skip(test, "soft interrupts are threads in a real-time kernel");
#endif
}

static void take_spin(void *lock)
{
	spin_lock((spinlock_t *)lock);
	spin_unlock((spinlock_t *)lock);
}

static noinline void take_spin_bh_on(spinlock_t *lock)
{
	spin_lock(lock);
	spin_unlock(lock);
}

static noinline void take_spin_bh_off(spinlock_t *lock)
{
	spin_lock_bh(lock);
	spin_unlock_bh(lock);
}

static noinline void take_both_bh_off(spinlock_t *first, spinlock_t *second)
{
	spin_lock_bh(first);
	spin_lock(second);
	spin_unlock(second);
	spin_unlock_bh(first);
}

static DEFINE_SPINLOCK(soft_used);
static DEFINE_SPINLOCK(soft_safe);

static void soft_used_then_enabled(struct kunit *test)
{
	needs_softirq(test);
	LOCKDEP_EXPECT_NONE(test, lockdep_in_softirq(test, take_spin, &soft_used));
	LOCKDEP_EXPECT_NONE(test, take_spin_bh_off(&soft_used));
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(INCONSISTENT "take_spin_bh_on+0x", " (soft_used){",
				     "take_spin+0x", "<interrupt>"),
		       take_spin_bh_on(&soft_used));
}

static void soft_always_disabled(struct kunit *test)
{
	unsigned long flags;

	needs_softirq(test);
	LOCKDEP_EXPECT_NONE(test, lockdep_in_softirq(test, take_spin, &soft_safe));
	LOCKDEP_EXPECT_NONE(test, take_spin_bh_off(&soft_safe));
	/* With interrupts off no soft interrupt runs either. */
	LOCKDEP_EXPECT_NONE(test, {
		spin_lock_irqsave(&soft_safe, flags);
		spin_unlock_irqrestore(&soft_safe, flags);
	});
}

static DEFINE_SPINLOCK(soft_inv_safe);
static DEFINE_SPINLOCK(soft_inv_unsafe);
static DEFINE_SPINLOCK(soft_keep_safe);
static DEFINE_SPINLOCK(soft_keep_inner);

static void soft_inversion(struct kunit *test)
{
	needs_softirq(test);
	lockdep_in_softirq(test, take_spin, &soft_inv_safe);
	take_spin_bh_on(&soft_inv_unsafe);
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(SOFT "take_both_bh_off+0x", " (soft_inv_unsafe){", "holds:",
				     "soft_inv_safe", "How it deadlocks:", "lock(soft_inv_unsafe);",
				     "<interrupt>", "lock(soft_inv_safe);"),
		       take_both_bh_off(&soft_inv_safe, &soft_inv_unsafe));
}

static void no_soft_inversion(struct kunit *test)
{
	needs_softirq(test);
	lockdep_in_softirq(test, take_spin, &soft_keep_safe);
	take_spin_bh_off(&soft_keep_inner);
	LOCKDEP_EXPECT_NONE(test, take_both_bh_off(&soft_keep_safe, &soft_keep_inner));
}

static DEFINE_SPINLOCK(soft_not_hard);

/* Soft interrupts only: hard ones may come in between, and need not be off. */
static void soft_is_not_hard(struct kunit *test)
{
	needs_softirq(test);
	lockdep_in_softirq(test, take_spin, &soft_not_hard);
	LOCKDEP_EXPECT_NONE(test, take_spin_bh_off(&soft_not_hard));
}

LOCKDEP_SUITE(lockdep_softirq, KUNIT_CASE(soft_used_then_enabled), KUNIT_CASE(soft_always_disabled),
	      KUNIT_CASE(soft_inversion), KUNIT_CASE(no_soft_inversion),
	      KUNIT_CASE(soft_is_not_hard));
