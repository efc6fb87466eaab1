/* SPDX-License-Identifier: MIT */
/* bug.h - the trap behind BUG(), and the immediates of BRK that the fault handler tells apart. */
#ifndef ASM_BUG_H
#define ASM_BUG_H

#define BRK_IMM_BUG   0x800 /* BUG(): its text was printed before the trap */
#define BRK_IMM_CLANG 0x1   /* Clang's __builtin_trap() */
#define BRK_IMM_GCC   0x3e8 /* GCC's __builtin_trap() */

/* Keeps all registers as they are, so that the dump shows what the code had. Does not return. */
#define arch_bug()                                  \
	do {                                        \
		__asm__ __volatile__("brk #0x800"); \
		__builtin_unreachable();            \
	} while (0)

#endif
