/* SPDX-License-Identifier: MIT */
/* bug.h - the trap in BUG(), and the BRK immediates that the fault handler knows. */
#ifndef ASM_BUG_H
#define ASM_BUG_H

#define BRK_IMM_BUG   0x800 /* BUG(), which has printed its text before */
#define BRK_IMM_CLANG 0x1   /* Clang's __builtin_trap() */
#define BRK_IMM_GCC   0x3e8 /* GCC's __builtin_trap() */

/* Clang's -fsanitize-trap: 0x5500 plus the number of the check. */
#define BRK_IMM_UBSAN	   0x5500
#define BRK_IMM_UBSAN_MASK 0xff00

/*
 * BRK immediates of Clang's inline checks by tags (kernel-hwaddress), with the address in x0: 0x900 plus
 * the kind of access. The code can continue: the access itself follows the check.
 */
#define BRK_IMM_HWASAN	     0x900
#define BRK_IMM_HWASAN_MASK  0xffffffc0
#define BRK_HWASAN_RECOVER   0x20
#define BRK_HWASAN_WRITE     0x10
#define BRK_HWASAN_SIZE_MASK 0x0f /* log2 of the bytes */

/* Changes no register, so that the dump shows those of the caller. Does not return. */
#define arch_bug()                                  \
	do {                                        \
		__asm__ __volatile__("brk #0x800"); \
		__builtin_unreachable();            \
	} while (0)

#endif
