/* SPDX-License-Identifier: MIT */
/*
 * head.S - the first instructions: from the state that the boot loader left to C code with the MMU on.
 *
 * One entry serves two ways to load the kernel. As a raw image (the arm64 Linux boot protocol) it gets the
 * physical address of the device tree in x0; as an ELF file in QEMU it gets 0, and the tree lies 2 MiB below
 * the kernel. The code runs at any 2 MiB boundary, and uses no absolute address before the MMU is on.
 *
 * It builds two coarse sets of tables: the identity map of this code for the moment when the MMU is switched
 * on (kept for the other CPUs), and the image at its link address. early_init() then builds the final map in C.
 */
#include <asm/memory.h>
#include "mte.h"
#include <asm/pgtable.h>
#include <asm/scs.h>
#include "sysreg.h"
#include <kasan/config.h>

/* SCTLR_EL1: bits that are one in every version, and stack alignment checks. MMU and caches are off. */
#define SCTLR_EL1_BASE 0x30d00818

/*
 * TCR_EL1: both halves have 48 bits and 4 KiB pages; walks are inner shareable, write-back. With TBI1 the CPU
 * ignores the top byte of kernel addresses. The tag-based modes set it even with kasan=off, because objects of
 * early boot may have a tag. Generic mode does not: a wild pointer with a wrong top byte had better fault.
 */
#ifdef CONFIG_KASAN_TAGS
#define TCR_TBI1 (1 << 38)
#else
#define TCR_TBI1 0
#endif
#define TCR_LOW	 (16 | (1 << 8) | (1 << 10) | (3 << 12))
#define TCR_HIGH ((16 << 16) | (1 << 24) | (1 << 26) | (3 << 28) | (2 << 30) | TCR_TBI1)

/* The console's registers, in a coarse map. */
#define BLOCK_DEVICE (PTE_AF | PTE_TYPE_BLOCK | PTE_PXN | PTE_UXN | \
		      (MT_DEVICE_nGnRE << PTE_ATTR_SHIFT))

/* Continue at @label unless the CPU has memory tags. Clobbers @tmp. */
	.macro	skip_without_mte label, tmp
	mrs	\tmp, id_aa64pfr1_el1
	ubfx	\tmp, \tmp, #ID_PFR1_MTE_SHIFT, #4
	cmp	\tmp, #ID_PFR1_MTE_TAGS
	b.lo	\label
	.endm

	.section .head.text, "ax"

	.globl	_head
_head:
	b	primary_entry
	nop
	.quad	0			/* offset of the image from a 2 MiB boundary */
	.quad	_image_size		/* with .bss: this memory must stay free */
	.quad	0xa			/* little endian, 4 KiB pages, anywhere in memory */
	.quad	0
	.quad	0
	.quad	0
	.ascii	"ARM\x64"
	.long	0

/*
 * el_setup - change to EL1 with interrupts masked and the MMU off. Called at EL1 or EL2, returns by lr.
 * Clobbers x9, x10.
 */
	.type	el_setup, %function
el_setup:
	msr	daifset, #0xf
	mrs	x9, CurrentEL
	cmp	x9, #(2 << 2)
	b.eq	1f
	b.hi	park			/* EL3: boot protocols do not enter here */
	movz	w9, #(SCTLR_EL1_BASE & 0xffff)
	movk	w9, #(SCTLR_EL1_BASE >> 16), lsl #16
	msr	sctlr_el1, x9
	isb
	ret
1:
	mov	x9, #(1 << 31)		/* HCR_EL2.RW: EL1 is 64-bit; nothing else is trapped */
#ifdef CONFIG_KASAN_HW_TAGS
	skip_without_mte 4f, x10
	orr	x9, x9, #(1 << HCR_EL2_ATA_SHIFT)
