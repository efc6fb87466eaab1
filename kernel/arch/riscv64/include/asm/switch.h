/* SPDX-License-Identifier: MIT */
/* switch.h - changing from one thread to another. */
#ifndef ASM_SWITCH_H
#define ASM_SWITCH_H

#include <asm/ptrace.h>

/* Offsets in struct cpu_context, for assembly; traps.c asserts them. */
#define CTX_S0	      0
#define CTX_SP	      96
#define CTX_RA	      104
#define CTX_CPU	      112
#define CTX_BUSY      120
#define CTX_USER_REGS 128
#define CTX_TRAP_SP   136
#define CTX_TRAP_T0   144
#define CTX_TRAP_PC   152
#define CTX_STATUS    160
#define CTX_CAUSE     168
#define CTX_BADADDR   176
#define CTX_SCS	      184

#ifndef __ASSEMBLER__
#include <kernel/types.h>

struct task;

/**
 * struct cpu_context - registers of a thread that is not running; first member of struct task
 * @cpu: the number of the CPU that it runs on, while it runs.
 * @busy: not 0 while the entry of an exception has its registers in the members after, and nowhere else.
 * @user_regs: where the registers of its program in user mode go.
 * @scs: the shadow call stack's pointer; @scs_base: what it is when that is empty, which does not change.
 */
struct cpu_context {
	u64 s[12];
	u64 sp;
	u64 ra;
	u64 cpu;
	u64 busy;
	u64 user_regs;
	u64 trap_sp, trap_t0, trap_pc, status, cause, badaddr;
#ifdef CONFIG_SHADOW_CALL_STACK
	u64 scs, scs_base;
#endif
};

/** ret_from_fork() - where a new thread starts: schedule_tail(prev), then kthread_exit(fn(arg)).
 *  Not called directly; arch_init_context() makes a thread start there. */
void ret_from_fork(void);

/**
 * arch_init_context() - prepare a new thread
 * @ctx: its context. @stack_top: first address above its stack, aligned to 16. The top of the stack is
 *	reserved for the registers of user mode, see arch_user_regs(), so the thread starts below them.
 *
 * A zero frame pointer ends its traces at ret_from_fork(). The shadow call stack is ctx->scs_base's.
 */
static inline void arch_init_context(struct cpu_context *ctx, void *stack_top, int (*fn)(void *),
				     void *arg)
{
	*ctx = (struct cpu_context){
		.s = {[1] = (u64)fn, [2] = (u64)arg},
		.sp = (u64)stack_top - PT_REGS_SIZE,
		.ra = (u64)ret_from_fork,
#ifdef CONFIG_SHADOW_CALL_STACK
		.scs = ctx->scs_base,
		.scs_base = ctx->scs_base,
#endif
	};
}

/** arch_user_regs() - Return: where on a kernel stack the registers of user mode are while the task is in
 *  the kernel. @stack_top: first address above the stack. */
static inline struct pt_regs *arch_user_regs(void *stack_top)
{
	return (struct pt_regs *)stack_top - 1;
}
#endif

#endif
