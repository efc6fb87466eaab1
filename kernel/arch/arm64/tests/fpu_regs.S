/* SPDX-License-Identifier: MIT */
/*
 * fpu_regs.S - for kernel/tests/fpu_test.c: fills and compares all floating-point registers. In assembly, so that no
 * compiler uses some of them in between.
 */
	.arch	armv8-a+fp+simd
	.text

/* FPCR's rounding mode, and FPSR's five exception flags. */
#define RMODE_SHIFT 22
#define FLAGS_MASK  0x1f

	/* x9, x10: what the two halves of register \n hold. Clobbers them and x12. */
	.macro	pattern n
	add	x9, x0, #\n
	mov	x12, #0x9e37
	movk	x12, #0x79b9, lsl #32
	mul	x9, x9, x12
	mvn	x10, x9
	.endm

	.macro	fill n
	pattern	\n
	fmov	d\n, x9
	mov	v\n\().d[1], x10
	.endm

	/* x11 collects the bits that differ. */
	.macro	compare n
	pattern	\n
	mov	x12, v\n\().d[0]
	eor	x9, x9, x12
	orr	x11, x11, x9
	mov	x12, v\n\().d[1]
	eor	x10, x10, x12
	orr	x11, x11, x10
	.endm

	.macro	each_register action
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\action	\n
	.endr
	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\action	\n
	.endr
	.endm

/*
 * fpu_regs_hold(seed, hold): fill all registers with values that depend on the seed, and compare them until hold->stop
 * is set. Each round adds 1 to hold->rounds, and sets the bit of this CPU in hold->seen. Return: the bits that differed
 * in any round. Its caller uses no such register.
 */
	.globl	fpu_regs_hold
	.type	fpu_regs_hold, %function
fpu_regs_hold:
	each_register fill
	and	x13, x0, #3
	lsl	x13, x13, #RMODE_SHIFT
	and	x14, x0, #FLAGS_MASK
	msr	fpcr, x13
	msr	fpsr, x14
	mov	x11, #0
1:	each_register compare
	mrs	x9, fpcr
	eor	x9, x9, x13
	orr	x11, x11, x9
	mrs	x9, fpsr
	eor	x9, x9, x14
	orr	x11, x11, x9
	ldr	x9, [x1, #8]
	add	x9, x9, #1
	str	x9, [x1, #8]
	mrs	x9, tpidr_el1
	mov	x10, #1
	lsl	x10, x10, x9
	ldr	x9, [x1, #16]
	orr	x9, x9, x10
	str	x9, [x1, #16]
	ldr	x9, [x1]
	cbz	x9, 1b
	msr	fpcr, xzr
	mov	x0, x11
	ret
	.size	fpu_regs_hold, . - fpu_regs_hold

/* fpu_regs_bits(): the bits that are set in any register; FPCR and FPSR as well. */
	.globl	fpu_regs_bits
	.type	fpu_regs_bits, %function
fpu_regs_bits:
	mrs	x0, fpcr
	mrs	x1, fpsr
	orr	x0, x0, x1
	.macro	collect n
	mov	x1, v\n\().d[0]
	mov	x2, v\n\().d[1]
	orr	x0, x0, x1
	orr	x0, x0, x2
	.endm
	each_register collect
	ret
	.size	fpu_regs_bits, . - fpu_regs_bits

/*
 * fpu_regs_jump(env): setjmp() with values in the registers that a call must keep, others there, and longjmp(). Return:
 * the bits that differ then.
 */
	.globl	fpu_regs_jump
	.type	fpu_regs_jump, %function
fpu_regs_jump:
	stp	x29, x30, [sp, #-32]!
	mov	x29, sp
	str	x0, [sp, #16]
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	fill	\n
	.endr
	mov	x9, #(1 << RMODE_SHIFT)
	msr	fpcr, x9
	bl	setjmp
	cbnz	w0, 1f
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	movi	v\n\().2d, #0
	.endr
	msr	fpcr, xzr
	ldr	x0, [sp, #16]
	mov	w1, #1
	bl	longjmp
1:	ldr	x0, [sp, #16]
	mrs	x11, fpcr
	eor	x11, x11, #(1 << RMODE_SHIFT)
	/* The upper halves need not be kept. */
	.macro	compare_low n
	pattern	\n
	fmov	x12, d\n
	eor	x9, x9, x12
	orr	x11, x11, x9
	.endm
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	compare_low \n
	.endr
	msr	fpcr, xzr
	mov	x0, x11
	ldp	x29, x30, [sp], #32
	ret
	.size	fpu_regs_jump, . - fpu_regs_jump

	.section .note.GNU-stack, "", %progbits
