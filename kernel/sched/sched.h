/* SPDX-License-Identifier: MIT */
/* sched.h - what the files of this folder share: run queues and the life of a task. */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include <kernel/percpu.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>

/**
 * struct rq - one CPU's run queue
 * @lock: taken with interrupts off; held across the switch of tasks, released by the next one.
 *	Inside a task's wake_lock. Two at once only by trying the second.
 * @queue: runnable tasks that do not run, in the order in which they will.
 * @nr_queued: length of @queue; others read it without the lock, as a hint.
 * @curr: the task that runs. @idle: what runs when there is nothing else.
 * @online: the CPU has reached its idle loop.
 */
struct rq {
	spinlock_t lock;
	unsigned int cpu;
	struct list_head queue;
	unsigned int nr_queued;
	struct task *curr;
	struct task *idle;
	bool online;
};

DECLARE_PER_CPU(struct rq, runqueues);

#define cpu_rq(n) per_cpu_ptr(&runqueues, n)
#define this_rq() this_cpu_ptr(&runqueues)

/* What spin_lock() and preempt_disable() leave in preempt_count while __schedule() switches: a new
 * task starts inside that, and schedule_tail() takes it back. */
#define SWITCH_PREEMPT_COUNT 2

/** schedule_dead() - the running task, whose state becomes TASK_DEAD, leaves its CPU for ever. */
_Noreturn void schedule_dead(void);

/** task_gone() - @task is dead and off its CPU: free its stack, wake who joins it, drop its own
 *  reference. Interrupts on, preemption off. */
void task_gone(struct task *task);

/** kthread_init() - make the cache of task structures. */
void kthread_init(void);

/** task_alloc() - a task in state TASK_NEW with one reference and a stack. Return: NULL without
 * memory. */
struct task *task_alloc(size_t stack_size);

#endif
