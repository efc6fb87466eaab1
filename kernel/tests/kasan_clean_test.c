// SPDX-License-Identifier: MIT
/*
 * kasan_clean_test.c - legal code that must not be reported. Each case fails if any report appears
 * while it runs (kasan_test_exit() sees to that), so most have no expectation of their own.
 */
#include <kasan/stats.h>
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/string.h>
#include <kernel/timer.h>

#include "kasan_test.h"

/* --- Accesses --------------------------------------------------------------------------------- */

struct packed {
	u8 lead;
	u16 two;
	u32 four;
	u64 eight;
	unsigned __int128 sixteen;
	u8 tail;
} __packed;

static void crossing_granules(struct kunit *test)
{
	/* At every offset the accesses cross granules, and the last one ends with the object. */
	for (size_t offset = 0; offset < 16; offset++) {
		char *object = kmalloc(offset + sizeof(struct packed), GFP_KERNEL);
		volatile struct packed *p = (void *)(object + offset);

		KUNIT_ASSERT_NOT_NULL(test, object);
		HIDE_VAR(p);
		p->lead = 1;
		p->two = 2;
		p->four = 4;
		p->eight = 8;
		p->sixteen = 16;
		p->tail = 32;
		KUNIT_EXPECT_EQ(test,
				p->lead + p->two + p->four + p->eight + (u64)p->sixteen + p->tail,
				63);
		kfree(object);
	}
}

static void every_byte_of_every_size(struct kunit *test)
{
	for (size_t size = 1; size <= 300; size++) {
		volatile u8 *object = kmalloc(size, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, object);
		for (size_t i = 0; i < size; i++)
			object[i] = (u8)i;
		for (size_t i = 0; i < size; i++)
			KUNIT_ASSERT_EQ(test, object[i], (u8)i);
		kfree((void *)object);
	}
}

static void exact_memory_functions(struct kunit *test)
{
	size_t zero = 0;

	HIDE_VAR(zero);
	for (size_t size = 1; size <= 130; size += 3) {
		char *a = kmalloc(size, GFP_KERNEL), *b = kmalloc(size, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, a);
		KUNIT_ASSERT_NOT_NULL(test, b);
		memset(a, 'x', size);
		memcpy(b, a, size);
		memmove(a, b, size);
		KUNIT_EXPECT_EQ(test, memcmp(a, b, size), 0);
		a[size - 1] = 0;
		KUNIT_EXPECT_EQ(test, strlen(a), size - 1);
		KUNIT_EXPECT_EQ(test, strnlen(b, size), size);
		/* A size of 0 touches nothing, so no pointer is wrong. */
		memset(a + size, 0, zero);
		memcpy(NULL, b + size, zero);
		kfree(a);
		kfree(b);
		memmove(a, b, zero);
	}
}

struct bits {
	u32 a : 5, b : 11, c : 16;
	u8 d : 3;
};

static void bit_fields(struct kunit *test)
{
	struct bits *bits = kzalloc(sizeof(*bits), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bits);
	bits->a = 17;
	bits->b = 1025;
	bits->c = 65535;
	bits->d = 5;
	HIDE_VAR(bits);
	KUNIT_EXPECT_EQ(test, bits->a + bits->b + bits->c + bits->d, 17 + 1025 + 65535 + 5);
	kfree(bits);
}

/* --- Stacks ----------------------------------------------------------------------------------- */

static noinline int recurse(int depth, volatile u8 *callers)
{
	volatile u8 own[24];

	for (size_t i = 0; i < sizeof(own); i++)
		own[i] = (u8)(callers[i] + 1);
	if (depth > 0)
		return recurse(depth - 1, own);
	return own[23];
}

static void recursion(struct kunit *test)
{
	volatile u8 first[24] = {0};

	for (int i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, recurse(30, first), 31);
}

