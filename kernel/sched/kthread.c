/* SPDX-License-Identifier: MIT */
/*
 * kthread.c - kernel threads: how they are made, ended and joined.
 *
 * A task structure starts with two references: the creator's and the thread's own. When the thread has
 * ended, the next task on its CPU gives the second one up and frees the stack, so a late use of a dead
 * thread's stack is found at once. Poison that frames left there, because they never returned, is removed
 * first.
 */
#include <kasan/kasan.h>
#include <kernel/completion.h>
#include <kernel/fpu.h>
#include <kernel/kernel.h>
#include <kernel/process.h>
#include <kernel/program.h>
#include <kernel/rcupdate.h>
#include <kernel/rtmutex.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/stackleak.h>
#include <kernel/user_mm.h>
#include <kernel/vmalloc.h>
#include <kernel/wait.h>
#include <kernel/workqueue.h>

#include "sched.h"

static struct kmem_cache *task_cache;
static atomic_t last_pid;

void kthread_init(void)
{
	task_cache = kmem_cache_create("task_struct", sizeof(struct task), 16,
				       SLAB_PANIC | SLAB_HWCACHE_ALIGN, NULL);
	fpu_init();
}

struct task *task_alloc(size_t stack_size, bool demand)
{
	struct task *task = kmem_cache_zalloc(task_cache, GFP_KERNEL);

	if (!task)
		return NULL;
	task->stack_size = PAGE_ALIGN(max(stack_size, PAGE_SIZE));
	task->stack = demand ? stack_alloc_demand(task->stack_size, task)
			     : stack_alloc(task->stack_size, task);
	if (!task->stack) {
		kmem_cache_free(task_cache, task);
		return NULL;
	}
	task_set_trace_bounds(task);
	stackleak_task_init(task);
	task->state = TASK_NEW;
	task->cpu = smp_processor_id();
	INIT_LIST_HEAD(&task->run_list);
	task->prio = task->normal_prio = DEFAULT_PRIO;
	task->pi_prio = task->rcu_prio = MAX_PRIO;
	raw_spin_lock_init(&task->wake_lock);
	rt_mutex_task_init(task);
	init_completion(&task->exited);
	lockdep_task_init(task);
	atomic_set(&task->usage, 1);
	return task;
}

static void free_stack(struct task *task)
{
	/* A large one may lack pages, and so the places of hardware tags. Its shadow is poisoned anyway. */
	if (!task->demand)
		kasan_unpoison_stack(task->stack, task_stack_top(task));
	stack_free(task->stack);
	task->stack = NULL;
	task->demand = NULL;
	if (!task->other_stack)
		return;
	stack_free(task->other_stack);
	task->other_stack = NULL;
}

void task_swap_stack(void)
{
	struct task *task = current;
	unsigned long flags;

	local_irq_save(flags);
	swap(task->stack, task->other_stack);
	swap(task->stack_size, task->other_size);
	task_set_trace_bounds(task);
	task->on_other = !task->on_other;
	task->left_at = __builtin_frame_address(0);
	local_irq_restore(flags);
}

void put_task_struct(struct task *task)
{
	if (!atomic_dec_and_test(&task->usage))
		return;
	lockdep_task_free(task);
	fpu_free(task->fpu);
	kmem_cache_free(task_cache, task);
}

void task_gone(struct task *task)
{
	free_stack(task);
	/* The task that runs now only happens to be the next on this CPU. */
	complete_all_nodep(&task->exited);
	put_task_struct(task);
}

/* The first function of every kernel thread. */
static int kthread(void *arg)
{
	struct task *task = current;

	return task->thread_fn(task->thread_arg);
}

static struct task *create(int (*fn)(void *), void *arg, size_t stack_size, bool demand,
			   const char *namefmt, va_list args)
{
	struct task *task = task_alloc(stack_size, demand);

	if (!task)
		return ERR_PTR(-ENOMEM);
	vsnprintf(task->comm, sizeof(task->comm), namefmt, args);
	task->pid = atomic_inc_return(&last_pid);
	task->thread_fn = fn;
	task->thread_arg = arg;
	task->preempt_count = SWITCH_PREEMPT_COUNT;
	get_task_struct(task);
	arch_init_context(&task->context, task_stack_top(task), kthread, NULL);
	return task;
}

