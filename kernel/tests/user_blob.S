/* SPDX-License-Identifier: MIT */
/* user_blob.S - the program that user_test.c runs in user mode, as a file inside the test kernel. The
 * path comes from cmake/Kernel.cmake. */
	.section .rodata
	.balign	8
	.globl	user_tests_image, user_tests_image_end
user_tests_image:
	.incbin	USER_TESTS_FILE
user_tests_image_end:
