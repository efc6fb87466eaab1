/* SPDX-License-Identifier: MIT */
/* time.h - ticks and their conversion. The architecture supplies the clock, clock_ns(). */
#ifndef KERNEL_TIME_H
#define KERNEL_TIME_H

#include <kernel/arch.h>
#include <kernel/types.h>

#define HZ 100 /* ticks per second */

#define NSEC_PER_SEC  1000000000UL
#define NSEC_PER_MSEC 1000000UL
#define NSEC_PER_USEC 1000UL
#define USEC_PER_SEC  1000000UL
#define MSEC_PER_SEC  1000UL
#define TICK_NSEC     (NSEC_PER_SEC / HZ)

#define MAX_SCHEDULE_TIMEOUT LONG_MAX

/* Ticks since boot. They are derived from the clock, so a late interrupt does not lose any. */
#define jiffies ((unsigned long)(clock_ns() / TICK_NSEC))

#define time_after(a, b)     ((long)((b) - (a)) < 0)
#define time_before(a, b)    time_after(b, a)
#define time_after_eq(a, b)  ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)

/** msecs_to_jiffies() - Return: ticks, rounded up. */
static inline unsigned long msecs_to_jiffies(unsigned int ms)
{
	return DIV_ROUND_UP((unsigned long)ms, MSEC_PER_SEC / HZ);
}

static inline unsigned long usecs_to_jiffies(unsigned int us)
{
	return DIV_ROUND_UP((unsigned long)us, USEC_PER_SEC / HZ);
}

static inline unsigned int jiffies_to_msecs(unsigned long ticks)
{
	return (unsigned int)(ticks * (MSEC_PER_SEC / HZ));
}

#endif
