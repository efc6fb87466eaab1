// SPDX-License-Identifier: MIT
/*
 * handler.c - calls handlers of signals: what they see of the interrupted thread, and the stack that they run on.
 *
 * A handler is called like a function. Its arguments are on its stack, and go with it if it leaves by siglongjmp().
 *
 * The alternate stack of sigaltstack() is the kernel's, like all stacks: with guard pages, checked, and larger than the
 * program's own memory, which is not used. Interrupts need room there, and checked frames are larger.
 */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>
#include <asm/fpu.h>

#include "../program/internal.h"
#include "signal.h"

#define SS_ONSTACK 1
#define SS_DISABLE 2
/* What Linux demands for arm64. */
#define STACK_LEAST 5120
#define STACK_LIMIT (1UL << 30)
/* As for other threads, see threads.c. */
#define STACK_BYTES(size) (2 * (size) + THREAD_SIZE)

/* How Linux marks the floating-point registers in the context of a handler. */
#define FPSIMD_MAGIC 0x46508001
#define FPSIMD_SIZE  528

/* PSTATE: the flags of the last comparison, all that a handler may change. */
#define PSTATE_FLAGS 0xf0000000UL

#define STATUS_OF_SIGNAL 128

/** struct libc_ucontext - Linux's ucontext_t for arm64 */
struct libc_ucontext {
	u64 flags;
	void *link;
	struct libc_stack stack;
	u64 mask[16];
	/* mcontext_t */
	u64 fault_address __aligned(16);
	u64 regs[31];
	u64 sp, pc, pstate;
	struct {
		u32 magic, size, fpsr, fpcr;
		u64 v[64];
	} fpsimd __aligned(16);
	u8 rest[4096 - FPSIMD_SIZE];
} __aligned(16);

_Static_assert(sizeof(struct libc_ucontext) == 4560, "Linux's size");
_Static_assert(offsetof(struct libc_ucontext, fault_address) == 176, "Linux's place");
_Static_assert(offsetof(struct libc_ucontext, fpsimd) == 464, "Linux's place");

/** struct call - a handler that is about to run */
struct call {
	const struct libc_sigaction *action;
	struct libc_siginfo *info;
	struct pt_regs *regs;
};

static void save_context(struct libc_ucontext *context, const struct call *call, u64 mask)
{
	struct libc_thread *self = libc_self();
	struct fpu_state fpu;

	memset(context, 0, sizeof(*context));
	libc_sigaltstack(NULL, &context->stack);
	context->mask[0] = mask;
	context->pc = (u64)__builtin_return_address(0);
	if (call->regs) {
		context->fault_address = call->info->addr;
		memcpy(context->regs, call->regs->regs, sizeof(context->regs));
		context->sp = call->regs->sp;
		context->pc = call->regs->pc;
		context->pstate = call->regs->pstate;
	}
	arch_fpu_get(&fpu);
	context->fpsimd.magic = FPSIMD_MAGIC;
	context->fpsimd.size = FPSIMD_SIZE;
	context->fpsimd.fpsr = (u32)fpu.fpsr;
	context->fpsimd.fpcr = (u32)fpu.fpcr;
	memcpy(context->fpsimd.v, fpu.v, sizeof(fpu.v));
	self->blocked |= call->action->mask;
	if (!(call->action->flags & SA_NODEFER))
		self->blocked |= libc_signal_bit(call->info->signo);
}

static void restore_context(const struct libc_ucontext *context, const struct call *call)
{
	struct pt_regs *regs = call->regs;
	struct fpu_state fpu = {.fpsr = context->fpsimd.fpsr, .fpcr = context->fpsimd.fpcr};

	libc_self()->blocked =
		context->mask[0] & ~(libc_signal_bit(SIGKILL) | libc_signal_bit(SIGSTOP));
	memcpy(fpu.v, context->fpsimd.v, sizeof(fpu.v));
	arch_fpu_set(&fpu);
	if (!regs)
		return;
	if (context->sp != regs->sp) {
		pr_err("program: a handler cannot change the stack pointer; it ends here\n");
		program_exit(STATUS_OF_SIGNAL + call->info->signo);
	}
	memcpy(regs->regs, context->regs, sizeof(context->regs));
	regs->pc = context->pc;
	regs->pstate = (regs->pstate & ~PSTATE_FLAGS) | (context->pstate & PSTATE_FLAGS);
}

static void call_handler(void *arg)
{
	const struct call *call = arg;
	struct libc_ucontext context;

	save_context(&context, call, libc_self()->blocked);
	if (call->action->flags & SA_SIGINFO) {
		void (*handler)(int, struct libc_siginfo *, void *) = (void *)call->action->handler;

		handler(call->info->signo, call->info, &context);
	} else {
		call->action->handler(call->info->signo);
	}
	restore_context(&context, call);
}

void libc_run_handler(const struct libc_sigaction *action, struct libc_siginfo *info,
		      struct pt_regs *regs)
{
	struct call call = {.action = action, .info = info, .regs = regs};
	struct task *task = current;

	if (!(action->flags & SA_ONSTACK) || !task->other_stack || task->on_other) {
		call_handler(&call);
		return;
	}
	task_swap_stack();
	arch_call_on_stack(task_stack_top(task), call_handler, &call);
	task_swap_stack();
}

long libc_sigaltstack(const struct libc_stack *new, struct libc_stack *old)
{
	struct libc_thread *self = libc_self();
	struct task *task = current;
	struct libc_stack before = self->alternate;
	size_t size;
	void *stack;

	if (!task->other_stack)
		before.flags = SS_DISABLE;
	else if (task->on_other)
		before.flags = SS_ONSTACK;
	if (new && task->on_other)
		return -EPERM;
	if (new && new->flags & ~(SS_DISABLE | SS_ONSTACK))
		return -EINVAL;
	if (new && !(new->flags &SS_DISABLE)) {
		if (new->size < STACK_LEAST || new->size > STACK_LIMIT)
			return -ENOMEM;
		size = PAGE_ALIGN(STACK_BYTES(new->size));
		stack = stack_alloc(size, NULL);
		if (!stack)
			return -ENOMEM;
		stack_free(task->other_stack);
		task->other_size = size;
		task->other_stack = stack;
		self->alternate = (struct libc_stack){.sp = new->sp, .size = new->size};
	} else if (new) {
		stack_free(task->other_stack);
		task->other_stack = NULL;
		self->alternate = (struct libc_stack){0};
	}
	if (old)
		*old = before;
	return 0;
}
