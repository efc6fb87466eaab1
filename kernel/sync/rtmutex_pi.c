/* SPDX-License-Identifier: MIT */
/*
 * rtmutex_pi.c - priority inheritance: which task lends which other one its priority, and how that travels along a chain of owners that wait
 * for other owners. On the way it is seen whether the chain is a circle.
 *
 * A task keeps the first waiter of each lock that it owns in its pi_waiters. The first of those decides what the task is
 * lent. So a task looks at one waiter, however many locks it owns and however many tasks wait for each.
 *
 * A chain is visited step by step. A step holds one wait_lock and one pi_lock, with interrupts off, and leaves what it
 * has touched in order. Between two steps everything may change: then those who change it pass on the priorities
 * themselves, and the visit ends where the chain is no longer what it was.
 */
#include <kernel/kernel.h>
#include <asm/barrier.h>

#include "rtmutex.h"

static bool inheritance = true;

/* The number of the last wait that began. */
static atomic64_t waits;

void rt_mutex_set_inheritance(bool on)
{
	WRITE_ONCE(inheritance, on);
}

void rt_mutex_task_init(struct task *task)
{
	raw_spin_lock_init(&task->pi_lock);
	task->pi_waiters.first = NULL;
	task->pi_blocked_on = NULL;
	task->rt_mutexes_held = 0;
}

void rt_mutex_abandon(void)
{
	abandon_rtlocks();
}

void rt_mutex_task_exit(void)
{
	rt_mutex_abandon();
	if (current->rt_mutexes_held)
		get_task_struct(current);
}

/* --- What a task is lent. Its pi_lock is held. --------------------------------------------------------------- */

static void inherit_from(struct task *task, struct rt_mutex_waiter *waiter)
{
	waiter->pi_node.prio = waiter->node.prio;
	prio_list_add(&task->pi_waiters, &waiter->pi_node);
}

static void disinherit(struct task *task, struct rt_mutex_waiter *waiter)
{
	prio_list_del(&task->pi_waiters, &waiter->pi_node);
}

static void update_prio(struct task *task)
{
	const struct prio_node *first = prio_list_first(&task->pi_waiters);
	int lent = MAX_PRIO;

	/* All fair tasks are equally urgent. One that waits for another changes nothing, and costs no more than this. */
	if (first && rt_prio(first->prio) && READ_ONCE(inheritance))
		lent = first->prio;
	if (lent != task->pi_prio)
		rt_mutex_setprio(task, lent);
}

/* Fill @chain with @owner if it waits for a lock itself. */
static void continue_at(struct rt_mutex_chain *chain, struct task *owner)
{
	chain->task = NULL;
	if (!owner->pi_blocked_on)
		return;
	get_task_struct(owner);
	chain->task = owner;
	chain->lock = owner->pi_blocked_on->lock;
}

/* --- The first step: at the lock itself. Its wait_lock is held. ------------------------------------------------ */

int rt_mutex_block(struct rt_mutex_base *lock, struct rt_mutex_waiter *waiter,
		   struct rt_mutex_chain *chain)
{
	struct rt_mutex_waiter *old_first = rt_mutex_first(lock);
	struct task *owner = rt_mutex_owner(lock);

	if (owner == current)
		return -EDEADLK;
	raw_spin_lock(&current->pi_lock);
	waiter->node.prio = READ_ONCE(current->prio);
	prio_list_add(&lock->waiters, &waiter->node);
	current->pi_blocked_on = waiter;
	/* Numbered once it can be seen, under pi_lock: a task that finds a smaller number than its own finds a wait that was
	 * complete before its own one was. */
	waiter->born = (u64)atomic64_inc_return(&waits);
	raw_spin_unlock(&current->pi_lock);

	/* Released, and not taken yet by the first waiter: there is no owner to lend to. */
	if (!owner)
		return 0;
	raw_spin_lock(&owner->pi_lock);
	if (rt_mutex_first(lock) == waiter) {
		if (old_first)
			disinherit(owner, old_first);
		inherit_from(owner, waiter);
		update_prio(owner);
	}
	continue_at(chain, owner);
	chain->origin = waiter;
	raw_spin_unlock(&owner->pi_lock);
	return 0;
}

struct task *rt_mutex_unblock(struct rt_mutex_base *lock, struct rt_mutex_waiter *waiter,
			      struct rt_mutex_chain *chain)
{
	bool was_first = rt_mutex_first(lock) == waiter;
	struct task *owner = rt_mutex_owner(lock);
	struct rt_mutex_waiter *first;

	raw_spin_lock(&current->pi_lock);
	prio_list_del(&lock->waiters, &waiter->node);
	current->pi_blocked_on = NULL;
	raw_spin_unlock(&current->pi_lock);
	if (!was_first)
		return NULL;
	first = rt_mutex_first(lock);
	if (!owner) {
		/* The lock was released to this task, which does not want it any more. */
		if (!first)
			return NULL;
		get_task_struct(first->task);
		return first->task;
	}
	raw_spin_lock(&owner->pi_lock);
	disinherit(owner, waiter);
	if (first)
		inherit_from(owner, first);
	update_prio(owner);
	continue_at(chain, owner);
	chain->origin = NULL;
	raw_spin_unlock(&owner->pi_lock);
	return NULL;
}

