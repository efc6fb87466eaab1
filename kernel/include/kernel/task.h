/* SPDX-License-Identifier: MIT */
/*
 * task.h - struct task. It has its own header because <kernel/preempt.h>, and so every spin lock, needs it.
 * <kernel/sched.h> has the functions.
 */
#ifndef KERNEL_TASK_H
#define KERNEL_TASK_H

#include <kernel/atomic.h>
#include <kernel/sync_types.h>
#include <kernel/types.h>
#include <asm/switch.h>

#define TASK_COMM_LEN 16

/* task->state */
#define TASK_RUNNING	     0U /* on a CPU or in a run queue */
#define TASK_INTERRUPTIBLE   1U /* sleeps; kthread_stop() also wakes it */
#define TASK_UNINTERRUPTIBLE 2U
#define TASK_NEW	     4U /* created, never woken */
#define TASK_DEAD	     8U /* has left its CPU for ever, or is about to */
#define TASK_RTLOCK_WAIT \
	16U /* waits for a lock that spins in other kernels, see schedule_rtlock() */
#define TASK_NORMAL (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)

/* task->policy */
#define SCHED_NORMAL 0U /* fair: takes turns */
#define SCHED_FIFO   1U /* real-time: runs until it sleeps, yields, or a more urgent task can run */

/* task->prio: a smaller number is more urgent. Real-time tasks have 0 to MAX_RT_PRIO - 1, and prio
 * MAX_RT_PRIO - 1 - rt_priority. */
#define MAX_RT_PRIO  100
#define DEFAULT_PRIO 120 /* of fair tasks */
#define MAX_PRIO     140 /* of idle tasks; as a lent priority: nothing is lent */

/* task->flags: bit numbers. Other CPUs set them, so all changes are atomic. */
#define TIF_NEED_RESCHED 0
#define TIF_KILL	 1 /* kthread_kill(): ends where it could be preempted */
#define TIF_PROCESS_KILL 2 /* process_kill(): ends at the latest before it returns to user mode */

/* task->kflags: only the task itself changes them once it runs. */
#define PF_IDLE	      1U  /* an idle task: never queued, never sleeps */
#define PF_KILLED     2U  /* ended by make_task_dead() */
#define PF_WQ_WORKER  4U  /* a worker of kernel/workqueue/: @wq_worker is valid */
#define PF_ONE_REPORT 8U  /* ends with its first KASAN report, see kernel/kasan/port.c */
#define PF_EXITING    16U /* in kthread_exit(): can no longer be killed */
#define PF_NO_KILL \
	32U /* cannot be killed now; it looks itself whether it should end, see kernel/libc/futex.c */
#define PF_PROGRAM 64U /* a thread of a program, but not the first: its death is the program's */

struct fpu_state;
struct mm_struct;
struct process;
struct pt_regs;
struct rt_mutex_waiter;
struct vm_struct;
struct wait_queue_entry;
struct worker;

/* Bytes that the outermost frame record takes at the top of a stack. */
#define TASK_FRAME_BYTES 16U

