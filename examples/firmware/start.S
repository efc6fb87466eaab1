/* SPDX-License-Identifier: MIT */
/* start.S - entry: a stack, and an end for traces; then start(). QEMU's RAM is zero, and so is .bss. */
	.section .text.start, "ax"
	.globl	_start
_start:
	la	sp, stack_end
	mv	s0, zero
	mv	ra, zero
	call	start
