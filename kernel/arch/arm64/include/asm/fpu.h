/* SPDX-License-Identifier: MIT */
/* fpu.h - floating-point and SIMD registers of a thread that may use them. <kernel/fpu.h> has the functions. */
#ifndef ASM_FPU_H
#define ASM_FPU_H

/* Offsets for fpu.S. */
#define FPU_FPCR 0
#define FPU_FPSR 8
#define FPU_V	 16

#ifndef __ASSEMBLER__
#include <kernel/types.h>

/** struct fpu_state - the registers while the thread does not run; all zero: those of a new thread
 *
 * @v: v0 to v31, 16 bytes each.
 */
struct fpu_state {
	u64 fpcr, fpsr;
	u64 v[64];
} __aligned(16);
#endif

#endif
