/* SPDX-License-Identifier: MIT */
/* bug.h - the trap behind BUG(), and the immediates of BRK that the fault handler tells apart. */
#ifndef ASM_BUG_H
#define ASM_BUG_H

#define BRK_IMM_BUG   0x800 /* BUG(): its text was printed before the trap */
#define BRK_IMM_CLANG 0x1   /* Clang's __builtin_trap() */
#define BRK_IMM_GCC   0x3e8 /* GCC's __builtin_trap() */

/*
 * BRK immediates of Clang's inline checks by tags (kernel-hwaddress), x0 holding the address: 0x900, then what
 * was about to be done. Recoverable, the code behind the check is the access itself.
 */
#define BRK_IMM_HWASAN	     0x900
#define BRK_IMM_HWASAN_MASK  0xffffffc0
#define BRK_HWASAN_RECOVER   0x20
#define BRK_HWASAN_WRITE     0x10
#define BRK_HWASAN_SIZE_MASK 0x0f /* log2 of the bytes */

/* Keeps all registers as they are, so that the dump shows what the code had. Does not return. */
#define arch_bug()                                  \
	do {                                        \
		__asm__ __volatile__("brk #0x800"); \
		__builtin_unreachable();            \
	} while (0)

#endif
