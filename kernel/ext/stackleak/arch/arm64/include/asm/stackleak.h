/* SPDX-License-Identifier: MIT */
/*
 * stackleak.h - constants of stack erasing, for assembly and C. <kernel/stackleak.h> explains them.
 */
#ifndef ASM_STACKLEAK_H
#define ASM_STACKLEAK_H

#include <asm/memory.h>
#include <asm/ptrace.h>

/*
 * The value of erased words. As a pointer it is neither a user's nor the kernel's: bits 48 to 55 are neither all
 * zero nor all one, so an access faults whether or not the CPU ignores the top byte.
 */
#define STACK_POISON _AC_UL(0x57ace4a5ed57ace4)

/* Bytes between a kernel stack's register frame of user mode and its top: see user.S. */
#define STACK_TOP_RESERVED 16

#ifdef CONFIG_KSTACK_ERASE_PROBED
/*
 * Every function stores its frame record at the top of its frame. Clang writes no other word in a frame of less than
 * 512 bytes, and otherwise one in each CONFIG_KSTACK_PROBE_SIZE bytes that a function takes from the stack. The longest
 * gap is such a frame with alloca() below it, whose first word is written at the end of its first piece; the last
 * summand is for frames that are aligned. So this many bytes of poison on end lie below all that was used.
 */
#define KSTACK_GAP (512 + CONFIG_KSTACK_PROBE_SIZE + 128)
#endif

/* Offset in struct task. */
#ifdef CONFIG_SHADOW_CALL_STACK
#define TASK_LOWEST_STACK 120
#else
#define TASK_LOWEST_STACK 104
#endif

#endif
