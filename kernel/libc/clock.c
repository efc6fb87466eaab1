// SPDX-License-Identifier: MIT
/* clock.c - the clocks of programs: the machine's real-time clock, and the time since boot. */
#include <drivers/fdt.h>
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/time.h>
#include <asm/io.h>

#include "libc.h"
#include "threads.h"

/* Linux's numbers of clocks. */
#define CLOCK_REALTIME	      0
#define CLOCK_REALTIME_COARSE 5
#define CLOCK_LAST	      7 /* CLOCK_BOOTTIME */

#define TIMER_ABSTIME 1

/* Register of an ARM PrimeCell RTC (PL031): seconds since 1970. */
#define PL031_DATA 0

/* The real-time clock when the machine booted, in seconds since 1970; 0 if there is no clock. Read once, because it
 * counts whole seconds only. */
static u64 boot_second(void)
{
	static u64 second;
	static bool known;
	phys_addr_t base;
	u64 size;
	int node;

	if (known)
		return second;
	known = true;
	node = fdt_compatible(-1, "arm,pl031");
	if (node >= 0 && fdt_reg(node, 0, &base, &size)) {
		char *registers = ioremap(base, size);

		if (registers)
			second = readl(registers + PL031_DATA) - clock_ns() / NSEC_PER_SEC;
	}
	return second;
}

u64 libc_boot_ns(void)
{
	return boot_second() * NSEC_PER_SEC;
}

static bool is_real(int clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

long libc_clock_gettime(int clock, struct libc_timespec *time)
{
	u64 ns;

	if (clock < 0 || clock > CLOCK_LAST)
		return -EINVAL;
	ns = clock_ns();
	time->sec = (s64)(ns / NSEC_PER_SEC);
	time->nsec = (s64)(ns % NSEC_PER_SEC);
	if (is_real(clock))
		time->sec += (s64)boot_second();
	return 0;
}

long libc_clock_getres(int clock, struct libc_timespec *res)
{
	if (clock < 0 || clock > CLOCK_LAST)
		return -EINVAL;
	if (res)
		*res = (struct libc_timespec){.nsec = 1};
	return 0;
}

long libc_clock_nanosleep(int clock, int flags, const struct libc_timespec *time)
{
	struct libc_timespec now;
	u64 end;
	long error = libc_clock_gettime(clock, &now);

	if (error)
		return error;
	if (time->sec < 0 || time->nsec < 0 || time->nsec >= (s64)NSEC_PER_SEC)
		return -EINVAL;
	end = (u64)time->sec * NSEC_PER_SEC + (u64)time->nsec;
	if (flags & TIMER_ABSTIME)
		end -= is_real(clock) ? boot_second() * NSEC_PER_SEC : 0;
	else
		end += clock_ns();
	return libc_sleep_until(end);
}
