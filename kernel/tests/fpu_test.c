// SPDX-License-Identifier: MIT
/*
 * fpu_test.c - floating point in threads: registers survive preemption and moves between CPUs, each thread has its own,
 * longjmp() brings them back, and threads that were not given any cannot use them.
 */
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/fpu.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/smp.h>

#include "fault_walk.h"
#include "fpu_work.h"
#include "kasan_test.h"

/* Return: a thread that may use floating point and runs; NULL without memory. */
static struct task *run_with_fpu(int (*fn)(void *), void *arg)
{
	struct task *task = kthread_create(fn, arg, "fpu");

	if (IS_ERR(task))
		return NULL;
	if (fpu_attach(task)) {
		kthread_join(task);
		return NULL;
	}
	wake_up_process(task);
	return task;
}

/* --- Registers ------------------------------------------------------------------------------------ */

struct holder {
	struct fpu_hold hold;
	struct task *task;
	u64 seed;
	u64 wrong;
};

static int hold_registers(void *arg)
{
	struct holder *h = arg;

	h->wrong = fpu_regs_hold(h->seed, &h->hold);
	return 0;
}

static u64 rounds_of(const struct holder *h)
{
	return READ_ONCE(h->hold.rounds);
}

static void stop_holders(struct kunit *test, struct holder *holders, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		WRITE_ONCE(holders[i].hold.stop, 1);
	for (unsigned int i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, kthread_join(holders[i].task), 0);
		KUNIT_EXPECT_EQ(test, holders[i].wrong, 0);
	}
}

/* More threads than CPUs, all of which keep all registers: each time that all have got on, each was preempted. */
static void survive_preemption(struct kunit *test)
{
	struct holder holders[NR_CPUS + 2] = {0};
	unsigned int n = num_online_cpus() + 2;

	for (unsigned int i = 0; i < n; i++) {
		holders[i].seed = 0x1234567 + i * 0x1111 + i;
		holders[i].task = run_with_fpu(hold_registers, &holders[i]);
		KUNIT_EXPECT_NOT_NULL(test, holders[i].task);
		if (!holders[i].task)
			n = i;
	}
	for (int turn = 0; turn < 5; turn++) {
		u64 before[NR_CPUS + 2];

		for (unsigned int i = 0; i < n; i++)
			before[i] = rounds_of(&holders[i]);
		for (unsigned int i = 0; i < n; i++) {
			while (rounds_of(&holders[i]) == before[i])
				msleep(10);
		}
	}
	stop_holders(test, holders, n);
}

/* A real-time thread that keeps its CPU until @holder has left it, or has been on two. */
struct hog {
	const struct holder *holder;
	unsigned int cpu;
};

static bool was_on_two_cpus(const struct holder *h)
{
	u64 seen = READ_ONCE(h->hold.seen);

	return seen & (seen - 1);
}

static int hog_cpu(void *arg)
{
	const struct hog *hog = arg;

	while (!was_on_two_cpus(hog->holder) && READ_ONCE(hog->holder->task->cpu) == hog->cpu)
		cpu_relax();
	return 0;
}

static void survive_migration(struct kunit *test)
{
	struct holder holder = {.seed = 42};

	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	holder.task = run_with_fpu(hold_registers, &holder);
	KUNIT_ASSERT_NOT_NULL(test, holder.task);
	while (!was_on_two_cpus(&holder)) {
		struct hog hog = {.holder = &holder, .cpu = READ_ONCE(holder.task->cpu)};
		struct task *task = kthread_create(hog_cpu, &hog, "hog");

		if (IS_ERR(task))
			break;
		kthread_bind(task, hog.cpu);
		sched_set_fifo_low(task);
		wake_up_process(task);
		kthread_join(task);
		msleep(10);
	}
	KUNIT_EXPECT_TRUE(test, was_on_two_cpus(&holder));
	stop_holders(test, &holder, 1);
}

static int find_bits(void *arg)
{
	*(u64 *)arg = fpu_regs_bits();
	return 0;
}

