/* SPDX-License-Identifier: MIT */
/* spin.S - a function that an interrupt always finds at its first instruction. */
	.text
	.globl	spin_in_place
	.type	spin_in_place, %function
spin_in_place:
	j	spin_in_place
	.size	spin_in_place, . - spin_in_place

	.section .note.GNU-stack, "", %progbits
