/* SPDX-License-Identifier: MIT */
/* user_blob.S - the program that the benchmark runs in user mode, as a file inside its kernel. The
 * path comes from cmake/Kernel.cmake. */
	.section .rodata
	.balign	8
	.globl	user_bench_image, user_bench_image_end
user_bench_image:
	.incbin	USER_BENCH_FILE
user_bench_image_end:
