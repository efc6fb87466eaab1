/* SPDX-License-Identifier: MIT */
/*
 * current.h - the running task. gp holds it in the kernel: the linker does not use that register, and no compiler
 * gives it to a variable. With a shadow call stack the compiler has gp, and s11 is kept for the task (-ffixed-x27). tp is the
 * thread pointer of programs, which run in the kernel too. The boot CPU starts with &init_task, the other CPUs with
 * their idle tasks. In user mode the register is the program's, and sscratch holds the task.
 */
#ifndef ASM_CURRENT_H
#define ASM_CURRENT_H

#ifdef CONFIG_SHADOW_CALL_STACK
#define CURRENT	     s11
#define CURRENT_NAME "s11"
#else
#define CURRENT	     gp
#define CURRENT_NAME "gp"
#endif

#ifndef __ASSEMBLER__

struct task;

static inline __attribute__((always_inline)) struct task *get_current(void)
{
	struct task *task;

	/* Not volatile: the value never changes while the code of one task runs. */
	__asm__("mv %0, " CURRENT_NAME : "=r"(task));
	return task;
}

#define current get_current()

/* The address after this instruction, as if it were a call. A label's address would keep the function from being
 * inlined. */
static inline __attribute__((always_inline)) unsigned long arch_this_ip(void)
{
	unsigned long ip;

	__asm__ __volatile__("auipc %0, 0" : "=r"(ip));
	return ip + 4;
}

#endif /* !__ASSEMBLER__ */
#endif
