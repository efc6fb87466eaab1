/* SPDX-License-Identifier: MIT */
/*
 * fpu.S - stores and loads the floating-point and SIMD registers. Nothing else of the kernel touches them: its C is
 * compiled for general registers only.
 */
#include <asm/fpu.h>

	/* The kernel's options switch these instructions off. */
	.arch	armv8-a+fp+simd
	.text

	.macro	all_pairs op
	\op	q0, q1, [x0, #FPU_V + 32 * 0]
	\op	q2, q3, [x0, #FPU_V + 32 * 1]
	\op	q4, q5, [x0, #FPU_V + 32 * 2]
	\op	q6, q7, [x0, #FPU_V + 32 * 3]
	\op	q8, q9, [x0, #FPU_V + 32 * 4]
	\op	q10, q11, [x0, #FPU_V + 32 * 5]
	\op	q12, q13, [x0, #FPU_V + 32 * 6]
	\op	q14, q15, [x0, #FPU_V + 32 * 7]
	\op	q16, q17, [x0, #FPU_V + 32 * 8]
	\op	q18, q19, [x0, #FPU_V + 32 * 9]
	\op	q20, q21, [x0, #FPU_V + 32 * 10]
	\op	q22, q23, [x0, #FPU_V + 32 * 11]
	\op	q24, q25, [x0, #FPU_V + 32 * 12]
	\op	q26, q27, [x0, #FPU_V + 32 * 13]
	\op	q28, q29, [x0, #FPU_V + 32 * 14]
	\op	q30, q31, [x0, #FPU_V + 32 * 15]
	.endm

/* fpu_save(state), fpu_load(state): the CPU must not trap these registers. */
	.globl	fpu_save
	.type	fpu_save, %function
fpu_save:
	mrs	x9, fpcr
	mrs	x10, fpsr
	stp	x9, x10, [x0, #FPU_FPCR]
	all_pairs stp
	ret
	.size	fpu_save, . - fpu_save

	.globl	fpu_load
	.type	fpu_load, %function
fpu_load:
	ldp	x9, x10, [x0, #FPU_FPCR]
	msr	fpcr, x9
	msr	fpsr, x10
	all_pairs ldp
	ret
	.size	fpu_load, . - fpu_load
