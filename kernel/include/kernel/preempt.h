/* SPDX-License-Identifier: MIT */
/*
 * preempt.h - the preemption counter of the running task.
 *
 * Bits 0..15 count preempt_disable(), bits 16..19 the nesting of interrupt handlers. A task is
 * preempted only at 0.
 */
#ifndef KERNEL_PREEMPT_H
#define KERNEL_PREEMPT_H

#include <kernel/irqflags.h>
#include <kernel/task.h>
#include <kernel/types.h>
#include <asm/current.h>

#define HARDIRQ_OFFSET 0x00010000
#define HARDIRQ_MASK   0x000f0000

static inline int preempt_count(void)
{
	return READ_ONCE(current->preempt_count);
}

/* The counter belongs to the running task, and interrupts restore it, so it needs no atomics. */
static inline void preempt_count_add(int n)
{
	WRITE_ONCE(current->preempt_count, current->preempt_count + n);
	barrier();
}

static inline void preempt_count_sub(int n)
{
	barrier();
	WRITE_ONCE(current->preempt_count, current->preempt_count - n);
}

/** need_resched() - Return: true if this task is to give up its CPU as soon as it may. */
static inline bool need_resched(void)
{
	return READ_ONCE(current->flags) & BIT(TIF_NEED_RESCHED);
}

/** preempt_schedule() - run another task if preemption is allowed here. Called where it becomes allowed
 *  while need_resched(). */
void preempt_schedule(void);

/** preempt_schedule_irq() - the same at the end of an interrupt. Called with interrupts off and
 *  preempt_count() 0, and returns with them. */
void preempt_schedule_irq(void);

/** preempt_disable(), preempt_enable() - keep this task on its CPU, and other tasks off it. Calls nest.
 *  Sleeping in between is a bug. */
static inline void preempt_disable(void)
{
	preempt_count_add(1);
}

static inline void preempt_enable_no_resched(void)
{
	preempt_count_sub(1);
}

static inline void preempt_enable(void)
{
	preempt_count_sub(1);
	if (unlikely(need_resched()) && preempt_count() == 0)
		preempt_schedule();
}

/** irq_enter(), irq_exit() - called around the handling of an interrupt, interrupts off. */
static inline void irq_enter(void)
{
	preempt_count_add(HARDIRQ_OFFSET);
}

static inline void irq_exit(void)
{
	preempt_count_sub(HARDIRQ_OFFSET);
}

/** in_interrupt() - Return: true inside an interrupt handler. */
static inline bool in_interrupt(void)
{
	return (preempt_count() & HARDIRQ_MASK) != 0;
}

#define in_irq()     in_interrupt()
#define in_hardirq() in_interrupt()
#define in_task()    (!in_interrupt())

/** in_atomic() - Return: true if sleeping is a bug here: under preempt_disable(), under a spin lock, in an
 *  interrupt handler. */
static inline bool in_atomic(void)
{
	return preempt_count() != 0;
}

/** preemptible() - Return: true if this task may be moved to another CPU at any moment. */
static inline bool preemptible(void)
{
	return preempt_count() == 0 && !irqs_disabled();
}

#endif