struct task *kthread_create_sized(int (*fn)(void *), void *arg, size_t stack_size,
				  const char *namefmt, ...)
{
	struct task *task;
	va_list args;

	va_start(args, namefmt);
	task = create(fn, arg, stack_size, false, namefmt, args);
	va_end(args);
	return task;
}

struct task *kthread_create_demand(int (*fn)(void *), void *arg, size_t stack_size,
				   const char *namefmt, ...)
{
	struct task *task;
	va_list args;

	va_start(args, namefmt);
	task = create(fn, arg, stack_size, true, namefmt, args);
	va_end(args);
	return task;
}

struct task *kthread_create(int (*fn)(void *), void *arg, const char *namefmt, ...)
{
	struct task *task;
	va_list args;

	va_start(args, namefmt);
	task = create(fn, arg, THREAD_SIZE, false, namefmt, args);
	va_end(args);
	return task;
}

void kthread_bind(struct task *task, unsigned int cpu)
{
	WARN_ON(task->state != TASK_NEW || cpu >= nr_cpu_ids);
	task->cpu = cpu;
	task->cpus_mask = 1U << cpu;
}

/* End @task if it was never started. Return: false if it was. */
static bool discard_new(struct task *task)
{
	unsigned long flags;
	bool is_new;

	raw_spin_lock_irqsave(&task->wake_lock, flags);
	is_new = task->state == TASK_NEW;
	if (is_new)
		WRITE_ONCE(task->state, TASK_DEAD);
	raw_spin_unlock_irqrestore(&task->wake_lock, flags);
	if (is_new) {
		task->exit_value = -EINTR;
		task_gone(task);
	}
	return is_new;
}

int kthread_join(struct task *task)
{
	int value;

	might_sleep();
	BUG_ON(task == current);
	discard_new(task);
	wait_for_completion(&task->exited);
	value = task->exit_value;
	put_task_struct(task);
	return value;
}

bool kthread_join_timeout(struct task *task, long timeout, int *value)
{
	/* Waits on the completion's queue: the completion itself is left to kthread_join(). */
	if (!wait_event_timeout(task->exited.wait, completion_done(&task->exited), timeout))
		return false;
	*value = kthread_join(task);
	return true;
}

int kthread_stop(struct task *task)
{
	WRITE_ONCE(task->should_stop, true);
	/* wake_up_state() has a barrier between this store and its load of the task's state. */
	wake_up_state(task, TASK_NORMAL);
	return kthread_join(task);
}

bool kthread_should_stop(void)
{
	return READ_ONCE(current->should_stop);
}

void kthread_exit(int value)
{
	if (current->kflags & PF_IDLE)
		panic("Attempted to kill the idle task!");
	current->kflags |= PF_EXITING;
	/* A task that is ended from outside leaves its locks behind, and a worker the item that it was in. */
	lockdep_task_exit(current->kflags & (PF_KILLED | PF_WQ_WORKER));
	abandon_waits();
	rt_mutex_task_exit();
	exit_rcu();
	process_gone();
	exit_mm();
	if (current->kflags & PF_WQ_WORKER)
		wq_worker_dying();
	current->exit_value = value;
	schedule_dead();
}

void make_task_dead(void)
{
	struct task *task = current;

	if (!in_task())
		panic("Fatal exception in interrupt");
	if (task->kflags & PF_IDLE)
		panic("Attempted to kill the idle task!");
	if (preempt_count()) {
		pr_alert("note: %s[%d] exited with preempt_count %d\n", task->comm, task->pid,
			 preempt_count());
		task->preempt_count = 0;
	}
	if (holds_rtlock())
		pr_alert("note: %s[%d] exited with a spin lock held\n", task->comm, task->pid);
	rt_mutex_abandon();
	task->kflags |= PF_KILLED;
	program_thread_died();
	kthread_exit(-EFAULT);
}
