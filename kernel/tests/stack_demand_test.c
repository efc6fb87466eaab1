// SPDX-License-Identifier: MIT
/* stack_demand_test.c - stacks whose memory comes when it is touched: kernel/mm/stack_demand.c. */
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>

#include "fault_walk.h"
#include "kasan_test.h"

#define STACK_BYTES (1UL << 20)
/* Less than a task keeps for the case that no memory can be had. */
#define WITHOUT_MEMORY (48UL << 10)

static DEFINE_RAW_SPINLOCK(some_lock);

/* Use about @bytes of stack. Return: how much it was. */
static noinline unsigned long descend(unsigned long bytes, uintptr_t top)
{
	volatile char space[1000];
	unsigned long used = top - (uintptr_t)space;

	memset((char *)space, 1, sizeof(space));
	if (used < bytes)
		used = descend(bytes, top);
	return used + space[17] - 1;
}

struct job {
	unsigned long bytes;
	bool locked;
};

static int use_stack(void *arg)
{
	const struct job *job = arg;
	uintptr_t top = (uintptr_t)task_stack_top(current);
	unsigned long flags, used;

	if (!job->locked)
		return descend(job->bytes, top) >= job->bytes ? 0 : -EIO;
	raw_spin_lock_irqsave(&some_lock, flags);
	used = descend(job->bytes, top);
	raw_spin_unlock_irqrestore(&some_lock, flags);
	return used >= job->bytes ? 0 : -EIO;
}

static int run(int (*fn)(void *), void *arg)
{
	struct task *task = kthread_create_demand(fn, arg, STACK_BYTES, "demand");

	if (IS_ERR(task))
		return (int)PTR_ERR(task);
	wake_up_process(task);
	return kthread_join(task);
}

static void deep(struct kunit *test)
{
	struct job job = {.bytes = STACK_BYTES - (32UL << 10)};

	/* Twice: the memory goes back in between. */
	KUNIT_EXPECT_EQ(test, run(use_stack, &job), 0);
	KUNIT_EXPECT_EQ(test, run(use_stack, &job), 0);
}

/* Interrupts are off, and a lock is held: there is no way to get memory. */
static void locked(struct kunit *test)
{
	struct job job = {.bytes = WITHOUT_MEMORY, .locked = true};

	KUNIT_EXPECT_EQ(test, run(use_stack, &job), 0);
}

struct shared {
	struct completion ready, done;
	volatile char *memory;
	bool right;
};

static noinline int lend(void *arg)
{
	struct shared *shared = arg;
	char block[400000];

	shared->memory = block;
	complete(&shared->ready);
	wait_for_completion(&shared->done);
	shared->right = shared->memory[1000] == 3 && shared->memory[399999] == 4;
	return 0;
}

/* Another thread touches a variable first. */
static void others(struct kunit *test)
{
	struct shared shared = {0};
	struct task *task = kthread_create_demand(lend, &shared, STACK_BYTES, "lend");

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	init_completion(&shared.ready);
	init_completion(&shared.done);
	wake_up_process(task);
	wait_for_completion(&shared.ready);
	shared.memory[1000] = 3;
	shared.memory[399999] = 4;
	complete(&shared.done);
	kthread_join(task);
	KUNIT_EXPECT_TRUE(test, shared.right);
}

static int refused_work(void)
{
	struct job job = {.bytes = WITHOUT_MEMORY};

	return run(use_stack, &job);
}

static void refused(struct kunit *test)
{
	fault_walk(test, refused_work, FAULT_ALL, NULL, 5);
}

KASAN_SUITE(stack_demand, KUNIT_CASE(deep), KUNIT_CASE(locked), KUNIT_CASE(others),
	    KUNIT_CASE(refused));
