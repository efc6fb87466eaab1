/* SPDX-License-Identifier: MIT */
/*
 * setjmp.S - setjmp() and longjmp() for arm64: the registers that a call must keep.
 *
 * Layout of jmp_buf: x19..x28 at 0, x29 and x30 at 80, sp at 96; with a shadow call stack, at 104 the place in
 * it, relative to its slot, so that no program learns where it is or moves x18 to other memory. longjmp() first has the stack between
 * here and the target unpoisoned, while it still stands below the frames that it will skip.
 */
#include <asm/scs.h>

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
	bl	ulib_unpoison_frames
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
	/* The second return of setjmp() is never 0. */
	cmp	w1, wzr
	csinc	w0, w1, wzr, ne
	ret
	.size	longjmp, . - longjmp

	.section .note.GNU-stack, "", %progbits
