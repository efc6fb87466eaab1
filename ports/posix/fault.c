/* SPDX-License-Identifier: MIT */
/* fault.c - accesses that the MMU refuses: the work of a kernel's fault handler, done in signal handlers. */
#include <signal.h>
#include <ucontext.h>

#include "internal.h"

struct place {
	uintptr_t pc, fp;
	int direction;
};

#if defined(__x86_64__)
/* Page fault error code: the access was a write. */
#define PF_WRITE 2

static struct place place_of(const mcontext_t *context)
{
	return (struct place){(uintptr_t)context->gregs[REG_RIP],
			      (uintptr_t)context->gregs[REG_RBP],
			      !!(context->gregs[REG_ERR] & PF_WRITE)};
}
#elif defined(__riscv)
static struct place place_of(const mcontext_t *context)
{
	return (struct place){context->__gregs[REG_PC], context->__gregs[REG_S0],
			      KASAN_FAULT_UNKNOWN};
}
#elif defined(__s390x__)
/* The back chain of the interrupted function leads to its caller's frame. */
static struct place place_of(const mcontext_t *context)
{
	return (struct place){context->psw.addr, *(const uintptr_t *)context->gregs[15],
			      KASAN_FAULT_UNKNOWN};
}
#endif

static void on_fault(int sig, siginfo_t *info, void *context)
{
	const struct place place = place_of(&((const ucontext_t *)context)->uc_mcontext);

	/*
	 * A non-canonical address raises a general protection fault, for which the kernel knows no address
	 * (SI_KERNEL): there is nothing true to report, the process just ends.
	 */
	if (info->si_code != SI_KERNEL)
		kasan_report_fault((uintptr_t)info->si_addr, 0, place.direction, place.pc,
				   place.fp);
	/* Returning repeats the access, now with the signal's default action. */
	signal(sig, SIG_DFL);
}

void kasan_posix_catch_faults(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}
