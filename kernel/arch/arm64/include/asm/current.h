/* SPDX-License-Identifier: MIT */
/*
 * current.h - the running task. SP_EL0, free while the kernel runs on SP_EL1, holds it; the boot CPU
 * starts with &init_task there, the others with their idle task. In user mode it is the program's
 * stack pointer: user.S exchanges the two.
 */
#ifndef ASM_CURRENT_H
#define ASM_CURRENT_H

struct task;

static inline __attribute__((always_inline)) struct task *get_current(void)
{
	unsigned long sp_el0;

	/* Not volatile: for the code of one task the value never changes. */
	__asm__("mrs %0, sp_el0" : "=r"(sp_el0));
	return (struct task *)sp_el0;
}

#define current get_current()

#endif
