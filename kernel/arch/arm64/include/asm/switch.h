/* SPDX-License-Identifier: MIT */
/* switch.h - changing from one thread to another. */
#ifndef ASM_SWITCH_H
#define ASM_SWITCH_H

#include <kernel/types.h>
#include <asm/ptrace.h>

struct task;

/** struct cpu_context - what a thread that is not running keeps; first member of struct task */
struct cpu_context {
	u64 x19, x20, x21, x22, x23, x24, x25, x26, x27, x28;
	u64 fp;
	u64 sp;
	u64 pc;
};

/**
 * cpu_switch_to() - continue @next where it left off
 *
 * Interrupts off. Sets `current`. Return (later, in @prev's life): the task that ran before.
 */
struct task *cpu_switch_to(struct task *prev, struct task *next);

/** ret_from_fork() - where a new thread starts: schedule_tail(prev), then kthread_exit(fn(arg)).
 *  Not to be called; arch_init_context() points a thread at it. */
void ret_from_fork(void);

/**
 * arch_init_context() - prepare a new thread
 * @ctx: its context. @stack_top: first address above its stack, aligned to 16. The frame of user mode
 * has its place there, see task_pt_regs(), so the thread starts below it.
 *
 * A zero frame pointer ends its traces at ret_from_fork().
 */
static inline void arch_init_context(struct cpu_context *ctx, void *stack_top, int (*fn)(void *),
				     void *arg)
{
	*ctx = (struct cpu_context){
		.x19 = (u64)fn,
		.x20 = (u64)arg,
		.sp = (u64)stack_top - 16 - PT_REGS_SIZE,
		.pc = (u64)ret_from_fork,
	};
}

/**
 * call_on_stack() - run fn(arg) on another stack and come back
 * @stack_top: first address above it, aligned to 16.
 */
void call_on_stack(void (*fn)(void *), void *arg, void *stack_top);

#endif
