/* SPDX-License-Identifier: MIT */
/*
 * fpu.S - stores and loads the floating-point registers. Nothing else of the kernel touches them.
 */
#include <asm/fpu.h>

	.text

	.macro	each_register op
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\op	f\n, FPU_F + 8 * \n(a0)
	.endr
	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\op	f\n, FPU_F + 8 * \n(a0)
	.endr
	.endm

/* fpu_save(state), fpu_load(state): the CPU must not trap these registers. */
	.globl	fpu_save
	.type	fpu_save, %function
fpu_save:
	frcsr	t0
	sd	t0, FPU_FCSR(a0)
	each_register fsd
	ret
	.size	fpu_save, . - fpu_save

	.globl	fpu_load
	.type	fpu_load, %function
fpu_load:
	ld	t0, FPU_FCSR(a0)
	fscsr	t0
	each_register fld
	ret
	.size	fpu_load, . - fpu_load
