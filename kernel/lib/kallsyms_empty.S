/* SPDX-License-Identifier: MIT */
/*
 * kallsyms_empty.S - the symbol table of the first link pass: empty, and weak, so that the table that
 * tools/kallsyms.py makes takes its place in the second.
 *
 * In assembly, because a compiler that sees the values of constants uses them, weak or not.
 */
	.section .kallsyms, "a", %progbits
	.weak	kallsyms_num, kallsyms_offsets, kallsyms_name_offsets, kallsyms_names
	.weak	ksymtab_num, ksymtab_addresses, ksymtab_name_offsets, ksymtab_names
	/* Objects: symbols without a type would be taken for code. */
	.type	kallsyms_num, %object
	.type	kallsyms_offsets, %object
	.type	kallsyms_name_offsets, %object
	.type	kallsyms_names, %object
	.type	ksymtab_num, %object
	.type	ksymtab_addresses, %object
	.type	ksymtab_name_offsets, %object
	.type	ksymtab_names, %object
	.balign	8
ksymtab_addresses:
kallsyms_num:
ksymtab_num:
kallsyms_offsets:
kallsyms_name_offsets:
ksymtab_name_offsets:
	.long	0
kallsyms_names:
ksymtab_names:
	.byte	0
	.section .note.GNU-stack, "", %progbits
