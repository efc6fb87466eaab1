/* SPDX-License-Identifier: MIT */
/* start.S - entry of the payload, in supervisor mode, wherever it is loaded: harts, traps. */
	.section .text.start, "ax"
	.globl	_start
_start:
	lla	sp, stacks + 4096		/* a0: hart id, a1: device tree */
	mv	s0, zero
	lla	t0, trap_entry
	csrw	stvec, t0
	call	main
1:	wfi
	j	1b

	/* HSM starts further harts here. a0: hart id, a1: number, from 1 on. */
	.globl	secondary
secondary:
	lla	sp, stacks + 4096
	slli	t0, a1, 12
	add	sp, sp, t0
	mv	s0, zero
	lla	t0, trap_entry
	csrw	stvec, t0
	call	secondary_main
1:	wfi
	j	1b

	/* A refused access: count it, skip the instruction, which has four bytes. Interrupts are polled, not taken. */
	.balign	4
trap_entry:
	csrrw	t0, sscratch, t0
	csrr	t0, sepc
	addi	t0, t0, 4
	csrw	sepc, t0
	csrr	t0, scause
	lla	t1, last_cause
	sd	t0, 0(t1)
	csrrw	t0, sscratch, t0
	sret

	/* unsigned long try_load(const void *): t1 is free here, for trap_entry. */
	.globl	try_load
try_load:
	.option	push
	.option	norvc
	ld	a0, 0(a0)
	.option	pop
	ret

	.bss
	.balign	16
	.globl	stacks
stacks:	.space	4096 * 16
	.globl	last_cause
last_cause:
	.space	8

	.section .note.GNU-stack, "", %progbits
