/* SPDX-License-Identifier: MIT */
/*
 * callback.c - the callbacks that wait for a grace period. Each CPU has three lists:
 *
 *	NEXT    queued since the current grace period began: they wait for the next one
 *	WAIT    queued before that: they wait for the current one
 *	DONE    their grace period is over: the CPU's thread, rcuc/N, will call them
 *
 * Callbacks move from list to list in the order in which they were queued. rcu_barrier() relies on that.
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/mutex.h>
#include <kernel/percpu.h>
#include <kernel/rt.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/spinlock.h>
#include <kernel/wait.h>

#include "rcu.h"

/* How many callbacks are called before the thread lets others run. */
#define BATCH 16

enum segment {
	RCU_DONE,
	RCU_WAIT,
	RCU_NEXT,
	RCU_NR_SEGMENTS,
};

struct rcu_list {
	struct rcu_head *head;
	struct rcu_head **tail; /* not valid while the list is empty */
};

/**
 * struct rcu_cpu - one CPU's callbacks
 * @lock: guards the lists. Taken with interrupts off.
 * @len: number of callbacks that have not returned yet, including those that have left the lists.
 * @wait: where the CPU's thread waits for the list DONE.
 * @barrier: what rcu_barrier() queues here.
 */
struct rcu_cpu {
	raw_spinlock_t lock;
	struct rcu_list lists[RCU_NR_SEGMENTS];
	atomic_long_t len;
	struct wait_queue_head wait;
	struct rcu_head barrier;
};

static DEFINE_PER_CPU(struct rcu_cpu, rcu_cpus);
static bool initialised;

/* --- Lists ---------------------------------------------------------------------------------------- */

static void append(struct rcu_list *list, struct rcu_head *head)
{
	head->next = NULL;
	if (list->head)
		*list->tail = head;
	else
		WRITE_ONCE(list->head, head);
	list->tail = &head->next;
}

static void splice(struct rcu_list *from, struct rcu_list *to)
{
	if (!from->head)
		return;
	if (to->head)
		*to->tail = from->head;
	else
		WRITE_ONCE(to->head, from->head);
	to->tail = from->tail;
	WRITE_ONCE(from->head, NULL);
}

/* Queue @head on the list of @cpu, which may be any. */
static void queue(struct rcu_cpu *cpu, struct rcu_head *head, rcu_callback_t func)
{
	unsigned long flags;

	head->func = func;
	raw_spin_lock_irqsave(&cpu->lock, flags);
	atomic_long_inc(&cpu->len);
	append(&cpu->lists[RCU_NEXT], head);
	raw_spin_unlock_irqrestore(&cpu->lock, flags);
	rcu_want_gp();
}

void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	kasan_record_aux_stack(head);
	/* The thread may have moved to another CPU by now, but any list will do. */
	queue(per_cpu_ptr(&rcu_cpus, smp_processor_id()), head, func);
}

void rcu_callbacks_assign(void)
{
	unsigned long flags;
	unsigned int cpu;

	for_each_possible_cpu (cpu) {
		struct rcu_cpu *rcp = per_cpu_ptr(&rcu_cpus, cpu);

		raw_spin_lock_irqsave(&rcp->lock, flags);
		splice(&rcp->lists[RCU_NEXT], &rcp->lists[RCU_WAIT]);
		raw_spin_unlock_irqrestore(&rcp->lock, flags);
	}
}

void rcu_callbacks_ready(void)
{
	unsigned long flags;
	unsigned int cpu;

	for_each_possible_cpu (cpu) {
		struct rcu_cpu *rcp = per_cpu_ptr(&rcu_cpus, cpu);
		bool some;

		raw_spin_lock_irqsave(&rcp->lock, flags);
		splice(&rcp->lists[RCU_WAIT], &rcp->lists[RCU_DONE]);
		some = rcp->lists[RCU_DONE].head;
		raw_spin_unlock_irqrestore(&rcp->lock, flags);
		if (some)
			wake_up(&rcp->wait);
	}
}

/* --- Calling -------------------------------------------------------------------------------------- */

static void rcu_call(struct rcu_head *head)
{
	rcu_callback_t func = head->func;

	if ((unsigned long)func < KFREE_RCU_MAX)
		kvfree((char *)head - (unsigned long)func);
	else
		func(head);
	/* A bad access of this callback is reported before the next one, which may end rcu_barrier(). */
	arch_check_async_faults_in((unsigned long)func < KFREE_RCU_MAX ? (void *)rcu_call
								       : (void *)func);
}

/* Around the calls. Preemption is off, so that might_sleep() notices a callback that sleeps. In a real-time kernel a
 * callback may wait for spin locks, and must not keep urgent tasks waiting; there, sleeping in a reader is noticed. */
