/* SPDX-License-Identifier: MIT */
/*
 * current.h - the running task. SP_EL0 holds it, because the kernel itself runs on SP_EL1. The boot CPU
 * starts with &init_task there, the other CPUs with their idle tasks. In user mode the register is the
 * program's stack pointer: user.S exchanges the two.
 */
#ifndef ASM_CURRENT_H
#define ASM_CURRENT_H

struct task;

static inline __attribute__((always_inline)) struct task *get_current(void)
{
	unsigned long sp_el0;

	/* Not volatile: the value never changes while the code of one task runs. */
	__asm__("mrs %0, sp_el0" : "=r"(sp_el0));
	return (struct task *)sp_el0;
}

#define current get_current()

/* The address after this instruction, as if it were a call. A label's address would keep the function from being
 * inlined. */
static inline __attribute__((always_inline)) unsigned long arch_this_ip(void)
{
	unsigned long ip;

	__asm__ __volatile__("adr %0, . + 4" : "=r"(ip));
	return ip;
}

#endif
