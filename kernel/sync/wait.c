/* SPDX-License-Identifier: MIT */
/*
 * wait.c - wait queues and completions.
 *
 * A queue's lock orders everything: an entry is put on the queue and taken off only under it. A waker never
 * touches an entry's task without the lock, so a task that has taken its entry off may end.
 */
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/wait.h>

void init_wait_entry(struct wait_queue_entry *wait)
{
	*wait = (struct wait_queue_entry){
		.task = current,
		.outer = current->waiting_on,
	};
	INIT_LIST_HEAD(&wait->entry);
	current->waiting_on = wait;
}

static void prepare(struct wait_queue_head *queue, struct wait_queue_entry *wait,
		    unsigned int state, bool exclusive)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&queue->lock, flags);
	wait->queue = queue;
	wait->exclusive = exclusive;
	/* Exclusive entries go after the others, so wake_up() reaches all of the others first. */
	if (list_empty(&wait->entry)) {
		if (exclusive)
			list_add_tail(&wait->entry, &queue->head);
		else
			list_add(&wait->entry, &queue->head);
	}
	/* Under the lock, so that a waker that finds the entry finds the new state too. */
	set_current_state(state);
	raw_spin_unlock_irqrestore(&queue->lock, flags);
}

void prepare_to_wait(struct wait_queue_head *queue, struct wait_queue_entry *wait,
		     unsigned int state)
{
	prepare(queue, wait, state, false);
}

void prepare_to_wait_exclusive(struct wait_queue_head *queue, struct wait_queue_entry *wait,
			       unsigned int state)
{
	prepare(queue, wait, state, true);
}

static void leave_queue(struct wait_queue_entry *wait)
{
	unsigned long flags;

	if (!wait->queue)
		return;
	raw_spin_lock_irqsave(&wait->queue->lock, flags);
	list_del_init(&wait->entry);
	raw_spin_unlock_irqrestore(&wait->queue->lock, flags);
}

void finish_wait(struct wait_queue_entry *wait)
{
	__set_current_state(TASK_RUNNING);
	leave_queue(wait);
	current->waiting_on = wait->outer;
}

void abandon_waits(void)
{
	while (current->waiting_on)
		finish_wait(current->waiting_on);
}

/* Wake up to @nr exclusive waiters (0: all) and all others. The lock is held. */
static void wake_up_locked(struct wait_queue_head *queue, unsigned int nr)
{
	struct wait_queue_entry *wait, *next;

	list_for_each_entry_safe (wait, next, &queue->head, entry) {
		bool exclusive = wait->exclusive;

		/* A task that runs already will look at its condition, and does not use up the wake-up. */
		if (!wake_up_state(wait->task, TASK_NORMAL))
			continue;
		list_del_init(&wait->entry);
		if (exclusive && nr && --nr == 0)
			break;
	}
}

void wake_up_nr(struct wait_queue_head *queue, unsigned int nr)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&queue->lock, flags);
	wake_up_locked(queue, nr);
	raw_spin_unlock_irqrestore(&queue->lock, flags);
}

/* --- Completions ----------------------------------------------------------------------------- */

#define DONE_FOR_ALL UINT_MAX

void complete(struct completion *x)
{
	unsigned long flags;

	lock_commit(&x->dep_map, _RET_IP_);
	raw_spin_lock_irqsave(&x->wait.lock, flags);
	if (x->done != DONE_FOR_ALL)
		x->done++;
	wake_up_locked(&x->wait, 1);
	raw_spin_unlock_irqrestore(&x->wait.lock, flags);
}

static __always_inline void let_all_pass(struct completion *x)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&x->wait.lock, flags);
	x->done = DONE_FOR_ALL;
	wake_up_locked(&x->wait, 0);
	raw_spin_unlock_irqrestore(&x->wait.lock, flags);
}

void complete_all(struct completion *x)
{
	lock_commit(&x->dep_map, _RET_IP_);
	let_all_pass(x);
}

#ifdef CONFIG_LOCKDEP
void complete_all_nodep(struct completion *x)
{
	let_all_pass(x);
}
#endif

/* Return: true if @x is done, and the caller may pass. The lock is held. */
static bool pass(struct completion *x)
{
	if (!x->done)
		return false;
	if (x->done != DONE_FOR_ALL)
		x->done--;
	return true;
}

/* The waiter checks under the queue's lock: when it passes, the waker no longer uses @x. */
static long wait_common(struct completion *x, long timeout)
{
	struct wait_queue_entry wait = {.task = current, .queue = &x->wait, .exclusive = true};
	bool passed;

	might_sleep();
	INIT_LIST_HEAD(&wait.entry);
	raw_spin_lock_irq(&x->wait.lock);
	while (!(passed = pass(x)) && timeout) {
		if (list_empty(&wait.entry))
			list_add_tail(&wait.entry, &x->wait.head);
		__set_current_state(TASK_UNINTERRUPTIBLE);
		raw_spin_unlock_irq(&x->wait.lock);
		timeout = schedule_timeout(timeout);
		raw_spin_lock_irq(&x->wait.lock);
	}
	list_del_init(&wait.entry);
	raw_spin_unlock_irq(&x->wait.lock);
	if (!passed)
		return 0;
	return max(timeout, 1L);
}

void wait_for_completion(struct completion *x)
{
	/* A wait with a timeout ends by itself, so only this one can be part of a deadlock. */
	lock_acquire(&x->dep_map, 0, false, LOCK_EXCLUSIVE, NULL, _RET_IP_);
	lock_release(&x->dep_map, _RET_IP_);
	wait_common(x, MAX_SCHEDULE_TIMEOUT);
}

unsigned long wait_for_completion_timeout(struct completion *x, unsigned long timeout)
{
	return (unsigned long)wait_common(x, (long)min(timeout, MAX_SCHEDULE_TIMEOUT - 1UL));
}

bool try_wait_for_completion(struct completion *x)
{
	unsigned long flags;
	bool passed;

	raw_spin_lock_irqsave(&x->wait.lock, flags);
	passed = pass(x);
	raw_spin_unlock_irqrestore(&x->wait.lock, flags);
	return passed;
}

bool completion_done(struct completion *x)
{
	unsigned long flags;
	bool done;

	/* With the lock, so that complete(), on another CPU, no longer uses @x if this returns true. */
	raw_spin_lock_irqsave(&x->wait.lock, flags);
	done = x->done != 0;
	raw_spin_unlock_irqrestore(&x->wait.lock, flags);
	return done;
}
