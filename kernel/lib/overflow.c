/* SPDX-License-Identifier: MIT */
/*
 * overflow.c - exceptions for whose frame the stack has no room: it gets pages, a program's handler runs on another stack, or
 * the machine ends with a message.
 *
 * Not instrumented, like fault.c.
 */
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/fault.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/vmalloc.h>
#include <asm/irqflags.h>
#include <asm/percpu.h>
#include <asm/ptrace.h>

bool stack_overflowed[NR_CPUS];

/* Return: a copy of @regs right below @top. A walk along frame pointers passes from it into the interrupted code. */
static struct pt_regs *copy_regs(const struct pt_regs *regs, uintptr_t top)
{
	struct pt_regs *copy = (struct pt_regs *)top - 1;

	*copy = *regs;
	return copy;
}

/*
 * Map what the frame of an exception needs, if the stack has room for it. Return: true if there is memory; @low: filled,
 * whether there may not be enough the next time.
 */
static bool map_frame(const struct pt_regs *regs, bool *low)
{
	const bool may_allocate = !regs_irqs_disabled(regs);

	*low = false;
	if (regs->sp & (STACK_ALIGN - 1) || !stack_has_room(regs->sp, sizeof(*regs)))
		return false;
	/* A frame is smaller than a page, so it is in two at most. */
	return stack_demand(regs->sp - 16, may_allocate, low) &&
	       stack_demand(regs->sp - sizeof(*regs), may_allocate, low);
}

struct pt_regs *overflow_handler(struct pt_regs *regs)
{
	unsigned int cpu = smp_processor_id();
	uintptr_t overflow = (uintptr_t)overflow_stack + ((uintptr_t)cpu << OVERFLOW_STACK_SHIFT);
	uintptr_t start = (uintptr_t)current->stack;
	const char *what = "kernel stack overflow";
	unsigned long flags;
	bool low;

	if (early_init_done && map_frame(regs, &low))
		return low && is_program_fault(regs) ? copy_regs(regs, regs->sp) : NULL;
	arch_unmask_errors();
	if (!early_init_done)
		arch_bare_panic(what, regs);
	/* This stack has overflowed too, or printing causes a fault. */
	if (stack_overflowed[cpu])
		arch_bare_panic("Overflow stack exhausted", regs);
	if (may_handle_overflow(regs))
		return copy_regs(regs, (uintptr_t)current->other_stack + current->other_size);
	stack_overflowed[cpu] = true;

	if (regs->sp & (STACK_ALIGN - 1))
		what = "misaligned stack pointer";
	else if (stack_has_room(regs->sp, sizeof(*regs)))
		what = "no memory for the stack";
	else if (regs->sp - start > current->stack_size && start - regs->sp > 64 * 1024)
		what = "corrupted stack pointer";
	flags = console_lock();
	printk("Insufficient stack space to handle exception!\n");
	printk("%s: " REGS_ERROR_NAME " 0x%016lx " REGS_ADDRESS_NAME " 0x%016lx\n", what,
	       regs_error(regs), regs_address(regs));
	printk("Task stack:     [%016lx, %016lx)\n", start, start + current->stack_size);
	printk("Overflow stack: [%016lx, %016lx)\n", overflow, overflow + OVERFLOW_STACK_SIZE);
	show_regs(regs);
	console_unlock(flags);
	panic("%s", what);
}

void stack_handler(struct pt_regs *regs)
{
	if ((uintptr_t)(regs + 1) == regs->sp)
		refill_stack(regs);
	else
		handle_overflow(regs, regs_address(regs));
}
