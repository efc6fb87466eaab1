// SPDX-License-Identifier: MIT
/*
 * fence_test.c - new code is made known to all CPUs. An emulator's CPUs have no stale code, so the case counts what the
 * firmware is asked for: its performance counters tell.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kunit/test.h>
#include <asm/barrier.h>
#include <asm/builtins.h>

#include "../fence.h"
#include "../sbi.h"

#define SBI_EXT_PMU	 0x504d55
#define PMU_NUM_COUNTERS 0
#define PMU_CONFIG	 2
#define PMU_STOP	 4
#define PMU_READ	 5

/* Clear the counter, and start it. */
#define CONFIG_START (1UL << 1 | 1UL << 2)
/* Give the counter back. */
#define STOP_RESET 1UL
/* The firmware's own events are of type 15; number 8: a remote fence.i was asked for. */
#define FENCE_I_SENT (15UL << 16 | 8)

static struct sbi_result pmu(unsigned long function, unsigned long x0, unsigned long x1,
			     unsigned long x2, unsigned long x3)
{
	return sbi_call(SBI_EXT_PMU, function, x0, x1, x2, x3, 0);
}

static bool spin_on, spins;

/* A CPU that waits for an interrupt is not fenced before it goes on. */
static int spin(void *arg)
{
	WRITE_ONCE(spins, true);
	while (READ_ONCE(spin_on))
		cpu_relax();
	return 0;
}

static void new_code_on_all_cpus(struct kunit *test)
{
	struct task *task;
	long counters, before = 0, after = 0;
	struct sbi_result counter;

	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	kunit_needs(test, sbi_has(SBI_EXT_PMU), "a firmware with performance counters");
	spin_on = true;
	spins = false;
	task = kthread_create(spin, NULL, "fence spin");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	/* Counters are each CPU's own. */
	migrate_disable();
	kthread_bind(task, smp_processor_id() ? 0 : 1);
	wake_up_process(task);
	while (!READ_ONCE(spins))
		cpu_relax();

	counters = pmu(PMU_NUM_COUNTERS, 0, 0, 0, 0).value;
	counter = pmu(PMU_CONFIG, 0, (1UL << min(counters, 63L)) - 1, CONFIG_START, FENCE_I_SENT);
	if (!counter.error) {
		const unsigned long number = (unsigned long)counter.value;

		before = pmu(PMU_READ, number, 0, 0, 0).value;
		arch_sync_code((uint64_t)new_code_on_all_cpus, (uint64_t)new_code_on_all_cpus + 4);
		after = pmu(PMU_READ, number, 0, 0, 0).value;
		pmu(PMU_STOP, number, 1, STOP_RESET, 0);
	}
	WRITE_ONCE(spin_on, false);
	kthread_join(task);
	migrate_enable();
	KUNIT_ASSERT_EQ(test, counter.error, 0);
	KUNIT_EXPECT_GT(test, after, before);
}

static struct kunit_case fence_test_cases[] = {
	KUNIT_CASE(new_code_on_all_cpus),
	{},
};

KUNIT_SUITE(fence, fence_test_cases);
