/* SPDX-License-Identifier: MIT */
/*
 * setjmp.S - setjmp() and longjmp() for riscv64: the registers that a call must keep.
 *
 * Layout of jmp_buf, which is musl's: s0..s11 at 0, sp at 96, ra at 104, fs0..fs11 at 112. With a shadow call stack s11 is
 * `current`, and its place has that in the shadow call stack, relative to its slot, so that no program learns where it is or
 * moves gp to other memory. Both functions need a thread that may
 * use floating point: see <kernel/fpu.h>. longjmp() first has the stack between here and the target unpoisoned,
 * while it still stands below the frames that it will skip.
 */
#include <asm/scs.h>

#define JB_S11 88

	.text

	.macro	each_register integer, float
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
	\integer	s\n, 8 * \n(a0)
	.endr
#ifndef CONFIG_SHADOW_CALL_STACK
	\integer	s11, JB_S11(a0)
#endif
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	\float	fs\n, 112 + 8 * \n(a0)
	.endr
	.endm

	/* What is left of \from of a pointer: its place in a slot. */
	.macro	place_in_slot to, from
	slli	\to, \from, 64 - SCS_SHIFT
	srli	\to, \to, 64 - SCS_SHIFT
	.endm

	.globl	setjmp
	.type	setjmp, %function
	.p2align 1
setjmp:
	each_register sd, fsd
	sd	sp, 96(a0)
	sd	ra, 104(a0)
#ifdef CONFIG_SHADOW_CALL_STACK
	place_in_slot t0, gp
	sd	t0, JB_S11(a0)
#endif
	li	a0, 0
	ret
	.size	setjmp, . - setjmp

	.globl	longjmp
	.type	longjmp, %function
	.p2align 1
longjmp:
#ifdef CONFIG_SHADOW_CALL_STACK
	/* So that the call below has a whole trace; there is no return to it. */
	sd	ra, 0(gp)
	addi	gp, gp, 8
#endif
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
#ifdef CONFIG_SHADOW_CALL_STACK
	/* In one step: an interrupt may push at any time. */
	ld	t0, JB_S11(a0)
	place_in_slot t0, t0
	srli	t1, gp, SCS_SHIFT
	slli	t1, t1, SCS_SHIFT
	or	gp, t1, t0
#endif
	/* The second return of setjmp() is never 0. */
	seqz	a0, a1
	addw	a0, a0, a1
	ret
	.size	longjmp, . - longjmp

	.section .note.GNU-stack, "", %progbits
