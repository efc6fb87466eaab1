/* SPDX-License-Identifier: MIT */
/*
 * tags.S - arm64 in the tag-based modes: the MMU, which puts the program into the upper half of the address
 * space, where a pointer without a tag has ones on top; and the exceptions that report.
 *
 *	0xffffffffc0000000  128 MiB of RAM, for hardware tags as memory that has tags. Software tags: the shadow of
 *			    all that is mapped starts at 0xffffffffc7000000.
 *	0xffffffffc8000000  2 MiB with the serial line
 */
#include <kasan/config.h>

#ifdef CONFIG_KASAN_TAGS

#define HIGH   0xffffffffc0000000
#define RAM    0x40000000
#define SERIAL 0x09000000

/* Blocks: accessed, inner shareable, by the attribute of MAIR_EL1 below. Nobody runs code of a device. */
#define MEMORY ((1 << 10) | (3 << 8) | (1 << 2) | 1)
#define DEVICE ((3 << 53) | (1 << 10) | (0 << 2) | 1)

/*
 * TCR_EL1: 31 bits below, 30 above, 4 KiB pages, walks write-back and inner shareable. TBI1: the CPU ignores
 * the top byte of the upper half's addresses. TCMA1: hardware does not check pointers without a tag there.
 */
#define TCR ((33 << 0) | (1 << 8) | (1 << 10) | (3 << 12) | \
	     (34 << 16) | (1 << 24) | (1 << 26) | (3 << 28) | (2 << 30) | (1 << 38))
#define TCMA1 58

	.data
	.balign	4096
/* The upper half, from level 2 on: blocks of 2 MiB. */
upper:
	.set	at, RAM
	.rept	64
	.quad	at | MEMORY
	.set	at, at + 0x200000
	.endr
	.quad	SERIAL | DEVICE
	.fill	512 - 65, 8, 0
/* The lower half, for the instructions that switch the MMU on: RAM as it is, in blocks of 1 GiB. */
lower:
	.quad	0, RAM | MEMORY

	.text
/* map_high - MMU and caches on; returns to the caller's place in the upper half. Clobbers x0-x3. */
	.globl	map_high
	.type	map_high, %function
map_high:
	adrp	x0, lower
	add	x0, x0, :lo12:lower
	msr	ttbr0_el1, x0
	adrp	x0, upper
	msr	ttbr1_el1, x0
	ldr	x1, =TCR
	mov	x2, #0xff00		/* attribute 1: memory, 0: device */
#ifdef CONFIG_KASAN_HW_TAGS
	mrs	x0, id_aa64pfr1_el1
	ubfx	x0, x0, #8, #4
	cmp	x0, #2			/* has the CPU tags in memory? */
	b.lo	1f
	orr	x1, x1, #(1 << TCMA1)
	mov	x2, #0xf000		/* attribute 1: memory with tags */
1:
#endif
	msr	tcr_el1, x1
	msr	mair_el1, x2
	adrp	x0, vectors
	add	x0, x0, :lo12:vectors
	ldr	x3, =HIGH - RAM
	add	x0, x0, x3
	msr	vbar_el1, x0
	isb
	tlbi	vmalle1
	dsb	nsh
	isb
	mrs	x0, sctlr_el1
	mov	x1, #0x1005		/* I, C, M */
	orr	x0, x0, x1
	msr	sctlr_el1, x0
	isb
	add	x30, x30, x3
	ret
	.size	map_high, . - map_high
	.ltorg

	.balign	2048
vectors:
	.rept	16
	.balign	128
	b	trap
	.endr

/* struct trap_frame of tags.c: x0 to x30, where it happened, the state then. */
	.type	trap, %function
trap:
	sub	sp, sp, #272
	stp	x0, x1, [sp, #0]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	mrs	x1, elr_el1
	mrs	x2, spsr_el1
	stp	x30, x1, [sp, #240]
	str	x2, [sp, #256]
	mov	x0, sp
	bl	tags_trap
	ldp	x30, x1, [sp, #240]
	ldr	x2, [sp, #256]
	msr	elr_el1, x1
	msr	spsr_el1, x2
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldp	x16, x17, [sp, #128]
	ldp	x18, x19, [sp, #144]
	ldp	x20, x21, [sp, #160]
	ldp	x22, x23, [sp, #176]
	ldp	x24, x25, [sp, #192]
	ldp	x26, x27, [sp, #208]
	ldp	x28, x29, [sp, #224]
	ldp	x0, x1, [sp]
	add	sp, sp, #272
	eret
	.size	trap, . - trap
	.section .note.GNU-stack, "", %progbits
#endif
