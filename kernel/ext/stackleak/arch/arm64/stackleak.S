/* SPDX-License-Identifier: MIT */
/*
 * stackleak.S - erases the used part of the task's kernel stack, and notes how deep it was.
 *
 * All of it is assembly that uses registers only: what runs between the erasing and user mode must leave nothing on
 * the stack, and no checks and no shadow call stack may run on a stack that is being erased. KASAN's shadow is
 * neither read nor changed. It describes variables of frames, and those below the stack pointer are gone.
 *
 * <kernel/stackleak.h> has the interface.
 */
#include <ext/stackleak.h>
#include <kernel/assembly.S>

#ifdef CONFIG_KSTACK_ERASE

/* Set Z if the 64 bytes at \at are poison, x4. Adds 64 to \at. Clobbers x8 to x15. */
	.macro	compare_block at
	ldp	x10, x11, [\at, #16]
	ldp	x12, x13, [\at, #32]
	ldp	x14, x15, [\at, #48]
	ldp	x8, x9, [\at], #64
	cmp	x8, x4
	ccmp	x9, x4, #0, eq
	ccmp	x10, x4, #0, eq
	ccmp	x11, x4, #0, eq
	ccmp	x12, x4, #0, eq
	ccmp	x13, x4, #0, eq
	ccmp	x14, x4, #0, eq
	ccmp	x15, x4, #0, eq
	.endm

	.text

/*
 * stackleak_erase(): like one of the two below, which one depends on the stack pointer. Clobbers x0 to x16.
 */
	function stackleak_erase
	mrs	x0, sp_el0
	ldp	x2, x3, [x0, #TASK_STACK]
	mov	x1, sp
	sub	x4, x1, x2
	cmp	x4, x3
	b.lo	erase_below
	b	stackleak_erase_off_task_stack
end_function stackleak_erase

/* stackleak_erase_off_task_stack(): the caller is on another stack, so all of the task's is free. */
	function stackleak_erase_off_task_stack
	mrs	x0, sp_el0
	ldp	x2, x3, [x0, #TASK_STACK]
	add	x1, x2, x3
	sub	x1, x1, #(STACK_TOP_RESERVED + PT_REGS_SIZE)
	b	erase_below
end_function stackleak_erase_off_task_stack

/* stackleak_erase_on_task_stack(): the caller is on the task's stack, which is free below the stack pointer. */
	function stackleak_erase_on_task_stack
	mrs	x0, sp_el0
	mov	x1, sp
	/* Continues below. */
end_function stackleak_erase_on_task_stack

/*
 * erase_below: x0: the task, x1: the end of the free part, a multiple of 16. Everything that was used in
 * [low boundary, x1) becomes poison. Blocks of 64 bytes count as a whole.
 */
	.type	erase_below, %function
erase_below:
	ldp	x2, x16, [x0, #TASK_STACK]
	ldr	x3, [x0, #TASK_LOWEST_STACK]
	ldr	x4, =STACK_POISON
	/* From here on downwards, at the least, the stack may have been used. A value that is out of bounds counts
	 * as the nearer bound. */
	cmp	x3, x1
	csel	x3, x3, x1, lo
	cmp	x3, x2
	csel	x3, x3, x2, hs
	bic	x5, x3, #63		/* the lowest block that was used */
#ifdef CONFIG_KSTACK_ERASE_PROBED
	/*
	 * Look for the lowest used block less than KSTACK_GAP below x5, from below, and then below that, until the
	 * gap below x5 is long enough. [x7, x5) is known to be poison, so each block is read once at most, and most of
	 * those that were used are not read at all.
	 */
	mov	x7, x5
1:	sub	x6, x5, #KSTACK_GAP
	cmp	x6, x2
	csel	x6, x6, x2, hs
	mov	x3, x6
	cmp	x3, x7
	b.hs	3f
2:	compare_block x3
	b.ne	4f
	cmp	x3, x7
	b.lo	2b
	b	3f
4:	sub	x5, x3, #64
	mov	x7, x6
	b	1b
3:
#else
	/* From the low boundary upwards, to the first block that is not poison. */
	mov	x6, x2
	cmp	x6, x5
	b.hs	3f
2:	compare_block x6
	b.ne	4f
	cmp	x6, x5
	b.lo	2b
	b	3f
4:	sub	x5, x6, #64
3:
#endif
	/* The high boundary is the lowest_stack of a stack that has not been used. */
	add	x7, x2, x16
	sub	x7, x7, #(STACK_TOP_RESERVED + PT_REGS_SIZE)
	stp	x7, x5, [x0, #TASK_LOWEST_STACK]
	subs	x6, x1, x5
	b.ls	7f
	subs	x6, x6, #64
	b.lo	5f
4:	stp	x4, x4, [x5, #16]
	stp	x4, x4, [x5, #32]
	stp	x4, x4, [x5, #48]
	stp	x4, x4, [x5], #64
	subs	x6, x6, #64
	b.hs	4b
5:	tbz	x6, #5, 6f
	stp	x4, x4, [x5, #16]
	stp	x4, x4, [x5], #32
6:	tbz	x6, #4, 7f
	stp	x4, x4, [x5]
7:	ret
	.size	erase_below, . - erase_below
	.ltorg

#ifdef CONFIG_KSTACK_ERASE_CALLBACK
/*
 * __sanitizer_cov_stack_depth(): Clang calls it in functions that take much of the stack. An interrupt between the load
 * and the store may have gone deeper: the search in erase_below finds that.
 */
	function __sanitizer_cov_stack_depth
	mrs	x16, sp_el0
	mov	x17, sp
	ldr	x15, [x16, #TASK_LOWEST_STACK]
	cmp	x17, x15
	b.hs	1f
	str	x17, [x16, #TASK_LOWEST_STACK]
1:	ret
end_function __sanitizer_cov_stack_depth
#endif

#endif
