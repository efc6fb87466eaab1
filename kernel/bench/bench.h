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
 */
struct bench_op {
	const char *name;
	void (*run)(void);
	bool (*setup)(unsigned long argument);
	void (*teardown)(void);
	unsigned long warm;
	unsigned long rounds;
	unsigned long argument;
	bool smp;
};

/* The tables, each ended by an entry without a name. */
extern const struct bench_op bench_memory_ops[];  /* ops.c */
extern const struct bench_op bench_vmalloc_ops[]; /* vmalloc_ops.c */
extern const struct bench_op bench_live_ops[];	  /* live_ops.c */
extern const struct bench_op bench_traffic_ops[]; /* traffic_ops.c */

/** bench_fail() - an operation could not be done: its figure would mean nothing. Panics. */
_Noreturn void bench_fail(const char *what);

#endif /* BENCH_BENCH_H */
