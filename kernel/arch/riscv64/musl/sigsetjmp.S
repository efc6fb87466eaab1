/* SPDX-License-Identifier: MIT */
/*
 * sigsetjmp.S - sigsetjmp() of the C library over the kernel's setjmp(), and the other names of that and of
 * longjmp().
 *
 * The kernel's setjmp() uses the first 208 bytes of the buffer. The signal mask is in the 8 bytes from 216 on, where
 * the library's __sigsetjmp_tail() puts it. What this function needs after its setjmp() returned, once or again, lies
 * around it.
 */
#define SAVED_RA 208
#define SAVED_S0 224

	.text
	.globl	sigsetjmp, __sigsetjmp
	.hidden	__sigsetjmp_tail
	.type	sigsetjmp, %function
	.type	__sigsetjmp, %function
	.p2align 1
sigsetjmp:
__sigsetjmp:
	bnez	a1, 1f
	tail	setjmp
1:
	sd	ra, SAVED_RA(a0)
	sd	s0, SAVED_S0(a0)
	mv	s0, a0
	call	setjmp
	mv	a1, a0
	mv	a0, s0
	ld	s0, SAVED_S0(a0)
	ld	ra, SAVED_RA(a0)
	tail	__sigsetjmp_tail
	.size	sigsetjmp, . - sigsetjmp
	.size	__sigsetjmp, . - __sigsetjmp

	.macro	other_name name, target
	.globl	\name
	.type	\name, %function
\name:
	tail	\target
	.size	\name, . - \name
	.endm

	other_name _setjmp, setjmp
	other_name __setjmp, setjmp
	other_name _longjmp, longjmp

	.section .note.GNU-stack, "", %progbits
