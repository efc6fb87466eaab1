/* SPDX-License-Identifier: MIT */
/* stackleak_leave.S - how the suite stackleak leaves a task's stack for another one before it is erased. */
	.text

/*
 * stackleak_leave(top, erase, check): continue on the stack below top: call erase(), then check(), which does not
 * return. Nothing on the old stack is needed any more.
 */
	.globl	stackleak_leave
	.type	stackleak_leave, %function
stackleak_leave:
	mv	sp, a0
	mv	s0, zero
	mv	s1, a2
	jalr	a1
	jalr	s1
	unimp
	.size	stackleak_leave, . - stackleak_leave

	.section .note.GNU-stack, "", %progbits
