/* SPDX-License-Identifier: MIT */
/*
 * sched.h - tasks, kernel threads and the scheduler.
 *
 * Each CPU has its own run queue. Fair tasks of a queue take turns, RR_TIMESLICE ticks each. A task that wakes
 * goes to an idle CPU if there is one; a CPU that is about to idle pulls a task from the longest queue.
 * Real-time tasks come before all fair ones: the most urgent ones of the whole system run, see sched_setscheduler().
 * Kernel code can be preempted whenever preempt_count() is 0 and interrupts are on.
 */
#ifndef KERNEL_SCHED_H
#define KERNEL_SCHED_H

#include <kernel/preempt.h>
#include <kernel/smp.h>
#include <kernel/task.h>
#include <kernel/time.h>
#include <kernel/types.h>
#include <asm/current.h>

#define RR_TIMESLICE 2U /* ticks */

/* Bytes of an ordinary thread's stack. Instrumented frames are large: they have redzones between arrays. */
#define THREAD_SIZE (32UL * 1024)

/* --- Boot ------------------------------------------------------------------------------------- */

/* The boot CPU's first task, later its idle task; it runs on boot_stack. `current` must be
 * &init_task before any instrumented code runs. */
extern struct task init_task;

/** sched_init() - set up the run queues; the running code becomes the boot CPU's idle task. Threads can then
 *  be created and woken, but do not run before cpu_startup_entry(). */
void sched_init(void);

/** cpu_startup_entry() - become the idle loop of this CPU, which is ready: from here on it takes part in
 *  scheduling. Interrupts off. */
_Noreturn void cpu_startup_entry(void);

/* --- Kernel threads --------------------------------------------------------------------------- */

/**
 * kthread_create() - make a thread; wake_up_process() starts it
 * @fn: its function; the result is the thread's exit value. @arg: argument of @fn.
 * @namefmt: printf format of its name, cut to 15 characters.
 *
 * The caller owns a reference until kthread_join(), kthread_stop() or put_task_struct(): until then the
 * pointer stays valid even if the thread has ended. May sleep.
 *
 * Return: the task, or ERR_PTR(-ENOMEM).
 */
struct task *kthread_create(int (*fn)(void *arg), void *arg, const char *namefmt, ...)
	__printf(3, 4);

/** kthread_create_sized() - the same with a stack of @stack_size bytes. */
struct task *kthread_create_sized(int (*fn)(void *arg), void *arg, size_t stack_size,
				  const char *namefmt, ...) __printf(4, 5);

/** kthread_create_demand() - the same, and the memory of the stack comes when it is touched. For programs. */
struct task *kthread_create_demand(int (*fn)(void *arg), void *arg, size_t stack_size,
				   const char *namefmt, ...) __printf(4, 5);

