/* SPDX-License-Identifier: MIT */
/* forbidden.h - what a program in user mode may not do on arm64: for kernel/tests/user/crash.c. */
#ifndef ARM64_TESTS_FORBIDDEN_H
#define ARM64_TESTS_FORBIDDEN_H

#define KERNEL_DATA   0xffff000040000000
#define KERNEL_SHADOW 0xffff700010000000
#define KERNEL_CODE   0xffff800080000000

#define RETURN_INSNS	 0xd65f03c0d65f03c0
#define CALL_INSN	 "blr"
#define RETURN_REGISTER	 "x30"
#define SCRATCH_REGISTER "x9"

#define FORBIDDEN_INSNS                                            \
	FORBIDDEN("misaligned-pc", "adr x9, . + 2\n\tbr x9")       \
	FORBIDDEN("undefined", ".inst 0")                          \
	FORBIDDEN("breakpoint", "brk #7")                          \
	FORBIDDEN("system-register", "msr ttbr0_el1, xzr")         \
	FORBIDDEN("mask-interrupts", "msr daifset, #2")            \
	FORBIDDEN("timer", "mrs x9, cntv_ctl_el0")                 \
	FORBIDDEN("floating-point", ".inst 0x9e6703e0") /* fmov */ \
	FORBIDDEN("hypercall", "hvc #0")                           \
	FORBIDDEN("semihosting", "hlt #0xf000")

#endif
