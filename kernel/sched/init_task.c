/* SPDX-License-Identifier: MIT */
/* init_task.c - the boot CPU's first task. start_kernel() runs in it; after that it is the idle task. */
#include <kernel/arch.h>
#include <kernel/completion.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <asm/memory.h>

struct task init_task = {
#ifdef CONFIG_SHADOW_CALL_STACK
	.context.scs_base = (u64)boot_scs + sizeof(u64),
#endif
	.kflags = PF_IDLE,
	.state = TASK_RUNNING,
	.on_cpu = 1,
	.stack = boot_stack,
	.stack_size = BOOT_STACK_SIZE,
	.trace_top = boot_stack + BOOT_STACK_SIZE - TASK_FRAME_BYTES,
	.trace_span = BOOT_STACK_SIZE - TASK_FRAME_BYTES,
	.comm = "swapper/0",
	.run_list = LIST_HEAD_INIT(init_task.run_list),
	.prio = MAX_PRIO,
	.normal_prio = MAX_PRIO,
	.pi_prio = MAX_PRIO,
	.rcu_prio = MAX_PRIO,
	.wake_lock = __RAW_SPIN_LOCK_UNLOCKED(init_task.wake_lock),
	.usage = ATOMIC_INIT(2),
	.exited = COMPLETION_INITIALIZER(init_task.exited),
#ifdef CONFIG_LOCKDEP
	.lockdep = LOCKDEP_STACK_INIT(init_task.lockdep),
#endif
};
