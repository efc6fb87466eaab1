// SPDX-License-Identifier: MIT
/*
 * scs_fault.c - what happens if a shadow call stack is exhausted, or its pointer lost: a report, and a panic or an oops.
 *
 * Not instrumented: faults call it.
 */
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/fault.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/stacktrace.h>
#include <asm/irqflags.h>
#include <asm/ptrace.h>

static const char *const scs_users[] = {
	[SCS_IRQ] = "interrupts",
	[SCS_SOFTIRQ] = "soft interrupts",
	[SCS_FAULT] = "faults",
};

/* Return: what is wrong with @top, the pointer of a shadow call stack. @place: the stack it belongs to. */
static const char *scs_fault_name(uintptr_t top, struct scs_place *place)
{
	for (enum scs_kind kind = SCS_TASK; kind <= SCS_FAULT; kind++) {
		*place = scs_place_of(kind);
		if (!(top & 7) && top >= place->end && top - place->end < PAGE_SIZE)
			return "shadow call stack overflow";
		if (!(top & 7) && top < place->base && place->base - top <= PAGE_SIZE)
			return "shadow call stack underflow";
	}
	/* The thread for soft interrupts uses its own, which is not the frame of an interrupt. */
	*place = scs_place_of(in_hardirq()				   ? SCS_IRQ
			      : in_serving_softirq() && current->irq_frame ? SCS_SOFTIRQ
									   : SCS_TASK);
	return "corrupted shadow call stack pointer";
}

/* Print what is wrong with @top, and whose it is. The caller owns the console. Return: the first part. */
static const char *scs_print_fault(uintptr_t top)
{
	struct scs_place place;
	const char *what = scs_fault_name(top, &place);

	if (place.kind == SCS_TASK)
		printk("%s: task %s/%d, " SCS_REG_NAME " %016lx\n", what, current->comm,
		       current->pid, top);
	else
		printk("%s: %s of CPU %u, " SCS_REG_NAME " %016lx\n", what, scs_users[place.kind],
		       smp_processor_id(), top);
	printk("Shadow call stack: [%016lx, %016lx)\n", place.base - sizeof(u64), place.end);
	return what;
}

/* A call or an exception could not push its return address. */
void scs_fault_handler(struct pt_regs *regs)
{
	const unsigned int cpu = smp_processor_id();
	const char *what = "shadow call stack fault";
	unsigned long flags;

	arch_unmask_errors();
	if (!early_init_done)
		arch_bare_panic(what, regs);
	/* This stack has overflowed too, or printing causes a fault. */
	if (stack_overflowed[cpu])
		arch_bare_panic("Shadow call stack for faults exhausted", regs);
	stack_overflowed[cpu] = true;

	flags = console_lock();
	what = scs_print_fault(regs_scs(regs));
	printk(REGS_ERROR_NAME " 0x%016lx " REGS_ADDRESS_NAME " 0x%016lx\n", regs_error(regs),
	       regs_address(regs));
	show_regs(regs);
	console_unlock(flags);
	panic("%s", what);
}

bool scs_handle_underflow(struct pt_regs *regs)
{
	const uintptr_t top = regs_scs(regs);
	struct scs_place place;
	unsigned long flags;

	/* The entry above word 0 was popped before, so this return has popped word 0. */
	if (!scs_find(top + sizeof(u64), &place) || top + sizeof(u64) != place.base)
		return false;
	flags = console_lock();
	scs_print_fault(top);
	console_unlock(flags);
	return true;
}

/* A handler of interrupts, or soft interrupts, came back with the pointer @is instead of @was. */
void scs_unbalanced_handler(uintptr_t is, uintptr_t was)
{
	unsigned long flags = console_lock();
	struct scs_place place;

	scs_find(was, &place);
	printk("corrupted shadow call stack pointer: %s of CPU %u, " SCS_REG_NAME
	       " %016lx, not %016lx\n",
	       scs_users[place.kind], smp_processor_id(), is, was);
	dump_stack();
	console_unlock(flags);
	panic("corrupted shadow call stack pointer");
}

void scs_check(void)
{
	const uintptr_t top = scs_pointer();
	struct scs_place place;
	unsigned long flags;
	const char *what;

	if (likely(scs_find(top, &place)))
		return;
	flags = console_lock();
	what = scs_print_fault(top);
	dump_stack();
	console_unlock(flags);
	panic("%s", what);
}
