/* SPDX-License-Identifier: MIT */
/*
 * core.c - the scheduler: run queues, switching, waking, preemption, the tick.
 *
 * Three rules keep it free of races:
 *  - task->on_rq says that the task is runnable. It changes only under the lock of the task's run queue.
 *  - task->on_cpu says that a CPU still uses the task's stack. A waker that finds the task out of the queue
 *    waits until on_cpu is 0 before it lets another CPU run the task.
 *  - The waker stores the condition, then reads the task's state. The sleeper stores its state, then reads
 *    the condition. Each has a full barrier in between, so at least one sees what the other has stored.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/timer.h>
#include <kernel/workqueue.h>
#include <asm/barrier.h>

#include "sched.h"

DEFINE_DECLARED_PER_CPU(runqueues);

/* Lock the run queue that @task belongs to. The task may move to another one until that is done. */
static struct rq *lock_task_rq(struct task *task)
{
	for (;;) {
		struct rq *rq = cpu_rq(READ_ONCE(task->cpu));

		spin_lock(&rq->lock);
		if (rq->cpu == READ_ONCE(task->cpu))
			return rq;
		spin_unlock(&rq->lock);
	}
}

static void enqueue(struct rq *rq, struct task *task)
{
	list_add_tail(&task->run_list, &rq->queue);
	WRITE_ONCE(rq->nr_queued, rq->nr_queued + 1);
}

static void dequeue(struct rq *rq, struct task *task)
{
	list_del_init(&task->run_list);
	WRITE_ONCE(rq->nr_queued, rq->nr_queued - 1);
}

static void set_need_resched(struct task *task)
{
	__atomic_fetch_or(&task->flags, BIT(TIF_NEED_RESCHED), __ATOMIC_SEQ_CST);
}

static void clear_need_resched(struct task *task)
{
	__atomic_fetch_and(&task->flags, ~BIT(TIF_NEED_RESCHED), __ATOMIC_SEQ_CST);
}

/* Make the CPU of @rq call __schedule() soon. @rq is locked. */
static void resched_curr(struct rq *rq)
{
	set_need_resched(rq->curr);
	if (rq->online && rq->cpu != smp_processor_id())
		smp_send_reschedule(rq->cpu);
}

/* --- Switching ------------------------------------------------------------------------------- */

static bool may_run_on(const struct task *task, unsigned int cpu)
{
	return !task->cpus_mask || task->cpus_mask & 1U << cpu;
}

/* Take a waiting task from the longest other queue. @rq: ours, locked and empty. */
static struct task *pull_task(struct rq *rq)
{
	struct rq *busiest = NULL;
	struct task *task;
	unsigned int most = 0, cpu;

	for_each_online_cpu (cpu) {
		unsigned int n = READ_ONCE(cpu_rq(cpu)->nr_queued);

		if (cpu != rq->cpu && n > most) {
			most = n;
			busiest = cpu_rq(cpu);
		}
	}
	/* The other CPU may be waiting for our lock, so only try. The next tick tries again. */
	if (!busiest || !spin_trylock(&busiest->lock))
		return NULL;
	list_for_each_entry (task, &busiest->queue, run_list) {
		if (!may_run_on(task, rq->cpu))
			continue;
		dequeue(busiest, task);
		WRITE_ONCE(task->cpu, rq->cpu);
		spin_unlock(&busiest->lock);
		return task;
	}
	spin_unlock(&busiest->lock);
	return NULL;
}

static struct task *pick_next(struct rq *rq)
{
	struct task *task;

	if (!rq->nr_queued) {
		task = pull_task(rq);
		return task ? task : rq->idle;
	}
	task = list_first_entry(&rq->queue, struct task, run_list);
	dequeue(rq, task);
	return task;
}

/* Runs first after a switch, in the next task: release @prev and the run queue. */
static void finish_switch(struct task *prev)
{
	struct rq *rq = this_rq();
	/* Once on_cpu is 0, @prev may run elsewhere and change its state, unless that is TASK_DEAD. */
	bool dead = prev->state == TASK_DEAD;

	smp_store_release(&prev->on_cpu, 0);
	__raw_spin_unlock(&rq->lock);
	local_irq_enable();
	preempt_enable_no_resched();
	if (dead)
		task_gone(prev);
}

void schedule_tail(struct task *prev)
{
	finish_switch(prev);
	preempt_enable();
}

/**
 * __schedule() - switch to the next task
 * @preempt: the task did not ask for it. It stays runnable whatever its state says, because it may have set
 *	its state to sleep and not yet have looked at the condition that it waits for.
 *
 * Preemption is off by exactly one level. Returns with interrupts on.
 */
