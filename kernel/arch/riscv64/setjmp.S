/* SPDX-License-Identifier: MIT */
/*
 * setjmp.S - setjmp() and longjmp() for riscv64: the registers that a call must keep.
 *
 * Layout of jmp_buf, which is musl's: s0..s11 at 0, sp at 96, ra at 104, fs0..fs11 at 112. Both functions need a thread that may
 * use floating point: see <kernel/fpu.h>. longjmp() first has the stack between here and the target unpoisoned,
 * while it still stands below the frames that it will skip.
 */
	.text

	.macro	each_register integer, float
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	\integer	s\n, 8 * \n(a0)
	\float	fs\n, 112 + 8 * \n(a0)
	.endr
	.endm

	.globl	setjmp
	.type	setjmp, %function
	.p2align 1
setjmp:
	each_register sd, fsd
	sd	sp, 96(a0)
	sd	ra, 104(a0)
	li	a0, 0
	ret
	.size	setjmp, . - setjmp

	.globl	longjmp
	.type	longjmp, %function
	.p2align 1
longjmp:
	addi	sp, sp, -32
	sd	ra, 24(sp)
	sd	s0, 16(sp)
	addi	s0, sp, 32
	sd	a0, 0(sp)
	sd	a1, 8(sp)
	ld	a1, 96(a0)
	mv	a0, sp
	call	program_unpoison_frames
	ld	a0, 0(sp)
	ld	a1, 8(sp)
	each_register ld, fld
	ld	sp, 96(a0)
	ld	ra, 104(a0)
	/* The second return of setjmp() is never 0. */
	seqz	a0, a1
	addw	a0, a0, a1
	ret
	.size	longjmp, . - longjmp

	.section .note.GNU-stack, "", %progbits
