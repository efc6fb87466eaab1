/* SPDX-License-Identifier: MIT */
/*
 * rt.c - the real-time tasks that wait for a CPU, and which CPU takes which of them.
 *
 * The goal: at any time the most urgent tasks of the whole system run, one on each CPU. Each CPU has its own queue of
 * those that wait, so two rules reach the goal:
 *  - A CPU that picks takes the most urgent one of all queues. It may only try to lock another CPU's queue, because it
 *    holds its own; if that fails, it picks again at once.
 *  - Whoever leaves a task waiting makes the CPU that runs the least urgent task pick. That CPU checks, when the
 *    interrupt arrives, whether it is still so.
 *
 * What other CPUs run and have waiting is read without locks: curr_prio and rt_queue.movable. Each side stores its own
 * value and then reads the other's, with a full barrier in between, so at least one of the two sees the other.
 */
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <asm/barrier.h>

#include "sched.h"

atomic_t rt_waiting;

/* --- One queue ------------------------------------------------------------------------------------- */

void rt_init(struct rt_queue *rt)
{
	rt->nr = 0;
	rt->movable = MAX_RT_PRIO;
	for (size_t i = 0; i < ARRAY_SIZE(rt->used); i++)
		rt->used[i] = 0;
	for (int prio = 0; prio < MAX_RT_PRIO; prio++)
		INIT_LIST_HEAD(&rt->lists[prio]);
}

/* Return: the most urgent prio, from @prio on, at which tasks wait; MAX_RT_PRIO if there is none. */
static int next_used(const struct rt_queue *rt, int prio)
{
	return (int)find_next_bit(rt->used, MAX_RT_PRIO, (unsigned long)prio);
}

/* May another CPU take @task, which waits? That cannot change before it runs. */
static bool is_movable(const struct task *task)
{
	return !task->cpus_mask && !task->migration_disabled;
}

/* Return: the most urgent task, from @prio on, that other CPUs may take, or NULL. */
static struct task *first_movable(struct rt_queue *rt, int prio)
{
	struct task *task;

	while ((prio = next_used(rt, prio)) < MAX_RT_PRIO) {
		list_for_each_entry (task, &rt->lists[prio], run_list) {
			if (is_movable(task))
				return task;
		}
		prio++;
	}
	return NULL;
}

void rt_enqueue(struct rq *rq, struct task *task, bool first)
{
	struct rt_queue *rt = &rq->rt;

	if (first)
		list_add(&task->run_list, &rt->lists[task->prio]);
	else
		list_add_tail(&task->run_list, &rt->lists[task->prio]);
	__set_bit((unsigned long)task->prio, rt->used);
	WRITE_ONCE(rt->nr, rt->nr + 1);
	if (task->prio < rt->movable && is_movable(task))
		WRITE_ONCE(rt->movable, task->prio);
	atomic_inc(&rt_waiting);
}

void rt_dequeue(struct rq *rq, struct task *task)
{
	struct rt_queue *rt = &rq->rt;

	list_del_init(&task->run_list);
	if (list_empty(&rt->lists[task->prio]))
		__clear_bit((unsigned long)task->prio, rt->used);
	WRITE_ONCE(rt->nr, rt->nr - 1);
	if (task->prio == rt->movable) {
		const struct task *next = first_movable(rt, task->prio);

		WRITE_ONCE(rt->movable, next ? next->prio : MAX_RT_PRIO);
	}
	atomic_dec(&rt_waiting);
}

/* --- All queues ------------------------------------------------------------------------------------- */

/* Return: the other CPU's queue with the most urgent task that could move here, if that is more urgent than @prio. */
static struct rq *most_urgent_elsewhere(const struct rq *rq, int prio)
{
	struct rq *best = NULL;
	unsigned int cpu;

	for_each_online_cpu (cpu) {
		struct rq *other = cpu_rq(cpu);
		int movable = READ_ONCE(other->rt.movable);

		if (other != rq && movable < prio) {
			prio = movable;
			best = other;
		}
	}
	return best;
}

/* Take a task that is more urgent than @prio from @other. @rq is ours and locked. */
static struct task *take_from(struct rq *other, struct rq *rq, int prio)
{
	struct task *task;

	/* The other CPU may be waiting for our lock. */
	if (!raw_spin_trylock(&other->lock)) {
		rq->pick_again = true;
		return NULL;
	}
	task = first_movable(&other->rt, 0);
	if (task && task->prio < prio) {
		rt_dequeue(other, task);
		WRITE_ONCE(task->cpu, rq->cpu);
	} else {
		task = NULL;
	}
	raw_spin_unlock(&other->lock);
	return task;
}

struct task *rt_pick(struct rq *rq)
{
	int prio = next_used(&rq->rt, 0);
	struct rq *other = most_urgent_elsewhere(rq, prio);
	struct task *task = other ? take_from(other, rq, prio) : NULL;

	if (task)
		return task;
	if (prio == MAX_RT_PRIO)
		return NULL;
	task = list_first_entry(&rq->rt.lists[prio], struct task, run_list);
	rt_dequeue(rq, task);
	return task;
}

bool rt_must_pick(const struct rq *rq)
{
	/* Where none waits, it reads as MAX_RT_PRIO, which is more urgent than fair tasks. */
	int prio = min(READ_ONCE(rq->curr_prio), MAX_RT_PRIO);

	return next_used(&rq->rt, 0) < prio || most_urgent_elsewhere(rq, prio);
}

void rt_check_preempt(void)
{
	const struct rq *rq = this_rq();

	if (rq->online && rt_must_pick(rq))
		set_need_resched(current);
}

/* Return: the CPU that runs the least urgent task; @cpu if no other runs a less urgent one than that. */
static unsigned int least_urgent_cpu(unsigned int cpu)
{
	int worst = READ_ONCE(cpu_rq(cpu)->curr_prio);
	unsigned int other;

	for_each_online_cpu (other) {
		const struct rq *rq = cpu_rq(other);
		int prio = READ_ONCE(rq->curr_prio);

		if (READ_ONCE(rq->online) && prio > worst) {
			worst = prio;
			cpu = other;
		}
	}
	return cpu;
}

unsigned int rt_select_cpu(const struct task *task)
{
	return least_urgent_cpu(task->cpu);
}

void rt_push(struct rq *rq)
{
	unsigned int cpu;

	if (!rt_prio(rq->rt.movable))
		return;
	/* Between the store to movable, in rt_enqueue(), and the loads of other CPUs' curr_prio. */
	smp_mb();
	cpu = least_urgent_cpu(rq->cpu);
	if (cpu != rq->cpu && rq->rt.movable < READ_ONCE(cpu_rq(cpu)->curr_prio))
		smp_send_reschedule(cpu);
}