4:
#endif
	msr	hcr_el2, x9
	isb
	movz	w9, #(SCTLR_EL1_BASE & 0xffff)
	movk	w9, #(SCTLR_EL1_BASE >> 16), lsl #16
	msr	sctlr_el1, x9
	mov	x9, #3			/* EL1 may read the counters */
	msr	cnthctl_el2, x9
	msr	cntvoff_el2, xzr
	mov	x9, #0x33ff		/* floating point does not trap to EL2 */
	msr	cptr_el2, x9
	msr	hstr_el2, xzr
	msr	mdcr_el2, xzr
	msr	vttbr_el2, xzr
	mrs	x9, midr_el1		/* EL1 sees the CPU's own identity */
	msr	vpidr_el2, x9
	mrs	x9, mpidr_el1
	msr	vmpidr_el2, x9

	mrs	x9, id_aa64pfr0_el1	/* EL1 may use the GIC's system registers */
	ubfx	x9, x9, #24, #4
	cbz	x9, 2f
	mrs	x9, ICC_SRE_EL2
	mov	x10, #9			/* SRE, Enable */
	orr	x9, x9, x10
	msr	ICC_SRE_EL2, x9
	isb
	mrs	x9, ICC_SRE_EL2
	tbz	x9, #0, 2f
	msr	ICH_HCR_EL2, xzr
2:
	mrs	x9, id_aa64mmfr0_el1	/* no fine-grained traps */
	ubfx	x9, x9, #56, #4
	cbz	x9, 3f
	msr	S3_4_C1_C1_4, xzr	/* HFGRTR_EL2 */
	msr	S3_4_C1_C1_5, xzr	/* HFGWTR_EL2 */
	msr	S3_4_C1_C1_6, xzr	/* HFGITR_EL2 */
	msr	S3_4_C3_C1_4, xzr	/* HDFGRTR_EL2 */
	msr	S3_4_C3_C1_5, xzr	/* HDFGWTR_EL2 */
3:
	mov	x9, #0x3c5		/* EL1h, all masked */
	msr	spsr_el2, x9
	msr	elr_el2, x30
	eret
	.size	el_setup, . - el_setup

/*
 * map_blocks - fill consecutive 2 MiB entries
 * x0: first entry, x1: physical address, x2: number, x3: attributes. Clobbers x0-x2, x9.
 */
	.type	map_blocks, %function
map_blocks:
	orr	x9, x1, x3
	str	x9, [x0], #8
	add	x1, x1, #(1 << PMD_SHIFT)
	subs	x2, x2, #1
	b.ne	map_blocks
	ret
	.size	map_blocks, . - map_blocks

	.type	primary_entry, %function
primary_entry:
	mov	x21, x0
	bl	el_setup

	adrp	x20, _text		/* physical address of the image */
	tst	x20, #((1 << PMD_SHIFT) - 1)
	b.ne	park			/* it cannot map anything, and cannot print */

	/* The device tree: given by the loader, or else in front of the image. 0: not found; early_init() reports it. */
	cbnz	x21, 1f
	sub	x21, x20, #(1 << PMD_SHIFT)
1:	tst	x21, #7
	b.ne	2f
	ldr	w9, [x21]
	rev	w9, w9
	movz	w10, #0xfeed
	movk	w10, #0xd00d, lsl #16
	cmp	w9, w10
	b.eq	3f
2:	mov	x21, #0
3:
	/* The boot tables are not in .bss, which is cleared later, through the cache. */
	adrp	x0, __boot_pgtables_start
	adrp	x1, __boot_pgtables_end
