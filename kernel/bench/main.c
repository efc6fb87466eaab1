// SPDX-License-Identifier: MIT
/*
 * main.c - the benchmark: a program linked into the kernel that measures its own kernel.
 *
 * Arguments are groups: "memory", "vmalloc", "live", "smp", "traffic"; a group may be
 * followed by ":pattern", with at most one '*' at its end, to select operations by name. The cost of
 * calling an empty operation is measured first and left out of every figure. Output is one line for each
 * figure,
 *
 *	bench: <name> <counts of the clock> <times that the operation was done>
 *
 * and `./redzone bench` does the rest. Not instrumented, because the loop must not be measured.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/errno.h>
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <asm/barrier.h>

#include "bench.h"

static noinline void nothing(void)
{
	/* An empty operation, which the compiler must not leave out. */
	barrier();
}

_Noreturn void bench_fail(const char *what)
{
	panic("bench: no memory for %s", what);
}

static noinline void repeat(void (*run)(void), unsigned long times)
{
	for (; times; times--)
		run();
}

/* Counts of the clock for @times calls. No tick may come in between. */
static u64 measure(void (*run)(void), unsigned long times)
{
	unsigned long flags;
	u64 counts;

	local_irq_save(flags);
	counts = arch_counter();
	repeat(run, times);
	counts = arch_counter() - counts;
	local_irq_restore(flags);
	return counts;
}

/* The same less the calls themselves. */
static u64 measure_net(void (*run)(void), unsigned long times)
{
	u64 calls = measure(nothing, times);
	u64 counts = measure(run, times);

	return counts > calls ? counts - calls : 0;
}

/* --- One CPU ------------------------------------------------------------------------------------- */

static void run_op(const struct bench_op *op)
{
	if (op->setup && !op->setup(op->argument))
		bench_fail(op->name);
	repeat(op->run, op->warm);
	pr_info("bench: %s %lu %lu\n", op->name, (unsigned long)measure_net(op->run, op->rounds),
		op->rounds);
	if (op->teardown)
		op->teardown();
}

/* --- All CPUs ------------------------------------------------------------------------------------ */

static const struct bench_op *shared_op;
static unsigned int arrived, finished, stage;

/* One after the other, so that each finds an idle CPU to start on; interrupts stay off from then on,
 * so that none leaves it. */
static void take_part(void)
{
	unsigned long flags;

	local_irq_save(flags);
	__atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
	while (!smp_load_acquire(&stage))
		cpu_relax();
	repeat(shared_op->run, shared_op->rounds);
	__atomic_fetch_add(&finished, 1, __ATOMIC_ACQ_REL);
	local_irq_restore(flags);
}

static int worker(void *unused)
{
	take_part();
	return 0;
}

static void run_smp(const struct bench_op *op)
{
	unsigned int i, cpus = num_online_cpus();
	struct task *tasks[NR_CPUS];
	unsigned long flags;
	u64 calls, counts;

	if (op->setup && !op->setup(op->argument))
		bench_fail(op->name);
	repeat(op->run, op->warm);
	calls = measure(nothing, op->rounds);
	shared_op = op;
	arrived = finished = 0;
	smp_store_release(&stage, 0);
	for (i = 1; i < cpus; i++) {
		tasks[i] = kthread_run(worker, NULL, "bench/%u", i);
		if (IS_ERR(tasks[i]))
			bench_fail("threads");
		while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < i)
			cpu_relax();
	}
	local_irq_save(flags);
	counts = arch_counter();
	smp_store_release(&stage, 1);
	repeat(op->run, op->rounds);
	while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) < cpus - 1)
		cpu_relax();
	counts = arch_counter() - counts;
	local_irq_restore(flags);
	for (i = 1; i < cpus; i++)
		kthread_join(tasks[i]);
	/* The counter counts the instructions of all CPUs together. */
	counts = counts > calls * cpus ? counts - calls * cpus : 0;
	pr_info("bench: smp.%s@%u %lu %lu\n", op->name, cpus, (unsigned long)counts,
		op->rounds * cpus);
	if (op->teardown)
		op->teardown();
}

/* --- Selection ----------------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *name)
{
	for (; *pattern; pattern++, name++) {
		if (*pattern == '*')
			return true;
		if (*pattern != *name)
			return false;
	}
	return !*name;
}

static void run_table(const struct bench_op *op, const char *pattern, bool smp)
{
	for (; op->name; op++) {
		if (pattern && !matches(pattern, op->name))
			continue;
		if (!smp)
			run_op(op);
		else if (op->smp)
			run_smp(op);
	}
}

/* Return: false if the group does not exist. */
static bool run_group(const char *argument)
{
	static const struct {
		const char *name;
		const struct bench_op *ops;
		bool smp;
	} groups[] = {
		{"memory", bench_memory_ops, false}, {"vmalloc", bench_vmalloc_ops, false},
		{"live", bench_live_ops, false},     {"smp", bench_memory_ops, true},
		{"smp", bench_vmalloc_ops, true},    {"traffic", bench_traffic_ops, false},
	};
	const char *colon = strchr(argument, ':');
	size_t length = colon ? (size_t)(colon - argument) : strlen(argument);
	bool found = false;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		if (strlen(groups[i].name) != length || strncmp(groups[i].name, argument, length))
			continue;
		run_table(groups[i].ops, colon ? colon + 1 : NULL, groups[i].smp);
		found = true;
	}
	return found;
}

int redzone_program_main(int argc, char **argv)
{
	/* Everything since reset: the machine's counter starts at 0. */
	u64 boot = arch_counter();
	int i;

	pr_info("bench: clock %lu\n", (unsigned long)arch_counter_hz());
	pr_info("bench: boot %lu 1\n", (unsigned long)boot);
	for (i = 1; i < argc; i++) {
		if (!run_group(argv[i])) {
			pr_err("bench: there is no group '%s'\n", argv[i]);
			return 1;
		}
	}
	return 0;
}
