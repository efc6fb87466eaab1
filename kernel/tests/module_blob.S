/* SPDX-License-Identifier: MIT */
/* module_blob.S - the files of the modules that module_test.c loads. */
	.section .rodata.modules, "a", %progbits
	.globl	module_sample_start, module_sample_end, module_user_start, module_user_end
	/* Not aligned, like files in an archive. */
	.balign	8
	.byte	0
module_sample_start:
	.incbin	MODULE_SAMPLE_FILE
module_sample_end:
	.byte	0
module_user_start:
	.incbin	MODULE_USER_FILE
module_user_end:
	.byte	0
	.section .note.GNU-stack, "", %progbits
