// SPDX-License-Identifier: MIT
/*
 * signal.c - signals that a program sends to itself: raise(), abort(), kill(getpid(), ...).
 *
 * A handler runs as a function call inside the system call that sends or unblocks the signal. It may leave by
 * siglongjmp(). Nobody else sends signals, so no lock is needed and nothing arrives at any other time.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/string.h>

#include "../ulib/ulib.h"
#include "libc.h"

#define NSIG 64

/* Linux's numbers of what is needed here. */
#define SIGKILL	 9
#define SIGCHLD	 17
#define SIGCONT	 18
#define SIGSTOP	 19
#define SIGURG	 23
#define SIGWINCH 28

#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)

#define SA_SIGINFO   0x00000004UL
#define SA_NODEFER   0x40000000UL
#define SA_RESETHAND 0x80000000UL

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

/* How siginfo says that the program itself sent the signal. */
#define SI_TKILL -6

/* What a shell adds to the number of the signal that ended a program. */
#define STATUS_OF_SIGNAL 128

/** struct libc_siginfo - the start of Linux's siginfo_t, which has 128 bytes */
struct libc_siginfo {
	int signo, error, code, pad;
	int pid, uid;
	int rest[26];
};

static struct libc_sigaction actions[NSIG + 1];
static u64 blocked, pending;

static u64 bit_of(int sig)
{
	return 1ULL << (sig - 1);
}

static bool ignored_by_default(int sig)
{
	return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH;
}

static void run_handler(int sig, const struct libc_sigaction *action)
{
	u64 before = blocked;

	blocked |= action->mask;
	if (!(action->flags & SA_NODEFER))
		blocked |= bit_of(sig);
	if (action->flags & SA_SIGINFO) {
		void (*handler)(int, struct libc_siginfo *, void *) = (void *)action->handler;
		struct libc_siginfo info = {.signo = sig, .code = SI_TKILL, .pid = 1};

		/* There is no saved context: the handler was called like a function. */
		handler(sig, &info, NULL);
	} else {
		action->handler(sig);
	}
	blocked = before;
}

/* Act on all signals that are pending and not blocked, the lowest number first. */
static void deliver(void)
{
	while (pending & ~blocked) {
		int sig = __builtin_ctzll(pending & ~blocked) + 1;
		struct libc_sigaction action = actions[sig];

		pending &= ~bit_of(sig);
		if (action.flags & SA_RESETHAND)
			actions[sig].handler = SIG_DFL;
		if (action.handler == SIG_DFL && !ignored_by_default(sig)) {
			program_flush();
			ulib_end_program(STATUS_OF_SIGNAL + sig);
		}
		if (action.handler != SIG_DFL && action.handler != SIG_IGN)
			run_handler(sig, &action);
	}
}

long libc_sigaction(int sig, const struct libc_sigaction *new, struct libc_sigaction *old)
{
	struct libc_sigaction before;

	if (sig < 1 || sig > NSIG || (new && (sig == SIGKILL || sig == SIGSTOP)))
		return -EINVAL;
	before = actions[sig];
	if (new)
		actions[sig] = *new;
	if (old)
		*old = before;
	return 0;
}

long libc_sigprocmask(int how, const u64 *set, u64 *old)
{
	u64 before = blocked;

	if (set) {
		if (how == SIG_BLOCK)
			blocked |= *set;
		else if (how == SIG_UNBLOCK)
			blocked &= ~*set;
		else if (how == SIG_SETMASK)
			blocked = *set;
		else
			return -EINVAL;
		blocked &= ~(bit_of(SIGKILL) | bit_of(SIGSTOP));
	}
	if (old)
		*old = before;
	deliver();
	return 0;
}

long libc_sigpending(u64 *set)
{
	*set = pending & blocked;
	return 0;
}

long libc_raise(int sig)
{
	if (sig < 0 || sig > NSIG)
		return -EINVAL;
	if (sig) {
		pending |= bit_of(sig);
		deliver();
	}
	return 0;
}

void libc_signals_reset(void)
{
	memset(actions, 0, sizeof(actions));
	blocked = 0;
	pending = 0;
}