/**
 * struct task - one thread of the kernel
 * @context: callee-saved registers while it does not run. First member: assembly finds it at offset 0.
 * @lowest_stack, @prev_lowest_stack: see <kernel/stackleak.h>.
 * @preempt_count: the task may be preempted if 0; see <kernel/preempt.h>.
 * @cpu: the CPU where it runs, or ran last. Changes under that CPU's run queue lock.
 * @stack, @stack_size: lowest address, bytes.
 * @on_rq: it is runnable (running or queued). @on_cpu: a CPU uses its stack and context.
 * @wake_lock: serialises wake-ups of this task.
 * @usage: references; the creator owns one, the running task another.
 * @policy: SCHED_*. @rt_priority: of SCHED_FIFO, 1 to 99, larger is more urgent; else 0.
 * @prio: the priority in effect: the most urgent one of @normal_prio, of policy and rt_priority, and of @pi_prio and
 *	@rcu_prio, which tasks that wait for locks or for the end of a reader lend. All change under @wake_lock and the
 *	lock of the task's run queue.
 * @cpus_mask: CPUs it may run on, bit n: CPU n; 0: all.
 * @migration_disabled: nesting of migrate_disable(). Only the task itself changes it.
 * @softirq_count: in real-time kernels, the part of @preempt_count that is for soft interrupts.
 * @saved_state: in real-time kernels, the state that the task has set, while it waits for a lock in another one.
 *	Changes under @wake_lock.
 * @rtlocks: in real-time kernels, how many spin locks and rwlocks it holds or waits for. It can then not be killed, and
 *	must not sleep for anything else. Only the task itself changes it.
 * @pi_lock: for the next two. @pi_waiters: the first waiter of each rt_mutex that it owns; the first one of them is where
 *	@pi_prio comes from. @pi_blocked_on: its place among the waiters of an rt_mutex; NULL: it waits for none.
 * @rt_mutexes_held: how many it owns. Only the task itself changes it.
 * @kasan_depth: number of kasan_disable_current() not yet undone.
 * @rcu_read_lock_nesting: nesting of its read-side critical sections. @rcu_special: see kernel/rcu/.
 * @rcu_entry: link there.
 * @mm: address space of user memory; NULL: none. @process: the program that it runs in user mode, NULL
 *	for kernel threads. @fpu: its floating-point registers while it does not run; NULL: it must not use them.
 * @user_state: not 0: it has one of @mm and @fpu, which arch_switch_user() changes. A whole word is cheap to check.
 * @user_tls: the thread pointer of its program while it does not run; for the architecture.
 * @waiting_on: innermost wait queue entry of this task, so that a killed task leaves no entry
 *	behind.
 * @irq_frame: while the task handles an interrupt or is preempted because of it: address above the interrupt's frames,
 *	where the registers of the interrupted code are. In a soft interrupt: address above its frames. Else NULL.
 * @trace_top, @trace_span: the frames of its own stack begin at most @trace_span bytes below @trace_top, which is NULL while
 *	@irq_frame is not: one comparison tells whether a trace is the task's own.
 * @demand: the area of its stack, if pages of that come when they are touched; else NULL.
 * @other_stack, @other_size: of a program's thread that has an alternate stack for signals: the stack that it is not on,
 *	see task_swap_stack(). @on_other: @stack is the alternate one. @left_at: where the frames of the other stack end.
 * @lockdep: locks that it holds, for the lock validator.
 */
struct task {
	struct cpu_context context;
#ifdef CONFIG_KSTACK_ERASE
	unsigned long lowest_stack, prev_lowest_stack;
#endif
	int preempt_count;
	unsigned int cpu;
	unsigned long flags;
	unsigned int kflags;
	unsigned int state;
	unsigned int on_rq;
	unsigned int on_cpu;
	void *stack;
	size_t stack_size;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	unsigned int time_slice;
	struct list_head run_list;
	int prio, normal_prio, pi_prio, rcu_prio;
	unsigned int policy;
	unsigned int rt_priority;
	u32 cpus_mask;
	unsigned int migration_disabled;
	RT_TASK_MEMBERS
	raw_spinlock_t pi_lock;
	struct prio_list pi_waiters;
	struct rt_mutex_waiter *pi_blocked_on;
	unsigned int rt_mutexes_held;
	unsigned int kasan_depth;
	int rcu_read_lock_nesting;
	unsigned int rcu_special;
	struct list_head rcu_entry;
	struct worker *wq_worker;
	struct mm_struct *mm;
	struct fpu_state *fpu;
	unsigned long user_state;
	struct process *process;
	unsigned long user_tls;
	raw_spinlock_t wake_lock;
	struct wait_queue_entry *waiting_on;
	int (*thread_fn)(void *arg);
	void *thread_arg;
	bool should_stop;
	int exit_value;
	atomic_t usage;
	struct completion exited;
	const void *irq_frame;
	const char *trace_top;
	size_t trace_span;
	struct vm_struct *demand;
	void *other_stack;
	size_t other_size;
	const void *left_at;
	bool on_other;
#ifdef CONFIG_LOCKDEP
	struct lockdep_stack lockdep;
#endif
};

#endif
