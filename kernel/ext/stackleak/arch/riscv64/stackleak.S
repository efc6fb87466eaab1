/* SPDX-License-Identifier: MIT */
/*
 * stackleak.S - erases the used part of the task's kernel stack, and notes how deep it was.
 *
 * All of it is assembly that uses registers only: what runs between the erasing and user mode must leave nothing on
 * the stack, and no checks and no shadow call stack may run on a stack that is being erased. KASAN's shadow is
 * neither read nor changed. It describes variables of frames, and those below the stack pointer are gone.
 *
 * <kernel/stackleak.h> has the interface. The depth is found by a search through the whole unused part: Clang 19 writes
 * nothing into the large frames of this architecture, so no gap ends a shorter one.
 */
#include <asm/current.h>
#include <ext/stackleak.h>
#include <kernel/assembly.S>

#ifdef CONFIG_KSTACK_ERASE

	.text

/*
 * stackleak_erase(): like one of the two below, which one depends on the stack pointer. Clobbers a0 to a7 and t0 to t6.
 */
	function stackleak_erase
	ld	a2, TASK_STACK(CURRENT)
	ld	a3, TASK_STACK_SIZE(CURRENT)
	mv	a1, sp
	sub	a4, a1, a2
	bltu	a4, a3, erase_below
	j	stackleak_erase_off_task_stack
end_function stackleak_erase

/* stackleak_erase_off_task_stack(): the caller is on another stack, so all of the task's is free. */
	function stackleak_erase_off_task_stack
	ld	a2, TASK_STACK(CURRENT)
	ld	a3, TASK_STACK_SIZE(CURRENT)
	add	a1, a2, a3
	addi	a1, a1, -(STACK_TOP_RESERVED + PT_REGS_SIZE)
	j	erase_below
end_function stackleak_erase_off_task_stack

/* stackleak_erase_on_task_stack(): the caller is on the task's stack, which is free below the stack pointer. */
	function stackleak_erase_on_task_stack
	mv	a1, sp
	/* Continues below. */
end_function stackleak_erase_on_task_stack

/*
 * erase_below: a1: the end of the free part, a multiple of 16. Everything that was used in [low boundary, a1) becomes poison.
 * Blocks of 64 bytes count as a whole.
 */
	.type	erase_below, %function
erase_below:
	ld	a2, TASK_STACK(CURRENT)
	ld	a3, TASK_LOWEST_STACK(CURRENT)
	li	a4, STACK_POISON
	/* From here on downwards, at the least, the stack may have been used. A value that is out of bounds counts
	 * as the nearer bound. */
	bltu	a3, a1, 1f
	mv	a3, a1
1:	bgeu	a3, a2, 2f
	mv	a3, a2
2:	andi	a3, a3, -64		/* the lowest block that was used */
	/* From the low boundary upwards, to the first block that is not poison. */
	mv	a5, a2
3:	bgeu	a5, a3, 5f
	ld	t0, 0(a5)
	ld	t1, 8(a5)
	ld	t2, 16(a5)
	ld	t3, 24(a5)
	ld	t4, 32(a5)
	ld	t5, 40(a5)
	ld	t6, 48(a5)
	ld	a6, 56(a5)
	bne	t0, a4, 4f
	bne	t1, a4, 4f
	bne	t2, a4, 4f
	bne	t3, a4, 4f
	bne	t4, a4, 4f
	bne	t5, a4, 4f
	bne	t6, a4, 4f
	bne	a6, a4, 4f
	addi	a5, a5, 64
	j	3b
4:	mv	a3, a5
5:	/* The high boundary is the lowest_stack of a stack that has not been used. */
	ld	a5, TASK_STACK_SIZE(CURRENT)
	add	a5, a5, a2
	addi	a5, a5, -(STACK_TOP_RESERVED + PT_REGS_SIZE)
	sd	a5, TASK_LOWEST_STACK(CURRENT)
	sd	a3, TASK_PREV_LOWEST_STACK(CURRENT)
	addi	a5, a1, -64
	bltu	a5, a3, 7f
6:	sd	a4, 0(a3)
	sd	a4, 8(a3)
	sd	a4, 16(a3)
	sd	a4, 24(a3)
	sd	a4, 32(a3)
	sd	a4, 40(a3)
	sd	a4, 48(a3)
	sd	a4, 56(a3)
	addi	a3, a3, 64
	bgeu	a5, a3, 6b
7:	bgeu	a3, a1, 8f
	sd	a4, 0(a3)
	sd	a4, 8(a3)
	addi	a3, a3, 16
	j	7b
8:	ret
	.size	erase_below, . - erase_below

#endif
