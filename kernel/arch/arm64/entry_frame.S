/* SPDX-License-Identifier: MIT */
/* entry_frame.S - macros for the register frame of an exception, for entry.S and user.S. */
#include <asm/ptrace.h>
#include <asm/scs.h>

/*
 * Build struct pt_regs at sp, which has been lowered already. The caller stores sp and lr of the
 * interrupted code. x29 then points to the frame record in the frame, so a frame pointer walk continues in
 * the interrupted code. Clobbers x22 to x25.
 */
	.macro	save_regs
	stp	x0, x1, [sp, #16 * 0]
	stp	x2, x3, [sp, #16 * 1]
	stp	x4, x5, [sp, #16 * 2]
	stp	x6, x7, [sp, #16 * 3]
	stp	x8, x9, [sp, #16 * 4]
	stp	x10, x11, [sp, #16 * 5]
	stp	x12, x13, [sp, #16 * 6]
	stp	x14, x15, [sp, #16 * 7]
	stp	x16, x17, [sp, #16 * 8]
	stp	x18, x19, [sp, #16 * 9]
	stp	x20, x21, [sp, #16 * 10]
	stp	x22, x23, [sp, #16 * 11]
	stp	x24, x25, [sp, #16 * 12]
	stp	x26, x27, [sp, #16 * 13]
	stp	x28, x29, [sp, #16 * 14]
	mrs	x22, elr_el1
	mrs	x23, spsr_el1
	mrs	x24, esr_el1
	mrs	x25, far_el1
	stp	x22, x23, [sp, #S_PC]
	stp	x24, x25, [sp, #S_ESR]
	stp	x29, x22, [sp, #S_FRAME]
	add	x29, sp, #S_FRAME
	.endm

#ifdef CONFIG_SHADOW_CALL_STACK
/* Change to the shadow call stack that has no entry yet at \index of the table \table. Clobbers \tmp. */
	.macro	scs_load_percpu table, tmp
	mrs	\tmp, tpidr_el1
	adrp	x18, \table
	add	x18, x18, :lo12:\table
	ldr	x18, [x18, \tmp, lsl #3]
	.endm

/*
 * Change to this CPU's shadow call stack in \table, for interrupts or soft interrupts. It is empty, because neither nests
 * in its own kind. Its word 0 keeps the interrupted stack's pointer. x20 keeps the new one for scs_leave_cpu. Clobbers x21.
 */
	.macro	scs_enter_cpu table
	mov	x20, x18
	scs_load_percpu \table, x21
	str	x20, [x18, #-8]
	mov	x20, x18
	.endm

/* Change back. Everything that was called must have returned. */
	.macro	scs_leave_cpu
	cmp	x18, x20
	b.ne	scs_unbalanced
	ldr	x18, [x18, #-8]
	.endm
#endif

/*
 * Return from the exception: everything is masked, and the frame is at sp. @scs: 1 if x18 is the shadow call stack's
 * pointer, and the entry has pushed the interrupted pc. Then the frame's x18, which lies on the ordinary
 * stack, is not used.
 */
	.macro	restore_regs_and_return scs=0
	ldp	x22, x23, [sp, #S_PC]
	msr	elr_el1, x22
	msr	spsr_el1, x23
	ldp	x0, x1, [sp, #16 * 0]
	ldp	x2, x3, [sp, #16 * 1]
	ldp	x4, x5, [sp, #16 * 2]
	ldp	x6, x7, [sp, #16 * 3]
	ldp	x8, x9, [sp, #16 * 4]
	ldp	x10, x11, [sp, #16 * 5]
	ldp	x12, x13, [sp, #16 * 6]
	ldp	x14, x15, [sp, #16 * 7]
	ldp	x16, x17, [sp, #16 * 8]
	.if	\scs
	sub	x18, x18, #8
	ldr	x19, [sp, #16 * 9 + 8]
	.else
	ldp	x18, x19, [sp, #16 * 9]
	.endif
	ldp	x20, x21, [sp, #16 * 10]
	ldp	x22, x23, [sp, #16 * 11]
	ldp	x24, x25, [sp, #16 * 12]
	ldp	x26, x27, [sp, #16 * 13]
	ldp	x28, x29, [sp, #16 * 14]
	ldr	x30, [sp, #S_LR]
	add	sp, sp, #PT_REGS_SIZE
	eret
	.endm
