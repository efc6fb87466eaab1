// SPDX-License-Identifier: MIT
/*
 * user_traps.c - exceptions from user mode: system calls, interrupts, forbidden actions of programs.
 *
 * user.S enters it with everything masked and `current` set, on the task's empty kernel stack.
 */
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/irq_entry.h>
#include <kernel/kernel.h>
#include <kernel/process.h>
#include <kernel/sched.h>
#include "internal.h"
#include "mte.h"

#define ESR_EC(esr) ((unsigned int)((esr) >> 26) & 0x3f)

#define EC_UNKNOWN    0x00
#define EC_WFX	      0x01
#define EC_FP	      0x07
#define EC_ILLEGAL    0x0e
#define EC_SVC64      0x15
#define EC_SYSREG     0x18
#define EC_SVE	      0x19
#define EC_IABT_LOWER 0x20
#define EC_PC_ALIGN   0x22
#define EC_DABT_LOWER 0x24
#define EC_SP_ALIGN   0x26
#define EC_BRK64      0x3c

/* ID_AA64MMFR1_EL1: the CPU can keep the kernel from accessing user memory. */
#define MMFR1_PAN_SHIFT 20
/* PSTATE.PAN: some assemblers know the name only with -march=armv8.1-a. */
#define PSTATE_PAN     S3_0_C4_C2_3
#define PSTATE_PAN_BIT BIT(22)

/* SCTLR_EL1 */
#define SCTLR_EL1_DZE  BIT(14) /* EL0 may clear cache lines, ... */
#define SCTLR_EL1_UCT  BIT(15) /* ... ask how long they are, ... */
#define SCTLR_EL1_SPAN BIT(23) /* clear: exceptions to EL1 set PSTATE.PAN */
#define SCTLR_EL1_UCI  BIT(26) /* ... and synchronise instructions with data */

bool cpu_has_pan(void)
{
	return read_sysreg(id_aa64mmfr1_el1) >> MMFR1_PAN_SHIFT & 0xf;
}

void user_init_cpu(void)
{
	u64 sctlr = read_sysreg(sctlr_el1) | SCTLR_EL1_DZE | SCTLR_EL1_UCT | SCTLR_EL1_UCI;

	if (cpu_has_pan())
		sctlr &= ~SCTLR_EL1_SPAN;
	write_sysreg(sctlr, sctlr_el1);
	isb();
	if (cpu_has_pan())
		write_sysreg(PSTATE_PAN_BIT, PSTATE_PAN);
	/* Timers and their counters are the kernel's. */
	write_sysreg(0, cntkctl_el1);
	write_sysreg(0, tpidr_el0);
}

void user_init_regs(struct pt_regs *regs, unsigned long pc, unsigned long sp)
{
	/* All registers zero; PSTATE: EL0, 64 bits, nothing masked. */
	*regs = (struct pt_regs){.pc = pc, .sp = sp};
}

void el0_sync_handler(struct pt_regs *regs)
{
	unsigned int class = ESR_EC(regs->esr);

	/* The frame has everything that describes the exception. */
	__asm__ __volatile__("msr daifclr, #0xf" ::: "memory");
	mte_exception_entry();
	switch (class) {
	case EC_SVC64:
		regs->regs[0] = (u64)user_syscall(regs_syscall_nr(regs), regs->regs);
		return;
	case EC_DABT_LOWER:
	case EC_IABT_LOWER: {
		const struct fault fault = fault_of(regs, class == EC_IABT_LOWER);

		user_fault(regs, &fault);
		return;
	}
	case EC_WFX:
		/* These are hints: the program need not wait. */
		regs->pc += 4;
		cond_resched();
		return;
	case EC_FP:
	case EC_SVE:
		process_die(SIGILL, "floating point and SIMD registers are not available", regs);
		return;
	case EC_SYSREG:
		process_die(SIGILL, "access to a system register of the kernel", regs);
		return;
	case EC_UNKNOWN:
		process_die(SIGILL, "undefined instruction", regs);
		return;
	case EC_PC_ALIGN:
		process_die(SIGBUS, "misaligned program counter", regs);
		return;
	case EC_SP_ALIGN:
		process_die(SIGBUS, "misaligned stack pointer", regs);
		return;
	case EC_BRK64:
		process_die(SIGTRAP, "breakpoint instruction", regs);
		return;
	case EC_ILLEGAL:
		process_die(SIGILL, "illegal execution state", regs);
		return;
	default: {
		char why[48];

		snprintf(why, sizeof(why), "exception of class 0x%02x", class);
		process_die(SIGILL, why, regs);
	}
	}
}

/* --- Interrupts and errors -------------------------------------------------------------------- */

static void unmask_errors(void)
{
	__asm__ __volatile__("msr daifclr, #0xd" ::: "memory");
}

void el0_irq_handler(struct pt_regs *regs)
{
	/* Ended in user.S. */
	irqsoff_begin();
	mte_exception_entry();
	unmask_errors();
	user_irq();
}

void el0_fiq_handler(struct pt_regs *regs)
{
	el1_fiq_handler(regs);
}

void el0_error_handler(struct pt_regs *regs)
{
	el1_error_handler(regs);
}
