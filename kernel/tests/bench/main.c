// SPDX-License-Identifier: MIT
/*
 * main.c - the benchmark: a program linked into the kernel that measures its own kernel.
 *
 * Arguments are groups: "memory", "vmalloc", "live", "smp", "traffic", "traces", "locks", "fill", "slack"; a group may
 * be followed by ":pattern", with at most one '*' at its end, to select operations by name. "rounds:N" makes later ones do
 * N rounds. "programs:N" runs N small programs in user mode, and prints how much the clock has counted since
 * reset. "calls.NAME:ROUNDS" lets a program in user mode make system calls, see kernel/tests/bench/user/. "mix:JOBS"
 * runs the build-like mix with that many jobs for each of its makers. "sampling:MS:SEED:EVERY" plants bugs for MS
 * milliseconds, see sampling.c. The cost
 * of calling an empty operation is measured first and left out of every other figure. Output is one line for
 * each figure,
 *
 *	bench: <name> <counts of the clock> <times that the operation was done>
 *
 * and `./redzone bench` does the rest. Not instrumented, because the loop must not be measured.
 */
#include <kasan/stats.h>
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/errno.h>
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>
#include <asm/barrier.h>

#include "bench.h"
#include "mix.h"

static noinline void nothing(void)
{
	/* An empty operation, which the compiler must not leave out. */
	barrier();
}

static noinline void repeat(void (*run)(void), unsigned long times)
{
	for (; times; times--)
		run();
}

/* Counts of the clock for @times calls, without a tick in between unless they are @interruptible. Inline, because one
 * frame more makes the traces of the operation longer. */
static __always_inline u64 measure(void (*run)(void), unsigned long times, bool interruptible)
{
	unsigned long flags = 0;
	u64 counts;

	if (!interruptible)
		local_irq_save(flags);
	bench_window_opens();
	counts = arch_counter();
	repeat(run, times);
	counts = arch_counter() - counts;
	bench_window_closes();
	if (!interruptible)
		local_irq_restore(flags);
	return counts;
}

/* The same for the operation @op, less the calls themselves. */
static u64 measure_net(const struct bench_op *op)
{
	u64 calls = measure(nothing, op->rounds, false);
	u64 counts = measure(op->run, op->rounds, op->interruptible);

	return counts > calls ? counts - calls : 0;
}

/* --- One CPU ------------------------------------------------------------------------------------- */

static void prepare(const struct bench_op *op)
{
	if (op->setup && !op->setup(op->argument))
		bench_fail(op->name);
	if (op->pages)
		bench_lay_out_pages();
}

static void clean_up(const struct bench_op *op)
{
	if (op->pages)
		bench_release_pages();
	if (op->teardown)
		op->teardown();
}

