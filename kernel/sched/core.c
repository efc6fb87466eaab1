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
#include <kernel/console.h>
#include <kernel/kernel.h>
#include <kernel/rcupdate.h>
#include <kernel/sample.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/smp.h>
#include <kernel/softirq.h>
#include <kernel/stacktrace.h>
#include <kernel/timer.h>
#include <kernel/workqueue.h>
#include <asm/barrier.h>

#include "sched.h"

DEFINE_DECLARED_PER_CPU(runqueues);

/* The task may move to another queue until that is done. */
struct rq *lock_task_rq(struct task *task)
{
	for (;;) {
		struct rq *rq = cpu_rq(READ_ONCE(task->cpu));

		raw_spin_lock(&rq->lock);
		if (rq->cpu == READ_ONCE(task->cpu))
			return rq;
		raw_spin_unlock(&rq->lock);
	}
}

void set_need_resched(struct task *task)
{
	__atomic_fetch_or(&task->flags, BIT(TIF_NEED_RESCHED), __ATOMIC_SEQ_CST);
}

static void clear_need_resched(struct task *task)
{
	__atomic_fetch_and(&task->flags, ~BIT(TIF_NEED_RESCHED), __ATOMIC_SEQ_CST);
}

void resched_curr(struct rq *rq)
{
	set_need_resched(rq->curr);
	if (rq->online && rq->cpu != smp_processor_id())
		smp_send_reschedule(rq->cpu);
}

/* --- Switching ------------------------------------------------------------------------------- */

bool may_run_on(const struct task *task, unsigned int cpu)
{
	if (unlikely(task->migration_disabled))
		return task->cpu == cpu;
	return !task->cpus_mask || task->cpus_mask & 1U << cpu;
}

/* Take a waiting fair task from the longest other queue. @rq: ours, locked and empty. */
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
	if (!busiest || !raw_spin_trylock(&busiest->lock))
		return NULL;
	list_for_each_entry (task, &busiest->queue, run_list) {
		if (!may_run_on(task, rq->cpu))
			continue;
		dequeue_fair(busiest, task);
		WRITE_ONCE(task->cpu, rq->cpu);
		raw_spin_unlock(&busiest->lock);
		return task;
	}
	raw_spin_unlock(&busiest->lock);
	return NULL;
}

static struct task *pick_fair(struct rq *rq)
{
	struct task *task;

	if (!rq->nr_queued) {
		task = pull_task(rq);
		return task ? task : rq->idle;
	}
	task = list_first_entry(&rq->queue, struct task, run_list);
	dequeue_fair(rq, task);
	return task;
}

