/* SPDX-License-Identifier: MIT */
/* fpu.h - floating-point registers of a thread that may use them. <kernel/fpu.h> has the functions. */
#ifndef ASM_FPU_H
#define ASM_FPU_H

/* Offsets for fpu.S. */
#define FPU_F	 0
#define FPU_FCSR 256

#ifndef __ASSEMBLER__
#include <kernel/types.h>

/** struct fpu_state - the registers while the thread does not run; all zero: those of a new thread
 *
 * @f: f0 to f31.
 */
struct fpu_state {
	u64 f[32];
	u64 fcsr;
};
#endif

#endif
