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
#include <asm/libc.h>

#include "../program/internal.h"
#include "signal.h"

#define SS_ONSTACK  1
#define SS_DISABLE  2
#define STACK_LIMIT (1UL << 30)
/* As for other threads, see threads.c. */
#define STACK_BYTES(size) (2 * (size) + THREAD_SIZE)

#define STATUS_OF_SIGNAL 128

/** struct call - a handler that is about to run */
struct call {
	const struct libc_sigaction *action;
	struct libc_siginfo *info;
	struct pt_regs *regs;
};

static void save_context(struct libc_ucontext *context, const struct call *call, u64 mask)
{
	struct libc_thread *self = libc_self();

	memset(context, 0, sizeof(*context));
	libc_sigaltstack(NULL, &context->stack);
	context->mask[0] = mask;
	arch_ucontext_save(context, call->regs, call->info->addr);
	self->blocked |= call->action->mask;
	if (!(call->action->flags & SA_NODEFER))
		self->blocked |= libc_signal_bit(call->info->signo);
}

static void restore_context(const struct libc_ucontext *context, const struct call *call)
{
	libc_self()->blocked =
		context->mask[0] & ~(libc_signal_bit(SIGKILL) | libc_signal_bit(SIGSTOP));
	if (!arch_ucontext_restore(context, call->regs)) {
		pr_err("program: a handler cannot change the stack pointer; it ends here\n");
		program_exit(STATUS_OF_SIGNAL + call->info->signo);
	}
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
		if (new->size < ARCH_MINSIGSTKSZ || new->size > STACK_LIMIT)
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
