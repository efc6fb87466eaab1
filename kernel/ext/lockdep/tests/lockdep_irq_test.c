// SPDX-License-Identifier: MIT
/*
 * lockdep_irq_test.c - locks that interrupts take: they must be held with interrupts off everywhere, and so must every
 * lock that may be taken while they are held. lockdep_softirq_test.c has the same for soft interrupts.
 *
 * Interrupt handlers take raw spin locks, so that the cases hold in a real-time kernel as well.
 */
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/rwlock.h>
#include <kernel/spinlock.h>

#include "lockdep_expect.h"

#define INCONSISTENT "BUG: lockdep: inconsistent irq state in "
#define HARD	     "BUG: lockdep: irq-inversion (hard) in "

static void take_raw(void *lock)
{
	raw_spin_lock((raw_spinlock_t *)lock);
	raw_spin_unlock((raw_spinlock_t *)lock);
}

static noinline void take_raw_irqs_on(raw_spinlock_t *lock)
{
	raw_spin_lock(lock);
	raw_spin_unlock(lock);
}

static noinline void take_raw_irqs_off(raw_spinlock_t *lock)
{
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	raw_spin_unlock_irqrestore(lock, flags);
}

static noinline void take_raw_both_irqs_off(raw_spinlock_t *first, raw_spinlock_t *second)
{
	unsigned long flags;

	raw_spin_lock_irqsave(first, flags);
	raw_spin_lock(second);
	raw_spin_unlock(second);
	raw_spin_unlock_irqrestore(first, flags);
}

/* --- One lock --------------------------------------------------------------------------------------- */

static DEFINE_RAW_SPINLOCK(irq_used);
static DEFINE_RAW_SPINLOCK(irq_used_late);
static DEFINE_RAW_SPINLOCK(irq_safe);

static void used_then_enabled(struct kunit *test)
{
	lockdep_in_hardirq(test, take_raw, &irq_used);
	LOCKDEP_EXPECT_NONE(test, take_raw_irqs_off(&irq_used));
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(INCONSISTENT "take_raw_irqs_on+0x", " (irq_used){",
				     "take_raw+0x", "How it deadlocks:", "lock(irq_used);",
				     "<interrupt>", "lock(irq_used);", "What to do:"),
		       take_raw_irqs_on(&irq_used));
}

/* The other way round it is found in the interrupt. */
static void enabled_then_used(struct kunit *test)
{
	take_raw_irqs_on(&irq_used_late);
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(INCONSISTENT "take_raw+0x", " (irq_used_late){",
				     "take_raw_irqs_on+0x", "<interrupt>"),
		       lockdep_in_hardirq(test, take_raw, &irq_used_late));
}

static void always_disabled(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, lockdep_in_hardirq(test, take_raw, &irq_safe));
	LOCKDEP_EXPECT_NONE(test, take_raw_irqs_off(&irq_safe));
}

static DEFINE_RAW_SPINLOCK(irq_opened);

static noinline void open_while_holding(void)
{
	local_irq_disable();
	raw_spin_lock(&irq_opened);
	local_irq_enable();
	raw_spin_unlock(&irq_opened);
}

/* Interrupts that are let in while it is held are as bad as taking it with interrupts on. */
static void enabled_while_held(struct kunit *test)
{
	lockdep_in_hardirq(test, take_raw, &irq_opened);
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(INCONSISTENT "open_while_holding+0x", "irq_opened"),
		       open_while_holding());
}

/* --- Two locks -------------------------------------------------------------------------------------- */

static DEFINE_RAW_SPINLOCK(inv_safe);
static DEFINE_RAW_SPINLOCK(inv_unsafe);

/* The holder of inv_unsafe is interrupted and waits for inv_safe, whose holder waits for inv_unsafe. */
static void hard_inversion(struct kunit *test)
{
	lockdep_in_hardirq(test, take_raw, &inv_safe);
	take_raw_irqs_on(&inv_unsafe);
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(HARD "take_raw_both_irqs_off+0x", " (inv_unsafe){",
				     "holds:", "inv_safe", "take_raw_both_irqs_off+0x",
				     "How it deadlocks:", "lock(inv_unsafe);", "<interrupt>",
				     "lock(inv_safe);", "What to do:"),
		       take_raw_both_irqs_off(&inv_safe, &inv_unsafe));
}

