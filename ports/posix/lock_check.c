/* SPDX-License-Identifier: MIT */
/*
 * lock_check.c - checks each lock that the runtime takes against its order, and each call of the port against
 * the locks that it may be made under.
 *
 * The order is stated in runtime/base/lock.h, the calls in <kasan/port.h>. A violation ends the process: it
 * is a deadlock that did not happen this time.
 */
#include "internal.h"

struct kasan_lock;

/* The runtime's; only their addresses matter here. */
extern struct kasan_lock kasan_report_lock;
void kasan_lock_check_take(const struct kasan_lock *lock);
void kasan_lock_check_free(const struct kasan_lock *lock);

static __thread struct {
	const struct kasan_lock *lock[2];
	unsigned int count;
	unsigned long taken;
} held;

/* An NMI is a context of its own: the order says nothing about its locks and those of the code that it interrupts. What
 * it must not do is wait for one of those, and then the test does not end. */
static void nmi(void)
{
	const unsigned int interrupted = held.count;
	const struct kasan_lock *const locks[2] = {held.lock[0], held.lock[1]};

	held.count = 0;
	kasan_posix_hooks.locked();
	if (held.count)
		kasan_posix_die("lock order: ", "an NMI ends with a lock held");
	held.lock[0] = locks[0];
	held.lock[1] = locks[1];
	held.count = interrupted;
}

void kasan_lock_check_take(const struct kasan_lock *lock)
{
	if (!kasan_posix_irq_depth())
		kasan_posix_die("lock order: ", "a lock is taken with interrupts on");
	if (held.count && held.lock[held.count - 1] != &kasan_report_lock)
		kasan_posix_die("lock order: ",
				"a lock is taken under one that is not the report lock");
	held.lock[held.count++] = lock;
	held.taken++;
	if (kasan_posix_hooks.locked)
		nmi();
}

void kasan_lock_check_free(const struct kasan_lock *lock)
{
	if (!held.count || held.lock[held.count - 1] != lock)
		kasan_posix_die("lock order: ", "a lock is freed that was not the last one taken");
	held.count--;
}

unsigned int kasan_posix_locks_held(void)
{
	return held.count;
}

unsigned long kasan_posix_locks_taken(void)
{
	return held.taken;
}

void kasan_posix_check_call(const char *function, unsigned int allowed)
{
	const bool report = held.count && held.lock[0] == &kasan_report_lock;
	const bool leaf = held.count > report;
	unsigned int state = KASAN_POSIX_NO_LOCK;

	if (report)
		state = leaf ? KASAN_POSIX_REPORT_AND_LEAF : KASAN_POSIX_REPORT_LOCK;
	else if (leaf)
		state = KASAN_POSIX_LEAF;
#ifndef KASAN_LOCK_CHECK
	/* The runtime does not tell of its locks. */
	return;
#endif
	if (!(state & allowed))
		kasan_posix_die("called under a lock that <kasan/port.h> does not allow: ",
				function);
}
