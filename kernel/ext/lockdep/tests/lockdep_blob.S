/* SPDX-License-Identifier: MIT */
/* lockdep_blob.S - the file of the module that the suites lockdep_* load. */
	.section .rodata.modules, "a", %progbits
	.globl	module_lock_start, module_lock_end
module_lock_start:
	.incbin	MODULE_LOCK_FILE
module_lock_end:
	.byte	0
	.section .note.GNU-stack, "", %progbits
