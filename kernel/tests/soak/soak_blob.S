/* SPDX-License-Identifier: MIT */
/* soak_blob.S - the file of the module that modules.c loads. */
	.section .rodata.soak, "a", %progbits
	.globl	soak_module_start, soak_module_end
soak_module_start:
	.incbin	MODULE_SOAK_FILE
soak_module_end:
	.byte	0
	.section .note.GNU-stack, "", %progbits