/** kthread_run() - create and start. */
#define kthread_run(fn, arg, namefmt, ...)                                          \
	({                                                                          \
		struct task *__k = kthread_create(fn, arg, namefmt, ##__VA_ARGS__); \
		if (!IS_ERR(__k))                                                   \
			wake_up_process(__k);                                       \
		__k;                                                                \
	})

/** kthread_bind() - bind @task, which was never woken, to @cpu. */
void kthread_bind(struct task *task, unsigned int cpu);

/** kthread_join() - wait until @task has ended and left its CPU, free its stack, give up the
 *  caller's reference. A thread that was never started does not run at all (-EINTR).
 *  Return: its exit value; -EFAULT if it was killed. */
int kthread_join(struct task *task);

/** kthread_stop() - ask @task to end, wake it, and kthread_join() it. */
int kthread_stop(struct task *task);

/** kthread_should_stop() - Return: true once kthread_stop() was called on the running task. */
bool kthread_should_stop(void);

/** kthread_kill() - end @task wherever it next could be preempted, as an oops would: exit value -EFAULT.
 *  Only for threads that never wait (a program's): the queue entry of a waiting thread is on its stack,
 *  which is freed. Mutexes that it holds stay locked. Any context. The caller keeps its reference. */
void kthread_kill(struct task *task);

/** kthread_join_timeout() - like kthread_join(), but give up after @timeout ticks. @value: filled with the
 *  exit value. Return: false if the thread still runs; the caller then keeps its reference. */
bool kthread_join_timeout(struct task *task, long timeout, int *value);

/** kthread_exit() - end the running thread with @value. */
_Noreturn void kthread_exit(int value);

/** make_task_dead() - end the running task because of an oops: exit value -EFAULT. Panics if that is
 *  impossible: in an interrupt handler, or in an idle task. Locks that it holds stay locked. */
_Noreturn void make_task_dead(void);

static inline void get_task_struct(struct task *task)
{
	atomic_inc(&task->usage);
}

/** put_task_struct() - give up a reference. The creator thus detaches the thread. */
void put_task_struct(struct task *task);

/* --- Sleeping and waking ---------------------------------------------------------------------- */

#define __set_current_state(s) WRITE_ONCE(current->state, (s))
/* The barrier makes the state visible before the caller checks its condition. */
#define set_current_state(s)            \
	do {                            \
		__set_current_state(s); \
		smp_mb();               \
	} while (0)

/** schedule() - run another task. This one sleeps until woken, unless its state is TASK_RUNNING. */
void schedule(void);

/** schedule_timeout() - schedule(), but wake after @timeout ticks (MAX_SCHEDULE_TIMEOUT: never).
 *  The caller has set its state. Return: ticks left, 0 if the time ran out. */
long schedule_timeout(long timeout);
long schedule_timeout_interruptible(long timeout);
long schedule_timeout_uninterruptible(long timeout);

/** msleep() - sleep for at least @ms milliseconds. */
void msleep(unsigned int ms);

/** wake_up_process() - make a sleeping or new task runnable. Any context. Return: true if it was
 *  not runnable before. */
bool wake_up_process(struct task *task);

/** wake_up_state() - the same, but only if the task's state is one of @state. */
bool wake_up_state(struct task *task, unsigned int state);

/** yield() - let the other tasks of this CPU's queue run first. */
void yield(void);

/** cond_resched() - let another task run if one is due. Return: true if that happened. */
bool cond_resched(void);

/* --- Priorities ------------------------------------------------------------------------------- */

/**
 * sched_setscheduler() - change how urgent a task is
 * @policy: SCHED_NORMAL or SCHED_FIFO. @rt_priority: 1 to 99 for SCHED_FIFO, larger is more urgent; else 0.
 *
 * A FIFO task runs as soon as fewer CPUs than the machine has run tasks that are at least as urgent, and keeps its
 * CPU until it sleeps, yields, or a more urgent task needs it. Nothing takes the CPU from one that never sleeps.
 * Of equal ones the first that became ready runs first. Any context in which @task stays valid; no run queue or
 * wake_lock is held.
 *
 * Return: 0, or -EINVAL for another policy or priority, or for an idle task.
 */
int sched_setscheduler(struct task *task, unsigned int policy, unsigned int rt_priority);

/** sched_set_fifo() - make @task SCHED_FIFO of rt_priority 50, the usual one of interrupt threads. */
void sched_set_fifo(struct task *task);

/** sched_set_fifo_low() - make @task SCHED_FIFO of rt_priority 1: more urgent than fair tasks only. */
void sched_set_fifo_low(struct task *task);

/** sched_set_normal() - make @task SCHED_NORMAL. */
void sched_set_normal(struct task *task);

/**
 * rt_mutex_setprio() - lend a priority to the holder of locks
 * @prio: of the most urgent task that waits for one of @task's locks; MAX_PRIO: none waits.
 *
 * @task keeps its own priority if that is more urgent. The CPUs switch at once if that is due. It replaces what was
 * lent before. The caller holds what keeps @prio right until the call ends (the locks of rt_mutex), but no run queue
 * or wake_lock. Any context.
 */
void rt_mutex_setprio(struct task *task, int prio);

/** rcu_setprio() - the same for RCU, beside what holders of locks are lent. @prio: MAX_PRIO: nothing is lent. The caller
 *  then calls rt_mutex_adjust_pi() if @task may wait for a lock. */
void rcu_setprio(struct task *task, int prio);

/** rt_prio() - Return: true if @prio is of a real-time task. */
static inline bool rt_prio(int prio)
{
	return prio < MAX_RT_PRIO;
}

/** rt_task() - Return: true if @task now runs as a real-time task, by its own priority or by a lent one. */
static inline bool rt_task(const struct task *task)
{
	return rt_prio(READ_ONCE(task->prio));
}

/** migrate_disable(), migrate_enable() - keep the running task on its CPU, without keeping others off. Calls nest. The
 *  task may sleep and be preempted in between. Thread context. */
static inline void migrate_disable(void)
{
	/* The task moves only while it does not run. Until the store it may move, afterwards it stays where it is. */
	WRITE_ONCE(current->migration_disabled, current->migration_disabled + 1);
	barrier();
}

static inline void migrate_enable(void)
{
	barrier();
	WRITE_ONCE(current->migration_disabled, current->migration_disabled - 1);
}

#if PREEMPT_RT
#include <ext/rt_sched.h>
#else
/** holds_rtlock() - Return: true if the running task holds, or waits for, a lock that spins in other kernels. It must not
 *  sleep for anything else, and cannot be killed. */
static inline bool holds_rtlock(void)
{
	return false;
}

/** abandon_rtlocks() - the running task ends, and leaves these locks as mutexes that it holds. */
static inline void abandon_rtlocks(void)
{
}

/** wake_saved_state() - @task may wait for such a lock, and sleep later for what wakes it now: keep that wake-up. Its
 *  wake_lock is held. Return: false if it does not. */
static inline bool wake_saved_state(struct task *task, unsigned int state)
{
	return false;
}
#endif

/** schedule_rtlock() - in a real-time kernel: sleep until woken from TASK_RTLOCK_WAIT. Allowed inside RCU readers. */
void schedule_rtlock(void);

/** might_sleep() - warn, with a trace, if sleeping is not allowed here. */
void __might_sleep(const char *file, int line);
#define might_sleep() __might_sleep(__FILE__, __LINE__)

/** task_pid_nr() - Return: number of @task; 0 for idle tasks. */
static inline pid_t task_pid_nr(const struct task *task)
{
	return task->pid;
}

/** task_main_stack_size() - Return: bytes of the stack that @task began on. */
static inline size_t task_main_stack_size(const struct task *task)
{
	return task->on_other ? task->other_size : task->stack_size;
}

/** task_trace_top() - Return: what @task's trace_top is outside interrupts. */
static inline const char *task_trace_top(const struct task *task)
{
	return (const char *)task->stack + task->stack_size - TASK_FRAME_BYTES;
}

/** task_set_trace_bounds() - @task has a new stack, or is on its other one. */
static inline void task_set_trace_bounds(struct task *task)
{
	task->trace_top = task_trace_top(task);
	task->trace_span = task->stack_size - TASK_FRAME_BYTES;
}

/** task_swap_stack() - from now on the running task is on its other stack: traces and reports go by that. */
void task_swap_stack(void);

/** task_stack_top() - Return: the first address above @task's stack, whichever stack is in use. The registers of user
 *  mode lie below it, see task_pt_regs(). */
static inline void *task_stack_top(const struct task *task)
{
	return (char *)task->stack + task->stack_size;
}

/** task_pt_regs() - Return: the registers of @task's program while it is in the kernel. */
static inline struct pt_regs *task_pt_regs(const struct task *task)
{
	return arch_user_regs(task_stack_top(task));
}

/** idle_cpu() - Return: true if @cpu has nothing to run; a hint. */
bool idle_cpu(unsigned int cpu);

#endif
