/* SPDX-License-Identifier: MIT */
/* user_start.S - the start of a program in user mode, and a loop over all its registers. */
	.text

	.globl	_start
	.type	_start, %function
_start:
	mov	x29, #0
	mov	x30, #0
	mov	x0, sp
	bl	user_start
	brk	#1
	.size	_start, . - _start

/*
 * long check_registers(unsigned long rounds): give every register its own value, and check that it keeps it
 * through interrupts (most rounds) and a system call (every 4096th). Returns 0 if all did.
 */
	.globl	check_registers
	.type	check_registers, %function
check_registers:
	stp	x29, x30, [sp, #-112]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	str	x0, [sp, #96]
	mov	x0, #0x5000
	msr	tpidr_el0, x0
	.irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	mov	x\n, #(0x100 + \n)
	.endr
1:
	.irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	cmp	x\n, #(0x100 + \n)
	b.ne	9f
	.endr
	mrs	x0, tpidr_el0
	cmp	x0, #0x5, lsl #12
	b.ne	9f
	ldr	x0, [sp, #96]
	subs	x0, x0, #1
	str	x0, [sp, #96]
	b.eq	8f
	tst	x0, #0xfff
	b.ne	1b
	mov	x8, #124		/* sched_yield */
	svc	#0
	mov	x8, #(0x100 + 8)
	cbz	x0, 1b
9:	mov	x0, #1
8:	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #112
	ret
	.size	check_registers, . - check_registers

	.section .note.GNU-stack, "", %progbits
