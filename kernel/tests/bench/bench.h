/* SPDX-License-Identifier: MIT */
/*
 * bench.h - declarations shared by the files of the benchmark.
 *
 * The clock under `qemu -icount shift=0` counts executed instructions, one nanosecond each, so every
 * figure repeats exactly. main.c measures and is not instrumented; the operations are, as a user's code
 * would be.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <kernel/types.h>

/**
 * struct bench_op - one operation
 * @name: as `./redzone bench --ops` matches it.
 * @run: does it once. Called with interrupts off.
 * @setup: optional, before the warm-up; Return: false if there is no memory. May sleep.
 * @teardown: optional, undoes it.
 * @warm: runs before the clock starts, so that quarantine, free lists and shadow are full.
 * @rounds: runs that are measured.
 * @argument: for @setup.
 * @smp: it is also measured on all CPUs at once.
 * @starts: on all CPUs the figure is the mean of this many runs; 0 means 1. More than one is for locks
 *	that all CPUs share: the order in which they take them differs with everything that ran before.
 * @pages: it takes whole pages: free memory gets a known layout before the warm-up.
 * @idle: optional, does what @run does beside the work that is measured. It is left out of the figure
 *	instead of an empty operation.
 * @depth: if not 0, the traces that @run leaves behind have this many frames: its allocations are called at
 *	that depth, in a thread of their own. At least @inner and 4.
 * @inner: with @depth, frames between @run and the allocation.
 * @interruptible: it is measured with interrupts on, because it may sleep in some kernels. A tick counts with the
 *	rounds that it interrupts.
 */
struct bench_op {
	const char *name;
	void (*run)(void);
	bool (*setup)(unsigned long argument);
	void (*teardown)(void);
	unsigned long warm;
	unsigned long rounds;
	unsigned long argument;
	unsigned int starts;
	bool smp;
	bool pages;
	void (*idle)(void);
	unsigned int depth;
	unsigned int inner;
	bool interruptible;
};

/* The tables, each ended by an entry without a name. */
extern const struct bench_op bench_memory_ops[];  /* ops.c */
extern const struct bench_op bench_vmalloc_ops[]; /* vmalloc_ops.c */
extern const struct bench_op bench_live_ops[];	  /* live_ops.c */
extern const struct bench_op bench_traffic_ops[]; /* traffic_ops.c */
extern const struct bench_op bench_trace_ops[];	  /* trace_ops.c */
extern const struct bench_op bench_lock_ops[];	  /* lock_ops.c */
extern const struct bench_op bench_fill_ops[];	  /* fill_ops.c */
extern const struct bench_op bench_slack_ops[];	  /* slack_ops.c */

/** bench_run_deep() - measure an operation with a @depth, on all CPUs at once if @smp. main.c has the others.
 *  Return: counts of the clock for all its rounds on all CPUs, without those of @idle. */
u64 bench_run_deep(const struct bench_op *op, bool smp); /* deep.c */

/** bench_programs() - run @programs small programs in user mode, one after the other. May sleep. */
void bench_programs(unsigned int programs); /* work.c */

/** bench_calls() - let a program make @rounds of the system calls that @name stands for, see kernel/tests/bench/user/.
 *  May sleep. Return: counts of the clock for them. */
u64 bench_calls(const char *name, unsigned long rounds); /* calls.c */

/** bench_mix() - the build-like mix: @jobs jobs for each of its makers, twice; the first time is the warm-up. Sleeps.
 *  Return: counts of the clock for the second time. */
u64 bench_mix(unsigned long jobs); /* mix.c */

/** bench_rt() - do what keeps interrupts off, and print for how long that was. Return: false if the kernel has no
 *  tracer for it. May sleep. */
bool bench_rt(void); /* rt_work.c */

/** bench_sampling() - plant bugs in heap objects at random for @ms milliseconds, and print how many of them the sampled ones
 *  found. @every: one of this many allocations is sampled; 0: kasan.sample= decides. @seed: of what is done. May sleep. Return:
 *  false if the kernel does not sample, or has a mode of KASAN. */
bool bench_sampling(unsigned long ms, unsigned long seed, unsigned long every); /* sampling.c */

/* The file of the program in user mode. */
extern const char user_bench_image[], user_bench_image_end[];

/** bench_lay_out_pages(), bench_release_pages() - bring free memory into a layout that depends on nothing
 *  that ran before (layout.c says which); undo it. One after the other, in a thread that may sleep. */
void bench_lay_out_pages(void);
void bench_release_pages(void);

/* GCC merges functions that are equal; each of these must have an address of its own. */
#if __has_attribute(no_icf)
#define BENCH_APART noinline __attribute__((no_icf))
#else
#define BENCH_APART noinline
#endif

/** bench_window_opens(), bench_window_closes() - called before and after each measured loop, outside of what
 *  is measured. They do nothing: `./redzone bench profile` stops there, to log what runs in between. */
void bench_window_opens(void); /* window.c */
void bench_window_closes(void);

/** bench_fail() - an operation could not be done: its figure would mean nothing. Panics. */
_Noreturn void bench_fail(const char *what);

#endif /* BENCH_BENCH_H */
