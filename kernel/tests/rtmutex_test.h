/* SPDX-License-Identifier: MIT */
/* rtmutex_test.h - what the tests of locks with priority inheritance share. */
#ifndef TESTS_RTMUTEX_TEST_H
#define TESTS_RTMUTEX_TEST_H

#include <kernel/completion.h>
#include <kernel/sched.h>
#include <kernel/time.h>

#include "kasan_test.h"

/* The prio of a FIFO task of @rt_priority. */
#define PRIO(rt_priority) (MAX_RT_PRIO - 1 - (rt_priority))

/* Wait for what other tasks do. Return: true once it is so. */
#define soon(condition)                                             \
	({                                                          \
		for (int __n = 0; __n < 500 && !(condition); __n++) \
			msleep(10);                                 \
		(condition);                                        \
	})

/* What a task lends travels on after its wait has begun. */
#define EXPECT_TASK_PRIO(test, task, expected)                     \
	do {                                                       \
		(void)soon(READ_ONCE((task)->prio) == (expected)); \
		KUNIT_EXPECT_EQ(test, (task)->prio, expected);     \
	} while (0)

/*
 * Tasks and the case wait for each other while they hold locks, in the order that the case chooses: a rule that the
 * lock validator cannot know. A wait that ends by itself is no part of a deadlock.
 */
static inline void catch_up(struct completion *x)
{
	WARN_ON(!wait_for_completion_timeout(x, 60 * HZ));
}

/* Make a thread; 0: fair. The caller starts it. */
static inline struct task *make_task(struct kunit *test, int (*fn)(void *), void *arg,
				     unsigned int rt_priority)
{
	struct task *task = kthread_create(fn, arg, "prio-%u", rt_priority);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	if (rt_priority)
		KUNIT_EXPECT_EQ(test, sched_setscheduler(task, SCHED_FIFO, rt_priority), 0);
	return task;
}

#endif