/* Nothing of the threads that had the CPU before. */
static void start_at_zero(struct kunit *test)
{
	struct holder dirty = {.seed = ~0UL};
	struct task *task;
	u64 bits = 0;

	dirty.task = run_with_fpu(hold_registers, &dirty);
	KUNIT_ASSERT_NOT_NULL(test, dirty.task);
	while (!rounds_of(&dirty))
		msleep(10);
	for (unsigned int i = 0; i < 2 * num_online_cpus(); i++) {
		u64 more = ~0UL;

		task = run_with_fpu(find_bits, &more);
		if (task)
			kthread_join(task);
		bits |= more;
	}
	stop_holders(test, &dirty, 1);
	KUNIT_EXPECT_EQ(test, bits, 0);
	/* The same for a thread that gives them to itself. */
	KUNIT_ASSERT_EQ(test, fpu_attach(current), 0);
	KUNIT_EXPECT_EQ(test, fpu_regs_bits(), 0);
	KUNIT_EXPECT_EQ(test, fpu_attach(current), 0);
}

/* --- C ---------------------------------------------------------------------------------------------- */

#define WORKERS 4
#define STEPS	20000

struct worker_result {
	unsigned int seed;
	u64 bits[3];
};

static int compute(void *arg)
{
	struct worker_result *result = arg;

	for (size_t i = 0; i < ARRAY_SIZE(result->bits); i++) {
		result->bits[i] = fpu_work(result->seed, STEPS);
		yield();
	}
	return fpu_work_arguments();
}

/* Several threads at once find what each finds alone. */
static void compute_at_once(struct kunit *test)
{
	struct worker_result results[WORKERS];
	struct task *tasks[WORKERS];

	KUNIT_ASSERT_EQ(test, fpu_attach(current), 0);
	for (unsigned int i = 0; i < WORKERS; i++) {
		results[i].seed = i * 100;
		tasks[i] = run_with_fpu(compute, &results[i]);
	}
	for (unsigned int i = 0; i < WORKERS; i++) {
		u64 alone = fpu_work(i * 100, STEPS);

		KUNIT_EXPECT_NOT_NULL(test, tasks[i]);
		if (!tasks[i])
			continue;
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 56);
		for (size_t k = 0; k < ARRAY_SIZE(results[i].bits); k++)
			KUNIT_EXPECT_EQ(test, results[i].bits[k], alone);
	}
	/* Not all of them are the same number. */
	KUNIT_EXPECT_NE(test, results[0].bits[0], results[1].bits[0]);
}

static void jump(struct kunit *test)
{
	/* Room for the jmp_buf of any C library. */
	u64 env[128] = {0};

	KUNIT_ASSERT_EQ(test, fpu_attach(current), 0);
	KUNIT_EXPECT_EQ(test, fpu_regs_jump(env), 0);
}

/* --- Threads without -------------------------------------------------------------------------------- */

static int use_without(void *arg)
{
	return (int)fpu_work(1, 1);
}

/* Also right after threads that have floating point, on each CPU. */
static void trap_without(struct kunit *test)
{
	unsigned int oopses = READ_ONCE(oops_count);
	struct task *task;
	u64 bits = ~0UL;

	task = run_with_fpu(find_bits, &bits);
	KUNIT_ASSERT_NOT_NULL(test, task);
	kthread_join(task);
	for (unsigned int cpu = 0; cpu < num_online_cpus(); cpu++) {
		task = kthread_create(use_without, NULL, "no fpu");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		kthread_bind(task, cpu);
		wake_up_process(task);
		KUNIT_EXPECT_EQ(test, kthread_join(task), -EFAULT);
	}
	KUNIT_EXPECT_EQ(test, READ_ONCE(oops_count), oopses + num_online_cpus());
}

static int nothing(void *arg)
{
	return 0;
}

static int attach_work(void)
{
	struct task *task = kthread_create(nothing, NULL, "fpu");
	int err;

	if (IS_ERR(task))
		return (int)PTR_ERR(task);
	err = fpu_attach(task);
	kthread_join(task);
	return err;
}

static void without_memory(struct kunit *test)
{
	fault_walk_own(test, attach_work, 2);
}

KASAN_SUITE(fpu, KUNIT_CASE(survive_preemption), KUNIT_CASE(survive_migration),
	    KUNIT_CASE(start_at_zero), KUNIT_CASE(compute_at_once), KUNIT_CASE(jump),
	    KUNIT_CASE(trap_without), KUNIT_CASE(without_memory));
