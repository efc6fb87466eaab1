/* SPDX-License-Identifier: MIT */
/* completion.h - wait until another task or an interrupt handler has finished something. */
#ifndef KERNEL_COMPLETION_H
#define KERNEL_COMPLETION_H

#include <kernel/wait.h>

#define COMPLETION_INITIALIZER(name) {.done = 0, .wait = __WAIT_QUEUE_HEAD_INITIALIZER((name).wait)}

#define DECLARE_COMPLETION(name)	 struct completion name = COMPLETION_INITIALIZER(name)
#define DECLARE_COMPLETION_ONSTACK(name) DECLARE_COMPLETION(name)

static inline void init_completion(struct completion *x)
{
	x->done = 0;
	init_waitqueue_head(&x->wait);
}

static inline void reinit_completion(struct completion *x)
{
	x->done = 0;
}

/** complete() - let one waiter pass, now or later. Any context. After it returns this CPU no longer
 *  touches @x, so the waiter may free it. */
void complete(struct completion *x);

/** complete_all() - let every waiter pass, for ever. Any context. */
void complete_all(struct completion *x);

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
