/* SPDX-License-Identifier: MIT */
/*
 * riscv_start.S - HARTS=n: entry of all harts, relocation, traps. The first hart to arrive starts the system; the
 * machine's arguments (a0: hart id, a1: device tree) are still there when the program begins.
 */
#include "riscv.h"

#if __riscv_xlen == 64
#define W	8
#define STORE	sd
#define LOAD	ld
#else
#define W	4
#define STORE	sw
#define LOAD	lw
#endif

	.section .text.start, "ax"
	.globl	_start
	.type	_start, %function
_start:
	csrw	mscratch, zero
	csrw	mie, zero
	lla	t0, arrived
	li	t1, 1
	amoadd.w s1, t1, (t0)
	li	t0, TEMPLATE_HARTS
	bgeu	s1, t0, 9f
	bnez	s1, 5f

	/* All entries are of type R_RISCV_RELATIVE (3): offset, type, addend. The image is linked at IMAGE_START. */
	lla	t0, __rela_start
	lla	t1, __rela_end
	lla	t2, __image_start
	li	t3, TEMPLATE_LINKED
	sub	t2, t2, t3
1:	bgeu	t0, t1, 2f
	LOAD	t3, 0(t0)
	LOAD	t4, 2 * W(t0)
	add	t3, t3, t2
	add	t4, t4, t2
	STORE	t4, 0(t3)
	addi	t0, t0, 3 * W
	j	1b
2:	lla	t0, __bss_start
	lla	t1, __bss_end
3:	bgeu	t0, t1, 4f
	STORE	zero, 0(t0)
	addi	t0, t0, W
	j	3b
4:	call	own_stack
	call	early_start		/* keeps a0 and a1 */
	call	board_start
5:	lla	t0, harts_started
6:	lw	t1, 0(t0)
	beqz	t1, 6b
	fence	rw, rw
	call	own_stack
	mv	a0, s1
	call	hart_start
9:	wfi
	j	9b
	.size	_start, . - _start

	/* sp = end of the stack of hart s1; no frame is before the first. */
own_stack:
	lla	t0, __stack_start
	li	t1, HART_STACK
	addi	t2, s1, 1
	mul	t1, t1, t2
	add	sp, t0, t1
	mv	s0, zero
	ret

	/* Traps: registers go to the hart's stack for handlers, and while C runs mscratch is the hart's again. */
	.globl	hart_vector
	.balign	4
hart_vector:
	csrrw	tp, mscratch, tp
	STORE	sp, HART_INTERRUPTED * W(tp)
	LOAD	sp, HART_TRAP_TOP * W(tp)
	addi	sp, sp, -32 * W
	.irp	n, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	STORE	x\n, \n * W(sp)
	.endr
	LOAD	t0, HART_INTERRUPTED * W(tp)
	STORE	t0, 2 * W(sp)
	csrrw	tp, mscratch, tp
	STORE	tp, 4 * W(sp)
	mv	a0, sp
	call	hart_trap		/* by --wrap: the runtime's first */
	mv	sp, a0
	.irp	n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	LOAD	x\n, \n * W(sp)
	.endr
	LOAD	sp, 2 * W(sp)
	mret

	/* void hart_run(code), void hart_enter(code, mstatus bits): what a function preserves is on the stack, the stack
	 * pointer in the hart's area; hart_ended takes both back. */
	.globl	hart_run
hart_run:
	li	a1, 0x1800		/* stay in machine mode */
	.globl	hart_enter
hart_enter:
	addi	sp, sp, -16 * W
	.irp	n, 1, 3, 4, 8, 9
	STORE	x\n, (\n - 1) * W(sp)
	.endr
	.irp	n, 18, 19, 20, 21, 22, 23, 24
	STORE	x\n, (\n - 9) * W(sp)
	.endr
	STORE	s9, 1 * W(sp)
	STORE	s10, 4 * W(sp)
	STORE	s11, 5 * W(sp)
	csrr	t0, mscratch
	LOAD	t1, HART_RESUME * W(t0)	/* one may be inside of another */
	STORE	t1, 6 * W(sp)
	STORE	sp, HART_RESUME * W(t0)
	li	t1, 0x1800
	csrc	mstatus, t1
	csrs	mstatus, a1
	csrw	mepc, a0
	lla	ra, hart_ended
	mret
	.globl	hart_ended
hart_ended:
	csrr	t0, mscratch
	LOAD	sp, HART_RESUME * W(t0)
	LOAD	t1, 6 * W(sp)
	STORE	t1, HART_RESUME * W(t0)
	.irp	n, 1, 3, 4, 8, 9
	LOAD	x\n, (\n - 1) * W(sp)
	.endr
	.irp	n, 18, 19, 20, 21, 22, 23, 24
	LOAD	x\n, (\n - 9) * W(sp)
	.endr
	LOAD	s9, 1 * W(sp)
	LOAD	s10, 4 * W(sp)
	LOAD	s11, 5 * W(sp)
	addi	sp, sp, 16 * W
	ret

	/* Not .bss, which is cleared when some have arrived. */
	.data
	.balign	4
arrived: .word	0

	.section .note.GNU-stack, "", %progbits
