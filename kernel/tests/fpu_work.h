/* SPDX-License-Identifier: MIT */
/* fpu_work.h - what fpu_test.c calls: it has no floating point itself. */
#ifndef TESTS_FPU_WORK_H
#define TESTS_FPU_WORK_H

#include <kernel/types.h>

/* --- fpu_work.c, compiled with floating point ----------------------------------------------------- */

/** fpu_work() - Return: the bits of a double that @steps steps of a computation give. */
u64 fpu_work(unsigned int seed, unsigned int steps);

int fpu_work_variadic(int count, ...);

/** fpu_work_arguments() - Return: 56, the sum of ten doubles that went through a variadic function. */
int fpu_work_arguments(void);

/* --- fpu_regs.S of the architecture --------------------------------------------------------------- */

/** struct fpu_hold - between fpu_regs_hold() and other threads. @seen: a bit for each CPU. */
struct fpu_hold {
	u64 stop;
	u64 rounds;
	u64 seen;
};

/** fpu_regs_hold() - keep values in all registers until @hold->stop. Return: the bits that changed, 0 if none. */
u64 fpu_regs_hold(u64 seed, struct fpu_hold *hold);

/** fpu_regs_bits() - Return: the bits that are set in any register. */
u64 fpu_regs_bits(void);

/** fpu_regs_jump() - Return: the bits in which the registers that a call keeps differ after longjmp().
 *  @env: a jmp_buf. */
u64 fpu_regs_jump(void *env);

#endif
