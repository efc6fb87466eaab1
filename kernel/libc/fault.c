// SPDX-License-Identifier: MIT
/*
 * fault.c - CPU faults of a program as signals: SIGSEGV, SIGBUS, SIGILL and SIGTRAP for a handler that it has installed.
 *
 * KASAN has reported what is a bug for it before. Without a handler the program ends as ever. As on Linux, one that
 * is blocked or ignored ends it too, and the instruction runs again when the handler returns. A handler that
 * changes nothing would be called for ever; it is called REPEATS times.
 */
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/string.h>

#include "signal.h"

#define REPEATS 20
/* A program may use faults as a tool, to see which memory it writes. So only the first ones are told. */
#define NOTES 10

/** struct kind - how Linux names a fault */
static const struct kind {
	int sig, code;
	const char *name;
} kinds[] = {
	[PROGRAM_FAULT_UNMAPPED] = {SIGSEGV, SEGV_MAPERR, "SIGSEGV"},
	[PROGRAM_FAULT_PROTECTED] = {SIGSEGV, SEGV_ACCERR, "SIGSEGV"},
	[PROGRAM_FAULT_ALIGNMENT] = {SIGBUS, BUS_ADRALN, "SIGBUS"},
	[PROGRAM_FAULT_BUS] = {SIGBUS, BUS_OBJERR, "SIGBUS"},
	[PROGRAM_FAULT_UNDEFINED] = {SIGILL, ILL_ILLOPC, "SIGILL"},
	[PROGRAM_FAULT_TRAP] = {SIGTRAP, TRAP_BRKPT, "SIGTRAP"},
	[PROGRAM_FAULT_STACK] = {SIGSEGV, SEGV_MAPERR, "SIGSEGV (stack overflow)"},
};

static unsigned int notes;

void libc_faults_reset(void)
{
	__atomic_store_n(&notes, 0, __ATOMIC_RELAXED);
}

static void note(const struct kind *kind, unsigned long addr, unsigned long pc)
{
	unsigned int before = __atomic_load_n(&notes, __ATOMIC_RELAXED);

	if (before >= NOTES)
		return;
	__atomic_fetch_add(&notes, 1, __ATOMIC_RELAXED);
	pr_info("program: %s at address %016lx, pc %pS: its handler is called%s\n", kind->name,
		addr, (void *)pc, before + 1 == NOTES ? " (more of these are not shown)" : "");
}

/* Has nothing changed since the last handler returned? Return: true if that was so too often. */
static bool repeats(struct libc_thread *self, const struct pt_regs *regs, unsigned long addr)
{
	struct libc_fault *last = &self->fault;
	unsigned long changes = libc_memory_changes();

	if (last->addr != addr || last->pc != regs->pc || last->sp != regs->sp ||
	    last->changes != changes || memcmp(last->regs, regs->regs, sizeof(last->regs))) {
		*last = (struct libc_fault){
			.addr = addr, .pc = regs->pc, .sp = regs->sp, .changes = changes};
		memcpy(last->regs, regs->regs, sizeof(last->regs));
	}
	return ++last->count > REPEATS;
}

bool program_fault(struct pt_regs *regs, enum program_fault_kind kind, unsigned long addr)
{
	struct libc_siginfo info = {
		.signo = kinds[kind].sig, .code = kinds[kind].code, .addr = addr};
	struct libc_thread *self = libc_self();
	struct libc_sigaction action;

	if (self->blocked & libc_signal_bit(info.signo) || !libc_has_handler(info.signo))
		return false;
	if (repeats(self, regs, addr)) {
		pr_err("program: its handler of %s returned %d times, and the same fault comes "
		       "again\n",
		       kinds[kind].name, REPEATS);
		return false;
	}
	note(&kinds[kind], addr, regs->pc);
	action = libc_take_action(info.signo);
	libc_run_handler(&action, &info, regs);
	return true;
}

bool program_has_stack_handler(void)
{
	return !(libc_self()->blocked & libc_signal_bit(SIGSEGV)) && libc_has_handler(SIGSEGV) &&
	       libc_on_stack(SIGSEGV);
}