/* Runs first after a switch, in the next task: release @prev and the run queue. */
static void finish_switch(struct task *prev)
{
	struct rq *rq = this_rq();
	/* Once on_cpu is 0, @prev may run elsewhere and change its state, unless that is TASK_DEAD. */
	bool dead = prev->state == TASK_DEAD;

	smp_store_release(&prev->on_cpu, 0);
	arch_spin_unlock(&rq->lock);
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

/* Pick if a real-time task waits, or has just run. Let other CPUs know what runs here from now on, and see to it that
 * no task waits that should run instead. */
static noinline struct task *pick_any(struct rq *rq)
{
	struct task *next = rt_pick(rq);

	if (!next)
		next = pick_fair(rq);
	WRITE_ONCE(rq->curr_prio, next->prio);
	/* A waker stores that its task waits, then reads curr_prio. So it sees the new value, or its task is seen here. */
	smp_mb();
	if (rq->rt.nr)
		rt_push(rq);
	if (rq->pick_again || rt_must_pick(rq))
		set_need_resched(next);
	rq->pick_again = false;
	return next;
}

/* Why a task leaves its CPU. */
enum switch_kind {
	SWITCH_SLEEP, /* it asked for it */
	SWITCH_PREEMPT, /* It did not. It stays runnable whatever its state says, because it may have set its state to
			 * sleep and not yet have looked at the condition that it waits for. */
	SWITCH_RTLOCK, /* It waits for a lock that spins in other kernels. It may be an RCU reader. */
};

/**
 * __schedule() - switch to the next task
 *
 * Preemption is off by exactly one level. Returns with interrupts on.
 */
static void __schedule(enum switch_kind kind)
{
	struct task *prev = current, *next;
	struct rq *rq;

	local_irq_disable();
	rcu_note_context_switch(kind != SWITCH_SLEEP);
	rq = this_rq();
	raw_spin_lock(&rq->lock);
	clear_need_resched(prev);
	if (prev != rq->idle) {
		/* A task that had to make room goes on before others like it, one that yields goes on last. */
		if (kind == SWITCH_PREEMPT)
			enqueue(rq, prev, prev->time_slice || rt_prio(prev->prio));
		else if (prev->state == TASK_RUNNING)
			enqueue(rq, prev, false);
		else
			smp_store_release(&prev->on_rq, 0);
	}
	if (unlikely(rt_prio(prev->prio) || atomic_read(&rt_waiting)))
		next = pick_any(rq);
	else
		next = pick_fair(rq);
	if (!next->time_slice)
		next->time_slice = RR_TIMESLICE;
	if (next == prev) {
		raw_spin_unlock_irq(&rq->lock);
		return;
	}
	/* A late report of a bad access must name the task that did it, so look before the switch. */
	arch_check_async_faults();
	scs_check();
	next->on_cpu = 1;
	WRITE_ONCE(rq->curr, next);
	WRITE_ONCE(rq->curr_prio, next->prio);
	if (unlikely(prev->user_state | next->user_state))
		arch_switch_user(prev, next);
	/* The next task unlocks the run queue, without the validator. */
	lock_release(&rq->lock.dep_map, _THIS_IP_);
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
	if (unlikely(in_atomic() || holds_rtlock()))
		schedule_bug();
	lockdep_sleep(_RET_IP_);
	if (current->kflags & PF_WQ_WORKER && READ_ONCE(current->state) != TASK_RUNNING)
		wq_worker_sleeping();
	do {
		preempt_disable();
		__schedule(SWITCH_SLEEP);
		preempt_enable_no_resched();
	} while (need_resched());
	if (current->kflags & PF_WQ_WORKER)
		wq_worker_running();
}

void schedule_rtlock(void)
{
	if (unlikely(in_atomic()))
		schedule_bug();
	do {
		preempt_disable();
		__schedule(SWITCH_RTLOCK);
		preempt_enable_no_resched();
	} while (need_resched());
}

void schedule_dead(void)
{
	/* Not preemptible from here: preemption would put the dead task back into the queue. */
	preempt_disable();
	local_irq_disable();
	__set_current_state(TASK_DEAD);
	__schedule(SWITCH_SLEEP);
	panic("dead task %s/%d runs", current->comm, current->pid);
}

/* @task is current: other tasks cannot tell whether it is exiting already. */
static bool is_killed(const struct task *task)
{
	return READ_ONCE(task->flags) & BIT(TIF_KILL) &&
	       !(task->kflags & (PF_EXITING | PF_NO_KILL)) && !holds_rtlock();
}

void preempt_schedule(void)
{
	if (irqs_disabled())
		return;
	do {
		if (unlikely(is_killed(current)))
			make_task_dead();
		preempt_disable();
		__schedule(SWITCH_PREEMPT);
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
		__schedule(SWITCH_PREEMPT);
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
	       !READ_ONCE(rq->nr_queued) && !READ_ONCE(rq->rt.nr);
}

/* Choose a CPU for @task: its last one if idle, else any idle one, else the one with the shortest queue. */
static unsigned int select_cpu(const struct task *task)
{
	unsigned int best = task->cpu, cpu;

	/* A task is bound to one CPU at most, and then it has never been on another. */
	if (task->cpus_mask || task->migration_disabled)
		return best;
	if (unlikely(rt_prio(task->prio)))
		return rt_select_cpu(task);
	if (idle_cpu(best))
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
	raw_spin_unlock(&rq->lock);
	return runnable;
}

bool wake_up_state(struct task *task, unsigned int state)
{
	unsigned long flags;
	struct rq *rq;
	bool woken = false;

	raw_spin_lock_irqsave(&task->wake_lock, flags);
	smp_mb();
	if (!(READ_ONCE(task->state) & state)) {
		woken = wake_saved_state(task, state);
		goto out;
	}
	woken = true;
	if (smp_load_acquire(&task->on_rq) && wake_runnable(task))
		goto out;

	/* The task sleeps, but its CPU may still use its stack. That CPU has interrupts off and waits for
	 * no lock that is held here, so this ends. */
	while (smp_load_acquire(&task->on_cpu))
		cpu_relax();
	rq = cpu_rq(select_cpu(task));
	raw_spin_lock(&rq->lock);
	WRITE_ONCE(task->cpu, rq->cpu);
	WRITE_ONCE(task->state, TASK_RUNNING);
	task->on_rq = 1;
	enqueue(rq, task, false);
	/* Nothing is more urgent than curr_prio of a CPU that has not started. Its first tick will find the task. */
	if (task->prio < rq->curr_prio)
		resched_curr(rq);
	else if (unlikely(rt_prio(task->prio)))
		rt_push(rq);
	raw_spin_unlock(&rq->lock);
out:
	raw_spin_unlock_irqrestore(&task->wake_lock, flags);
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

/* A real-time task runs here, and fair ones wait: move one to a CPU that runs a fair one, where it has its turn. */
static void push_fair(struct rq *rq)
{
	struct rq *to = NULL;
	struct task *task;
	unsigned int cpu;

	for_each_online_cpu (cpu) {
		struct rq *other = cpu_rq(cpu);

		if (READ_ONCE(other->online) && !rt_prio(READ_ONCE(other->curr_prio)) &&
		    (!to || READ_ONCE(other->nr_queued) < READ_ONCE(to->nr_queued)))
			to = other;
	}
	if (!to)
		return;
	raw_spin_lock(&rq->lock);
	/* The other CPU may be waiting for our lock. The next tick tries again. */
	if (to != rq && raw_spin_trylock(&to->lock)) {
		list_for_each_entry (task, &rq->queue, run_list) {
			if (!may_run_on(task, to->cpu))
				continue;
			dequeue_fair(rq, task);
			WRITE_ONCE(task->cpu, to->cpu);
			enqueue(to, task, false);
			if (task->prio < to->curr_prio)
				resched_curr(to);
			break;
		}
		raw_spin_unlock(&to->lock);
	}
	raw_spin_unlock(&rq->lock);
}

void timer_tick(void)
{
	struct rq *rq = this_rq();
	struct task *curr = current;

	rcu_tick();
	timers_tick();
	console_tick();
	if (!smp_processor_id())
		sample_tick();
	/* The switches see to it that the most urgent tasks run; this is for a CPU that was asked before it was online. */
	if (unlikely(atomic_read(&rt_waiting)))
		rt_check_preempt();
	if (curr == rq->idle) {
		if (rq->online && (READ_ONCE(rq->nr_queued) || work_elsewhere(rq)))
			set_need_resched(curr);
		return;
	}
	if (curr->time_slice)
		curr->time_slice--;
	/* With no time left it gets a new slice when it is picked again. */
	if ((!curr->time_slice && READ_ONCE(rq->nr_queued)) || is_killed(curr)) {
		/* Real-time tasks do not take turns. */
		if (rt_prio(curr->prio) && !is_killed(curr))
			push_fair(rq);
		else
			set_need_resched(curr);
	}
}

/* --- Start ------------------------------------------------------------------------------------ */

void sched_init(void)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		struct rq *rq = cpu_rq(cpu);

		raw_spin_lock_init(&rq->lock);
		rq->cpu = cpu;
		rq->curr_prio = NO_CURR;
		INIT_LIST_HEAD(&rq->queue);
		rt_init(&rq->rt);
	}
	cpu_rq(0)->curr = cpu_rq(0)->idle = &init_task;
	cpu_rq(0)->curr_prio = init_task.prio;
	kthread_init();
	softirq_init();
}

struct task *idle_task(unsigned int cpu)
{
	struct rq *rq = cpu_rq(cpu);
	struct task *task = rq->idle;

	if (task)
		return task;
	task = task_alloc(THREAD_SIZE, false);
	if (!task)
		return NULL;
	task->kflags = PF_IDLE;
	task->cpu = cpu;
	task->state = TASK_RUNNING;
	task->on_cpu = 1;
	task->prio = task->normal_prio = MAX_PRIO;
	snprintf(task->comm, sizeof(task->comm), "swapper/%u", cpu);
	rq->curr = rq->idle = task;
	rq->curr_prio = task->prio;
	return task;
}

/* The wait is not a time in which this CPU keeps interrupts from coming. */
static void wait_for_interrupt(void)
{
	irqsoff_end();
	arch_cpu_idle();
	irqsoff_begin();
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
			wait_for_interrupt();
		local_irq_enable();
		if (need_resched())
			schedule();
	}
}

void sched_sleep_bug(const char *file, int line)
{
	static unsigned long last;
	unsigned long now;

	if (!this_rq()->online || panic_in_progress())
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

void __might_sleep(const char *file, int line)
{
	if (unlikely(!preemptible() || holds_rtlock()))
		sched_sleep_bug(file, line);
}
