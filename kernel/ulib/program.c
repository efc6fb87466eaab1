// SPDX-License-Identifier: MIT
/* program.c - runs the ordinary C program that was linked into the kernel, in a thread of its own.
 */
#include <kernel/errno.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <kernel/types.h>
#include <kasan/kasan.h>

#include "ulib.h"

/* Ordinary C is used to large stacks; this one is virtually mapped, with guard pages. */
#define PROGRAM_STACK_SIZE (1UL << 20)

void ulib_unpoison_frames(const void *low, const void *high);

struct program {
	int argc;
	char **argv;
};

static bool ended_by_itself;

void ulib_end_program(int status)
{
	program_flush();
	ended_by_itself = true;
	kthread_exit(status);
}

/* Called by longjmp(): the frames between here and the target are gone without their epilogues. */
void ulib_unpoison_frames(const void *low, const void *high)
{
	kasan_unpoison_stack(low, high);
}

static int program_thread(void *arg)
{
	struct program *program = arg;
	int status = redzone_program_main(program->argc, program->argv);

	ulib_run_atexit();
	ulib_end_program(status);
}

int run_program(int argc, char **argv)
{
	static char default_name[] = "program";
	char *default_argv[] = {default_name, NULL};
	struct program program = {.argc = argc, .argv = argv};
	struct task *task;
	const char *name;
	int status;

	if (!redzone_program_main)
		return -ENOENT;
	if (argc < 1) {
		program.argc = 1;
		program.argv = default_argv;
	}
	ulib_reset();
	ended_by_itself = false;
	name = strrchr(program.argv[0], '/');
	task = kthread_create_sized(program_thread, &program, PROGRAM_STACK_SIZE, "%s",
				    name ? name + 1 : program.argv[0]);
	if (IS_ERR(task))
		return (int)PTR_ERR(task);
	wake_up_process(task);
	status = kthread_join(task);
	program_flush();
	if (!ended_by_itself)
		return -EFAULT;
	if (status)
		pr_info("program returned %d\n", status);
	return status;
}

bool program_was_killed(void)
{
	return !ended_by_itself;
}
