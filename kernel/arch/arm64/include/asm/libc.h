/* SPDX-License-Identifier: MIT */
/* libc.h - what programs see of the machine in Linux's interface: numbers and layouts that differ between architectures. */
#ifndef ASM_LIBC_H
#define ASM_LIBC_H

#include <kernel/program.h>
#include <kernel/types.h>

/* The smallest alternate stack that Linux accepts. */
#define ARCH_MINSIGSTKSZ 5120

#define ARCH_O_DIRECTORY 040000U

#define FPSIMD_SIZE 528

/** struct libc_ucontext - Linux's ucontext_t: what a handler of signals sees of the interrupted thread */
struct libc_ucontext {
	u64 flags;
	void *link;
	struct libc_stack stack;
	u64 mask[16];
	/* mcontext_t */
	u64 fault_address __aligned(16);
	u64 regs[31];
	u64 sp, pc, pstate;
	struct {
		u32 magic, size, fpsr, fpcr;
		u64 v[64];
	} fpsimd __aligned(16);
	u8 rest[4096 - FPSIMD_SIZE];
} __aligned(16);

_Static_assert(sizeof(struct libc_ucontext) == 4560, "Linux's size");
_Static_assert(offsetof(struct libc_ucontext, fault_address) == 176, "Linux's place");
_Static_assert(offsetof(struct libc_ucontext, fpsimd) == 464, "Linux's place");

#endif