static void run_op(const struct bench_op *op)
{
	u64 counts;

	prepare(op);
	if (op->depth) {
		counts = bench_run_deep(op, false);
	} else {
		repeat(op->run, op->warm);
		counts = measure_net(op);
	}
	pr_info("bench: %s %lu %lu\n", op->name, (unsigned long)counts, op->rounds);
	clean_up(op);
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

/* Run the operation on all CPUs at once. Return: counts of the clock, calls included. */
static u64 start_all(const struct bench_op *op, unsigned int cpus)
{
	struct task *tasks[NR_CPUS];
	unsigned long flags;
	unsigned int i;
	u64 counts;

	/* Addresses and stacks that earlier runs left decide where areas lie, and so how long each search is. */
	if (op->starts)
		vmalloc_purge();
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
	return counts;
}

static u64 measure_smp(const struct bench_op *op, unsigned int starts)
{
	unsigned int i, cpus = num_online_cpus();
	u64 calls, counts = 0;

	repeat(op->run, op->warm);
	calls = measure(nothing, op->rounds, false);
	for (i = 0; i < starts; i++)
		counts += start_all(op, cpus);
	/* The counter counts the instructions of all CPUs together. */
	calls *= (u64)starts * cpus;
	return counts > calls ? counts - calls : 0;
}

static void run_smp(const struct bench_op *op)
{
	unsigned int cpus = num_online_cpus(), starts = op->starts ?: 1;
	u64 counts;

	prepare(op);
	counts = op->depth ? bench_run_deep(op, true) : measure_smp(op, starts);
	pr_info("bench: smp.%s@%u %lu %lu\n", op->name, cpus, (unsigned long)counts,
		op->rounds * starts * cpus);
	clean_up(op);
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

/* From the argument "rounds:N": instead of those of the operations. 0: there was none. */
static unsigned long wanted_rounds;

static void run_table(const struct bench_op *ops, const char *pattern, bool smp)
{
	for (; ops->name; ops++) {
		struct bench_op op = *ops;

		if (pattern && !matches(pattern, op.name))
			continue;
		if (wanted_rounds)
			op.rounds = wanted_rounds;
		if (!smp)
			run_op(&op);
		else if (op.smp)
			run_smp(&op);
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
		{"smp", bench_trace_ops, true},	     {"traces", bench_trace_ops, false},
		{"locks", bench_lock_ops, false},    {"fill", bench_fill_ops, false},
		{"slack", bench_slack_ops, false},
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

/* @counts: of the clock since reset, where it starts at 0. */
static void print_since_reset(const char *name, u64 counts)
{
	struct kasan_depot_stats depot;

	kasan_depot_stats(&depot);
	pr_info("bench: %s %lu 1\n", name, (unsigned long)counts);
	pr_info("bench: %s leaves %zu traces in the depot\n", name, depot.traces);
}

/* Return: false if @argument does not say how many rounds the operations after it get. */
static bool set_rounds(const char *argument)
{
	return !strncmp(argument, "rounds:", 7) && !kstrtoul(argument + 7, 10, &wanted_rounds) &&
	       wanted_rounds;
}

/* Return: false if @argument does not say how many programs are to run. */
static bool run_programs_of(const char *argument)
{
	unsigned int programs;

	if (strncmp(argument, "programs:", 9) || kstrtouint(argument + 9, 10, &programs))
		return false;
	bench_programs(programs);
	print_since_reset("programs", arch_counter());
	return true;
}

/* calls.NAME:ROUNDS. Return: false if @argument is not of that form. */
static bool run_calls_of(const char *argument)
{
	const char *colon = strchr(argument, ':');
	unsigned long rounds;
	char name[16];

	if (strncmp(argument, "calls.", 6) || !colon || kstrtoul(colon + 1, 10, &rounds) ||
	    !rounds || (size_t)(colon - argument) - 6 >= sizeof(name))
		return false;
	strscpy(name, argument + 6, (size_t)(colon - argument) - 5);
	pr_info("bench: calls.%s %lu %lu\n", name, (unsigned long)bench_calls(name, rounds),
		rounds);
	return true;
}

/* Return: false if @argument does not say how many jobs the mix is to have. */
static bool run_mix_of(const char *argument)
{
	unsigned long jobs;

	if (strncmp(argument, "mix:", 4) || kstrtoul(argument + 4, 10, &jobs) || !jobs)
		return false;
	pr_info("bench: mix %lu %lu\n", (unsigned long)bench_mix(jobs), jobs * MIX_MAKERS);
	return true;
}

static bool run_rt_of(const char *argument)
{
	return !strcmp(argument, "rt") && bench_rt();
}

/* sampling:MS:SEED:EVERY. Return: false if @argument is not of that form, or the kernel does not sample. */
static bool run_sampling_of(const char *argument)
{
	unsigned long numbers[3];
	char text[24];

	if (strncmp(argument, "sampling", 8))
		return false;
	argument += 8;
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		size_t length = 0;

		if (*argument++ != ':')
			return false;
		while (argument[length] && argument[length] != ':')
			length++;
		if (length >= sizeof(text))
			return false;
		strscpy(text, argument, length + 1);
		if (kstrtoul(text, 10, &numbers[i]))
			return false;
		argument += length;
	}
	return !*argument && bench_sampling(numbers[0], numbers[1], numbers[2]);
}

int redzone_program_main(int argc, char **argv)
{
	u64 boot = arch_counter();
	int i;

	pr_info("bench: clock %lu\n", (unsigned long)arch_counter_hz());
	print_since_reset("boot", boot);
	for (i = 1; i < argc; i++) {
		if (!set_rounds(argv[i]) && !run_programs_of(argv[i]) && !run_calls_of(argv[i]) &&
		    !run_mix_of(argv[i]) && !run_rt_of(argv[i]) && !run_sampling_of(argv[i]) &&
		    !run_group(argv[i])) {
			pr_err("bench: there is no group '%s'\n", argv[i]);
			return 1;
		}
	}
	return 0;
}
