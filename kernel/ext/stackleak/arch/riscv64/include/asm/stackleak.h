/* SPDX-License-Identifier: MIT */
/*
 * stackleak.h - constants of stack erasing, for assembly and C. <kernel/stackleak.h> explains them.
 */
#ifndef ASM_STACKLEAK_H
#define ASM_STACKLEAK_H

#include <asm/memory.h>
#include <asm/ptrace.h>

/*
 * The value of erased words. As a pointer it is neither a user's nor the kernel's: bits 63 to 47 are not all the same, and
 * where the CPU ignores the highest 16 there is nothing at what is left, between vmalloc space and the shadow.
 */
#define STACK_POISON _AC_UL(0x57ace4a5ed57ace4)

/* Bytes between a kernel stack's register frame of user mode and its top. */
#define STACK_TOP_RESERVED 0

/* Offset in struct task. */
#ifdef CONFIG_SHADOW_CALL_STACK
#define TASK_LOWEST_STACK 200
#else
#define TASK_LOWEST_STACK 184
#endif

#endif
