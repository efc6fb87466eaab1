/* SPDX-License-Identifier: MIT */
/* timer.h - the architected timer: time since boot, the periodic tick, short delays. */
#ifndef ASM_TIMER_H
#define ASM_TIMER_H

#include <kernel/types.h>

#define HZ 100

/** clock_ns() - Return: nanoseconds since boot, monotonic and the same on all CPUs. Any context. */
u64 clock_ns(void);

/** udelay() - spin for at least @us microseconds. */
void udelay(unsigned long us);

/** time_init() - start the tick on the boot CPU, after init_IRQ(). Each tick calls timer_tick() of
 *  the scheduler with interrupts off. */
void time_init(void);

/** timer_start_cpu() - start the tick on the calling CPU, a secondary one. */
void timer_start_cpu(void);

/** early_clock_init() - take the counter's value as the time of boot. */
void early_clock_init(void);

void timer_tick(void);

#endif
