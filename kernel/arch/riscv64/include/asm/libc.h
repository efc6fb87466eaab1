/* SPDX-License-Identifier: MIT */
/* libc.h - what programs see of the machine in Linux's interface: numbers and layouts that differ between architectures. */
#ifndef ASM_LIBC_H
#define ASM_LIBC_H

#include <kernel/program.h>
#include <kernel/types.h>

/* The smallest alternate stack that Linux accepts. */
#define ARCH_MINSIGSTKSZ 2048

#define ARCH_O_DIRECTORY 0200000U

/** struct libc_ucontext - Linux's ucontext_t: what a handler of signals sees of the interrupted thread */
struct libc_ucontext {
	u64 flags;
	void *link;
	struct libc_stack stack;
	u64 mask[16];
	/* mcontext_t. regs[0] is the pc; then x1 to x31. */
	u64 regs[32] __aligned(16);
	u64 f[32] __aligned(16);
	u32 fcsr;
	/* Linux's union has room for registers of 128 bits. */
	u8 rest[528 - 260];
} __aligned(16);

_Static_assert(sizeof(struct libc_ucontext) == 960, "Linux's size");
_Static_assert(offsetof(struct libc_ucontext, regs) == 176, "Linux's place");
_Static_assert(offsetof(struct libc_ucontext, f) == 432, "Linux's place");

#endif
