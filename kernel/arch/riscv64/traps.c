/* SPDX-License-Identifier: MIT */
/*
 * traps.c - dispatches exceptions by cause.
 *
 * Not instrumented, like fault.c. entry.S enters it with interrupts off, on the stack of the interrupted code.
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/fault.h>
#include <kernel/irq_entry.h>
#include <kernel/irqsoff.h>
#include <kernel/kernel.h>
#include <kernel/module.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/stacktrace.h>
#include <kernel/vmalloc.h>
#include <asm/bug.h>
#include <asm/irqflags.h>
#include <asm/stacktrace.h>
#include <asm/switch.h>
#include "internal.h"
#include "traps.h"

_Static_assert(offsetof(struct pt_regs, pc) == S_PC, "entry.S");
_Static_assert(offsetof(struct pt_regs, sp) == S_SP, "entry.S");
_Static_assert(offsetof(struct pt_regs, regs[REG_S0]) == S_S0, "entry.S");
_Static_assert(offsetof(struct pt_regs, status) == S_STATUS, "entry.S");
_Static_assert(offsetof(struct pt_regs, cause) == S_CAUSE, "entry.S");
_Static_assert(offsetof(struct pt_regs, badaddr) == S_BADADDR, "entry.S");
_Static_assert(offsetof(struct pt_regs, frame) == S_FRAME, "entry.S");
_Static_assert(sizeof(struct pt_regs) == PT_REGS_SIZE, "entry.S");

_Static_assert(offsetof(struct task, context) == 0, "entry.S");
_Static_assert(offsetof(struct cpu_context, sp) == CTX_SP, "entry.S");
_Static_assert(offsetof(struct cpu_context, ra) == CTX_RA, "entry.S");
_Static_assert(offsetof(struct cpu_context, cpu) == CTX_CPU, "entry.S");
_Static_assert(offsetof(struct cpu_context, busy) == CTX_BUSY, "entry.S");
_Static_assert(offsetof(struct cpu_context, user_regs) == CTX_USER_REGS, "entry.S");
_Static_assert(offsetof(struct cpu_context, trap_sp) == CTX_TRAP_SP, "entry.S");
_Static_assert(offsetof(struct cpu_context, trap_t0) == CTX_TRAP_T0, "entry.S");
_Static_assert(offsetof(struct cpu_context, trap_pc) == CTX_TRAP_PC, "entry.S");
_Static_assert(offsetof(struct cpu_context, status) == CTX_STATUS, "entry.S");
_Static_assert(offsetof(struct cpu_context, cause) == CTX_CAUSE, "entry.S");
_Static_assert(offsetof(struct cpu_context, badaddr) == CTX_BADADDR, "entry.S");
#ifdef CONFIG_SHADOW_CALL_STACK
_Static_assert(offsetof(struct cpu_context, scs) == CTX_SCS, "entry.S");
_Static_assert(offsetof(struct task, context.scs_base) == TASK_SCS_BASE, "asm/scs.h");
#endif

_Noreturn void arch_bare_panic(const char *what, const struct pt_regs *regs)
{
	early_printk("\n%s: scause %lx stval %lx\n", what, regs->cause, regs->badaddr);
	early_printk("pc : %p ra : %p sp : %p\n", (void *)regs->pc, (void *)regs->ra,
		     (void *)regs->sp);
	for (unsigned int i = 4; i < 32; i += 4)
		early_printk("x%u: %p %p %p %p\n", i, (void *)regs->regs[i],
			     (void *)regs->regs[i + 1], (void *)regs->regs[i + 2],
			     (void *)regs->regs[i + 3]);
	early_panic("%s\n", what);
}

bool insn_is_float(u32 insn)
{
	switch (insn & 0x7f) {
	case 0x07: /* loads, stores, */
	case 0x27:
	case 0x43: /* multiply and add, */
	case 0x47:
	case 0x4b:
	case 0x4f:
	case 0x53: /* all others */
		return true;
	case 0x73: /* fflags, frm, fcsr */
		return insn_is_csr(insn) && insn >> 20 >= 1 && insn >> 20 <= 3;
	default:
		break;
	}
	/* c.fld, c.fsd, c.fldsp, c.fsdsp */
	return (insn & 1) == 0 && (insn >> 13 & 3) == 1;
}

/* The trap that compilers put where code must not be reached. */
static void do_compilers_trap(struct pt_regs *regs)
{
	if (handle_program_fault(regs, PROGRAM_FAULT_TRAP, regs->pc))
		return;
	printk("Trap at %pS: the compiler knows that this must not be reached\n", (void *)regs->pc);
	die("Oops - trap", regs);
}

