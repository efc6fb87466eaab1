/* SPDX-License-Identifier: MIT */
/*
 * wait.h - wait queues: sleep until a condition holds.
 *
 * The waker first changes the condition, and then calls wake_up(). No wake-up is lost, because the waiter
 * is queued before it checks the condition.
 */
#ifndef KERNEL_WAIT_H
#define KERNEL_WAIT_H

#include <kernel/sched.h>
#include <kernel/spinlock.h>
#include <kernel/sync_types.h>

/**
 * struct wait_queue_entry - one waiting task; lives on its stack
 * @outer: the entry that this task was already using, see struct task.
 */
struct wait_queue_entry {
	struct task *task;
	struct wait_queue_head *queue;
	struct list_head entry;
	struct wait_queue_entry *outer;
	bool exclusive;
};

#define __WAIT_QUEUE_HEAD_INITIALIZER(name) \
	{.lock = __RAW_SPIN_LOCK_UNLOCKED((name).lock), .head = LIST_HEAD_INIT((name).head)}
#define DECLARE_WAIT_QUEUE_HEAD(name) \
	struct wait_queue_head name = __WAIT_QUEUE_HEAD_INITIALIZER(name)

static inline void __init_waitqueue_head(struct wait_queue_head *queue, const char *name,
					 const struct lock_class_key *key)
{
	__raw_spin_lock_init(&queue->lock, name, key, LD_WAIT_SPIN);
	INIT_LIST_HEAD(&queue->head);
}

/** init_waitqueue_head() - make @queue empty. The locks of one call's queues are of one class. */
#define init_waitqueue_head(queue)                                    \
	do {                                                          \
		static struct lock_class_key __key;                   \
                                                                      \
		__init_waitqueue_head(queue, #queue ".lock", &__key); \
	} while (0)

/** waitqueue_active() - Return: true if a task waits; a hint. */
static inline bool waitqueue_active(const struct wait_queue_head *queue)
{
	return !list_empty(&queue->head);
}

/** init_wait_entry() - prepare @wait for the running task. */
void init_wait_entry(struct wait_queue_entry *wait);

/** prepare_to_wait() - queue @wait if it is not queued, and set the task's state. The caller then checks its
 *  condition and calls schedule(). wake_up() wakes only one waiter of the
 *  _exclusive form. */
void prepare_to_wait(struct wait_queue_head *queue, struct wait_queue_entry *wait,
		     unsigned int state);
void prepare_to_wait_exclusive(struct wait_queue_head *queue, struct wait_queue_entry *wait,
			       unsigned int state);

/** finish_wait() - the task runs again: take @wait off its queue. Entries of one task are finished
 *  in the reverse order of their init_wait_entry(). */
void finish_wait(struct wait_queue_entry *wait);

/** abandon_waits() - take every entry of the running task off its queue, because the task ends. */
void abandon_waits(void);

/** wake_up_nr() - wake all waiters that are not exclusive, and @nr exclusive ones, oldest first; 0: all. Any
 *  context. */
void wake_up_nr(struct wait_queue_head *queue, unsigned int nr);

#define wake_up(queue)		     wake_up_nr(queue, 1)
#define wake_up_all(queue)	     wake_up_nr(queue, 0)
#define wake_up_interruptible(queue) wake_up_nr(queue, 1)

#define ___wait_event(queue, condition, state, sleep)              \
	do {                                                       \
		struct wait_queue_entry __wait;                    \
                                                                   \
		init_wait_entry(&__wait);                          \
		for (;;) {                                         \
			prepare_to_wait(&(queue), &__wait, state); \
			if (condition)                             \
				break;                             \
			sleep;                                     \
		}                                                  \
		finish_wait(&__wait);                              \
	} while (0)

/** wait_event() - sleep until @condition is true. The condition itself must not sleep: it is evaluated after
 *  the task's state has been set. @queue: the queue head, not its address. */
#define wait_event(queue, condition)                                                       \
	do {                                                                               \
		might_sleep();                                                             \
		if (!(condition))                                                          \
			___wait_event(queue, condition, TASK_UNINTERRUPTIBLE, schedule()); \
	} while (0)

/** wait_event_interruptible() - also ends when kthread_stop() is called on this task. Return: 0, or -EINTR
 *  in that case. */
#define wait_event_interruptible(queue, condition)                                             \
	({                                                                                     \
		might_sleep();                                                                 \
		___wait_event(queue, (condition) || kthread_should_stop(), TASK_INTERRUPTIBLE, \
			      schedule());                                                     \
		(condition) ? 0 : -EINTR;                                                      \
	})

/** wait_event_timeout() - sleep until @condition is true, but at most @timeout ticks. Return: 0 if the time
 *  ran out and the condition is still false; else the ticks left, at least 1. */
#define wait_event_timeout(queue, condition, timeout)                                   \
	({                                                                              \
		long __left = (timeout);                                                \
		bool __true = false;                                                    \
                                                                                        \
		might_sleep();                                                          \
		___wait_event(queue, (__true = !!(condition)) || __left == 0,           \
			      TASK_UNINTERRUPTIBLE, __left = schedule_timeout(__left)); \
		(__true && !__left) ? 1 : __left;                                       \
	})

#endif
