/* SPDX-License-Identifier: MIT */
/*
 * lock_events.h - what happens to locks, counted by name on each CPU.
 *
 * In kernels with CONFIG_LOCK_EVENTS, which the lock validator and real-time kernels set; empty in others. The boot parameter lock_events prints all
 * counters when the machine ends.
 */
#ifndef KERNEL_LOCK_EVENTS_H
#define KERNEL_LOCK_EVENTS_H

#include <kernel/types.h>

#define LOCK_EVENTS(event)                                                                     \
	event(lockdep_acquire)		    /* locks taken, as far as the validator knows */   \
		event(lockdep_chain_hits)   /* of them in a sequence that was known */         \
		event(lockdep_cycle_checks) /* searches for a cycle, one for a dependency */   \
		event(lockdep_contended)    /* waits */                                        \
		event(rtlock_slowlock)	    /* spin locks that slept, in a real-time kernel */ \
		event(rtmutex_slowlock)	    /* mutexes with priority inheritance that slept */

enum lock_event {
#define LOCK_EVENT_NUMBER(name) LOCKEVENT_##name,
	LOCK_EVENTS(LOCK_EVENT_NUMBER) NR_LOCK_EVENTS,
#undef LOCK_EVENT_NUMBER
};

#ifdef CONFIG_LOCK_EVENTS

/** lock_event_inc() - count @event on this CPU. Any context. */
void lock_event_inc(enum lock_event event);

/** lock_event_read() - Return: how often @event happened, on all CPUs, since boot. A hint while CPUs count. */
unsigned long lock_event_read(enum lock_event event);

/** lock_event_name() - Return: its name. */
const char *lock_event_name(enum lock_event event);

/** lock_events_print() - print the counters if the boot parameter lock_events asks for them. */
void lock_events_print(void);

#else

static inline void lock_event_inc(enum lock_event event)
{
}

static inline unsigned long lock_event_read(enum lock_event event)
{
	return 0;
}

static inline void lock_events_print(void)
{
}

#endif

#endif
