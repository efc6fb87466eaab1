// SPDX-License-Identifier: MIT
/*
 * program_fault.c - CPU faults of programs, which run inside the kernel: is a fault the program's own?
 *
 * Only code of the program may be left by its handler: the kernel's own code may hold locks, or be in the middle of a
 * change. The linker script puts all code of programs and of their C library between two symbols, but for sections that a
 * program has named: these are after all other code. The kernel's functions that copy or compare memory count as the
 * program's if it has called them, because they hold nothing.
 *
 * Not instrumented, like fault.c.
 */
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/gfp.h>
#include <kernel/irqsoff.h>
#include <kernel/kallsyms.h>
#include <kernel/kernel.h>
#include <kernel/module.h>
#include <kernel/sched.h>
#include <kernel/printk.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>
#include <asm/irqflags.h>
#include <asm/ptrace.h>

static bool in_program(unsigned long pc)
{
	extern char __program_text_start[], __program_text_end[], __own_text_start[];

	return (pc >= (unsigned long)__program_text_start &&
		pc < (unsigned long)__program_text_end) ||
	       (pc >= (unsigned long)__own_text_start && pc < (unsigned long)_etext);
}

/* Is @pc in memcpy() or memcmp(), or in another name of it or of its relatives? */
static bool in_copy(unsigned long pc)
{
	static const char *const names[] = {"memcpy", "memmove", "memset", "memcmp", "bcmp"};
	const char *name;
	size_t length = kallsyms_lookup(pc, &name, NULL, NULL) ? strlen(name) : 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		size_t end = strlen(names[i]);

		if (length >= end && !strcmp(name + length - end, names[i]))
			return true;
	}
	return false;
}

static bool is_programs_code(const struct pt_regs *regs)
{
	uintptr_t pcs[4];
	size_t n;

	if (in_program(regs->pc))
		return true;
	/* A call through a bad pointer. */
	if (!kernel_text_address(regs->pc))
		return in_program(regs_return_address(regs));
	n = stack_trace_save(pcs, ARRAY_SIZE(pcs), regs);
	for (size_t i = 0; i < n; i++) {
		if (in_program(pcs[i]))
			return true;
		if (!in_copy(pcs[i]))
			return false;
	}
	return false;
}

bool is_program_fault(const struct pt_regs *regs)
{
	if (!program_fault || !in_task() || preempt_count() || regs_irqs_disabled(regs))
		return false;
	return current->fpu && !holds_rtlock() && is_programs_code(regs);
}

/* As if the code had made a call: it may be preempted from here on. */
static void open_interrupts(void)
{
	irqsoff_end();
	arch_local_irq_enable();
}

static void close_interrupts(void)
{
	arch_local_irq_disable();
	irqsoff_begin();
}

bool handle_program_fault(struct pt_regs *regs, enum program_fault_kind kind, unsigned long addr)
{
	bool handled;

	if (!is_program_fault(regs))
		return false;
	open_interrupts();
	handled = program_fault(regs, kind, kasan_untag_addr(addr));
	close_interrupts();
	return handled;
}

bool hit_closed_page(unsigned long addr)
{
	bool closed;

	open_interrupts();
	closed = program_closed_page(kasan_untag_addr(addr));
	close_interrupts();
	return closed;
}

/* --- Stacks ----------------------------------------------------------------------------------- */

void refill_stack(struct pt_regs *regs)
{
	bool enough;

	open_interrupts();
	enough = stack_refill(GFP_KERNEL);
	close_interrupts();
	if (enough)
		return;
	printk("Out of memory: there is none for the stack of %s/%d\n", current->comm,
	       current->pid);
	die("Oops - no memory for the stack", regs);
}

bool handle_stack_fault(struct pt_regs *regs, unsigned long addr)
{
	bool low;

	if (!stack_demand(kasan_untag_addr(addr), !regs_irqs_disabled(regs), &low))
		return false;
	if (low && is_program_fault(regs))
		refill_stack(regs);
	return true;
}

bool may_handle_overflow(const struct pt_regs *regs)
{
	/* A stack pointer that has gone further has another cause. */
	return !(regs->sp & (STACK_ALIGN - 1)) &&
	       (uintptr_t)current->stack - (regs->sp - sizeof(*regs)) < 64 * 1024 &&
	       current->other_stack && !current->on_other && is_program_fault(regs) &&
	       program_has_stack_handler();
}

void handle_overflow(struct pt_regs *regs, unsigned long addr)
{
	task_swap_stack();
	/* longjmp() cleans up from here on. */
	current->left_at = (const void *)regs->sp;
	(void)handle_program_fault(regs, PROGRAM_FAULT_STACK, addr);
	printk("The handler of a stack overflow has returned: there is nothing to return to\n");
	die("Oops - stack overflow", regs);
}
