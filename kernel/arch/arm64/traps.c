/* SPDX-License-Identifier: MIT */
/*
 * traps.c - dispatches exceptions by class.
 *
 * Not instrumented, like fault.c. entry.S enters it with everything masked, on the stack of the interrupted code.
 */
#include <kasan/kasan.h>
#include <kasan/ubsan.h>
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/fault.h>
#include <kernel/irq_entry.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/stacktrace.h>
#include <kernel/vmalloc.h>
#include <asm/bug.h>
#include "internal.h"
#include "mte.h"

_Static_assert(offsetof(struct pt_regs, regs[30]) == S_LR, "entry.S");
_Static_assert(offsetof(struct pt_regs, sp) == S_SP, "entry.S");
_Static_assert(offsetof(struct pt_regs, pc) == S_PC, "entry.S");
_Static_assert(offsetof(struct pt_regs, pstate) == S_PSTATE, "entry.S");
_Static_assert(offsetof(struct pt_regs, esr) == S_ESR, "entry.S");
_Static_assert(offsetof(struct pt_regs, far) == S_FAR, "entry.S");
_Static_assert(offsetof(struct pt_regs, frame) == S_FRAME, "entry.S");
_Static_assert(sizeof(struct pt_regs) == PT_REGS_SIZE, "entry.S");

#define ESR_EC(esr) ((unsigned int)((esr) >> 26) & 0x3f)

#define EC_UNKNOWN	0x00
#define EC_FP		0x07
#define EC_ILLEGAL	0x0e
#define EC_SYSREG	0x18
#define EC_IABT_CURRENT 0x21
#define EC_PC_ALIGN	0x22
#define EC_DABT_CURRENT 0x25
#define EC_SP_ALIGN	0x26
#define EC_BRK64	0x3c

_Noreturn void arch_bare_panic(const char *what, const struct pt_regs *regs)
{
	early_printk("\n%s: ESR %lx FAR %lx\n", what, regs->esr, regs->far);
	early_printk("pc : %p lr : %p sp : %p\n", (void *)regs->pc, (void *)regs->regs[30],
		     (void *)regs->sp);
	for (unsigned int i = 0; i < 30; i += 3)
		early_printk("x%u: %p x%u: %p x%u: %p\n", i, (void *)regs->regs[i], i + 1,
			     (void *)regs->regs[i + 1], i + 2, (void *)regs->regs[i + 2]);
	early_panic("%s\n", what);
}

#ifdef CONFIG_KASAN_SW_TAGS
/* A failed inline check by tags. Return: true if the interrupted code may go on. */
static bool do_hwasan_brk(struct pt_regs *regs, unsigned int imm)
{
	const size_t size = 1UL << (imm & BRK_HWASAN_SIZE_MASK);

	if ((imm & BRK_IMM_HWASAN_MASK) != BRK_IMM_HWASAN)
		return false;
	/* Reports expect the address after the instruction, as after a call. */
	regs->pc += 4;
	/* As if the code had made a call: it may be preempted here, and ended. */
	if (!regs_irqs_disabled(regs))
		arch_local_irq_enable();
	kasan_report_tag_mismatch(regs->regs[0], size, imm & BRK_HWASAN_WRITE, regs->pc,
				  regs->regs[29]);
	arch_local_irq_disable();
	if (!(imm & BRK_HWASAN_RECOVER))
		die("Oops - KASAN: bad access in code built without recovery", regs);
	return true;
}
#else
static bool do_hwasan_brk(struct pt_regs *regs, unsigned int imm)
{
	return false;
}
#endif

/* A check of UBSan in a program that was built with -fsanitize-trap. Return: true if the interrupted code may go on. */
static bool do_ubsan_brk(struct pt_regs *regs, unsigned int imm)
{
	const struct kasan_regs at = {
		.pc = regs->pc, .sp = regs->sp, .lr = regs->regs[30], .fp = regs->regs[29]};
	bool reported;

	if ((imm & BRK_IMM_UBSAN_MASK) != BRK_IMM_UBSAN)
		return false;
	/* As if the code had called a function of UBSan: it may be preempted here, and ended. */
	if (!regs_irqs_disabled(regs))
		arch_local_irq_enable();
	reported = kasan_report_undefined_trap(&at);
	arch_local_irq_disable();
	if (!reported)
		return false;
	if (!handle_program_fault(regs, PROGRAM_FAULT_TRAP, regs->pc))
		die("Oops - UBSAN: undefined behaviour in code built to trap", regs);
	return true;
}

