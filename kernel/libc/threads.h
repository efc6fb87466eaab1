/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the threads of programs: threads.c, futex.c and signal.c.
 *
 * A thread of a program is a thread of the kernel. What a program's thread has besides is here; the first thread's is a
 * variable, those of the others are made with them.
 */
#ifndef KERNEL_LIBC_THREADS_H
#define KERNEL_LIBC_THREADS_H

#include <kernel/list.h>
#include <kernel/sched.h>
#include <kernel/types.h>

#include "libc.h"

/** PROGRAM_PID - number of the process and of its first thread; other threads have that of their task */
#define PROGRAM_PID 1

/** struct libc_fault - a fault whose handler has run, and how often: what it was when @count was 1. @changes: of memory. */
struct libc_fault {
	u64 addr, pc, sp, regs[31];
	unsigned long changes;
	unsigned int count;
};

/**
 * struct libc_thread - one thread of the program
 * @link, @listed: in the list of all but the first. Who takes a thread off the list owns the creator's reference
 *	to @task, and frees this structure.
 * @fn, @arg: its function, which does not return.
 * @ended: NULL, or a word of the library that becomes 0 at the thread's end, for those that wait there.
 * @blocked, @pending: signals, bit n - 1 is signal n. @pending: changes by atomic operations.
 * @alternate: the stack for handlers, as the program gave it. @fault: the last one that had a handler.
 * @interrupted: a wait ends with -EINTR, once. @waits: it waits in futex.c, where it can be woken at any time.
 */
struct libc_thread {
	struct list_head link;
	bool listed;
	struct task *task;
	int (*fn)(void *arg);
	void *arg;
	int *ended;
	u64 blocked, pending;
	struct libc_stack alternate;
	struct libc_fault fault;
	bool interrupted, waits;
};

/* --- threads.c -------------------------------------------------------------------------------- */

/** libc_self() - Return: the calling thread's. */
struct libc_thread *libc_self(void);

/** libc_tid() - Return: the calling thread's number. */
long libc_tid(void);

/** libc_thread_exit() - end the calling thread, not the program. @status: of the program if it has no other. */
_Noreturn void libc_thread_exit(int status);

/** libc_interrupt() - add @signals to the pending ones of the thread @tid, which is not the caller. @wake: end its wait. Return:
 *  false if there is no such thread. */
bool libc_interrupt(long tid, u64 signals, bool wake);

/** libc_is_member() - Return: is the caller a thread of the program that runs, but not its first? Those of a program that
 *  was given up are not. */
bool libc_is_member(void);

/** libc_stop_threads() - end all threads but the first, and return when they are gone. May sleep; not called by a thread of
 *  the program. */
void libc_stop_threads(void);

/** libc_threads_roots() - call @scan for the memory of all threads but the caller, see struct program_library. */
void libc_threads_roots(void (*scan)(const void *start, size_t size));

/** libc_threads_reset() - a new program has one thread. */
void libc_threads_reset(void);

/** libc_setname(), libc_getname() - the calling thread's name, as reports show it: @name has 16 bytes. */
long libc_setname(const char *name);
long libc_getname(char *name);

/* --- signal.c --------------------------------------------------------------------------------- */

/** libc_deliver_signals() - act on all signals of the caller, @self, that are pending and not blocked, the lowest number
 *  first. */
void libc_deliver_signals(struct libc_thread *self);

/* --- futex.c ---------------------------------------------------------------------------------- */

/** libc_futex() - Linux's futex(): FUTEX_WAIT with a time from now, FUTEX_WAKE, and FUTEX_REQUEUE, which wakes. */
long libc_futex(int *word, int op, int value, const struct libc_timespec *timeout);

/** libc_futex_wake() - wake at most @count threads that wait at @word, the oldest first. Return: how many. */
long libc_futex_wake(const int *word, int count);

/** FOREVER - a time that never comes */
#define FOREVER (~0ULL)

/** libc_sleep_until() - sleep until clock_ns() is @end. Return: 0, or -EINTR before that. */
long libc_sleep_until(u64 end);

#endif