static void __schedule(bool preempt)
{
	struct task *prev = current, *next;
	struct rq *rq;

	local_irq_disable();
	rcu_note_context_switch(preempt);
	rq = this_rq();
	spin_lock(&rq->lock);
	clear_need_resched(prev);
	if (prev != rq->idle) {
		if (preempt || prev->state == TASK_RUNNING)
			enqueue(rq, prev);
		else
			smp_store_release(&prev->on_rq, 0);
	}
	next = pick_next(rq);
	if (!next->time_slice)
		next->time_slice = RR_TIMESLICE;
	if (next == prev) {
		spin_unlock_irq(&rq->lock);
		return;
	}
	/* A late report of a bad access must name the task that did it, so look before the switch. */
	arch_check_async_faults();
	next->on_cpu = 1;
	WRITE_ONCE(rq->curr, next);
	if (unlikely(prev->mm || next->mm))
		arch_switch_user(prev, next);
	/* Returns when a CPU switches back to this task, perhaps another CPU than this. */
	finish_switch(cpu_switch_to(prev, next));
}

static void schedule_bug(void)
{
	pr_err("BUG: scheduling while atomic: %s/%d/0x%08x\n", current->comm, current->pid,
	       (unsigned int)preempt_count());
	dump_stack();
	if (panic_on_warn)
		panic("scheduling while atomic");
}

void schedule(void)
{
	if (unlikely(in_atomic()))
		schedule_bug();
	if (current->kflags & PF_WQ_WORKER && READ_ONCE(current->state) != TASK_RUNNING)
		wq_worker_sleeping();
	do {
		preempt_disable();
		__schedule(false);
		preempt_enable_no_resched();
	} while (need_resched());
	if (current->kflags & PF_WQ_WORKER)
		wq_worker_running();
}

void schedule_dead(void)
{
	/* Not preemptible from here: preemption would put the dead task back into the queue. */
	preempt_disable();
	local_irq_disable();
	__set_current_state(TASK_DEAD);
	__schedule(false);
	panic("dead task %s/%d runs", current->comm, current->pid);
}

/* @task is current: other tasks cannot tell whether it is exiting already. */
static bool is_killed(const struct task *task)
{
	return READ_ONCE(task->flags) & BIT(TIF_KILL) && !(task->kflags & PF_EXITING);
}

void preempt_schedule(void)
{
	if (irqs_disabled())
		return;
	do {
		if (unlikely(is_killed(current)))
			make_task_dead();
		preempt_disable();
		__schedule(true);
		preempt_enable_no_resched();
	} while (need_resched() || is_killed(current));
}

void kthread_kill(struct task *task)
{
	__atomic_fetch_or(&task->flags, BIT(TIF_KILL) | BIT(TIF_NEED_RESCHED), __ATOMIC_SEQ_CST);
	/* If the task runs, the next tick sees the flag. If not, the task looks when it runs again. */
}

void preempt_schedule_irq(void)
{
	do {
		if (unlikely(is_killed(current))) {
			local_irq_enable();
			make_task_dead();
		}
		preempt_disable();
		__schedule(true);
		local_irq_disable();
		preempt_enable_no_resched();
	} while (need_resched() || is_killed(current));
}

void yield(void)
{
	__set_current_state(TASK_RUNNING);
	schedule();
}

bool cond_resched(void)
{
	if (!need_resched() || !preemptible())
		return false;
	preempt_schedule();
	return true;
}

/* --- Waking ---------------------------------------------------------------------------------- */

bool idle_cpu(unsigned int cpu)
{
	const struct rq *rq = cpu_rq(cpu);

	return READ_ONCE(rq->online) && READ_ONCE(rq->curr) == rq->idle &&
	       !READ_ONCE(rq->nr_queued);
}

/* Choose a CPU for @task: its last one if idle, else any idle one, else the one with the shortest queue. */
static unsigned int select_cpu(const struct task *task)
{
	unsigned int best = task->cpu, cpu;

	/* A task is bound to one CPU at most, and then it has never been on another. */
	if (task->cpus_mask || idle_cpu(best))
		return best;
	for_each_online_cpu (cpu) {
		if (idle_cpu(cpu))
			return cpu;
	}
	for_each_online_cpu (cpu) {
		const struct rq *rq = cpu_rq(cpu);

		if (READ_ONCE(rq->online) &&
		    (READ_ONCE(rq->nr_queued) < READ_ONCE(cpu_rq(best)->nr_queued) ||
		     !READ_ONCE(cpu_rq(best)->online)))
			best = cpu;
	}
	return best;
}

