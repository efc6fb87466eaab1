/* SPDX-License-Identifier: MIT */
/* fault.c - accesses that the MMU refuses: the work of a kernel's fault handler, done in signal handlers. */
#include <signal.h>
#include <ucontext.h>

#include "internal.h"

/* x86_64 page fault error code: the access was a write. */
#define PF_WRITE 2

static void on_fault(int sig, siginfo_t *info, void *context)
{
	const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;

	/*
	 * A non-canonical address raises a general protection fault, for which the kernel knows no address
	 * (SI_KERNEL): there is nothing true to report, the process just ends.
	 */
	if (info->si_code != SI_KERNEL)
		kasan_report_fault((uintptr_t)info->si_addr, 0, !!(regs[REG_ERR] & PF_WRITE),
				   (uintptr_t)regs[REG_RIP], (uintptr_t)regs[REG_RBP]);
	/* Returning repeats the access, now with the signal's default action. */
	signal(sig, SIG_DFL);
}

void kasan_posix_catch_faults(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}
