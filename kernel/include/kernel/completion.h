/* SPDX-License-Identifier: MIT */
/* completion.h - wait until another task or an interrupt handler has finished something. */
#ifndef KERNEL_COMPLETION_H
#define KERNEL_COMPLETION_H

#include <kernel/wait.h>

#define COMPLETION_INITIALIZER(name)                         \
	{.done = 0,                                          \
	 .wait = __WAIT_QUEUE_HEAD_INITIALIZER((name).wait), \
	 LOCKDEP_MAP(name, LD_WAIT_SLEEP)}

#define DECLARE_COMPLETION(name) struct completion name = COMPLETION_INITIALIZER(name)

/* Only static memory can do without a key. */
#ifdef CONFIG_LOCKDEP
#define DECLARE_COMPLETION_ONSTACK(name) \
	struct completion name = ({      \
		init_completion(&name);  \
		name;                    \
	})
#else
#define DECLARE_COMPLETION_ONSTACK(name) DECLARE_COMPLETION(name)
#endif

static inline void __init_completion(struct completion *x, const char *name,
				     const struct lock_class_key *key)
{
	x->done = 0;
	init_waitqueue_head(&x->wait);
	lockdep_init_map(&x->dep_map, name, key, 0, LD_WAIT_SLEEP);
}

/** init_completion() - prepare @x: nothing is finished. The completions of one call are of one class. */
#define init_completion(x)                          \
	do {                                        \
		static struct lock_class_key __key; \
                                                    \
		__init_completion(x, #x, &__key);   \
	} while (0)

static inline void reinit_completion(struct completion *x)
{
	x->done = 0;
}

/** complete() - let one waiter pass, now or later. Any context. After it returns this CPU no longer
 *  touches @x, so the waiter may free it. */
void complete(struct completion *x);

/** complete_all() - let every waiter pass, for ever. Any context. */
void complete_all(struct completion *x);

/** complete_all_nodep() - the same on behalf of another task: the lock validator does not connect @x with the locks
 *  that this one holds. */
#ifdef CONFIG_LOCKDEP
void complete_all_nodep(struct completion *x);
#else
#define complete_all_nodep(x) complete_all(x)
#endif

/** wait_for_completion() - sleep until complete() lets this task pass. */
void wait_for_completion(struct completion *x);

/** wait_for_completion_timeout() - the same for at most @timeout ticks. Return: 0 if the time ran
 *  out, else the ticks left, at least 1. */
unsigned long wait_for_completion_timeout(struct completion *x, unsigned long timeout);

/** try_wait_for_completion() - pass if that needs no wait. Return: true if passed. Any context. */
bool try_wait_for_completion(struct completion *x);

/** completion_done() - Return: true if a waiter would pass. */
bool completion_done(struct completion *x);

#endif
