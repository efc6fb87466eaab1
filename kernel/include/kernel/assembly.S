/* SPDX-License-Identifier: MIT */
/*
 * assembly.S - macros for the assembly of every architecture.
 */

/* A function that C calls starts here, and ends. */
	.macro	function name
	.globl	\name
	.type	\name, %function
	.balign	16
\name:
	.endm

	.macro	end_function name
	.size	\name, . - \name
	.endm

/* An access that may fault, nearly always one to user memory; after a fault execution continues at \fixup. */
	.macro	user fixup, insn:vararg
.Luser\@:
	\insn
	.pushsection .rodata.ex_table, "a", %progbits
	.balign	4
	.long	.Luser\@ - ., \fixup - .
	.popsection
	.endm
