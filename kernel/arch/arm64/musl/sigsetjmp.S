/* SPDX-License-Identifier: MIT */
/*
 * sigsetjmp.S - sigsetjmp() of the C library over the kernel's setjmp(), and the other names of that and of
 * longjmp().
 *
 * The kernel's setjmp() uses the first 184 bytes of the buffer. The signal mask is in the 8 bytes after them, where
 * the library's __sigsetjmp_tail() puts it. What this function needs after its setjmp() returned, once or again, lies
 * after that.
 */
#define SAVED_X19 192
#define SAVED_X30 200

	.text
	.globl	sigsetjmp, __sigsetjmp
	.hidden	__sigsetjmp_tail
	.type	sigsetjmp, %function
	.type	__sigsetjmp, %function
	.p2align 2
sigsetjmp:
__sigsetjmp:
	cbnz	w1, 1f
	/* A conditional branch does not reach the whole kernel. */
	b	setjmp
1:
	str	x19, [x0, #SAVED_X19]
	str	x30, [x0, #SAVED_X30]
	mov	x19, x0
	bl	setjmp
	mov	w1, w0
	mov	x0, x19
	ldr	x30, [x0, #SAVED_X30]
	ldr	x19, [x0, #SAVED_X19]
	b	__sigsetjmp_tail
	.size	sigsetjmp, . - sigsetjmp
	.size	__sigsetjmp, . - __sigsetjmp

	.macro	other_name name, target
	.globl	\name
	.type	\name, %function
\name:
	b	\target
	.size	\name, . - \name
	.endm

	other_name _setjmp, setjmp
	other_name __setjmp, setjmp
	other_name _longjmp, longjmp

	.section .note.GNU-stack, "", %progbits