static void do_brk(struct pt_regs *regs)
{
	unsigned int imm = regs->esr & 0xffff;

	if (do_hwasan_brk(regs, imm) || do_ubsan_brk(regs, imm))
		return;
	switch (imm) {
	case BRK_IMM_BUG:
		/* BUG() has already printed the place. */
		die("Oops - BUG", regs);
	case BRK_IMM_CLANG:
	case BRK_IMM_GCC:
		if (handle_program_fault(regs, PROGRAM_FAULT_TRAP, regs->pc))
			return;
		printk("Trap at %pS: the compiler knows that this must not be reached\n",
		       (void *)regs->pc);
		die("Oops - trap", regs);
	default:
		if (handle_program_fault(regs, PROGRAM_FAULT_TRAP, regs->pc))
			return;
		printk("Unexpected BRK instruction, immediate 0x%x\n", imm);
		die("Oops - BRK", regs);
	}
}

static void handle_sync(struct pt_regs *regs)
{
	if (mte_end_of_step(regs, true))
		return;
	mte_exception_entry();
	arch_unmask_errors();
	/* printk() does not work yet, so the cause can only be a bug in early_init(). */
	if (!early_init_done)
		arch_bare_panic("Exception in early_init()", regs);

	switch (ESR_EC(regs->esr)) {
	case EC_DABT_CURRENT:
		do_data_abort(regs);
		return;
	case EC_IABT_CURRENT:
		do_instruction_abort(regs);
		return;
	case EC_BRK64:
		do_brk(regs);
		return;
	case EC_UNKNOWN:
		if (handle_program_fault(regs, PROGRAM_FAULT_UNDEFINED, regs->pc))
			return;
		die("Oops - undefined instruction", regs);
	case EC_FP:
		printk("Floating point and SIMD registers cannot be used in the kernel\n");
		die("Oops - floating point", regs);
	case EC_SYSREG:
		if (handle_program_fault(regs, PROGRAM_FAULT_UNDEFINED, regs->pc))
			return;
		die("Oops - system register access", regs);
	case EC_PC_ALIGN:
		kernel_fault(regs, &(struct fault){.addr = regs->pc,
						   .kind = FAULT_ALIGNMENT,
						   .exec = true,
						   .name = "PC alignment fault"});
		return;
	case EC_SP_ALIGN:
		die("Oops - SP alignment", regs);
	case EC_ILLEGAL:
		die("Oops - illegal execution state", regs);
	default:
		printk("Exception of class 0x%02x\n", ESR_EC(regs->esr));
		die("Oops - unexpected exception", regs);
	}
}

void el1_sync_handler(struct pt_regs *regs)
{
	if (!regs_irqs_disabled(regs))
		irqsoff_begin();
	handle_sync(regs);
	if (!regs_irqs_disabled(regs))
		irqsoff_end();
}

/* Called on the CPU's own shadow call stack, if there are any. Return: what kernel_irq_end() puts back. */
static const void *handle_kernel_irq(struct pt_regs *regs)
{
	irqsoff_begin();
	mte_end_of_step(regs, false);
	mte_exception_entry();
	arch_unmask_errors();
	/* Bad accesses that the CPU has noted belong to the interrupted code now, and to the interrupt at its end. */
	mte_check_async_of(regs);
	return kernel_irq(regs);
}

#ifdef CONFIG_SHADOW_CALL_STACK

const void *el1_irq_handler(struct pt_regs *regs)
{
	return handle_kernel_irq(regs);
}

/* Called on the task's shadow call stack, interrupts off. */
void el1_irq_exit(const void *outer)
{
	scs_check();
	kernel_irq_end(outer);
}

#else

void el1_irq_handler(struct pt_regs *regs)
{
	kernel_irq_end(handle_kernel_irq(regs));
}

#endif

static _Noreturn void fatal_exception(const char *what, struct pt_regs *regs)
{
	arch_unmask_errors();
	if (!early_init_done)
		arch_bare_panic(what, regs);
	printk("%s: ESR 0x%016lx FAR 0x%016lx\n", what, regs->esr, regs->far);
	show_regs(regs);
	panic("%s", what);
}

void el1_fiq_handler(struct pt_regs *regs)
{
	fatal_exception("Unexpected FIQ", regs);
}

void el1_error_handler(struct pt_regs *regs)
{
	fatal_exception("Asynchronous SError interrupt", regs);
}

void bad_mode_handler(struct pt_regs *regs, unsigned int vector)
{
	static const char *const names[] = {
		"Exception on SP_EL0",
		"Unexpected exception",
		"Unexpected exception",
		"Unexpected exception from 32-bit user mode",
	};

	fatal_exception(names[(vector >> 2) & 3], regs);
}

#ifdef CONFIG_SHADOW_CALL_STACK
_Static_assert(offsetof(struct task, context.scs_base) == TASK_SCS_BASE, "asm/scs.h");
#endif

/* Called on a stack of the thread, after overflow_handler(), interrupts off. */
void el1_stack_handler(struct pt_regs *regs)
{
	mte_exception_entry();
	arch_unmask_errors();
	stack_handler(regs);
}
