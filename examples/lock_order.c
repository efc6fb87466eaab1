// SPDX-License-Identifier: MIT
/*
 * lock_order.c - a loadable kernel module with a deadlock that waits for its moment, for
 * `./redzone run --lockdep --module`.
 *
 * One function takes the account before the log, the other one the log before the account. They run one after the other
 * here, so nothing hangs. Two CPUs could wait for each other for ever.
 */
#include <kernel/module.h>
#include <kernel/spinlock.h>

static DEFINE_SPINLOCK(account_lock);
static DEFINE_SPINLOCK(log_lock);
static int balance, entries;

static noinline void deposit(int amount)
{
	spin_lock(&account_lock);
	balance += amount;
	spin_lock(&log_lock);
	entries++;
	spin_unlock(&log_lock);
	spin_unlock(&account_lock);
}

static noinline void print_log(void)
{
	spin_lock(&log_lock);
	spin_lock(&account_lock);
	pr_info("lock_order: %d entries, balance %d\n", entries, balance);
	spin_unlock(&account_lock);
	spin_unlock(&log_lock);
}

static int lock_order_init(void)
{
	deposit(10);
	print_log();
	return 0;
}

static void lock_order_exit(void)
{
}

module_init(lock_order_init);
module_exit(lock_order_exit);
MODULE_LICENSE("MIT");
