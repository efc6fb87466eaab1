/* SPDX-License-Identifier: MIT */
/* sched.h - what the files of this folder share: run queues, and how a task begins and ends. */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include <kernel/percpu.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>

/**
 * struct rq - one CPU's run queue
 * @lock: taken with interrupts off, inside a task's wake_lock. It is held across a switch, and the next
 *	task releases it. A CPU that holds one may only try to take a second one.
 * @queue: the runnable tasks that do not run yet, in the order in which they will.
 * @nr_queued: length of @queue. Other CPUs read it without the lock, as a hint.
 * @curr: the task that runs. @idle: the task that runs when the queue is empty.
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

/* The preempt_count during a switch, from preempt_disable() and spin_lock() in __schedule(). A new task
 * starts with it, and schedule_tail() takes it back. */
#define SWITCH_PREEMPT_COUNT 2

/** schedule_dead() - set the running task's state to TASK_DEAD and leave the CPU for ever. */
_Noreturn void schedule_dead(void);

/** task_gone() - @task is dead and off its CPU: free its stack, wake the task that joins it, drop its own
 *  reference. Interrupts on, preemption off. */
void task_gone(struct task *task);

/** idle_task() - the idle task of @cpu, made when first asked for. May sleep. Return: NULL without memory. */
struct task *idle_task(unsigned int cpu);

/** kthread_init() - make the cache of task structures. */
void kthread_init(void);

/** task_alloc() - make a task in state TASK_NEW, with one reference and a stack of @stack_size bytes,
 *  rounded up to pages. Return: NULL without memory. */
struct task *task_alloc(size_t stack_size);

#endif