/* Leaves the arrays of many frames poisoned, because none of them returns. */
static noinline int exit_deep(volatile int depth)
{
	volatile u8 array[40];

	array[depth % 40] = 1;
	if (depth == 0)
		kthread_exit(array[0]);
	if (depth < 0)
		return array[2];
	return exit_deep(depth - 1) + array[1];
}

static int exit_without_unwinding(void *arg)
{
	return exit_deep(40);
}

static noinline int use_whole_stack(int depth)
{
	volatile u8 array[200];

	for (size_t i = 0; i < sizeof(array); i++)
		array[i] = (u8)i;
	return depth > 0 ? use_whole_stack(depth - 1) + array[1] : array[199];
}

static int fill_stack(void *arg)
{
	int stale = (int)stale_stack();

	use_whole_stack(20);
	return stale;
}

static void thread_exit_leaves_clean_stacks(struct kunit *test)
{
	/* The next thread gets the stack of a thread that ended in the middle of its frames. */
	for (int i = 0; i < 40; i++) {
		struct task *task = kthread_run(i % 2 ? fill_stack : exit_without_unwinding, NULL,
						"stack/%d", i);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		/* The first returns 1, the second the value that it found. */
		KUNIT_EXPECT_EQ(test, kthread_join(task), i % 2 ? 0 : 1);
	}
}

/* Two threads on one CPU that never yield: only preemption lets each one reach the place where the other
 * waits. */
struct preempted {
	struct preempted *other;
	volatile unsigned int deep;
	unsigned int lost, stale;
};

#define PREEMPTED_ROUNDS 5

static noinline void preempted_deep(struct preempted *p, int depth)
{
	volatile u8 array[40];

	array[depth] = 1;
	if (depth > 0) {
		preempted_deep(p, depth - 1);
	} else {
		p->deep++;
		while (p->other->deep < p->deep)
			barrier();
	}
	/* The other threads left this frame untouched meanwhile. */
	p->lost += (array[depth] != 1) + !kasan_byte_accessible((void *)&array[39]);
}

static int be_preempted(void *arg)
{
	struct preempted *p = arg;

	for (int i = 0; i < PREEMPTED_ROUNDS; i++) {
		preempted_deep(p, 30);
		p->stale += (unsigned int)stale_stack();
	}
	/* Accesses where the deep frames were, redzones included. */
	use_whole_stack(20);
	return 0;
}

static void preempted_threads_leave_clean_stacks(struct kunit *test)
{
	struct preempted p[2] = {{.other = &p[1]}, {.other = &p[0]}};
	struct task *tasks[2];

	for (int i = 0; i < 2; i++) {
		tasks[i] = kthread_create(be_preempted, &p[i], "preempted/%d", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
		kthread_bind(tasks[i], num_online_cpus() - 1);
	}
	for (int i = 0; i < 2; i++)
		wake_up_process(tasks[i]);
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
		KUNIT_EXPECT_EQ(test, p[i].deep, PREEMPTED_ROUNDS);
		KUNIT_EXPECT_EQ(test, p[i].lost, 0);
		KUNIT_EXPECT_EQ(test, p[i].stale, 0);
	}
}

static void alloca_in_loops(struct kunit *test)
{
	for (volatile size_t n = 1; n < 200; n += 7) {
		volatile u8 *array = __builtin_alloca(n);

		array[0] = 1;
		array[n - 1] = 2;
		KUNIT_EXPECT_GT(test, array[0], 0);
	}
}

static noinline int scopes(int rounds)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		volatile int local[8];
		volatile int *p = local;

		HIDE_VAR(p);
		for (int k = 0; k < 8; k++)
			p[k] = k;
		sum += p[i % 8];
		if (i % 3 == 0)
			continue;
		{
			volatile char inner[100];
			volatile char *q = inner;

			HIDE_VAR(q);
			q[i % 100] = 1;
			sum += q[i % 100];
		}
	}
	return sum;
}

static void scopes_come_again(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, scopes(24), 3 * 28 + 16);
}

/* --- Interrupts and other CPUs ---------------------------------------------------------------- */

