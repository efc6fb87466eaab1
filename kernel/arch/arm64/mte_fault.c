/* SPDX-License-Identifier: MIT */
/*
 * mte_fault.c - tag check faults: decode, report, and continue.
 *
 * After the report the access is still done, as in the other modes. It runs with checks off (PSTATE.TCO) up
 * to a breakpoint after it, with interrupts masked so that it stays on this CPU. The unchecked run is:
 *
 *  - usually one instruction;
 *  - a loop of exclusive accesses up to its exits: an exception between its load and its store would make the
 *    store fail each time. If it has too many exits, it runs up to the next exception;
 *  - memcpy() and the others in mem.S, to their end, if there was no report (kasan_disable_current()). After a
 *    report they return at once: the report named the whole range, and the rest of it may belong to others.
 *
 * Not instrumented: the code that explains a bad access must not make one.
 */
#include <kasan/kasan.h>
#include <kernel/kernel.h>
#include <kernel/module.h>
#include <kernel/sched.h>
#include <asm/barrier.h>
#include "internal.h"
#include "mte.h"

#ifdef CONFIG_KASAN_HW_TAGS

#define PSR_TCO_BIT   BIT(25)
#define ESR_ISS_WNR   BIT(6)
#define ESR_EC(esr)   ((unsigned int)((esr) >> 26) & 0x3f)
#define EC_BREAKPOINT 0x31

/* MDSCR_EL1: enable breakpoints, also at the exception level that takes them. */
#define MDSCR_KDE BIT(13)
#define MDSCR_MDE BIT(15)
/* DBGBCR0_EL1: enabled, for all 4 bytes of an instruction, at EL1. */
#define BCR_EL1_CODE (BIT(0) | BIT(1) | 0xfUL << 5)

/* FAR_EL1[63:60] is undefined for tag check faults. All kernel addresses have ones there. */
#define FAR_UNDEFINED (0xfUL << 60)

extern char __kasan_mem_start[], __kasan_mem_end[];

/* Number of breakpoints that are used; every CPU with memory tags has at least as many. */
#define MAX_STOPS 4

/**
 * struct step - what this CPU runs without checks
 * @active: it runs something, until the next exception.
 * @masked: breakpoints are set and interrupts masked; if not, the next exception of any kind ends it.
 * @pstate: of the code that runs, before the change.
 */
static struct step {
	bool active, masked;
	u64 pstate;
} steps[NR_CPUS];

/** struct stops - places at which the unchecked run ends; @many: there are more than breakpoints */
struct stops {
	unsigned long pc[MAX_STOPS];
	unsigned int count;
	bool many;
};

static bool is_mem_function(unsigned long pc)
{
	return pc >= (unsigned long)__kasan_mem_start && pc < (unsigned long)__kasan_mem_end;
}

static void set_breakpoint(unsigned int i, unsigned long pc, u64 control)
{
	switch (i) {
	case 0:
		write_sysreg(pc, dbgbvr0_el1);
		write_sysreg(control, dbgbcr0_el1);
		break;
	case 1:
		write_sysreg(pc, dbgbvr1_el1);
		write_sysreg(control, dbgbcr1_el1);
		break;
	case 2:
		write_sysreg(pc, dbgbvr2_el1);
		write_sysreg(control, dbgbcr2_el1);
		break;
	default:
		write_sysreg(pc, dbgbvr3_el1);
		write_sysreg(control, dbgbcr3_el1);
	}
}

static void run_unchecked(struct pt_regs *regs, const struct stops *stops)
{
	struct step *step = &steps[smp_processor_id()];

	*step = (struct step){true, !stops->many, regs->pstate};
	regs->pstate |= PSR_TCO_BIT;
	if (!step->masked)
		return;
	regs->pstate |= PSR_I_BIT;
	/* Open the lock that a reset closes: it blocks debug exceptions. */
	write_sysreg(0, oslar_el1);
	for (unsigned int i = 0; i < stops->count; i++)
		set_breakpoint(i, stops->pc[i], BCR_EL1_CODE);
	write_sysreg(read_sysreg(mdscr_el1) | MDSCR_KDE | MDSCR_MDE, mdscr_el1);
	isb();
}

bool __mte_end_of_step(struct pt_regs *regs, bool sync)
{
	struct step *step = &steps[smp_processor_id()];
	u64 changed = PSR_TCO_BIT;

	if (likely(!step->active))
		return false;
	step->active = false;
	if (step->masked) {
		changed |= PSR_I_BIT;
		for (unsigned int i = 0; i < MAX_STOPS; i++)
			set_breakpoint(i, 0, 0);
		write_sysreg(read_sysreg(mdscr_el1) & ~(MDSCR_KDE | MDSCR_MDE), mdscr_el1);
		isb();
	}
	regs->pstate = (regs->pstate & ~changed) | (step->pstate & changed);
	return sync && ESR_EC(regs->esr) == EC_BREAKPOINT;
}

/* --- Instructions ----------------------------------------------------------------------------- */

