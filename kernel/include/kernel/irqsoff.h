/* SPDX-License-Identifier: MIT */
/*
 * irqsoff.h - the interrupts-off tracer: for how long each code place keeps the interrupts of its CPU off, and for
 * how long KASAN's runtime holds each of its locks.
 *
 * Only kernels for measurements have it (CONFIG_IRQSOFF). Times are counts of arch_counter(), which counts
 * instructions under `qemu -icount`. Then measure on one CPU: with several, the counter runs for all of them.
 */
#ifndef KERNEL_IRQSOFF_H
#define KERNEL_IRQSOFF_H

#include <kernel/types.h>

#ifdef CONFIG_IRQSOFF

/**
 * struct irqsoff_record - one code place, or one lock
 * @from: the place that switched interrupts off, or the lock's address.
 * @to: the place that switched them on again after @longest, or released the lock.
 * @longest: counts of the clock.
 * @times: how often.
 */
struct irqsoff_record {
	unsigned long from, to;
	u64 longest;
	unsigned long times;
};

/** irqsoff_begin() - interrupts have just been switched off; they may have been off before. Any context. */
void irqsoff_begin(void);

/** irqsoff_end() - interrupts are about to be switched on. Does nothing if they are on. Any context. */
void irqsoff_end(void);

/** irqsoff_start(), irqsoff_stop() - forget all records, and record from now on; record no longer. */
void irqsoff_start(void);
void irqsoff_stop(void);

/**
 * irqsoff_places(), irqsoff_locks() - the records of all CPUs, longest first
 * @records: room for @max of them.
 *
 * After irqsoff_stop(). Return: how many were filled in.
 */
unsigned int irqsoff_places(struct irqsoff_record *records, unsigned int max);
unsigned int irqsoff_locks(struct irqsoff_record *records, unsigned int max);

/** irqsoff_lost() - Return: how many periods found no free record; the others are complete. */
unsigned long irqsoff_lost(void);

#else

static inline void irqsoff_begin(void)
{
}

static inline void irqsoff_end(void)
{
}

#endif

#endif
