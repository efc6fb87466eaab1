/* SPDX-License-Identifier: MIT */
/*
 * lock_ops.c - what does it cost to take and release a lock that nobody else wants? Instrumented.
 *
 * The locks are static, known to the validator from the warm-up on, and no other lock is held.
 */
#include <kernel/kernel.h>
#include <kernel/mutex.h>
#include <kernel/rcupdate.h>
#include <kernel/spinlock.h>

#include "bench.h"

static DEFINE_SPINLOCK(spin);
static DEFINE_SPINLOCK(inner_spin);
static DEFINE_RAW_SPINLOCK(raw_spin);
static DEFINE_MUTEX(mutex);

static noinline void spin_pair(void)
{
	spin_lock(&spin);
	spin_unlock(&spin);
}

static noinline void spin_irqsave_pair(void)
{
	unsigned long flags;

	spin_lock_irqsave(&spin, flags);
	spin_unlock_irqrestore(&spin, flags);
}

/* With another one held: the chain is two locks long. */
static noinline void nested_pair(void)
{
	spin_lock(&spin);
	spin_lock(&inner_spin);
	spin_unlock(&inner_spin);
	spin_unlock(&spin);
}

static noinline void raw_pair(void)
{
	raw_spin_lock(&raw_spin);
	raw_spin_unlock(&raw_spin);
}

static noinline void mutex_pair(void)
{
	mutex_lock(&mutex);
	mutex_unlock(&mutex);
}

static noinline void rcu_pair(void)
{
	rcu_read_lock();
	rcu_read_unlock();
}

#define OP(n, f) {"locks." n, f, .warm = 64, .rounds = 8192, .interruptible = true}

const struct bench_op bench_lock_ops[] = {
	OP("spin_lock", spin_pair),
	OP("spin_lock_irqsave", spin_irqsave_pair),
	OP("spin_lock_nested", nested_pair),
	OP("raw_spin_lock", raw_pair),
	OP("mutex_lock", mutex_pair),
	OP("rcu_read_lock", rcu_pair),
	{},
};