static void begin_calls(void)
{
	if (PREEMPT_RT)
		rcu_read_lock();
	else
		preempt_disable();
}

static void end_calls(void)
{
	if (PREEMPT_RT)
		rcu_read_unlock();
	else
		preempt_enable();
}

static void call_done(struct rcu_cpu *rcp)
{
	struct rcu_head *head, *next;
	unsigned long flags;
	unsigned int n = 0;

	raw_spin_lock_irqsave(&rcp->lock, flags);
	head = rcp->lists[RCU_DONE].head;
	WRITE_ONCE(rcp->lists[RCU_DONE].head, NULL);
	raw_spin_unlock_irqrestore(&rcp->lock, flags);

	begin_calls();
	for (; head; head = next) {
		/* The callback may free the object, and the head with it. */
		next = head->next;
		rcu_call(head);
		atomic_long_dec(&rcp->len);
		if (++n % BATCH == 0) {
			end_calls();
			begin_calls();
		}
	}
	end_calls();
}

static int rcuc_thread(void *arg)
{
	struct rcu_cpu *rcp = arg;

	while (!kthread_should_stop()) {
		wait_event(rcp->wait, READ_ONCE(rcp->lists[RCU_DONE].head));
		call_done(rcp);
	}
	return 0;
}

/* --- Waiting -------------------------------------------------------------------------------------- */

struct rcu_waiter {
	struct rcu_head head;
	struct completion done;
};

static void wake_waiter(struct rcu_head *head)
{
	complete(&container_of(head, struct rcu_waiter, head)->done);
}

void synchronize_rcu(void)
{
	struct rcu_waiter waiter;

	/* Early in the boot there is one task on one CPU. It is here, so it is in no reader. */
	if (!rcu_gp_running())
		return;
	might_sleep();
	WARN_ONCE(rcu_read_lock_held(), "rcu: synchronize_rcu() inside a reader\n");
#ifdef CONFIG_LOCKDEP
	/* It waits for all that readers wait for. */
	lock_acquire(&rcu_lock_map, 0, false, LOCK_EXCLUSIVE, NULL, _RET_IP_);
	lock_release(&rcu_lock_map, _RET_IP_);
#endif
	init_completion(&waiter.done);
	rcu_expedite();
	call_rcu(&waiter.head, wake_waiter);
	wait_for_completion(&waiter.done);
	rcu_unexpedite();
}

static DEFINE_MUTEX(barrier_mutex);
static atomic_t barrier_count;
static DECLARE_COMPLETION(barrier_done);

static void barrier_callback(struct rcu_head *head)
{
	if (atomic_dec_and_test(&barrier_count))
		complete(&barrier_done);
}

void rcu_barrier(void)
{
	unsigned int cpu;

	if (!rcu_gp_running())
		return;
	might_sleep();
	mutex_lock(&barrier_mutex);
	/* What the caller has queued must be in the lengths that are read below. */
	smp_mb();
	reinit_completion(&barrier_done);
	/* The count starts at one, so that it cannot reach 0 before the last CPU has its callback. */
	atomic_set(&barrier_count, 1);
	rcu_expedite();
	for_each_possible_cpu (cpu) {
		struct rcu_cpu *rcp = per_cpu_ptr(&rcu_cpus, cpu);

		if (!atomic_long_read(&rcp->len))
			continue;
		atomic_inc(&barrier_count);
		queue(rcp, &rcp->barrier, barrier_callback);
	}
	if (!atomic_dec_and_test(&barrier_count))
		wait_for_completion(&barrier_done);
	rcu_unexpedite();
	mutex_unlock(&barrier_mutex);
}

void kfree_rcu_mightsleep(const void *ptr)
{
	if (!ptr)
		return;
	synchronize_rcu();
	kvfree(ptr);
}

/* --- Start ---------------------------------------------------------------------------------------- */

void rcu_callbacks_init(void)
{
	static struct lock_class_key lock_key;
	unsigned int cpu;

	WARN_ON(initialised);
	initialised = true;
	for_each_possible_cpu (cpu) {
		struct rcu_cpu *rcp = per_cpu_ptr(&rcu_cpus, cpu);
		struct task *task;

		init_waitqueue_head(&rcp->wait);
		lockdep_init_map(&rcp->lock.dep_map, "&rcp->lock", &lock_key, 0, LD_WAIT_SPIN);
		task = kthread_create(rcuc_thread, rcp, "rcuc/%u", cpu);
		if (IS_ERR(task))
			panic("rcu: no memory for the threads");
		kthread_bind(task, cpu);
		rcu_add_thread(task);
		wake_up_process(task);
		put_task_struct(task);
	}
}

void rcu_init(void)
{
	rcu_cpu_starting();
	rcu_callbacks_init();
	rcu_gp_init();
}
