/* SPDX-License-Identifier: MIT */
/*
 * setjmp.S - setjmp() and longjmp() for arm64: the registers that a call must keep.
 *
 * Layout of jmp_buf: x19..x28 at 0, x29 and x30 at 80, sp at 96; with a shadow call stack, at 104 the place in
 * it, relative to its slot, so that no program learns where it is or moves x18 to other memory; d8..d15 at 112, FPCR
 * at 176. Both functions need a thread that may use floating point: see <kernel/fpu.h>. longjmp() first has the stack
 * between here and the target unpoisoned, while it still stands below the frames that it will skip.
 */
#include <asm/scs.h>

	.arch	armv8-a+fp+simd
	.text

	.globl	setjmp
	.type	setjmp, %function
	.p2align 2
setjmp:
	stp	x19, x20, [x0, #0]
	stp	x21, x22, [x0, #16]
	stp	x23, x24, [x0, #32]
	stp	x25, x26, [x0, #48]
	stp	x27, x28, [x0, #64]
	stp	x29, x30, [x0, #80]
	mov	x9, sp
	str	x9, [x0, #96]
#ifdef CONFIG_SHADOW_CALL_STACK
	and	x9, x18, #(SCS_SIZE - 1)
	str	x9, [x0, #104]
#endif
	stp	d8, d9, [x0, #112]
	stp	d10, d11, [x0, #128]
	stp	d12, d13, [x0, #144]
	stp	d14, d15, [x0, #160]
	mrs	x9, fpcr
	str	x9, [x0, #176]
	mov	w0, wzr
	ret
	.size	setjmp, . - setjmp

	.globl	longjmp
	.type	longjmp, %function
	.p2align 2
longjmp:
#ifdef CONFIG_SHADOW_CALL_STACK
	/* So that the call below has a whole trace; there is no return to it. */
	str	x30, [x18], #8
#endif
	stp	x29, x30, [sp, #-32]!
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	ldr	x1, [x0, #96]
	mov	x0, sp
	bl	program_unpoison_frames
	ldp	x0, x1, [sp, #16]
	ldp	x19, x20, [x0, #0]
	ldp	x21, x22, [x0, #16]
	ldp	x23, x24, [x0, #32]
	ldp	x25, x26, [x0, #48]
	ldp	x27, x28, [x0, #64]
	ldp	x29, x30, [x0, #80]
	ldr	x9, [x0, #96]
	mov	sp, x9
#ifdef CONFIG_SHADOW_CALL_STACK
	ldr	x9, [x0, #104]
	bfi	x18, x9, #0, #SCS_SHIFT
#endif
	ldp	d8, d9, [x0, #112]
	ldp	d10, d11, [x0, #128]
	ldp	d12, d13, [x0, #144]
	ldp	d14, d15, [x0, #160]
	ldr	x9, [x0, #176]
	msr	fpcr, x9
	/* The second return of setjmp() is never 0. */
	cmp	w1, wzr
	csinc	w0, w1, wzr, ne
	ret
	.size	longjmp, . - longjmp

	.section .note.GNU-stack, "", %progbits
