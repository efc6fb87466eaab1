/* SPDX-License-Identifier: MIT */
/*
 * kallsyms_empty.S - the symbol table of the first link pass. It is empty and weak, so that
 * in the second pass the table that tools/build-scripts/kallsyms.py makes replaces it.
 *
 * In assembly, because a compiler that sees the value of a constant uses it, even if the symbol is
 * weak.
 */
	.section .kallsyms, "a", %progbits
	.weak	kallsyms_num, kallsyms_offsets, kallsyms_name_offsets, kallsyms_names
	.weak	ksymtab_num, ksymtab_addresses, ksymtab_name_offsets, ksymtab_names
	.weak	kvars_num, kvars_offsets, kvars_name_offsets, kvars_names
	/* Symbols without a type would be taken for code, so these are objects. */
	.type	kallsyms_num, %object
	.type	kallsyms_offsets, %object
	.type	kallsyms_name_offsets, %object
	.type	kallsyms_names, %object
	.type	ksymtab_num, %object
	.type	ksymtab_addresses, %object
	.type	ksymtab_name_offsets, %object
	.type	ksymtab_names, %object
	.type	kvars_num, %object
	.type	kvars_offsets, %object
	.type	kvars_name_offsets, %object
	.type	kvars_names, %object
	.balign	8
ksymtab_addresses:
kallsyms_num:
ksymtab_num:
kvars_num:
kvars_offsets:
kvars_name_offsets:
kallsyms_offsets:
kallsyms_name_offsets:
ksymtab_name_offsets:
	.long	0
kallsyms_names:
ksymtab_names:
kvars_names:
	.byte	0
	.section .note.GNU-stack, "", %progbits