4:	stp	xzr, xzr, [x0], #16
	cmp	x0, x1
	b.lo	4b

	/* Identity map: the 2 MiB at the start of the image, executable, read-only. */
	adrp	x4, idmap_pg_dir
	adrp	x5, idmap_pud
	adrp	x6, idmap_pmd
	ubfx	x7, x20, #PGD_SHIFT, #9
	orr	x8, x5, #PTE_TYPE_TABLE
	str	x8, [x4, x7, lsl #3]
	ubfx	x7, x20, #PUD_SHIFT, #9
	orr	x8, x6, #PTE_TYPE_TABLE
	str	x8, [x5, x7, lsl #3]
	ubfx	x7, x20, #PMD_SHIFT, #9
	add	x0, x6, x7, lsl #3
	mov	x1, x20
	mov	x2, #1
	ldr	x3, =(PROT_NORMAL_BASE | PTE_TYPE_BLOCK | PTE_UXN | PTE_RDONLY)
	bl	map_blocks

	/* The image at KIMAGE_VADDR, writable and executable until early_init(). */
	adrp	x4, init_pg_dir
	adrp	x5, init_pud
	adrp	x6, init_pmd
	orr	x8, x5, #PTE_TYPE_TABLE
	str	x8, [x4, #(((KIMAGE_VADDR >> PGD_SHIFT) & 511) * 8)]
	orr	x8, x6, #PTE_TYPE_TABLE
	str	x8, [x5, #(((KIMAGE_VADDR >> PUD_SHIFT) & 511) * 8)]
	mov	x0, x6
	mov	x1, x20
	adrp	x2, _end
	sub	x2, x2, x20
	add	x2, x2, #(1 << PMD_SHIFT)
	lsr	x2, x2, #PMD_SHIFT
	ldr	x3, =(PROT_NORMAL_BASE | PTE_TYPE_BLOCK | PTE_UXN)
	bl	map_blocks

	/* The UART at its presumed address, so that a crash in the first C function can print. */
	ldr	x0, =FIX_UART_VADDR
	ubfx	x0, x0, #PMD_SHIFT, #9
	add	x0, x6, x0, lsl #3
	ldr	x1, =PL011_DEFAULT_PHYS
	mov	x2, #1
	ldr	x3, =(BLOCK_DEVICE)
	bl	map_blocks

	/* Stale cache lines must not hide data written with the cache off. */
	dmb	sy
	adrp	x0, __boot_pgtables_start
	adrp	x1, __boot_pgtables_end
	bl	dcache_inval

	adrp	x1, init_pg_dir
	ldr	x30, =primary_switched
	b	enable_mmu

/* dcache_inval - invalidate [x0, x1) to the point of coherency. Clobbers x0, x2, x3. */
	.type	dcache_inval, %function
dcache_inval:
	mrs	x2, ctr_el0
	ubfx	x2, x2, #16, #4
	mov	x3, #4
	lsl	x3, x3, x2
1:	dc	ivac, x0
	add	x0, x0, x3
	cmp	x0, x1
	b.lo	1b
	dsb	sy
	ret
	.size	dcache_inval, . - dcache_inval

park:
	wfe
	b	park
	.size	primary_entry, . - primary_entry

/*
 * enable_mmu - switch the MMU on, continue at x30, a virtual address. x1: physical address of the tables for the
 * upper half. Clobbers x9-x11.
 */
	.type	enable_mmu, %function
enable_mmu:
	ldr	x9, =MAIR_EL1_VALUE
#ifdef CONFIG_KASAN_HW_TAGS
	/* Tagged memory. Set before the MMU is on, so that no TLB entry has the old meaning of the attribute. */
	skip_without_mte 1f, x10
	mov	x10, #MAIR_EL1_TAGGED
	bfi	x9, x10, #(MT_NORMAL_TAGGED * 8), #8
1:
#endif
	msr	mair_el1, x9

	/* The size of physical addresses is the CPU's, at most 48 bits. */
	ldr	x9, =(TCR_LOW | TCR_HIGH)
	mrs	x10, id_aa64mmfr0_el1
	ubfx	x10, x10, #0, #3
	mov	x11, #5
	cmp	x10, x11
	csel	x10, x10, x11, ls
	bfi	x9, x10, #32, #3
#ifdef CONFIG_KASAN_HW_TAGS
	/* Pointers without a tag, whose tag bits are all ones, match all memory. */
	skip_without_mte 2f, x10
	orr	x9, x9, #(1 << TCR_EL1_TCMA1_SHIFT)
2:
#endif
	msr	tcr_el1, x9

	adrp	x9, idmap_pg_dir
	msr	ttbr0_el1, x9
	msr	ttbr1_el1, x1
	/* Debug exceptions are off, floating point traps, PAN stays as it is. */
	msr	mdscr_el1, xzr
	msr	cpacr_el1, xzr
	isb
	tlbi	vmalle1
	dsb	nsh
	isb

	mrs	x9, sctlr_el1
	mov	x10, #(SCTLR_EL1_M | SCTLR_EL1_C)
	orr	x10, x10, #SCTLR_EL1_I
	orr	x9, x9, x10
	msr	sctlr_el1, x9
	isb
	ic	iallu
	dsb	nsh
	isb
	br	x30
	.size	enable_mmu, . - enable_mmu

/*
 * secondary_entry - firmware starts a secondary CPU here; x0 = its number
 */
	.globl	secondary_entry
	.type	secondary_entry, %function
secondary_entry:
	mov	x21, x0
	bl	el_setup
	adrp	x1, swapper_pg_dir
	ldr	x30, =secondary_switched
	b	enable_mmu
	.size	secondary_entry, . - secondary_entry

	.ltorg

/* From here on everything runs at its link address. */
	.text

	.type	primary_switched, %function
primary_switched:
	ldr	x9, =vectors
	msr	vbar_el1, x9
	msr	tpidr_el1, xzr
	isb

	ldr	x0, =__bss_start
	ldr	x1, =__bss_stop
1:	cmp	x0, x1
	b.hs	2f
	stp	xzr, xzr, [x0], #16
	b	1b
2:
	ldr	x9, =boot_stack_top
	mov	sp, x9
	ldr	x9, =init_task
	msr	sp_el0, x9
#ifdef CONFIG_SHADOW_CALL_STACK
	ldr	x18, [x9, #TASK_SCS_BASE]
#endif
	ldr	x9, =_text
	sub	x9, x9, x20
	ldr	x10, =kimage_voffset
	str	x9, [x10]

	mov	x29, #0
	mov	x30, #0
	msr	daifclr, #0xd		/* unmask debug, SError and FIQ; no interrupts yet */
	mov	x0, x21
	bl	early_init
	bl	start_kernel
	brk	#0x800
	.size	primary_switched, . - primary_switched

	.type	secondary_switched, %function
secondary_switched:
	ldr	x9, =vectors
	msr	vbar_el1, x9
	msr	tpidr_el1, x21
	isb
	ldr	x9, =secondary_boot	/* { task, stack top } per CPU */
	add	x9, x9, x21, lsl #4
	ldp	x10, x11, [x9]
	msr	sp_el0, x10
	mov	sp, x11
#ifdef CONFIG_SHADOW_CALL_STACK
	ldr	x18, [x10, #TASK_SCS_BASE]
#endif
	ldr	x9, =empty_pg_dir	/* user addresses fault from now on */
	ldr	x10, =kimage_voffset
	ldr	x10, [x10]
	sub	x9, x9, x10
	msr	ttbr0_el1, x9
	isb
	tlbi	vmalle1
	dsb	nsh
	isb
	mov	x29, #0
	mov	x30, #0
	msr	daifclr, #0xd
	mov	x0, x21
	bl	secondary_start
	brk	#0x800
	.size	secondary_switched, . - secondary_switched

	.ltorg

/* Tables that this file writes before the MMU is on. */
	.section .boot_pgtables, "aw", %nobits
	.balign	PAGE_SIZE
idmap_pg_dir:
	.space	PAGE_SIZE
idmap_pud:
	.space	PAGE_SIZE
idmap_pmd:
	.space	PAGE_SIZE
init_pg_dir:
	.space	PAGE_SIZE
init_pud:
	.space	PAGE_SIZE
init_pmd:
	.space	PAGE_SIZE

	.bss
	.balign	PAGE_SIZE
	.globl	swapper_pg_dir, empty_pg_dir
swapper_pg_dir:
	.space	PAGE_SIZE
empty_pg_dir:
	.space	PAGE_SIZE
	.globl	boot_stack, boot_stack_top, overflow_stack
	.balign	16
boot_stack:
	.space	BOOT_STACK_SIZE
boot_stack_top:
overflow_stack:
	.space	OVERFLOW_STACK_SIZE * CONFIG_NR_CPUS
#ifdef CONFIG_SHADOW_CALL_STACK
	.globl	boot_scs
	.balign	SCS_SIZE
boot_scs:
	.space	BOOT_SCS_SIZE
/* For faults on the boot CPU before scs_init_cpu(). */
	.globl	boot_scs_faults
boot_scs_faults:
	.space	PAGE_SIZE
#endif
