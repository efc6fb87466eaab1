/* SPDX-License-Identifier: MIT */
/*
 * fpu_regs.S - for kernel/tests/fpu_test.c: fills and compares all floating-point registers. In assembly, so that no
 * compiler uses some of them in between.
 */
#include <asm/current.h>
#include <asm/switch.h>

	.text

	/* t0: what register \n holds. t1 is a constant, the seed is in a0. */
	.macro	pattern n
	addi	t0, a0, \n
	mul	t0, t0, t1
	.endm

	.macro	fill n
	pattern	\n
	fmv.d.x	f\n, t0
	.endm

	/* t2 collects the bits that differ. */
	.macro	compare n
	pattern	\n
	fmv.x.d	t3, f\n
	xor	t3, t3, t0
	or	t2, t2, t3
	.endm

	.macro	each_register action
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\action	\n
	.endr
	.irp	n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\action	\n
	.endr
	.endm

	.macro	each_kept action
	.irp	n, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
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
	li	t1, 0x79b900009e37
	each_register fill
	/* Rounding mode and flags. */
	andi	t4, a0, 0x7f
	fscsr	t4
	li	t2, 0
1:	each_register compare
	frcsr	t0
	xor	t0, t0, t4
	or	t2, t2, t0
	ld	t0, 8(a1)
	addi	t0, t0, 1
	sd	t0, 8(a1)
	ld	t0, CTX_CPU(CURRENT)
	li	t3, 1
	sll	t3, t3, t0
	ld	t0, 16(a1)
	or	t0, t0, t3
	sd	t0, 16(a1)
	ld	t0, 0(a1)
	beqz	t0, 1b
	fscsr	zero
	mv	a0, t2
	ret
	.size	fpu_regs_hold, . - fpu_regs_hold

	.macro	collect n
	fmv.x.d	t0, f\n
	or	a0, a0, t0
	.endm

/* fpu_regs_bits(): the bits that are set in any register; fcsr as well. */
	.globl	fpu_regs_bits
	.type	fpu_regs_bits, %function
fpu_regs_bits:
	frcsr	a0
	each_register collect
	ret
	.size	fpu_regs_bits, . - fpu_regs_bits

	.macro	clear n
	fmv.d.x	f\n, zero
	.endm

/*
 * fpu_regs_jump(env): setjmp() with values in the registers that a call must keep, others there, and longjmp(). Return:
 * the bits that differ then.
 */
	.globl	fpu_regs_jump
	.type	fpu_regs_jump, %function
fpu_regs_jump:
	addi	sp, sp, -32
	sd	ra, 24(sp)
	sd	s0, 16(sp)
	addi	s0, sp, 32
	sd	a0, 0(sp)
	li	t1, 0x79b900009e37
	each_kept fill
	call	setjmp
	bnez	a0, 1f
	each_kept clear
	ld	a0, 0(sp)
	li	a1, 1
	call	longjmp
1:	ld	a0, 0(sp)
	li	t1, 0x79b900009e37
	li	t2, 0
	each_kept compare
	mv	a0, t2
	ld	ra, 24(sp)
	ld	s0, 16(sp)
	addi	sp, sp, 32
	ret
	.size	fpu_regs_jump, . - fpu_regs_jump

	.section .note.GNU-stack, "", %progbits