#ifdef CONFIG_KASAN_SW_TAGS
/* A failed inline check by tags; @mark: the instruction after the trap. Return: true if the interrupted code may go on. */
static bool do_hwasan_break(struct pt_regs *regs, unsigned int size, u32 mark)
{
	const u32 code = (mark >> 20) - HWASAN_MARK_BASE;

	if ((mark & INSN_HWASAN_MARK_MASK) != INSN_HWASAN_MARK)
		return false;
	/* Reports expect the address after the instruction, as after a call. The mark does nothing. */
	regs->pc += size;
	/* As if the code had made a call: it may be preempted here, and ended. */
	if (!regs_irqs_disabled(regs))
		arch_local_irq_enable();
	kasan_report_tag_mismatch(regs->regs[REG_A0], 1UL << (code & HWASAN_SIZE_MASK),
				  code & HWASAN_WRITE, regs->pc, regs_fp(regs));
	arch_local_irq_disable();
	if (!(code & HWASAN_RECOVER))
		die("Oops - KASAN: bad access in code built without recovery", regs);
	return true;
}
#else
static bool do_hwasan_break(struct pt_regs *regs, unsigned int size, u32 mark)
{
	return false;
}
#endif

static void do_break(struct pt_regs *regs)
{
	const u16 *insn = (const u16 *)regs->pc;
	const unsigned int size = arch_insn_size(insn[0]);
	const u16 *next = insn + size / sizeof(*insn);

	if (do_hwasan_break(regs, size, next[0] | (u32)next[1] << 16))
		return;
	if ((insn[0] | (u32)insn[1] << 16) == INSN_EBREAK &&
	    (insn[2] | (u32)insn[3] << 16) == INSN_BUG_MARK)
		/* BUG() has already printed the place. */
		die("Oops - BUG", regs);
	do_compilers_trap(regs);
}

static void do_illegal(struct pt_regs *regs)
{
	const u16 *half = (const u16 *)regs->pc;
	u32 insn = half[0];

	/* All ones and all zeroes are illegal in every length. */
	if ((insn & 3) == 3)
		insn |= (u32)half[1] << 16;
	if (insn == INSN_UNIMP || insn == INSN_C_UNIMP) {
		do_compilers_trap(regs);
		return;
	}
	if (insn_is_float(insn) && !current->fpu) {
		printk("Floating-point registers cannot be used in the kernel\n");
		die("Oops - floating point", regs);
	}
	if (handle_program_fault(regs, PROGRAM_FAULT_UNDEFINED, regs->pc))
		return;
	die(insn_is_csr(insn) ? "Oops - system register access" : "Oops - undefined instruction",
	    regs);
}

static void handle_sync(struct pt_regs *regs)
{
	/* printk() does not work yet, so the cause can only be a bug in early_init(). */
	if (!early_init_done)
		arch_bare_panic("Exception in early_init()", regs);

	switch (regs->cause) {
	case CAUSE_BREAKPOINT:
		do_break(regs);
		return;
	case CAUSE_ILLEGAL:
		do_illegal(regs);
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
		struct fault fault = fault_of(regs);

		/* User memory only in copies of it. */
		if (fault_is_over(&fault, fault.addr < TASK_SIZE && regs->status & SR_SUM))
			return;
		if (fault.exec && scs_handle_underflow(regs))
			die("Oops - shadow call stack underflow", regs);
		fault.addr = fault_pointer(regs, fault.addr);
		kernel_fault(regs, &fault);
		return;
	}
	default:
		printk("Exception with cause %lu\n", regs->cause);
		die("Oops - unexpected exception", regs);
	}
}

/* With a shadow call stack entry.S calls these two itself: the first one runs on the CPU's. */
const void *kernel_interrupt_begin(struct pt_regs *regs)
{
	irqsoff_begin();
	return kernel_irq(regs);
}

void kernel_interrupt_end(const void *outer)
{
	scs_check();
	kernel_irq_end(outer);
}

void kernel_trap(struct pt_regs *regs)
{
	if (cause_is_interrupt(regs->cause)) {
		kernel_interrupt_end(kernel_interrupt_begin(regs));
		return;
	}
	if (!regs_irqs_disabled(regs))
		irqsoff_begin();
	handle_sync(regs);
	if (!regs_irqs_disabled(regs))
		irqsoff_end();
}

#ifdef CONFIG_SHADOW_CALL_STACK
void scs_entry_fault(struct pt_regs *regs)
{
	struct scs_place place;

	/* This CPU may have looked at the page tables before the stack was mapped. */
	if (scs_find(regs_scs(regs), &place) && regs_scs(regs) < place.end) {
		__asm__ __volatile__("sfence.vma %0" ::"r"(regs_scs(regs)) : "memory");
		return;
	}
	scs_fault_handler(regs);
}

bool scs_is_raised(uintptr_t pc)
{
	return kernel_text_address(pc) && arch_insn_at(pc) == SCS_STORE_INSN;
}
#endif
