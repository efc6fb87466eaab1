// SPDX-License-Identifier: MIT
/*
 * fault.c - faults that KASAN explains.
 *
 * An inline check of a null, user or wild pointer faults on the *shadow* load, because such an address has no shadow. The
 * load gets the result "poisoned", and the thread continues: the compiler's slow path then reports the access with its
 * exact address, size and direction. The access itself faults next, and ends the thread.
 */
#include <kasan/kasan.h>

#ifdef CONFIG_KASAN

#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/module.h>
#include <kernel/sched.h>
#include <asm/irqflags.h>
#include <asm/ptrace.h>

#include "internal.h"

/** struct last_access - an access by the task @pid that has been handled: [@addr, @addr + @size) */
struct last_access {
	pid_t pid; /* not a pointer: a new task may get the memory of one that its report ended */
	unsigned long addr;
	size_t size;
};

/* Each CPU writes its own entry, interrupts off. Readers look at all: the task may have moved to another CPU. */
static struct last_access reported[NR_CPUS], fixed_up[NR_CPUS];

static bool was_access(const struct last_access *list, unsigned long addr)
{
	for (unsigned int i = 0; i < NR_CPUS; i++) {
		if (list[i].pid == current->pid && addr - list[i].addr < list[i].size)
			return true;
	}
	return false;
}

static void forget_access(struct last_access *list)
{
	for (unsigned int i = 0; i < NR_CPUS; i++) {
		if (list[i].pid == current->pid)
			list[i].size = 0;
	}
}

void kasan_note_report(uintptr_t addr, size_t size)
{
	unsigned long flags = arch_local_irq_save();

	reported[smp_processor_id()] = (struct last_access){
		.pid = current->pid, .addr = kasan_untag_addr(addr), .size = size ? size : 1};
	arch_local_irq_restore(flags);
}

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/* Is @pc in one of the runtime's functions that check single accesses? */
static bool in_runtime_check(unsigned long pc)
{
	extern char __kasan_access_start[], __kasan_access_end[];

	return pc >= (unsigned long)__kasan_access_start && pc < (unsigned long)__kasan_access_end;
}

bool kasan_fixup_shadow_load(struct pt_regs *regs, const struct fault *fault)
{
	const unsigned long far = fault->addr;
	/* With outline checks the blind load is in the runtime, at known places. */
	bool certain = in_runtime_check(regs->pc);
	unsigned int load;
	uintptr_t addr;

#ifndef CONFIG_KASAN_INLINE
	if (!certain)
		return false;
#endif
	if (fault->kind != FAULT_UNMAPPED || fault->write)
		return false;
	/* The address may have no shadow; then the runtime's calculation can lead anywhere. */
	if (!kasan_shadow_fault_to_access(far, &addr) || far >= KASAN_SHADOW_START) {
		if (!certain)
			return false;
		addr = 0;
	}
	if (!kernel_text_address(regs->pc))
		return false;
	load = arch_shadow_load(regs);
	if (!(load & SHADOW_LOAD))
		return false;
	/*
	 * A fault between the shadow's offset and the kernel's half could also be an access through a wild
	 * pointer that has just such a value. The usual code, with offset and index in two registers,
	 * leaves no doubt.
	 */
	if (!certain && !(load & SHADOW_LOAD_BY_OFFSET) &&
	    (far >= PAGE_OFFSET || was_access(fixed_up, far) || was_access(reported, far) ||
	     !(load & SHADOW_LOAD_TESTED)))
		return false;
	if (!arch_finish_shadow_load(regs))
		return false;
	/* The access itself comes next: it lies in this granule and up to 16 bytes from there. */
	fixed_up[smp_processor_id()] =
		(struct last_access){.pid = current->pid, .addr = addr, .size = 24};
	return true;
}

#else /* Hardware tags have no shadow: the CPU keeps the tags. */

bool kasan_fixup_shadow_load(struct pt_regs *regs, const struct fault *fault)
{
	return false;
}

#endif

/* A call through a bad pointer has no frame yet, so the registers tell who made it. Return: was it reported? */
static bool explain_call(const struct pt_regs *regs)
{
	const struct kasan_regs at = {.pc = regs->pc,
				      .sp = regs->sp,
				      .lr = regs_return_address(regs),
				      .fp = regs_fp(regs)};
	bool printed;

	if (kernel_text_address(regs->pc))
		return false;
	printed = kasan_report_fault_at(regs->pc, 0, KASAN_FAULT_READ, &at);
	forget_access(reported);
	return printed;
}

bool kasan_explain_fault(const struct pt_regs *regs, const struct fault *fault)
{
	if (fault->exec)
		return explain_call(regs);
	/* The CPU reports the whole pointer, including its top byte: a tag or, in a wild pointer, anything. */
	if (was_access(reported, kasan_untag_addr(fault->addr))) {
		forget_access(reported);
		forget_access(fixed_up);
		return true;
	}
	forget_access(fixed_up);
	kasan_report_fault(fault->addr, arch_access_size(regs), fault->write, regs->pc,
			   regs_fp(regs));
	/* The report is of this fault, not of one to come: a handler may go on, and come to the address again. */
	forget_access(reported);
	return false;
}

#endif /* CONFIG_KASAN */
