/* SPDX-License-Identifier: MIT */
/* lockup.h - noticing a wait for a spinning lock that will never end. */
#ifndef SYNC_LOCKUP_H
#define SYNC_LOCKUP_H

#include <kernel/time.h>
#include <kernel/types.h>

/* A lock is held for microseconds. Even an emulated CPU on a busy host has released it by then. */
#define LOCKUP_NS (20 * NSEC_PER_SEC)

/* How many rounds of waiting pass between two looks at the clock. */
#define ROUNDS_PER_LOOK 65536U

/** struct lockup_watch - one wait; all zeros at its start */
struct lockup_watch {
	u64 start;
	unsigned int rounds;
	bool reported;
};

/** lockup_suspected() - called in each round. Return: true once, when the wait has taken LOCKUP_NS. */
static inline bool lockup_suspected(struct lockup_watch *watch)
{
	if (++watch->rounds % ROUNDS_PER_LOOK || watch->reported)
		return false;
	if (!watch->start)
		watch->start = clock_ns();
	watch->reported = clock_ns() - watch->start > LOCKUP_NS;
	return watch->reported;
}

#endif