static DEFINE_RAW_SPINLOCK(keep_safe);
static DEFINE_RAW_SPINLOCK(keep_inner);
static DEFINE_RAW_SPINLOCK(keep_outer);

/* All are taken with interrupts off; or the unsafe one is taken first. */
static void no_hard_inversion(struct kunit *test)
{
	lockdep_in_hardirq(test, take_raw, &keep_safe);
	take_raw_irqs_off(&keep_inner);
	LOCKDEP_EXPECT_NONE(test, take_raw_both_irqs_off(&keep_safe, &keep_inner));
	take_raw_irqs_on(&keep_outer);
	LOCKDEP_EXPECT_NONE(test, take_raw_both_irqs_off(&keep_outer, &keep_safe));
}

static DEFINE_RAW_SPINLOCK(far_safe);
static DEFINE_RAW_SPINLOCK(far_middle);
static DEFINE_RAW_SPINLOCK(far_unsafe);

/* The dependency is there before it becomes known that one end is used in interrupts, and it leads over a third lock. */
static void hard_inversion_by_usage(struct kunit *test)
{
	take_raw_both_irqs_off(&far_safe, &far_middle);
	take_raw_both_irqs_off(&far_middle, &far_unsafe);
	take_raw_irqs_on(&far_unsafe);
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(HARD "take_raw+0x", "far_safe", "far_unsafe", "<interrupt>"),
		       lockdep_in_hardirq(test, take_raw, &far_safe));
}

static DEFINE_RAW_SPINLOCK(turn_safe);
static DEFINE_RAW_SPINLOCK(turn_unsafe);

/* And the same for the other end: it is taken with interrupts on at last. */
static void hard_inversion_by_enabling(struct kunit *test)
{
	lockdep_in_hardirq(test, take_raw, &turn_safe);
	take_raw_both_irqs_off(&turn_safe, &turn_unsafe);
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(HARD "take_raw_irqs_on+0x", "turn_unsafe", "turn_safe"),
		       take_raw_irqs_on(&turn_unsafe));
}

/* --- Readers ---------------------------------------------------------------------------------------- */

/* Bare maps: in a real-time kernel no interrupt handler takes an rwlock. */
struct kinds {
	struct lockdep_map *map;
	int read;
};

static void take_map(void *arg)
{
	struct kinds *kinds = arg;

	lock_acquire(kinds->map, 0, false, kinds->read, NULL, _THIS_IP_);
	lock_release(kinds->map, _THIS_IP_);
}

static noinline void take_map_irqs_on(struct lockdep_map *map, int read)
{
	struct kinds kinds = {map, read};

	take_map(&kinds);
}

static void readers_in_interrupts(struct kunit *test)
{
	static struct lock_class_key keys[2];
	struct lockdep_map safe, unsafe;
	struct kinds in_irq = {&safe, LOCK_READ_RECURSIVE};

	lockdep_init_map(&safe, "reader_safe", &keys[0], 0, LD_WAIT_SPIN);
	LOCKDEP_EXPECT_NONE(test, lockdep_in_hardirq(test, take_map, &in_irq));
	/* A reader that overtakes writers may interrupt another reader. */
	LOCKDEP_EXPECT_NONE(test, take_map_irqs_on(&safe, LOCK_READ_RECURSIVE));
	/* But no writer. */
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(INCONSISTENT, "reader_safe", "<interrupt>"),
		       take_map_irqs_on(&safe, LOCK_EXCLUSIVE));

	lockdep_init_map(&unsafe, "reader_unsafe", &keys[1], 0, LD_WAIT_SPIN);
	take_map_irqs_on(&unsafe, LOCK_READ_RECURSIVE);
	in_irq = (struct kinds){&unsafe, LOCK_EXCLUSIVE};
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(INCONSISTENT, "reader_unsafe", "<interrupt>"),
		       lockdep_in_hardirq(test, take_map, &in_irq));
}

LOCKDEP_SUITE(lockdep_irq, KUNIT_CASE(used_then_enabled), KUNIT_CASE(enabled_then_used),
	      KUNIT_CASE(always_disabled), KUNIT_CASE(enabled_while_held),
	      KUNIT_CASE(hard_inversion), KUNIT_CASE(no_hard_inversion),
	      KUNIT_CASE(hard_inversion_by_usage), KUNIT_CASE(hard_inversion_by_enabling),
	      KUNIT_CASE(readers_in_interrupts));
