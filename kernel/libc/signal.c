// SPDX-License-Identifier: MIT
/*
 * signal.c - signals that a program sends to itself: raise(), abort(), kill(getpid(), ...), pthread_kill().
 *
 * A handler runs as a function call inside the system call that sends or unblocks the signal. It may leave by
 * siglongjmp(). A signal for another thread arrives at the end of a system call of that thread, and ends its wait. Nobody
 * else sends signals.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/string.h>

#include "../ulib/ulib.h"
#include "threads.h"

#define NSIG 64

/* Linux's numbers of what is needed here. */
#define SIGKILL	 9
#define SIGCHLD	 17
#define SIGCONT	 18
#define SIGSTOP	 19
#define SIGURG	 23
#define SIGWINCH 28
/* How the library uses its own signals. */
#define SIGCANCEL   33
#define SIGSYNCCALL 34

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
	struct libc_thread *self = libc_self();
	u64 before = self->blocked;

	self->blocked |= action->mask;
	if (!(action->flags & SA_NODEFER))
		self->blocked |= bit_of(sig);
	if (action->flags & SA_SIGINFO) {
		void (*handler)(int, struct libc_siginfo *, void *) = (void *)action->handler;
		struct libc_siginfo info = {.signo = sig, .code = SI_TKILL, .pid = 1};

		/* There is no saved context: the handler was called like a function. */
		handler(sig, &info, NULL);
	} else {
		action->handler(sig);
	}
	self->blocked = before;
}

void libc_deliver_signals(struct libc_thread *self)
{
	u64 due;

	while ((due = __atomic_load_n(&self->pending, __ATOMIC_RELAXED) & ~self->blocked)) {
		int sig = __builtin_ctzll(due) + 1;
		struct libc_sigaction action = actions[sig];

		__atomic_fetch_and(&self->pending, ~bit_of(sig), __ATOMIC_RELAXED);
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
		self->blocked &= ~(bit_of(SIGKILL) | bit_of(SIGSTOP));
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
	bit = sig && sig != SIGCANCEL ? bit_of(sig) : 0;
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
