/* SPDX-License-Identifier: MIT */
/*
 * work.c - work for a kernel that has just started: programs in user mode, one after the other. Instrumented.
 *
 * A boot of this kernel hardly allocates. Starting a program does what kernels do most of their time: address
 * spaces, threads and their stacks, files, system calls, page faults.
 */
#include <kernel/bug.h>
#include <kernel/kernel.h>
#include <kernel/process.h>

#include "bench.h"

static void no_output(void *unused, const char *text, size_t n)
{
}

void bench_programs(unsigned int programs)
{
	static const char *const argv[] = {"bench", "work", NULL};
	const size_t size = (size_t)(user_bench_image_end - user_bench_image);
	struct process *process;
	int status;

	for (; programs; programs--) {
		process = process_create(user_bench_image, size, argv[0], 2, argv);
		if (IS_ERR(process))
			bench_fail("a process");
		process->output = no_output;
		process_start(process);
		status = process_wait(process);
		if (status)
			panic("bench: a program ended with status %#x", status);
	}
}
