/* SPDX-License-Identifier: MIT */
/* local_lock_test.c - local locks: one task at a time has the data of a CPU, and stays there meanwhile. */
#include <kernel/kernel.h>
#include <kernel/local_lock.h>
#include <kernel/random.h>

#include "rtmutex_test.h"

#define TASKS  6
#define ROUNDS 2000

/* @values: equal unless a task is between lock and unlock. */
struct data {
	local_lock_t lock;
	unsigned long values[2];
};

static DEFINE_PER_CPU(struct data, data);
static atomic_t torn, moved;

static void change(void)
{
	unsigned int cpu = smp_processor_id();
	struct data *mine = this_cpu_ptr(&data);

	if (READ_ONCE(mine->values[0]) != READ_ONCE(mine->values[1]))
		atomic_inc(&torn);
	WRITE_ONCE(mine->values[0], mine->values[0] + 1);
	for (u32 n = get_random_u32() % 256; n; n--)
		cpu_relax();
	WRITE_ONCE(mine->values[1], mine->values[1] + 1);
	if (smp_processor_id() != cpu)
		atomic_inc(&moved);
}

static int changes(void *arg)
{
	unsigned long flags;

	for (int i = 0; i < ROUNDS; i++) {
		switch (i % 3) {
		case 0:
			local_lock(&data, lock);
			change();
			local_unlock(&data, lock);
			break;
		case 1:
			local_lock_irq(&data, lock);
			change();
			local_unlock_irq(&data, lock);
			break;
		default:
			local_lock_irqsave(&data, lock, flags);
			change();
			local_unlock_irqrestore(&data, lock, flags);
		}
		if (i % 64 == 0)
			yield();
	}
	return 0;
}

static void one_at_a_time(struct kunit *test)
{
	struct task *tasks[TASKS];
	unsigned long sum = 0;

	local_lock_init(&data, lock);
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		per_cpu(data, cpu).values[0] = per_cpu(data, cpu).values[1] = 0;
	atomic_set(&torn, 0);
	atomic_set(&moved, 0);
	for (unsigned int i = 0; i < TASKS; i++) {
		tasks[i] = make_task(test, changes, NULL, i % 3);
		wake_up_process(tasks[i]);
	}
	for (unsigned int i = 0; i < TASKS; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&torn), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&moved), 0);
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		sum += per_cpu(data, cpu).values[0];
	KUNIT_EXPECT_EQ(test, sum, TASKS * ROUNDS);
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
}

/* What a holder may not have switched off in a real-time kernel, and must have in others. */
static void holder(struct kunit *test)
{
#ifdef CONFIG_PREEMPT_RT
	bool rt = true;
#else
	bool rt = false;
#endif

	local_lock_init(&data, lock);
	local_lock(&data, lock);
	KUNIT_EXPECT_EQ(test, preemptible(), rt);
	local_unlock(&data, lock);
	local_lock_irq(&data, lock);
	KUNIT_EXPECT_EQ(test, irqs_disabled(), !rt);
	local_unlock_irq(&data, lock);
	KUNIT_EXPECT_TRUE(test, preemptible());
}

KASAN_SUITE(local_lock, KUNIT_CASE(one_at_a_time), KUNIT_CASE(holder));