/* Exclusive load of one register or two, with or without acquire. */
static bool is_load_exclusive(u32 insn)
{
	return (insn & 0x3fc00000) == 0x08400000;
}

static bool is_store_exclusive(u32 insn)
{
	return (insn & 0x3fc00000) == 0x08000000;
}

/* Return: where the conditional branch @insn at @pc leads, 0 if it is not a conditional branch. */
static unsigned long branch_target(u32 insn, unsigned long pc)
{
	/* cbz, cbnz; b.cond: 19 bits of offset. tbz, tbnz: 14. */
	if ((insn & 0x7e000000) == 0x34000000 || (insn & 0xff000000) == 0x54000000)
		return pc + 4 * (unsigned long)((long)((int)(insn << 8) >> 13));
	if ((insn & 0x7e000000) == 0x36000000)
		return pc + 4 * (unsigned long)((long)((int)(insn << 13) >> 18));
	return 0;
}

static void add_stop(struct stops *stops, unsigned long pc)
{
	for (unsigned int i = 0; i < stops->count; i++) {
		if (stops->pc[i] == pc)
			return;
	}
	if (stops->count == MAX_STOPS)
		stops->many = true;
	else
		stops->pc[stops->count++] = pc;
}

/* Return: the branch after the exclusive store at @pc or the first one after @pc, which asks whether that store
 * succeeded; 0 if there is none near. */
static unsigned long branch_behind_store(unsigned long pc)
{
	bool stored = false;

	for (unsigned long at = pc; at <= pc + 80 && kernel_text_address(at); at += 4) {
		const u32 insn = *(const u32 *)at;

		if (stored && branch_target(insn, at))
			return at;
		stored |= is_store_exclusive(insn);
	}
	return 0;
}

/*
 * Find the exits of the loop of exclusive accesses with the load or the store at @pc: the instruction after the
 * branch that follows the store, and the targets of other branches out of the loop. Compare and exchange has such
 * a branch, for the case that it finds another value.
 *
 * Only with kasan.write_only= is it the store that faults first. It then fails, because of the exception, so
 * the loop has to start again without one. If the branch does not lead back, the code that does is unknown.
 */
static void stops_of_exclusive(struct stops *stops, unsigned long pc)
{
	const unsigned long branch = branch_behind_store(pc);
	const unsigned long end = branch + 4;
	unsigned long at, head = pc;

	if (branch)
		head = min(pc, branch_target(*(const u32 *)branch, branch));
	/* Not the usual loop. */
	if (!branch || pc - head > 80 || (head == pc && is_store_exclusive(*(const u32 *)pc))) {
		stops->many = true;
		return;
	}
	add_stop(stops, end);
	for (at = head; at < end; at += 4) {
		unsigned long target = branch_target(*(const u32 *)at, at);

		if (target && (target < head || target >= end))
			add_stop(stops, target);
	}
}

static void stops_behind(struct stops *stops, unsigned long pc)
{
	const u32 insn = *(const u32 *)pc;

	if (is_load_exclusive(insn) || is_store_exclusive(insn))
		stops_of_exclusive(stops, pc);
	else
		add_stop(stops, pc + 4);
}

/* --- The fault -------------------------------------------------------------------------------- */

bool arch_leave_mem_function(struct pt_regs *regs, bool is_write)
{
	/* Arguments, return address and frame pointer still have their values of the entry. */
	if (!is_mem_function(regs->pc) ||
	    !kasan_report_tag_fault(is_write ? regs->regs[0] : regs->regs[1], regs->regs[2],
				    is_write, regs->regs[30], regs->regs[29], false))
		return false;
	regs->pc = regs->regs[30];
	return true;
}

/* Return: true if a function in mem.S was reported and left: its caller continues after the call. */
static bool report_fault(struct pt_regs *regs)
{
	bool is_write = regs->esr & ESR_ISS_WNR;

	if (is_mem_function(regs->pc))
		return arch_leave_mem_function(regs, is_write);
	/* The load of an atomic operation. Its store runs without checks, so report a write now. */
	is_write |= is_load_exclusive(*(const u32 *)regs->pc);
	kasan_report_tag_fault(regs->far | FAR_UNDEFINED, arch_access_size(regs), is_write,
			       regs->pc, regs->regs[29], true);
	return false;
}

void mte_tag_check_fault(struct pt_regs *regs)
{
	struct stops stops = {0};
	bool left;

	/* As if the code had made a call: it may be preempted here, and its report may end it. */
	if (!regs_irqs_disabled(regs))
		arch_local_irq_enable();
	left = report_fault(regs);
	/* The thread may have changed its CPU. The run without checks belongs to the present one. */
	arch_local_irq_disable();
	if (left)
		return;
	if (is_mem_function(regs->pc))
		add_stop(&stops, regs->regs[30]);
	else
		stops_behind(&stops, regs->pc);
	run_unchecked(regs, &stops);
}

#endif /* CONFIG_KASAN_HW_TAGS */
