// SPDX-License-Identifier: MIT
/*
 * futex.c - how threads of a program wait: futex() and sleeping.
 *
 * All that wait at a futex are in one queue, the oldest first: a program has few threads. While a thread waits it cannot
 * be ended from outside, as its timer and its entry are on its stack. So it looks every WAIT_TICKS whether it should.
 */
#include <kasan/kasan.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/spinlock.h>
#include <kernel/time.h>
#include <kernel/wait.h>

#include "threads.h"

/* Linux's numbers. */
#define FUTEX_WAIT    0
#define FUTEX_WAKE    1
#define FUTEX_REQUEUE 3
#define FUTEX_PRIVATE 128

#define WAIT_TICKS (HZ / 10)

/** struct futex_wait - a thread that waits at @word */
struct futex_wait {
	struct wait_queue_entry entry;
	const int *word;
	bool woken;
};

static DECLARE_WAIT_QUEUE_HEAD(waiting);

static bool is_killed(void)
{
	return READ_ONCE(current->flags) & BIT(TIF_KILL);
}

/* Return: true if the thread has to stop waiting because of a signal. */
static bool interrupted(void)
{
	return __atomic_exchange_n(&libc_self()->interrupted, false, __ATOMIC_SEQ_CST);
}

/* Before a wait, and after it. Nothing that the thread waits with is left then, so it can be ended. */
static unsigned int begin_wait(void)
{
	const unsigned int kept = current->kflags & PF_NO_KILL;

	current->kflags |= PF_NO_KILL;
	WRITE_ONCE(libc_self()->waits, true);
	return kept;
}

static void end_wait(unsigned int kept)
{
	WRITE_ONCE(libc_self()->waits, false);
	if (is_killed())
		make_task_dead();
	if (!kept)
		current->kflags &= ~PF_NO_KILL;
}

/* Sleep until woken, or until clock_ns() may be @end, or for WAIT_TICKS. The thread's state is set. */
static void sleep_some(u64 end)
{
	const u64 now = clock_ns();
	u64 ticks = WAIT_TICKS;

	if (end <= now)
		ticks = 0;
	else if (end - now < WAIT_TICKS * TICK_NSEC)
		/* One more, because part of the current one is over. */
		ticks = (end - now) / TICK_NSEC + 1;
	schedule_timeout((long)ticks);
}

static u64 end_of(const struct libc_timespec *timeout)
{
	u64 end;

	if (!timeout)
		return FOREVER;
	if (__builtin_mul_overflow((u64)timeout->sec, NSEC_PER_SEC, &end) ||
	    __builtin_add_overflow(end, (u64)timeout->nsec + clock_ns(), &end))
		return FOREVER;
	return end;
}

static long futex_wait(const int *word, int value, u64 end)
{
	const unsigned int kept = begin_wait();
	struct futex_wait wait = {.word = kasan_reset_tag(word)};
	long result = 0;

	init_wait_entry(&wait.entry);
	for (;;) {
		prepare_to_wait_exclusive(&waiting, &wait.entry, TASK_UNINTERRUPTIBLE);
		if (READ_ONCE(wait.woken))
			break;
		/* Queued first: who changes the word now finds this thread in the queue. */
		if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value)
			result = -EAGAIN;
		else if (interrupted() || is_killed())
			result = -EINTR;
		else if (clock_ns() >= end)
			result = -ETIMEDOUT;
		if (result)
			break;
		sleep_some(end);
	}
	finish_wait(&wait.entry);
	/* A wake-up that was counted must not be lost. */
	if (READ_ONCE(wait.woken))
		result = 0;
	end_wait(kept);
	return result;
}

long libc_futex_wake(const int *word, int count)
{
	struct wait_queue_entry *entry, *next;
	unsigned long flags;
	long woken = 0;

	word = kasan_reset_tag(word);
	raw_spin_lock_irqsave(&waiting.lock, flags);
	list_for_each_entry_safe (entry, next, &waiting.head, entry) {
		struct futex_wait *wait = container_of(entry, struct futex_wait, entry);

		if (woken >= count)
			break;
		if (wait->word != word || wait->woken)
			continue;
		WRITE_ONCE(wait->woken, true);
		wake_up_state(entry->task, TASK_NORMAL);
		woken++;
	}
	raw_spin_unlock_irqrestore(&waiting.lock, flags);
	return woken;
}

long libc_futex(int *word, int op, int value, const struct libc_timespec *timeout)
{
	switch (op & ~FUTEX_PRIVATE) {
	case FUTEX_WAIT:
		if (timeout && (timeout->sec < 0 || (u64)timeout->nsec >= NSEC_PER_SEC))
			return -EINVAL;
		return futex_wait(word, value, end_of(timeout));
	case FUTEX_WAKE:
		return libc_futex_wake(word, value);
	case FUTEX_REQUEUE:
		/* The other word's waiters would be woken later. Awake, these wait there on their own. */
		return libc_futex_wake(word, value + (int)(long)timeout);
	default:
		return -ENOSYS;
	}
}

long libc_sleep_until(u64 end)
{
	const unsigned int kept = begin_wait();
	long result = 0;

	while (!result && clock_ns() < end) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (interrupted() || is_killed())
			result = -EINTR;
		else
			sleep_some(end);
		__set_current_state(TASK_RUNNING);
	}
	end_wait(kept);
	return result;
}
