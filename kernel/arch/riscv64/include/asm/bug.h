/* SPDX-License-Identifier: MIT */
/* bug.h - the trap in BUG(), and what compilers put where code must not be reached. */
#ifndef ASM_BUG_H
#define ASM_BUG_H

#define INSN_EBREAK   0x00100073U /* GCC's __builtin_trap() */
#define INSN_C_EBREAK 0x9002U
#define INSN_UNIMP    0xc0001073U /* Clang's */
#define INSN_C_UNIMP  0x0000U

/* After the ebreak of a failed check by tags: addiw zero, a1, 0x40 + what the access was. */
#define INSN_HWASAN_MARK      0x0005801bU
#define INSN_HWASAN_MARK_MASK 0x000fffffU
#define HWASAN_MARK_BASE      0x40U
#define HWASAN_RECOVER	      0x20U
#define HWASAN_WRITE	      0x10U
#define HWASAN_SIZE_MASK      0x0fU /* a power of two */

/* After the ebreak of BUG(), which has printed its text before: lui zero, 0x800, which does nothing. */
#define INSN_BUG_MARK 0x00800037U

/* Changes no register, so that the dump shows those of the caller. Does not return. */
#define arch_bug()                                                              \
	do {                                                                    \
		__asm__ __volatile__(".4byte 0x00100073\n\t.4byte 0x00800037"); \
		__builtin_unreachable();                                        \
	} while (0)

#endif
