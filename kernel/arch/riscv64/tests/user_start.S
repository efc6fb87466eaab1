/* SPDX-License-Identifier: MIT */
/* user_start.S - the start of a program in user mode, and a loop over all its registers. */
	.text

	.globl	_start
	.type	_start, %function
_start:
	mv	s0, zero
	mv	ra, zero
	mv	a0, sp
	call	user_start
	ebreak
	.size	_start, . - _start

/* All registers but sp, and t0 and a0, which the loop uses. */
	.macro	each_register action
	.irp	n, 1, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19
	\action	\n
	.endr
	.irp	n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	\action	\n
	.endr
	.endm

	.macro	set n
	li	x\n, 0x100 + \n
	.endm

	.macro	check n
	li	t0, 0x100 + \n
	bne	x\n, t0, 9f
	.endm

/*
 * long check_registers(unsigned long rounds): give every register its own value, and check that it keeps it
 * through interrupts (most rounds) and a system call (every 4096th). Returns 0 if all did.
 */
	.globl	check_registers
	.type	check_registers, %function
check_registers:
	addi	sp, sp, -128
	sd	ra, 120(sp)
	sd	s0, 112(sp)
	sd	gp, 104(sp)
	sd	tp, 96(sp)
	sd	s1, 88(sp)
	sd	s2, 80(sp)
	sd	s3, 72(sp)
	sd	s4, 64(sp)
	sd	s5, 56(sp)
	sd	s6, 48(sp)
	sd	s7, 40(sp)
	sd	s8, 32(sp)
	sd	s9, 24(sp)
	sd	s10, 16(sp)
	sd	s11, 8(sp)
	sd	a0, 0(sp)
	each_register set
1:	each_register check
	ld	a0, 0(sp)
	addi	a0, a0, -1
	sd	a0, 0(sp)
	beqz	a0, 8f
	slli	t0, a0, 52
	bnez	t0, 1b
	li	a7, 124			/* sched_yield */
	ecall
	set	17
	beqz	a0, 1b
9:	li	a0, 1
8:	ld	ra, 120(sp)
	ld	s0, 112(sp)
	ld	gp, 104(sp)
	ld	tp, 96(sp)
	ld	s1, 88(sp)
	ld	s2, 80(sp)
	ld	s3, 72(sp)
	ld	s4, 64(sp)
	ld	s5, 56(sp)
	ld	s6, 48(sp)
	ld	s7, 40(sp)
	ld	s8, 32(sp)
	ld	s9, 24(sp)
	ld	s10, 16(sp)
	ld	s11, 8(sp)
	addi	sp, sp, 128
	ret
	.size	check_registers, . - check_registers

	.section .note.GNU-stack, "", %progbits
