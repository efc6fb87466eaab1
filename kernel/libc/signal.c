// SPDX-License-Identifier: MIT
/*
 * signal.c - signals that a program sends to itself: raise(), abort(), kill(getpid(), ...), pthread_kill().
 *
 * A handler runs as a function call inside the system call that sends or unblocks the signal. It may leave by
 * siglongjmp(). A signal for another thread arrives at the end of a system call of that thread, and ends its wait. Faults of
 * the CPU are signals too: fault.c.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/string.h>

#include "../program/internal.h"
#include "signal.h"

#define NSIG 64

/* How the library uses its own signals. */
#define SIGCANCEL   33
#define SIGSYNCCALL 34

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

/* What a shell adds to the number of the signal that ended a program. */
#define STATUS_OF_SIGNAL 128

static struct libc_sigaction actions[NSIG + 1];

static bool ignored_by_default(int sig)
{
	return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH;
}

struct libc_sigaction libc_take_action(int sig)
{
	struct libc_sigaction action = actions[sig];

	if (action.flags & SA_RESETHAND)
		actions[sig].handler = SIG_DFL;
	return action;
}

bool libc_has_handler(int sig)
{
	return actions[sig].handler != SIG_DFL && actions[sig].handler != SIG_IGN;
}

bool libc_on_stack(int sig)
{
	return actions[sig].flags & SA_ONSTACK;
}

void libc_deliver_signals(struct libc_thread *self)
{
	u64 due;

	while ((due = __atomic_load_n(&self->pending, __ATOMIC_RELAXED) & ~self->blocked)) {
		int sig = __builtin_ctzll(due) + 1;
		struct libc_siginfo info = {.signo = sig, .code = SI_TKILL, .pid = PROGRAM_PID};
		struct libc_sigaction action;

		__atomic_fetch_and(&self->pending, ~libc_signal_bit(sig), __ATOMIC_RELAXED);
		action = libc_take_action(sig);
		if (action.handler == SIG_DFL && !ignored_by_default(sig)) {
			printk("program: ended by signal %d\n", sig);
			program_exit(STATUS_OF_SIGNAL + sig);
		}
		if (action.handler != SIG_DFL && action.handler != SIG_IGN)
			libc_run_handler(&action, &info, NULL);
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
	struct libc_thread *self = libc_self();
	u64 before = self->blocked;

	if (set) {
		if (how == SIG_BLOCK)
			self->blocked |= *set;
		else if (how == SIG_UNBLOCK)
			self->blocked &= ~*set;
		else if (how == SIG_SETMASK)
			self->blocked = *set;
		else
			return -EINVAL;
		self->blocked &= ~(libc_signal_bit(SIGKILL) | libc_signal_bit(SIGSTOP));
	}
	if (old)
		*old = before;
	return 0;
}

long libc_sigpending(u64 *set)
{
	struct libc_thread *self = libc_self();

	*set = __atomic_load_n(&self->pending, __ATOMIC_RELAXED) & self->blocked;
	return 0;
}

long libc_kill(long tid, int sig)
{
	u64 bit;

	/* The library would wait for an answer of every thread to that one. */
	if (sig < 0 || sig > NSIG || (sig == SIGSYNCCALL && tid != libc_tid()))
		return -EINVAL;
	/* A cancelled thread needs no handler: the library looks when the thread's wait has ended, see musl/cancel.c. */
	bit = sig && sig != SIGCANCEL ? libc_signal_bit(sig) : 0;
	if (tid == libc_tid())
		__atomic_fetch_or(&libc_self()->pending, bit, __ATOMIC_RELAXED);
	else if (!libc_interrupt(tid, bit, sig != 0))
		return -ESRCH;
	return 0;
}

void libc_signals_reset(void)
{
	memset(actions, 0, sizeof(actions));
}
