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

/* stackleak_mode */
#define STACK_ERASING_OFF     0
#define STACK_ERASING_ON      1 /* the way back to user mode knows that it is on the task's stack */
#define STACK_ERASING_GENERIC 2 /* it asks stackleak_erase(), which finds that out */

/* Bytes between a kernel stack's register frame of user mode and its top. */
#define STACK_TOP_RESERVED 0

/* Offsets in struct task. */
#ifdef CONFIG_SHADOW_CALL_STACK
#define TASK_LOWEST_STACK 200
#else
#define TASK_LOWEST_STACK 184
#endif
#define TASK_PREV_LOWEST_STACK (TASK_LOWEST_STACK + 8)
#define TASK_STACK	       (TASK_LOWEST_STACK + 48)
#define TASK_STACK_SIZE	       (TASK_STACK + 8)

#ifndef __ASSEMBLER__
#include <kernel/task.h>

_Static_assert(offsetof(struct task, lowest_stack) == TASK_LOWEST_STACK, "for stackleak.S");
_Static_assert(offsetof(struct task, prev_lowest_stack) == TASK_PREV_LOWEST_STACK,
	       "for stackleak.S");
_Static_assert(offsetof(struct task, stack) == TASK_STACK, "for stackleak.S");
_Static_assert(offsetof(struct task, stack_size) == TASK_STACK_SIZE, "for stackleak.S");
#endif

#endif
