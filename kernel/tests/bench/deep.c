/* SPDX-License-Identifier: MIT */
/*
 * deep.c - measures operations at a given call depth, so that the stack traces that they store have a known
 * number of frames. Not instrumented, because the loop must not be measured.
 *
 * A thread of the kernel starts with few frames; the function that has the loop calls itself until there are
 * enough. Warm-up and measurement go through the same call, because another return address would make
 * another trace: all traces that are measured would be new.
 */
#include <kasan/stats.h>
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/stacktrace.h>
#include <asm/barrier.h>

#include "bench.h"

/* Threads that are not measured may store a trace for the first time meanwhile, as a purge of vmalloc areas does. */
#define MAX_STRAY_TRACES 4

enum stage { NOT_STARTED, WARM, IDLE, MEASURED, STAGES };

/* One thread's part of the work. @deeper: calls that are still to come before the loop. @counts, @traces: of
 * the clock, and new traces in the depot, in the stage that ended last; the leader's MEASURED ends when all
 * threads have. */
struct part {
	const struct bench_op *op;
	unsigned int stage;
	bool leads;
	bool counted;
	unsigned int deeper;
	unsigned int followers;
	unsigned long flags;
	u64 counts, idle;
	size_t traces;
};

static struct part parts[NR_CPUS];
static struct task *tasks[NR_CPUS];
static unsigned int arrived, finished, started;
static size_t frames;

static int at_depth(void *arg);

/* Stands for the operation: how many frames would its own traces have? */
static noinline void count_frames(void)
{
	uintptr_t pcs[64];

	frames = stack_trace_save(pcs, ARRAY_SIZE(pcs), NULL);
}

/* One after the other, so that each finds an idle CPU to start on. None leaves it, because its interrupts
 * are off from then on. */
static void start_followers(struct part *leader)
{
	unsigned int i;

	for (i = 1; i <= leader->followers; i++) {
		parts[i] = (struct part){.op = leader->op};
		tasks[i] = kthread_run(at_depth, &parts[i], "bench/%u", i);
		if (IS_ERR(tasks[i]))
			bench_fail("threads");
		while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < i)
			cpu_relax();
	}
}

static size_t nr_traces(void)
{
	struct kasan_depot_stats depot;

	kasan_depot_stats(&depot);
	return depot.traces;
}

static void begin(struct part *part)
{
	if (part->leads && part->stage == MEASURED)
		start_followers(part);
	if (part->leads || part->stage == WARM)
		local_irq_save(part->flags);
	if (!part->leads && part->stage == MEASURED) {
		__atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
		while (!smp_load_acquire(&started))
			cpu_relax();
	}
	part->traces = nr_traces();
	if (part->leads && part->stage != WARM)
		bench_window_opens();
	part->counts = arch_counter();
	if (part->leads && part->stage == MEASURED)
		smp_store_release(&started, 1);
}

static void end(struct part *part)
{
	if (part->leads && part->stage == MEASURED) {
		while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) < part->followers)
			cpu_relax();
	}
	part->counts = arch_counter() - part->counts;
	if (part->leads && part->stage != WARM)
		bench_window_closes();
	part->traces = nr_traces() - part->traces;
	if (part->stage == IDLE)
		part->idle = part->counts;
	if (!part->leads && part->stage == MEASURED)
		__atomic_fetch_add(&finished, 1, __ATOMIC_ACQ_REL);
	if (part->leads || part->stage == MEASURED)
		local_irq_restore(part->flags);
}

/* End a stage, if one has begun, and begin the next one. Return: what to call in it, with @times filled in;
 * NULL after the last. */
static noinline void (*next_stage(struct part *part, unsigned long *times))(void)
{
	const struct bench_op *op = part->op;

	if (part->stage != NOT_STARTED)
		end(part);
	if (++part->stage == IDLE && !part->leads)
		part->stage++;
	if (part->stage == STAGES)
		return NULL;
	begin(part);
	*times = part->stage == WARM ? op->warm : op->rounds;
	return part->stage == IDLE ? op->idle : op->run;
}

/* A thread's function: the thread's first frames, then as many of this one as @deeper asks for, and the
 * operation's. */
static noinline int at_depth(void *arg)
{
	struct part *part = arg;
	void (*run)(void);
	unsigned long times;

	if (!part->counted) {
		const struct bench_op *op = part->op;

		count_frames();
		if (frames + op->inner > op->depth)
			panic("bench: %s: a thread's traces have %zu frames already", op->name,
			      frames + op->inner);
		part->deeper = op->depth - op->inner - (unsigned int)frames;
		part->counted = true;
	}
	if (part->deeper) {
		part->deeper--;
		(void)at_depth(part);
		/* Otherwise the compiler could make a loop of the calls. */
		barrier();
		return 0;
	}
	/* The stages are hidden in a function, so that none gets a copy of the call to itself. */
	while ((run = next_stage(part, &times))) {
		for (; times; times--)
			run();
	}
	return 0;
}

u64 bench_run_deep(const struct bench_op *op, bool smp)
{
	unsigned int i, cpus = smp ? num_online_cpus() : 1;
	u64 idle;

	arrived = finished = 0;
	smp_store_release(&started, 0);
	parts[0] = (struct part){.op = op, .leads = true, .followers = cpus - 1};
	tasks[0] = kthread_run(at_depth, &parts[0], "bench/0");
	if (IS_ERR(tasks[0]))
		bench_fail("threads");
	for (i = 0; i < cpus; i++)
		kthread_join(tasks[i]);
	if (parts[0].traces > MAX_STRAY_TRACES)
		panic("bench: %s: %zu traces were new when it was measured", op->name,
		      parts[0].traces);
	/* The counter counts the instructions of all CPUs together. */
	idle = parts[0].idle * cpus;
	return parts[0].counts > idle ? parts[0].counts - idle : 0;
}
