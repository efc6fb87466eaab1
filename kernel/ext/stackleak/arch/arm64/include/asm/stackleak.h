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

/* stackleak_mode */
#define STACK_ERASING_OFF     0
#define STACK_ERASING_ON      1 /* the way back to user mode knows that it is on the task's stack */
#define STACK_ERASING_GENERIC 2 /* it asks stackleak_erase(), which finds that out */

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

/* Offsets in struct task. */
#ifdef CONFIG_SHADOW_CALL_STACK
#define TASK_LOWEST_STACK 120
#else
#define TASK_LOWEST_STACK 104
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
