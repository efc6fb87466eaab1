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
#include <asm/percpu.h>
#include "internal.h"

bool arch_is_interrupted(uintptr_t before)
{
	return before > (uintptr_t)exception_entries && before < (uintptr_t)exception_entries_end;
}

/* Halfwords of code up to and after the pc, which is in parentheses. */
static void show_code(const struct pt_regs *regs)
{
	char line[11 * 7 + 1];
	size_t n = 0;

	if (regs->pc & 1 || !kernel_text_address(regs->pc))
		return;
	for (int i = -8; i <= 2; i++) {
		const u16 *half = (const u16 *)regs->pc + i;

		if (kernel_text_address((uintptr_t)half))
			n += (size_t)scnprintf(line + n, sizeof(line) - n, i ? " %04x" : " (%04x)",
					       *half);
	}
	printk("Code:%s\n", line);
}

void show_regs(struct pt_regs *regs)
{
	static const char names[][4] = {"gp",  "tp", "t0", "t1", "t2", "s0", "s1", "a0",
					"a1",  "a2", "a3", "a4", "a5", "a6", "a7", "s2",
					"s3",  "s4", "s5", "s6", "s7", "s8", "s9", "s10",
					"s11", "t3", "t4", "t5", "t6"};
	unsigned long flags = console_lock();
	char line[128];
	size_t n = 0;

	printk("CPU: %u PID: %d Comm: %s\n", smp_processor_id(), current->pid, current->comm);
	print_modules();
	printk("status: %016lx cause: %016lx badaddr: %016lx\n", regs->status, regs->cause,
	       regs->badaddr);
	printk("pc : %pS\n", (void *)regs->pc);
	printk("ra : %pS\n", (void *)regs->ra);
	printk("sp : %016lx\n", regs->sp);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		n += (size_t)scnprintf(line + n, sizeof(line) - n, "%s%-3s: %016lx", n ? " " : "",
				       names[i], regs->regs[REG_GP + i]);
		if (i % 3 == 2 || i == ARRAY_SIZE(names) - 1) {
			printk("%s\n", line);
			n = 0;
		}
	}
	show_code(regs);
	show_trace(regs);
	console_unlock(flags);
}
