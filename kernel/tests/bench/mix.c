/* SPDX-License-Identifier: MIT */
/*
 * mix.c - a build-like mix on all CPUs: starts the programs of user/mix.c, and counts what they make the kernel do.
 * Instrumented.
 *
 * The work is fixed. The same jobs are done in every kernel, and at the end the counts of files.c must be those that
 * follow from mix.h, or the benchmark fails. Nothing waits for time to pass: while a CPU is idle another one works, so
 * the clock counts instructions only.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/kernel.h>
#include <kernel/lock_events.h>
#include <kernel/process.h>

#include "bench.h"
#include "files.h"
#include "mix.h"

static void no_output(void *unused, const char *text, size_t n)
{
}

static void make_headers(void)
{
	char name[MIX_NAME];

	for (unsigned int i = 0; i < MIX_HEADERS; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		if (!bench_file_make(name, MIX_HEADER_BLOCKS))
			bench_fail("a header");
	}
}

static void remove_headers(void)
{
	char name[MIX_NAME];

	for (unsigned int i = 0; i < MIX_HEADERS; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		bench_file_remove(name);
	}
}

/* Start the program "make" number @maker for @jobs jobs. */
static struct process *start_maker(unsigned int maker, unsigned long jobs)
{
	const size_t size = (size_t)(user_bench_image_end - user_bench_image);
	char numbers[2][24];
	const char *argv[] = {"bench", "make", numbers[0], numbers[1], NULL};
	struct process *process;

	snprintf(numbers[0], sizeof(numbers[0]), "%lu", jobs);
	snprintf(numbers[1], sizeof(numbers[1]), "%u", maker);
	process = process_create(user_bench_image, size, argv[0], 4, argv);
	if (IS_ERR(process))
		bench_fail("a process");
	process->output = no_output;
	process_start(process);
	return process;
}

/* Let all makers do @jobs jobs each. Return: counts of the clock. */
static u64 run_jobs(unsigned long jobs)
{
	struct process *makers[MIX_MAKERS];
	u64 counts = arch_counter();

	for (unsigned int i = 0; i < MIX_MAKERS; i++)
		makers[i] = start_maker(i, jobs);
	for (unsigned int i = 0; i < MIX_MAKERS; i++) {
		int status = process_wait(makers[i]);

		if (status)
			panic("bench: make ended with status %#x", status);
	}
	return arch_counter() - counts;
}

/* Fail unless what was done in all, @done, is @jobs jobs and the headers. */
static void check_counts(const struct bench_file_counts *done, unsigned long jobs)
{
	const unsigned long objects = jobs * (MIX_OBJECT / MIX_BLOCK);
	const unsigned long read = MIX_HEADERS_READ * MIX_HEADER_BLOCKS * MIX_BLOCK + MIX_OBJECT;

	if (done->created != jobs + MIX_HEADERS || done->removed != jobs ||
	    done->misses != jobs * MIX_MISSES || done->read != jobs * read ||
	    done->writebacks != objects + MIX_HEADERS * MIX_HEADER_BLOCKS)
		panic("bench: %lu jobs: %lu files made, %lu removed, %lu misses, %lu written back, "
		      "%lu bytes read",
		      jobs, done->created, done->removed, done->misses, done->writebacks,
		      done->read);
}

/* Print what @jobs jobs have done since @before. */
static void print_counts(const struct bench_file_counts *before,
			 const struct bench_file_counts *done, unsigned long jobs)
{
	pr_info("bench: count lookups %lu\n", done->lookups - before->lookups);
	pr_info("bench: count misses %lu\n", done->misses - before->misses);
	pr_info("bench: count writebacks %lu\n", done->writebacks - before->writebacks);
	pr_info("bench: count steps %lu\n", jobs * MIX_HEADERS_READ * MIX_STEPS);
}

/* Lock events. Kernels with neither the validator nor sleeping spin locks count none. */
static void read_events(unsigned long counts[NR_LOCK_EVENTS])
{
	for (unsigned int i = 0; i < NR_LOCK_EVENTS; i++)
		counts[i] = lock_event_read((enum lock_event)i);
}

static void print_events(const unsigned long before[NR_LOCK_EVENTS],
			 const unsigned long after[NR_LOCK_EVENTS])
{
#ifdef CONFIG_LOCK_EVENTS
	for (unsigned int i = 0; i < NR_LOCK_EVENTS; i++)
		pr_info("bench: event %s %lu\n", lock_event_name((enum lock_event)i),
			after[i] - before[i]);
	pr_info("bench: total cycle_checks %lu\n", after[LOCKEVENT_lockdep_cycle_checks]);
#endif
}

u64 bench_mix(unsigned long jobs)
{
	const size_t size = (size_t)(user_bench_image_end - user_bench_image);
	int err = user_program_register("bench", user_bench_image, size);
	unsigned long events_before[NR_LOCK_EVENTS], events[NR_LOCK_EVENTS];
	struct bench_file_counts before, done;
	u64 counts;

	if ((err && err != -EEXIST) || user_syscall_register(MIX_CALL, bench_file_call) ||
	    !bench_files_start())
		bench_fail("the mix");
	make_headers();
	run_jobs(jobs);
	bench_file_counts(&before);
	read_events(events_before);
	counts = run_jobs(jobs);
	read_events(events);
	bench_file_counts(&done);
	check_counts(&done, 2 * jobs * MIX_MAKERS);
	print_counts(&before, &done, jobs * MIX_MAKERS);
	print_events(events_before, events);
	remove_headers();
	bench_files_end();
	user_syscall_register(MIX_CALL, NULL);
	return counts;
}
