// SPDX-License-Identifier: MIT
/*
 * user.c - exceptions from user mode: system calls, interrupts, forbidden actions of programs.
 *
 * entry.S enters it with interrupts off, on the task's empty kernel stack.
 */
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/irq_entry.h>
#include <kernel/irqsoff.h>
#include <kernel/kernel.h>
#include <kernel/process.h>
#include <kernel/sched.h>
#include <kernel/softirq.h>
#include "internal.h"
#include "traps.h"

bool cpu_has_pan(void)
{
	/* sstatus.SUM is clear outside of copies. */
	return true;
}

void user_init_cpu(void)
{
	/* Counters are the kernel's. */
	csr_write(scounteren, 0);
	csr_clear(sstatus, SR_SUM);
}

void user_init_regs(struct pt_regs *regs, unsigned long pc, unsigned long sp)
{
	/* All registers zero; sstatus: return to user mode, interrupts on, no floating point. */
	*regs = (struct pt_regs){.pc = pc, .sp = sp, .status = SR_SPIE};
}

static void forbidden_instruction(struct pt_regs *regs)
{
	/* The CPU says which, or 0. */
	const u32 insn = (u32)regs->badaddr;

	if (insn_is_float(insn))
		process_die(SIGILL, "floating-point registers are not available", regs);
	else if (insn_is_csr(insn))
		process_die(SIGILL, "access to a system register of the kernel", regs);
	else
		process_die(SIGILL, "undefined instruction", regs);
}

static void handle_sync(struct pt_regs *regs)
{
	switch (regs->cause) {
	case CAUSE_USER_ECALL:
		regs->pc += 4;
		regs->regs[REG_A0] = (u64)user_syscall(regs_syscall_nr(regs), &regs->regs[REG_A0]);
		return;
	case CAUSE_BREAKPOINT:
		process_die(SIGTRAP, "breakpoint instruction", regs);
		return;
	case CAUSE_ILLEGAL:
		forbidden_instruction(regs);
		return;
	case CAUSE_INSN_MISALIGNED:
	case CAUSE_INSN_ACCESS:
	case CAUSE_LOAD_MISALIGNED:
	case CAUSE_LOAD_ACCESS:
	case CAUSE_STORE_MISALIGNED:
	case CAUSE_STORE_ACCESS:
	case CAUSE_INSN_PAGE:
	case CAUSE_LOAD_PAGE:
	case CAUSE_STORE_PAGE: {
		const struct fault fault = fault_of(regs);

		if (!fault_is_over(&fault, true))
			user_fault(regs, &fault);
		return;
	}
	default: {
		char why[48];

		snprintf(why, sizeof(why), "exception with cause %lu", regs->cause);
		process_die(SIGILL, why, regs);
	}
	}
}

/* With a shadow call stack entry.S calls it itself, on the CPU's. */
void user_interrupt_handler(void)
{
	irqsoff_begin();
	user_irq();
}

void user_trap(struct pt_regs *regs)
{
	if (cause_is_interrupt(regs->cause)) {
		user_interrupt_handler();
		irq_exit_softirq();
		return;
	}
	/* The frame has everything that describes the exception. */
	local_irq_enable();
	handle_sync(regs);
}
