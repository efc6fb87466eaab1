/* SPDX-License-Identifier: MIT */
/* test_lock.c - the order of the runtime's locks. Any order that base/lock.h allows passes. The checker, which is
 * active in all unit tests, ends a process that uses another order. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../runtime/report/captured.h"
#include "unit.h"

#define FIRST &kasan_report_lock

static struct kasan_lock leaf, other;

/* Return: true if a process that runs @scenario ends by abort(). */
static bool dies(void (*scenario)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		/* The checker's message is expected: hide it. */
		close(STDERR_FILENO);
		scenario();
		_exit(0);
	}
	REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) || (WIFEXITED(status) && !WEXITSTATUS(status)));
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void one_leaf(void)
{
	kasan_unlock(&leaf, kasan_lock(&leaf));
	kasan_unlock(&other, kasan_lock(&other));
}

static void leaf_under_report(void)
{
	const unsigned long flags = kasan_lock(FIRST);

	kasan_unlock(&leaf, kasan_lock(&leaf));
	kasan_unlock(FIRST, flags);
}

static void leaf_under_leaf(void)
{
	kasan_lock(&leaf);
	kasan_lock(&other);
}

static void report_under_leaf(void)
{
	unsigned long flags;

	kasan_lock(&leaf);
	kasan_trylock(FIRST, &flags);
}

static void two_leaves_under_report(void)
{
	kasan_lock(FIRST);
	kasan_lock(&leaf);
	kasan_lock(&other);
}

static void freed_in_another_order(void)
{
	const unsigned long flags = kasan_lock(FIRST);

	kasan_lock(&leaf);
	kasan_unlock(FIRST, flags);
}

static void interrupts_on(void)
{
	kasan_trylock_here(&leaf, kasan_port_cpu());
}

static void panic_under_a_lock(void)
{
	kasan_lock(&leaf);
	kasan_port_panic("never seen");
}

static void print_under_a_leaf(void)
{
	kasan_lock(&leaf);
	kasan_report_line("never seen");
}

static void memory_under_the_report_lock(void)
{
	kasan_lock(FIRST);
	kasan_port_alloc(CONFIG_KASAN_PAGE_SIZE);
}

static void order_that_is_right(void)
{
	CHECK(!dies(one_leaf));
	CHECK(!dies(leaf_under_report));
}

static void order_that_is_wrong(void)
{
	CHECK(dies(leaf_under_leaf));
	CHECK(dies(report_under_leaf));
	CHECK(dies(two_leaves_under_report));
	CHECK(dies(freed_in_another_order));
	CHECK(dies(interrupts_on));
}

static void calls_that_are_wrong(void)
{
	CHECK(dies(panic_under_a_lock));
	CHECK(dies(print_under_a_leaf));
	CHECK(dies(memory_under_the_report_lock));
}

/* Waiting for the end of a report takes no lock. So there is no unlock after which it must look for waiting reports. */
static void waiting_takes_no_lock(void)
{
	const unsigned long taken = kasan_posix_locks_taken();

	kasan_wait_for_report();
	CHECK_EQ(kasan_posix_locks_taken(), taken);
	CHECK_EQ(kasan_posix_locks_held(), 0);
}

UNIT_MAIN(order_that_is_right, order_that_is_wrong, calls_that_are_wrong, waiting_takes_no_lock)
