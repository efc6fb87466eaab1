/* SPDX-License-Identifier: MIT */
/* builtins.h - what the functions that compilers call need of the CPU. See kernel/builtins. */
#ifndef ASM_BUILTINS_H
#define ASM_BUILTINS_H

#include <stdint.h>

/* No ARCH_FLOAT16: GCC 12 does not know the type, and Clang 19 fails at strict rounding without Zfh. */

/* The values of the register frm. */
enum rounding { NEAREST, TO_ZERO, DOWN, UP };

/* Exceptions of floating point, as fflags has them. */
#define FLOAT_INEXACT	1U
#define FLOAT_UNDERFLOW 2U
#define FLOAT_OVERFLOW	4U
#define FLOAT_BY_ZERO	8U
#define FLOAT_INVALID	16U

/** arch_rounding() - how the thread wants floating-point results to be rounded. */
static inline enum rounding arch_rounding(void)
{
	uint64_t frm;

	__asm__ __volatile__("frrm %0" : "=r"(frm));
	/* 4 is to the nearest too: it differs in ties only. */
	return frm > UP ? NEAREST : (enum rounding)frm;
}

/** arch_raise_float() - note exceptions of floating point, FLOAT_*, for the thread. */
static inline void arch_raise_float(unsigned int flags)
{
	__asm__ __volatile__("csrs fflags, %0" : : "r"((uint64_t)flags));
}

void fence_i_all(void);

/** arch_sync_code() - make the CPUs execute what was written to [start, end). */
static inline void arch_sync_code(uint64_t start, uint64_t end)
{
	(void)start;
	(void)end;
	/* fence.i is this CPU's only, and a thread may go on on another one before it calls the code. */
	fence_i_all();
}

#endif /* ASM_BUILTINS_H */
