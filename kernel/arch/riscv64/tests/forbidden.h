/* SPDX-License-Identifier: MIT */
/* forbidden.h - what a program in user mode may not do on riscv64: for kernel/tests/user/crash.c. */
#ifndef RISCV64_TESTS_FORBIDDEN_H
#define RISCV64_TESTS_FORBIDDEN_H

#define KERNEL_DATA   0xffff800040000000
#define KERNEL_SHADOW 0xfffff00010000000
#define KERNEL_CODE   0xffffffff90000000

#define RETURN_INSNS	 0x8082808280828082
#define CALL_INSN	 "jalr"
#define RETURN_REGISTER	 "ra"
#define SCRATCH_REGISTER "t0"

/* No pc can be misaligned. An access of this kind cannot be either. */
#define FORBIDDEN_INSNS                                                                           \
	FORBIDDEN("misaligned-pc", "addi t0, sp, 1\n\tlr.d t0, (t0)")                             \
	FORBIDDEN("undefined", ".2byte 0")                                                        \
	FORBIDDEN("breakpoint", "ebreak")                                                         \
	FORBIDDEN("system-register", "csrw satp, zero")                                           \
	FORBIDDEN("mask-interrupts", "csrci sstatus, 2")                                          \
	FORBIDDEN("timer", "csrr t0, 0x14d")                                                      \
	FORBIDDEN("floating-point", "fmv.d.x ft0, zero")                                          \
	FORBIDDEN("hypercall", "sret")                                                            \
	FORBIDDEN(                                                                                \
		"semihosting",                                                                    \
		".option push\n\t.option norvc\n\tslli zero, zero, 0x1f\n\tebreak\n\tsrai zero, " \
		"zero, 7\n\t.option pop")

#endif
