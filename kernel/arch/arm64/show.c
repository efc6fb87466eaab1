/* SPDX-License-Identifier: MIT */
/*
 * show.c - prints registers.
 *
 * Not instrumented, like the faults that call it.
 */
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/fault.h>
#include <kernel/kernel.h>
#include <kernel/module.h>
#include <kernel/sched.h>
#include <kernel/stacktrace.h>
#include "internal.h"

bool arch_is_interrupted(uintptr_t before)
{
	return before > (uintptr_t)exception_entries && before < (uintptr_t)exception_entries_end;
}

/* Words of code up to and after the pc, which is in parentheses. */
static void show_code(const struct pt_regs *regs)
{
	char line[6 * 11 + 1];
	size_t n = 0;

	if (regs->pc & 3 || !kernel_text_address(regs->pc))
		return;
	for (int i = -4; i <= 1; i++) {
		const u32 *insn = (const u32 *)regs->pc + i;

		if (kernel_text_address((uintptr_t)insn))
			n += (size_t)scnprintf(line + n, sizeof(line) - n, i ? " %08x" : " (%08x)",
					       *insn);
	}
	printk("Code:%s\n", line);
}

void show_regs(struct pt_regs *regs)
{
	unsigned long flags = console_lock();

	printk("CPU: %u PID: %d Comm: %s\n", smp_processor_id(), current->pid, current->comm);
	print_modules();
	printk("pstate: %08lx (%c%c%c%c %c%c%c%c)\n", regs->pstate,
	       regs->pstate & BIT(31) ? 'N' : 'n', regs->pstate & BIT(30) ? 'Z' : 'z',
	       regs->pstate & BIT(29) ? 'C' : 'c', regs->pstate & BIT(28) ? 'V' : 'v',
	       regs->pstate & PSR_D_BIT ? 'D' : 'd', regs->pstate & PSR_A_BIT ? 'A' : 'a',
	       regs->pstate & PSR_I_BIT ? 'I' : 'i', regs->pstate & PSR_F_BIT ? 'F' : 'f');
	printk("pc : %pS\n", (void *)regs->pc);
	printk("lr : %pS\n", (void *)regs->regs[30]);
	printk("sp : %016lx\n", regs->sp);
	for (int i = 29; i >= 0; i -= 3)
		printk("x%-2d: %016lx x%-2d: %016lx x%-2d: %016lx\n", i, regs->regs[i], i - 1,
		       regs->regs[i - 1], i - 2, regs->regs[i - 2]);
	show_code(regs);
	show_trace(regs);
	console_unlock(flags);
}
