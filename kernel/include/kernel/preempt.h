/* SPDX-License-Identifier: MIT */
/*
 * preempt.h - the preemption counter of the running task, and what it says about the context.
 *
 * Bits 0..7 count preempt_disable(). Bit 8 is set while soft interrupts run; bits 9..15 count local_bh_disable(). Bits
 * 16..19 count the nesting of interrupt handlers. A task is preempted only at 0.
 *
 * In a real-time kernel bits 8..15 are a counter of their own, task->softirq_count, which does not keep the task from
 * being preempted.
 */
#ifndef KERNEL_PREEMPT_H
#define KERNEL_PREEMPT_H

#include <kernel/irqflags.h>
#include <kernel/task.h>
#include <kernel/types.h>
#include <asm/current.h>

#define SOFTIRQ_OFFSET	       0x00000100
#define SOFTIRQ_DISABLE_OFFSET 0x00000200
#define SOFTIRQ_MASK	       0x0000ff00
#define HARDIRQ_OFFSET	       0x00010000
#define HARDIRQ_MASK	       0x000f0000

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

/** hardirq_count(), softirq_count() - Return: the bits of the counter in HARDIRQ_MASK, in SOFTIRQ_MASK. */
static inline int hardirq_count(void)
{
	return preempt_count() & HARDIRQ_MASK;
}

static inline int softirq_count(void)
{
	return RT_SOFTIRQ_COUNT(preempt_count() & SOFTIRQ_MASK);
}

/** in_hardirq() - Return: true inside an interrupt handler. */
static inline bool in_hardirq(void)
{
	return hardirq_count() != 0;
}

/** in_serving_softirq() - Return: true inside a soft interrupt, and inside an interrupt handler on top of one. */
static inline bool in_serving_softirq(void)
{
	return (softirq_count() & SOFTIRQ_OFFSET) != 0;
}

/** in_softirq() - Return: true where this CPU starts no soft interrupt: inside of one, or under local_bh_disable(). */
static inline bool in_softirq(void)
{
	return softirq_count() != 0;
}

/** in_interrupt() - Return: true inside an interrupt handler, inside a soft interrupt, and under local_bh_disable(). */
static inline bool in_interrupt(void)
{
	return (hardirq_count() | softirq_count()) != 0;
}

/** in_task() - Return: true if this is the task's own code, not an interrupt handler or a soft interrupt. */
static inline bool in_task(void)
{
	return !in_hardirq() && !in_serving_softirq();
}

#define in_irq() in_hardirq()

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
