// SPDX-License-Identifier: MIT
/*
 * user_traps.c - exceptions from user mode (system calls, interrupts, forbidden actions of programs), and
 * the work that is left before a task returns there.
 *
 * user.S enters it with everything masked and `current` set, on the task's empty kernel stack.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/process.h>
#include <kernel/sched.h>
#include <kernel/softirq.h>
#include <asm/irqflags.h>
#include "extable.h"
#include "internal.h"
#include "mte.h"

#define ESR_EC(esr)  ((unsigned int)((esr) >> 26) & 0x3f)
#define ESR_ISS_WNR  BIT(6)
#define ESR_ISS_CM   BIT(8)
#define ESR_FSC(esr) ((unsigned int)((esr) & 0x3f))

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

extern struct exception_entry __start___ex_table[], __stop___ex_table[];

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

bool fixup_exception(struct pt_regs *regs)
{
	/* The table is so short that a search through all of it takes no time beside the exception itself. */
	for (const struct exception_entry *e = __start___ex_table; e < __stop___ex_table; e++) {
		if ((unsigned long)&e->insn + (unsigned long)(long)e->insn != regs->pc)
			continue;
		regs->pc = (unsigned long)&e->fixup + (unsigned long)(long)e->fixup;
		return true;
	}
	return false;
}

void user_init_regs(struct pt_regs *regs, unsigned long pc, unsigned long sp)
{
	/* All registers zero; PSTATE: EL0, 64 bits, nothing masked. */
	*regs = (struct pt_regs){.pc = pc, .sp = sp};
}

/* --- Faults ----------------------------------------------------------------------------------- */

static const char *access_of(const struct pt_regs *regs)
{
	if (ESR_EC(regs->esr) == EC_IABT_LOWER)
		return "execution";
	return (regs->esr & ESR_ISS_WNR) && !(regs->esr & ESR_ISS_CM) ? "write" : "read";
}

static const char *memory_of(const struct pt_regs *regs)
{
	if (regs->far >= PAGE_OFFSET)
		return "kernel";
	if (regs->far >= TASK_SIZE)
		return "impossible";
	if ((ESR_FSC(regs->esr) & 0x3c) == 0x0c)
		return "protected";
	return "unmapped";
}

static void user_fault(struct pt_regs *regs)
{
	int signal = (ESR_FSC(regs->esr) & 0x38) <= 0x08 ? SIGSEGV : SIGBUS;
	char why[64];

	snprintf(why, sizeof(why), "%s of %s address %016lx", access_of(regs), memory_of(regs),
		 regs->far);
	process_die(signal, why, regs);
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
	case EC_IABT_LOWER:
		user_fault(regs);
		return;
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
	irq_enter();
	handle_irq();
	arch_check_async_faults();
	irq_exit();
}

/* Called on the task's shadow call stack, interrupts off. */
void el0_irq_exit(void)
{
	irq_exit_softirq();
}

void el0_fiq_handler(struct pt_regs *regs)
{
	el1_fiq_handler(regs);
}

void el0_error_handler(struct pt_regs *regs)
{
	el1_error_handler(regs);
}

/* --- The way back ----------------------------------------------------------------------------- */

/*
 * Called by user.S with interrupts off, and returns with them off. Handles everything that was requested
 * before the last look. A later request comes with an interrupt, which ends here again.
 */
void exit_to_user_mode(struct pt_regs *regs)
{
	irqsoff_begin();
	/* A lock that a system call left held would stay held for ever. */
	if (WARN(preempt_count(), "return to user mode with preempt_count %d", preempt_count()))
		current->preempt_count = 0;
	lockdep_user_exit();
	/* First, so that the report does not depend on other tasks that want this CPU now. */
	arch_check_async_faults();
	for (;;) {
		unsigned long flags = READ_ONCE(current->flags);

		if (!(flags & (BIT(TIF_NEED_RESCHED) | BIT(TIF_KILL) | BIT(TIF_PROCESS_KILL))))
			return;
		if (flags & BIT(TIF_PROCESS_KILL)) {
			local_irq_enable();
			process_exit_killed();
		}
		preempt_schedule_irq();
	}
}
