/* SPDX-License-Identifier: MIT */
/* signal.h - shared by the files that run handlers of signals: signal.c, fault.c and handler.c. */
#ifndef KERNEL_LIBC_SIGNAL_H
#define KERNEL_LIBC_SIGNAL_H

#include "threads.h"

/* Linux's numbers of what is needed here. */
#define SIGILL	 4
#define SIGTRAP	 5
#define SIGBUS	 7
#define SIGKILL	 9
#define SIGSEGV	 11
#define SIGPIPE	 13
#define SIGCHLD	 17
#define SIGCONT	 18
#define SIGSTOP	 19
#define SIGURG	 23
#define SIGWINCH 28

#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)

#define SA_SIGINFO   0x00000004UL
#define SA_ONSTACK   0x08000000UL
#define SA_NODEFER   0x40000000UL
#define SA_RESETHAND 0x80000000UL

/* Values of siginfo's code. */
#define SI_TKILL    -6
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRALN  1
#define BUS_OBJERR  3
#define ILL_ILLOPC  1
#define TRAP_BRKPT  1

/** struct libc_siginfo - the start of Linux's siginfo_t, which has 128 bytes */
struct libc_siginfo {
	int signo, error, code, pad;
	union {
		struct {
			int pid, uid;
		};
		u64 addr; /* of a fault */
	};
	int rest[26];
};

static inline u64 libc_signal_bit(int sig)
{
	return 1ULL << (sig - 1);
}

/* --- handler.c -------------------------------------------------------------------------------- */

/**
 * libc_run_handler() - call the handler of @action, on the stack and with the mask that it asks for
 * @regs: the interrupted context, which the handler may change; NULL: the handler runs inside a system call.
 *
 * The floating-point registers are as before when the handler has returned. It need not return.
 */
void libc_run_handler(const struct libc_sigaction *action, struct libc_siginfo *info,
		      struct pt_regs *regs);

/* --- signal.c --------------------------------------------------------------------------------- */

/** libc_has_handler() - Return: true if the program has a handler for @sig. */
bool libc_has_handler(int sig);

/** libc_on_stack() - Return: true if the handler for @sig is to run on the alternate stack. */
bool libc_on_stack(int sig);

/** libc_take_action() - Return: the action for @sig; one of SA_RESETHAND is the default from then on. */
struct libc_sigaction libc_take_action(int sig);

#endif