/* Wake @task if it is still in its queue, or running: only its state must change. Return: false if not. */
static bool wake_runnable(struct task *task)
{
	struct rq *rq = lock_task_rq(task);
	bool runnable = task->on_rq;

	if (runnable)
		WRITE_ONCE(task->state, TASK_RUNNING);
	spin_unlock(&rq->lock);
	return runnable;
}

bool wake_up_state(struct task *task, unsigned int state)
{
	unsigned long flags;
	struct rq *rq;
	bool woken = false;

	spin_lock_irqsave(&task->wake_lock, flags);
	smp_mb();
	if (!(READ_ONCE(task->state) & state))
		goto out;
	woken = true;
	if (smp_load_acquire(&task->on_rq) && wake_runnable(task))
		goto out;

	/* The task sleeps, but its CPU may still use its stack. That CPU has interrupts off and waits for
	 * no lock that is held here, so this ends. */
	while (smp_load_acquire(&task->on_cpu))
		cpu_relax();
	rq = cpu_rq(select_cpu(task));
	spin_lock(&rq->lock);
	WRITE_ONCE(task->cpu, rq->cpu);
	WRITE_ONCE(task->state, TASK_RUNNING);
	task->on_rq = 1;
	enqueue(rq, task);
	/* On a CPU that has not started, both are NULL. Its first tick will find the task. */
	if (rq->idle && rq->curr == rq->idle)
		resched_curr(rq);
	spin_unlock(&rq->lock);
out:
	spin_unlock_irqrestore(&task->wake_lock, flags);
	return woken;
}

bool wake_up_process(struct task *task)
{
	return wake_up_state(task, TASK_NORMAL | TASK_NEW);
}

/* --- Time ------------------------------------------------------------------------------------ */

/* Is there a task on another CPU's queue that this idle one could run? */
static bool work_elsewhere(const struct rq *rq)
{
	unsigned int cpu;

	for_each_online_cpu (cpu) {
		if (cpu != rq->cpu && READ_ONCE(cpu_rq(cpu)->nr_queued))
			return true;
	}
	return false;
}

void timer_tick(void)
{
	struct rq *rq = this_rq();
	struct task *curr = current;

	rcu_tick();
	run_timers();
	if (curr == rq->idle) {
		if (rq->online && (READ_ONCE(rq->nr_queued) || work_elsewhere(rq)))
			set_need_resched(curr);
		return;
	}
	if (curr->time_slice)
		curr->time_slice--;
	/* With no time left it gets a new slice when it is picked again. */
	if ((!curr->time_slice && READ_ONCE(rq->nr_queued)) || is_killed(curr))
		set_need_resched(curr);
}

/* --- Start ------------------------------------------------------------------------------------ */

void sched_init(void)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		struct rq *rq = cpu_rq(cpu);

		spin_lock_init(&rq->lock);
		rq->cpu = cpu;
		INIT_LIST_HEAD(&rq->queue);
	}
	cpu_rq(0)->curr = cpu_rq(0)->idle = &init_task;
	kthread_init();
}

struct task *idle_task(unsigned int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	struct task *task = rq->idle;

	if (task)
		return task;
	task = task_alloc(THREAD_SIZE);
	if (!task)
		return NULL;
	task->kflags = PF_IDLE;
	task->cpu = cpu;
	task->state = TASK_RUNNING;
	task->on_cpu = 1;
	snprintf(task->comm, sizeof(task->comm), "swapper/%u", cpu);
	rq->curr = rq->idle = task;
	return task;
}

void cpu_startup_entry(void)
{
	struct rq *rq = this_rq();

	WRITE_ONCE(rq->online, true);
	for (;;) {
		/* With interrupts off no task can be woken between the check and the wait. A pending
		 * interrupt ends the wait even so. */
		local_irq_disable();
		if (!need_resched())
			arch_cpu_idle();
		local_irq_enable();
		if (need_resched())
			schedule();
	}
}

void __might_sleep(const char *file, int line)
{
	static unsigned long last;
	unsigned long now;

	if (likely(preemptible()) || !this_rq()->online || panic_in_progress())
		return;
	/* One message a second is enough. */
	now = jiffies;
	if (last && now - last < HZ)
		return;
	last = now;
	pr_err("BUG: sleeping function called from invalid context at %s:%d\n"
	       "in_atomic(): %d, irqs_disabled(): %d, pid: %d, name: %s\n",
	       file, line, in_atomic(), irqs_disabled(), current->pid, current->comm);
	dump_stack();
	if (panic_on_warn)
		panic("sleeping function called from invalid context");
}
