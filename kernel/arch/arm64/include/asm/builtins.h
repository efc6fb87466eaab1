/* SPDX-License-Identifier: MIT */
/* builtins.h - what the functions that compilers call need of the CPU. See kernel/builtins. */
#ifndef ASM_BUILTINS_H
#define ASM_BUILTINS_H

#include <stdint.h>

/* The compilers know _Float16. */
#define ARCH_FLOAT16
/* Clang knows the calling convention preserve_most. */
#define ARCH_PRESERVE_MOST

/* The values of FPCR.RMode. */
enum rounding { NEAREST, UP, DOWN, TO_ZERO };

/* Exceptions of floating point, as FPSR has them. */
#define FLOAT_INVALID	1U
#define FLOAT_BY_ZERO	2U
#define FLOAT_OVERFLOW	4U
#define FLOAT_UNDERFLOW 8U
#define FLOAT_INEXACT	16U

/** arch_rounding() - how the thread wants floating-point results to be rounded. */
static inline enum rounding arch_rounding(void)
{
	uint64_t fpcr;

	__asm__ __volatile__("mrs %0, fpcr" : "=r"(fpcr));
	return (enum rounding)(fpcr >> 22 & 3);
}

/** arch_raise_float() - note exceptions of floating point, FLOAT_*, for the thread. */
static inline void arch_raise_float(unsigned int flags)
{
	uint64_t fpsr;

	__asm__ __volatile__("mrs %0, fpsr" : "=r"(fpsr));
	/* Most programs never clear them. */
	if (flags & ~fpsr)
		__asm__ __volatile__("msr fpsr, %0" : : "r"(fpsr | flags));
}

/** arch_sync_code() - make the CPUs execute what was written to [start, end). */
static inline void arch_sync_code(uint64_t start, uint64_t end)
{
	uint64_t ctr, line;

	__asm__ __volatile__("mrs %0, ctr_el0" : "=r"(ctr));
	line = (uint64_t)4 << (ctr >> 16 & 15);
	for (uint64_t at = start & -line; at < end; at += line)
		__asm__ __volatile__("dc cvau, %0" : : "r"(at) : "memory");
	__asm__ __volatile__("dsb ish" : : : "memory");
	line = (uint64_t)4 << (ctr & 15);
	for (uint64_t at = start & -line; at < end; at += line)
		__asm__ __volatile__("ic ivau, %0" : : "r"(at) : "memory");
	__asm__ __volatile__("dsb ish; isb" : : : "memory");
}

#endif /* ASM_BUILTINS_H */
