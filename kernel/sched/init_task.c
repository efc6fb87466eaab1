/* SPDX-License-Identifier: MIT */
/* init_task.c - the boot CPU's first task. start_kernel() runs in it; after that it is the idle task. */
#include <kernel/arch.h>
#include <kernel/completion.h>
#include <kernel/sched.h>
#include <asm/memory.h>

struct task init_task = {
	.kflags = PF_IDLE,
	.state = TASK_RUNNING,
	.on_cpu = 1,
	.stack = boot_stack,
	.stack_size = BOOT_STACK_SIZE,
	.comm = "swapper/0",
	.run_list = LIST_HEAD_INIT(init_task.run_list),
	.usage = ATOMIC_INIT(2),
	.exited = COMPLETION_INITIALIZER(init_task.exited),
};
