// SPDX-License-Identifier: MIT
/*
 * calls.c - what system calls cost: programs in user mode that make the same calls again and again. The program is
 * kernel/tests/bench/user/; it makes system call SYSCALL_FIRST_OWN where the measured part begins and where it ends.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/kernel.h>
#include <kernel/process.h>

#include "bench.h"

static u64 marks[2];
static unsigned int nr_marks;

/* Interrupts are on in between, as they are for any program, and a tick counts with the calls that it interrupts. */
static long sys_mark(const u64 *args)
{
	if (nr_marks < ARRAY_SIZE(marks))
		marks[nr_marks] = arch_counter();
	nr_marks++;
	return 0;
}

u64 bench_calls(const char *name, unsigned long rounds)
{
	const size_t size = (size_t)(user_bench_image_end - user_bench_image);
	const char *argv[] = {"bench", name, NULL};
	struct process *process;
	char text[24];
	int err, status;

	/* The program starts others by its name. */
	err = user_program_register(argv[0], user_bench_image, size);
	if ((err && err != -EEXIST) || user_syscall_register(SYSCALL_FIRST_OWN, sys_mark))
		bench_fail("a program");
	snprintf(text, sizeof(text), "%lu", rounds);
	argv[2] = text;
	nr_marks = 0;
	process = process_create(user_bench_image, size, argv[0], ARRAY_SIZE(argv), argv);
	if (IS_ERR(process))
		bench_fail("a process");
	process_start(process);
	status = process_wait(process);
	if (status || nr_marks != ARRAY_SIZE(marks))
		panic("bench: %s ended with status %#x and %u marks", name, status, nr_marks);
	user_syscall_register(SYSCALL_FIRST_OWN, NULL);
	return marks[1] - marks[0];
}
