// SPDX-License-Identifier: MIT
/*
 * fault.c - memory accesses that the CPU refuses: who can go on, who has a handler, and what the others are told.
 *
 * Under KASAN an inline check of a null, user or wild pointer faults on the *shadow* load, because such an address has no
 * shadow. That load gets a result, and the check's slow path reports the access exactly: kernel/kasan/fault.c.
 */
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/extable.h>
#include <kernel/fault.h>
#include <kernel/kasan_shadow.h>
#include <kernel/kernel.h>
#include <kernel/process.h>
#include <kernel/sample.h>
#include <asm/ptrace.h>

extern struct exception_entry __start___ex_table[], __stop___ex_table[];

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

/* The kernel itself accessed user memory, in a CPU that keeps it from doing so. */
static bool is_of_user(const struct fault *fault)
{
	return fault->kind == FAULT_PROTECTED && !fault->exec && fault->addr < TASK_SIZE;
}

/* Return: what the kernel could not handle, for its first line. */
static const char *fault_title(const struct fault *fault, bool closed)
{
	if (closed)
		return "access to memory that the program has protected";
	if (fault->exec && fault->kind == FAULT_PROTECTED)
		return "execute from non-executable memory";
	if (is_of_user(fault))
		return "access to user memory";
	if (fault->kind == FAULT_PROTECTED)
		return fault->write ? "write to read-only memory" : "read from unreadable memory";
	if (fault->kind != FAULT_UNMAPPED)
		return fault->name;
	return fault->addr < PAGE_SIZE ? "NULL pointer dereference" : "paging request";
}

static enum program_fault_kind program_kind(const struct fault *fault, bool closed)
{
	if (closed || (fault->kind == FAULT_PROTECTED && !is_of_user(fault)))
		return PROGRAM_FAULT_PROTECTED;
	if (fault->kind == FAULT_ALIGNMENT)
		return PROGRAM_FAULT_ALIGNMENT;
	return fault->kind == FAULT_BUS ? PROGRAM_FAULT_BUS : PROGRAM_FAULT_UNMAPPED;
}

static _Noreturn void die_of_fault(struct pt_regs *regs, const struct fault *fault,
				   const char *title)
{
	const char *access = fault->exec    ? "instruction abort"
			     : fault->write ? "data abort, write"
					    : "data abort, read";
	const unsigned long flags = console_lock();

	printk("Unable to handle kernel %s at virtual address %016lx\n", title, fault->addr);
	printk(REGS_ERROR_NAME " = 0x%016lx: %s, %s\n", regs_error(regs), access, fault->name);
	console_unlock(flags);
	die("Oops", regs);
}

void kernel_fault(struct pt_regs *regs, const struct fault *fault)
{
	bool closed, explained = false;

	if (fault->exec) {
		if (!handle_program_fault(regs, program_kind(fault, false), regs->pc))
			die_of_fault(regs, fault, fault_title(fault, false));
		return;
	}
	/* Before the kernel's own accesses to user memory, which may have a bad buffer on this side. */
	if (sample_fault(regs, fault) || fixup_exception(regs))
		return;
	if (fault->kind == FAULT_UNMAPPED &&
	    (kasan_shadow_spurious_fault(fault->addr) || handle_stack_fault(regs, fault->addr)))
		return;
	if (kasan_fixup_shadow_load(regs, fault))
		return;
	closed = is_program_fault(regs) && hit_closed_page(fault->addr);

	/* Shadow does not matter for a write to .rodata: its bytes are accessible, but not for writing. */
	if (fault->kind != FAULT_PROTECTED || is_of_user(fault)) {
		if (arch_leave_mem_function(regs, fault->write))
			return;
		/* Whether an access is aligned does not depend on the memory's state. */
		if (!closed && fault->kind != FAULT_ALIGNMENT)
			explained = kasan_explain_fault(regs, fault);
	}
	if (handle_program_fault(regs, program_kind(fault, closed), fault->addr))
		return;

	if (explained) {
		printk("Unable to handle kernel %s at virtual address %016lx\n",
		       fault_title(fault, closed), fault->addr);
		printk("Oops: this is the access that KASAN reported above, it cannot be done\n");
		die(NULL, regs);
	}
	die_of_fault(regs, fault, fault_title(fault, closed));
}

/* --- User mode -------------------------------------------------------------------------------- */

void user_fault(struct pt_regs *regs, const struct fault *fault)
{
	const bool segv = fault->kind == FAULT_UNMAPPED || fault->kind == FAULT_PROTECTED;
	const char *memory = "unmapped";
	char why[64];

	if (fault->addr >= PAGE_OFFSET)
		memory = "kernel";
	else if (fault->addr >= TASK_SIZE)
		memory = "impossible";
	else if (fault->kind == FAULT_PROTECTED)
		memory = "protected";
	snprintf(why, sizeof(why), "%s of %s address %016lx",
		 fault->exec	? "execution"
		 : fault->write ? "write"
				: "read",
		 memory, fault->addr);
	process_die(segv ? SIGSEGV : SIGBUS, why, regs);
}