struct irq_work {
	struct timer_list timer;
	atomic_t rounds;
	struct completion done;
};

/* In an interrupt: stack arrays, allocations, frees. */
static void work_in_interrupt(struct timer_list *timer)
{
	struct irq_work *work = from_timer(work, timer, timer);
	volatile u8 array[100];
	char *object = kmalloc(77, GFP_ATOMIC);

	for (size_t i = 0; i < sizeof(array); i++)
		array[i] = (u8)i;
	if (object) {
		memset(object, array[99], 77);
		kfree(object);
	}
	if (atomic_inc_return(&work->rounds) < 20)
		mod_timer(&work->timer, jiffies + 1);
	else
		complete(&work->done);
}

static void interrupts(struct kunit *test)
{
	struct irq_work work = {.rounds = ATOMIC_INIT(0)};
	struct kasan_depot_stats before, after;

	kasan_depot_stats(&before);
	init_completion(&work.done);
	timer_setup_on_stack(&work.timer, work_in_interrupt, 0);
	mod_timer(&work.timer, jiffies + 1);
	/* Frames of this thread, and of the interrupts on top of it, come and go together. */
	while (!try_wait_for_completion(&work.done)) {
		volatile u8 first[24] = {0};

		KUNIT_EXPECT_EQ(test, recurse(20, first), 21);
		cond_resched();
	}
	del_timer_sync(&work.timer);
	KUNIT_EXPECT_EQ(test, atomic_read(&work.rounds), 20);
	/* Traces end at the interrupt: there is one trace of the allocation and one of the free, not one for each
	 * interrupted place. */
	kasan_depot_stats(&after);
	KUNIT_EXPECT_LE(test, after.traces - before.traces, 4);
}

static void work_in_ipi(void *arg)
{
	volatile u8 array[50];

	for (size_t i = 0; i < sizeof(array); i++)
		array[i] = (u8)i;
	atomic_add(array[49], arg);
}

static void calls_on_other_cpus(struct kunit *test)
{
	atomic_t sum = ATOMIC_INIT(0);

	for (int i = 0; i < 20; i++)
		smp_call_function_many(work_in_ipi, &sum, true);
	KUNIT_EXPECT_EQ(test, atomic_read(&sum), 20 * 49 * ((int)num_online_cpus() - 1));
}

struct handover {
	char *volatile object;
	volatile int turn;
	volatile bool stop;
};

static int take_over(void *arg)
{
	struct handover *h = arg;

	while (!h->stop) {
		if (__atomic_load_n(&h->turn, __ATOMIC_ACQUIRE) == 1) {
			memset(h->object, 2, 50);
			kfree(h->object);
			__atomic_store_n(&h->turn, 0, __ATOMIC_RELEASE);
		}
		yield();
	}
	return 0;
}

static void objects_change_hands(struct kunit *test)
{
	struct handover h = {0};
	struct task *task = kthread_run(take_over, &h, "take_over");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	for (int i = 0; i < 500; i++) {
		char *object = kmalloc(50, GFP_KERNEL);

		if (!object)
			break;
		memset(object, 1, 50);
		h.object = object;
		__atomic_store_n(&h.turn, 1, __ATOMIC_RELEASE);
		while (__atomic_load_n(&h.turn, __ATOMIC_ACQUIRE))
			yield();
	}
	h.stop = true;
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
}

KASAN_SUITE(kasan_clean, KUNIT_CASE(crossing_granules), KUNIT_CASE(every_byte_of_every_size),
	    KUNIT_CASE(exact_memory_functions), KUNIT_CASE(bit_fields), KUNIT_CASE(recursion),
	    KUNIT_CASE(thread_exit_leaves_clean_stacks),
	    KUNIT_CASE(preempted_threads_leave_clean_stacks), KUNIT_CASE(alloca_in_loops),
	    KUNIT_CASE(scopes_come_again), KUNIT_CASE(interrupts), KUNIT_CASE(calls_on_other_cpus),
	    KUNIT_CASE(objects_change_hands));