void rt_mutex_own(struct rt_mutex_base *lock, struct rt_mutex_waiter *waiter)
{
	struct rt_mutex_waiter *first = rt_mutex_first(lock);

	if (!first && !waiter)
		return;
	raw_spin_lock(&current->pi_lock);
	if (waiter)
		current->pi_blocked_on = NULL;
	if (first) {
		inherit_from(current, first);
		update_prio(current);
	}
	raw_spin_unlock(&current->pi_lock);
}

void rt_mutex_disown(struct rt_mutex_waiter *first)
{
	raw_spin_lock(&current->pi_lock);
	disinherit(current, first);
	update_prio(current);
	raw_spin_unlock(&current->pi_lock);
}

/* --- The other steps ------------------------------------------------------------------------------------------- */

enum step { STEP_AGAIN, STEP_NEXT, STEP_END, STEP_DEADLOCK };

/*
 * Bring the waiter into the place of @prio among those of @lock, and lend the owner the new first one's priority.
 * The wait_lock is held. Return: a waiter that became the first one of a lock without an owner, or NULL.
 */
static struct rt_mutex_waiter *requeue(struct rt_mutex_base *lock, struct rt_mutex_waiter *waiter,
				       int prio, struct task *owner)
{
	struct rt_mutex_waiter *old_first = rt_mutex_first(lock), *first;

	prio_list_del(&lock->waiters, &waiter->node);
	waiter->node.prio = prio;
	prio_list_add(&lock->waiters, &waiter->node);
	first = rt_mutex_first(lock);
	if (!owner)
		return first != old_first ? first : NULL;
	/* Also if it was and is the first one: its priority has changed. */
	if (waiter == first || waiter == old_first) {
		raw_spin_lock(&owner->pi_lock);
		disinherit(owner, old_first);
		inherit_from(owner, first);
		update_prio(owner);
		raw_spin_unlock(&owner->pi_lock);
	}
	return NULL;
}

/*
 * One step: from a task to the owner of the lock for which it waits.
 *
 * The circle that a visit finds is a real one, although it sees one wait at a time. Each wait in it is older than the
 * visitor's own one, and still there when it is visited. So all were there at once, when the visitor's own one began.
 * A task that waits takes no lock, so it owns what it owned then. If a younger wait is met, the task that began it
 * makes its own visit, and finds the circle if it is one: of several, exactly the last one.
 */
static enum step step(struct rt_mutex_chain *chain, struct task **wake, unsigned int *wake_state)
{
	const struct rt_mutex_waiter *origin = chain->origin;
	struct rt_mutex_waiter *waiter, *new_first = NULL;
	struct task *task = chain->task, *owner;
	enum step result = STEP_END;
	struct rt_mutex_base *lock;
	unsigned long flags;
	bool changed;
	int prio;

	raw_spin_lock_irqsave(&task->pi_lock, flags);
	waiter = task->pi_blocked_on;
	/* It went on meanwhile. Its waiters have lent it the priority that it needs. */
	if (!waiter || waiter->lock != chain->lock)
		goto unlock_task;
	if (origin && waiter->born > origin->born)
		origin = chain->origin = NULL;
	prio = READ_ONCE(task->prio);
	changed = prio != waiter->node.prio;
	if (!changed && !origin)
		goto unlock_task;
	lock = waiter->lock;
	/* This is against the order of locks, so only try. Whoever holds it may be waiting for pi_lock. */
	if (!raw_spin_trylock(&lock->wait_lock)) {
		result = STEP_AGAIN;
		goto unlock_task;
	}
	/* The waiter cannot leave without wait_lock, so the lock and its owner stay. */
	raw_spin_unlock(&task->pi_lock);
	owner = rt_mutex_owner(lock);
	if (origin && (owner == origin->task || lock == origin->lock)) {
		result = STEP_DEADLOCK;
		goto unlock_lock;
	}
	if (changed)
		new_first = requeue(lock, waiter, prio, owner);
	if (new_first) {
		/* Only the first waiter takes the lock, and it was another one that has been woken. */
		*wake = new_first->task;
		*wake_state = new_first->wake_state;
		get_task_struct(*wake);
	}
	if (owner) {
		raw_spin_lock(&owner->pi_lock);
		continue_at(chain, owner);
		raw_spin_unlock(&owner->pi_lock);
		if (chain->task)
			result = STEP_NEXT;
		else
			chain->task = task;
	}
unlock_lock:
	raw_spin_unlock_irqrestore(&lock->wait_lock, flags);
	if (result == STEP_NEXT)
		put_task_struct(task);
	return result;
unlock_task:
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	return result;
}

int rt_mutex_walk(struct rt_mutex_chain *chain)
{
	enum step result = STEP_NEXT;
	unsigned int length = 0, wake_state;
	struct task *wake = NULL;

	if (!chain->task)
		return 0;
	while (result == STEP_NEXT || result == STEP_AGAIN) {
		if (result == STEP_AGAIN)
			cpu_relax();
		else if (++length > RT_MUTEX_MAX_CHAIN)
			break;
		result = step(chain, &wake, &wake_state);
	}
	if (wake) {
		wake_up_state(wake, wake_state);
		put_task_struct(wake);
	}
	put_task_struct(chain->task);
	chain->task = NULL;
	if (result == STEP_DEADLOCK || (result == STEP_NEXT && chain->origin))
		return -EDEADLK;
	return 0;
}

void rt_mutex_adjust_pi(struct task *task)
{
	struct rt_mutex_chain chain = {0};
	unsigned long flags;

	raw_spin_lock_irqsave(&task->pi_lock, flags);
	continue_at(&chain, task);
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	rt_mutex_walk(&chain);
}
