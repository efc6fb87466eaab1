/* SPDX-License-Identifier: MIT */
/*
 * softirq.h - soft interrupts: work that interrupts leave behind, and tasklets.
 *
 * A soft interrupt runs on the CPU that has raised it: at the end of the interrupt, on top of the interrupted task, with
 * interrupts on; or in local_bh_enable(). It is not preempted and must not sleep. Soft interrupts of one CPU do not
 * nest. If there are too many, the CPU's thread ksoftirqd/N runs the rest, beside other tasks.
 *
 * In a real-time kernel two threads of the CPU run all of them: ktimers/N, a real-time task of the lowest priority, the
 * timers, and ksoftirqd/N the others. They can be preempted, and the locks that they take may sleep.
 */
#ifndef KERNEL_SOFTIRQ_H
#define KERNEL_SOFTIRQ_H

#include <kernel/bottom_half.h>
#include <kernel/list.h>
#include <kernel/types.h>

/** enum softirq - in the order in which they run */
enum softirq { TIMER_SOFTIRQ, TASKLET_SOFTIRQ, NR_SOFTIRQS };

/** open_softirq() - let @action run when soft interrupt @nr is raised. Boot only. */
void open_softirq(enum softirq nr, void (*action)(void));

/** raise_softirq() - run soft interrupt @nr soon on this CPU. Any context. */
void raise_softirq(enum softirq nr);

/** raise_softirq_irqoff() - the same where interrupts are off. */
void raise_softirq_irqoff(enum softirq nr);

/** irq_exit_softirq() - the end of an interrupt, after irq_exit(), on the interrupted task's stacks: run what is pending,
 *  unless in_interrupt(). Called with interrupts off, and returns with them off. */
void irq_exit_softirq(void);

/** softirq_init() - at boot, once, before any of them is used. */
void softirq_init(void);

/** softirq_init_cpu() - start ksoftirqd of CPU @cpu. Called before the CPU starts, or early on the boot CPU. May sleep.
 *  Return: 0 or -ENOMEM. */
int softirq_init_cpu(unsigned int cpu);

/* --- Tasklets -------------------------------------------------------------------------------- */

/**
 * struct tasklet_struct - a function to be run once in a soft interrupt
 * @entry: in the list of the CPU where it waits.
 * @scheduled: it is to run. @running: its function runs. @disabled: calls of tasklet_disable() not undone yet.
 *
 * It runs on the CPU that schedules it, and never on two at once. Its memory must stay until the function has ended.
 */
struct tasklet_struct {
	struct list_head entry;
	bool scheduled;
	bool running;
	unsigned int disabled;
	void (*callback)(struct tasklet_struct *tasklet);
};

#define DECLARE_TASKLET(name, fn) \
	struct tasklet_struct name = {.entry = LIST_HEAD_INIT((name).entry), .callback = (fn)}

/** from_tasklet() - Return: the structure that has @tasklet as a member. */
#define from_tasklet(var, tasklet, member) container_of(tasklet, __typeof__(*(var)), member)

/** tasklet_setup() - prepare @tasklet. */
void tasklet_setup(struct tasklet_struct *tasklet, void (*callback)(struct tasklet_struct *));

/** tasklet_schedule() - have @tasklet run soon, once. Any context. Nothing happens if it waits to run already. The
 *  function may schedule its own tasklet again. */
void tasklet_schedule(struct tasklet_struct *tasklet);

/** tasklet_disable() - keep @tasklet from running, and wait for its function to end. Calls nest. May sleep. */
void tasklet_disable(struct tasklet_struct *tasklet);

/** tasklet_enable() - undo one tasklet_disable(). If the tasklet was scheduled meanwhile, it runs. Any context. */
void tasklet_enable(struct tasklet_struct *tasklet);

/** tasklet_kill() - wait until @tasklet, which is enabled and is not scheduled any more, has run. May sleep. */
void tasklet_kill(struct tasklet_struct *tasklet);

/** tasklet_init() - at boot, once. */
void tasklet_init(void);

#endif
