/* SPDX-License-Identifier: MIT */
/*
 * tags_riscv.S - riscv64 with software tags: machine mode, which lets supervisor mode ignore the upper 16 bits of
 * addresses, its page tables, and the exceptions that report. The program runs in supervisor mode, in the upper half of
 * the address space as on arm64 (tags.S): machine mode has no page tables, and jumps ignore no bits.
 *
 *	0xffffffffc0000000  128 MiB of RAM. The shadow of all that is mapped starts at 0xffffffffc7000000.
 *	0xffffffffc8000000  2 MiB with the serial line
 *	0xffffffffc8200000  2 MiB with the device that ends QEMU
 */
#include <kasan/config.h>

#ifdef CONFIG_KASAN_SW_TAGS

#define HIGH   0xffffffffc0000000
#define RAM    0x80000000
#define SERIAL 0x10000000
#define TEST   0x00000000

/* Leaves of the page table: accessed, written, valid; read and write, for RAM also execute. */
#define MEMORY 0xcf
#define DEVICE 0xc7
#define TABLE  0x01

#define menvcfg 0x30a
#define PMM_16	3 /* in bits 33:32 */

	.data
	.balign	4096
/* The last GiB: blocks of 2 MiB. */
upper:
	.set	at, RAM
	.rept	64
	.quad	at >> 2 | MEMORY
	.set	at, at + 0x200000
	.endr
	.quad	SERIAL >> 2 | DEVICE
	.quad	TEST >> 2 | DEVICE
	.fill	512 - 66, 8, 0
/* Sv39's top table; map_high fills its last entry. */
root:
	.fill	512, 8, 0
/* Does the CPU ignore the bits? tags_start() reads it. */
	.globl	tags_masked
tags_masked:
	.quad	0

	.text
/* map_high - page tables and masking on; returns to the caller's place in the upper half, in supervisor mode. Clobbers
 * t0-t2. */
	.globl	map_high
	.type	map_high, %function
map_high:
	/* Supervisor mode may use all memory and takes all exceptions. */
	li	t0, -1
	csrw	pmpaddr0, t0
	csrw	medeleg, t0
	csrw	mideleg, t0
	li	t0, 0x1f
	csrw	pmpcfg0, t0
	/* A CPU without the extension keeps the field at 0; one without the register traps. */
	lla	t0, 1f
	csrw	mtvec, t0
	li	t0, PMM_16
	slli	t0, t0, 32
	csrs	menvcfg, t0
	csrr	t1, menvcfg
	and	t1, t1, t0
	bne	t1, t0, 1f
	lla	t1, tags_masked
	sd	t0, (t1)
	.balign	4
1:	lla	t0, upper
	srli	t0, t0, 2
	ori	t0, t0, TABLE
	lla	t1, root
	li	t2, 511 * 8
	add	t2, t1, t2
	sd	t0, (t2)
	srli	t1, t1, 12
	li	t0, 8			/* Sv39 */
	slli	t0, t0, 60
	or	t1, t1, t0
	csrw	satp, t1
	sfence.vma
	li	t0, HIGH - RAM
	lla	t1, trap
	add	t1, t1, t0
	csrw	stvec, t1
	add	ra, ra, t0
	csrw	mepc, ra
	li	t0, 0x1800		/* mstatus.MPP: supervisor mode */
	csrc	mstatus, t0
	li	t0, 0x0800
	csrs	mstatus, t0
	mret
	.size	map_high, . - map_high

/* struct trap_frame of tags.c: x1 to x31 at their numbers, and where it happened in the place of x0. */
	.balign	4
	.type	trap, %function
trap:
	addi	sp, sp, -256
	.irp	n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	sd	x\n, 8 * \n(sp)
	.endr
	csrr	t0, sepc
	sd	t0, (sp)
	mv	a0, sp
	call	tags_trap
	ld	t0, (sp)
	csrw	sepc, t0
	.irp	n, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	ld	x\n, 8 * \n(sp)
	.endr
	addi	sp, sp, 256
	sret
	.size	trap, . - trap
#endif

	.section .note.GNU-stack, "", %progbits
