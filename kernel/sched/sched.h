/* SPDX-License-Identifier: MIT */
/* sched.h - what the files of this folder share: run queues, their real-time part, and how a task begins and ends. */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include <kernel/bitops.h>
#include <kernel/percpu.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>

/**
 * struct rt_queue - the real-time tasks of a run queue that do not run yet
 * @nr: their number. Other CPUs read it without the lock, as a hint.
 * @movable: prio of the most urgent one that other CPUs may take; MAX_RT_PRIO: none. Other CPUs read it, as @nr.
 * @used: bit n: @lists[n] is not empty. @lists: by prio, in the order in which they will run.
 */
struct rt_queue {
	unsigned int nr;
	int movable;
	DECLARE_BITMAP(used, MAX_RT_PRIO);
	struct list_head lists[MAX_RT_PRIO];
};

/**
 * struct rq - one CPU's run queue
 * @lock: taken with interrupts off, inside a task's wake_lock. It is held across a switch, and the next
 *	task releases it. A CPU that holds one may only try to take a second one.
 * @queue: the runnable fair tasks that do not run yet, in the order in which they will.
 * @nr_queued: length of @queue. Other CPUs read it without the lock, as a hint.
 * @rt: the runnable real-time tasks that do not run yet.
 * @curr: the task that runs. @idle: the task that runs when the queues are empty.
 * @curr_prio: prio of @curr, for other CPUs, which must not follow @curr. NO_CURR: the CPU has not started.
 * @online: the CPU has reached its idle loop.
 * @pick_again: while it picks: it could not look at a real-time task of another CPU.
 */
struct rq {
	raw_spinlock_t lock;
	unsigned int cpu;
	struct list_head queue;
	unsigned int nr_queued;
	struct task *curr;
	struct task *idle;
	int curr_prio;
	bool online;
	bool pick_again;
	struct rt_queue rt;
};

#define NO_CURR (-1)

DECLARE_PER_CPU(struct rq, runqueues);

#define cpu_rq(n) per_cpu_ptr(&runqueues, n)
#define this_rq() this_cpu_ptr(&runqueues)

/* Number of real-time tasks in all run queues that wait for a CPU. As long as no task is real-time, reading it is all that
 * the scheduler does about it. */
extern atomic_t rt_waiting;

/* --- core.c --------------------------------------------------------------------------------------- */

/** sched_sleep_bug() - warn, with a trace, that the code at @file and @line must not sleep here. */
void sched_sleep_bug(const char *file, int line);

/** lock_task_rq() - lock and return the run queue that @task belongs to. Interrupts off. */
struct rq *lock_task_rq(struct task *task);

/** may_run_on() - Return: true if @task, which does not run, may move to @cpu. */
bool may_run_on(const struct task *task, unsigned int cpu);

/** set_need_resched() - make @task call __schedule() as soon as it may. */
void set_need_resched(struct task *task);

/** resched_curr() - make the CPU of @rq call __schedule() soon. @rq is locked. */
void resched_curr(struct rq *rq);

/* --- rt.c: which real-time tasks run where --------------------------------------------------------------- */

void rt_init(struct rt_queue *rt);
void rt_enqueue(struct rq *rq, struct task *task, bool first);
void rt_dequeue(struct rq *rq, struct task *task);

/** rt_pick() - take the most urgent waiting real-time task of all CPUs that may run on @rq, locked, out of its queue.
 *  Sets pick_again if the queue of another CPU could not be locked. Return: NULL if none. */
struct task *rt_pick(struct rq *rq);

/** rt_select_cpu() - choose the CPU where the real-time task @task is to run or wait. Its wake_lock is held. */
unsigned int rt_select_cpu(const struct task *task);

/** rt_push() - if a real-time task that waits in @rq, locked, could run on another CPU, make that CPU pick again. */
void rt_push(struct rq *rq);

/** rt_must_pick() - Return: true if a real-time task waits that is more urgent than what runs on @rq, and may run there;
 *  a hint. */
bool rt_must_pick(const struct rq *rq);

/** rt_check_preempt() - this CPU was interrupted, perhaps for that reason: see to it that it picks again if it must. */
void rt_check_preempt(void);

/* --- Putting into queues and taking out ------------------------------------------------------------------ */

/** enqueue(), dequeue() - put a runnable task that does not run into the queue of its prio; take it out. @rq is locked.
 *  @first: before those of the same prio. */
static inline void enqueue(struct rq *rq, struct task *task, bool first)
{
	if (unlikely(rt_prio(task->prio))) {
		rt_enqueue(rq, task, first);
		return;
	}
	if (unlikely(first))
		list_add(&task->run_list, &rq->queue);
	else
		list_add_tail(&task->run_list, &rq->queue);
	WRITE_ONCE(rq->nr_queued, rq->nr_queued + 1);
}

static inline void dequeue_fair(struct rq *rq, struct task *task)
{
	list_del_init(&task->run_list);
	WRITE_ONCE(rq->nr_queued, rq->nr_queued - 1);
}

static inline void dequeue(struct rq *rq, struct task *task)
{
	if (unlikely(rt_prio(task->prio)))
		rt_dequeue(rq, task);
	else
		dequeue_fair(rq, task);
}

/* --- kthread.c, smp.c ----------------------------------------------------------------------------------- */

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
 *  rounded up to pages; @demand: its pages come when they are touched. Return: NULL without memory. */
struct task *task_alloc(size_t stack_size, bool demand);

#endif
