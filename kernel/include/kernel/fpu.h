/* SPDX-License-Identifier: MIT */
/*
 * fpu.h - floating point in threads.
 *
 * The kernel's own code has none: it is compiled for general registers only, and the registers trap. Code that is
 * compiled with floating point (programs, and the ordinary C of their library) runs only in threads that
 * fpu_attach() has given the registers to. Such a thread has them everywhere: when it is preempted, sleeps, or goes on
 * on another CPU. Interrupt handlers have none, also not those that interrupt such a thread.
 */
#ifndef KERNEL_FPU_H
#define KERNEL_FPU_H

#include <kernel/types.h>

struct fpu_state;
struct task;

/**
 * fpu_attach() - let @task use floating point until it ends
 * @task: the running task, or one that was never woken; no task in user mode, and no idle task.
 *
 * All registers start at zero: round to nearest, no exception flags. A second call changes nothing. May sleep.
 *
 * Return: 0, or -ENOMEM.
 */
int fpu_attach(struct task *task);

/** fpu_free() - give back the memory of fpu_attach(). @state: may be NULL. Only for the end of a task. */
void fpu_free(struct fpu_state *state);

/** fpu_init() - create the cache of states. Boot CPU, when there is kmalloc(). */
void fpu_init(void);

#endif
