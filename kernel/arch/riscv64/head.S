/* SPDX-License-Identifier: MIT */
/*
 * head.S - the first instructions: from the state that the firmware left to C code with the MMU on.
 *
 * The firmware (SBI) enters in supervisor mode with the MMU off, a0 the number of the hart and a1 the physical address of the
 * device tree. The code runs at any 2 MiB boundary, and uses no absolute address before the MMU is on.
 *
 * It builds one coarse set of tables, which has the image at its link address, and this code at its physical address for
 * the moment when the MMU is switched on (kept for the other CPUs). early_init() then builds the final map in C.
 */
#include <asm/csr.h>
#include <asm/current.h>
#include <asm/memory.h>
#include <asm/pgtable.h>
#include <asm/scs.h>
#include <asm/switch.h>
#include <kasan/config.h>

#define PTE_BLOCK (PTE_VALID | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D)

#define SBI_PUTCHAR  1
#define SBI_SHUTDOWN 8
#define SBI_EXT_FWFT 0x46574654
#define FWFT_SET     0
#define FWFT_MASKING 5

/* Bits of an address that loads and stores ignore: the tag has 8, and of the two lengths, 7 and 16, it takes the second. */
#define MASKED_BITS 16

	/* \entry: physical address of the table entry, made of \table's physical address. Clobbers \tmp. */
	.macro	point entry, table, tmp
	srli	\tmp, \table, CONFIG_PAGE_SHIFT - PTE_PFN_SHIFT
	ori	\tmp, \tmp, PTE_VALID
	sd	\tmp, 0(\entry)
	.endm

	/* \entry: physical address of the entry of \table for the address in \va at \shift. Clobbers t6. */
	.macro	entry_for entry, table, va, shift
	srli	t6, \va, \shift
	andi	t6, t6, PTRS_PER_TABLE - 1
	slli	t6, t6, 3
	add	\entry, \table, t6
	.endm

	.section .head.text, "ax"

/* The header of Linux's boot images, which boot loaders know. */
	.option push
	.option norvc
	.globl	_head
_head:
	j	primary_entry
	nop
	.quad	0x200000		/* offset from the start of memory */
	.quad	_image_size		/* with .bss: this memory must stay free */
	.quad	0			/* little endian */
	.long	2			/* version of the header */
	.long	0
	.quad	0
	.ascii	"RISCV\0\0\0"
	.ascii	"RSC\x05"
	.long	0
	.option pop

	.balign	4
	.type	primary_entry, %function
primary_entry:
	csrw	sie, zero
	csrci	sstatus, SR_SIE
	li	t0, SR_FS | SR_SUM
	csrc	sstatus, t0
	mv	s0, a0
	mv	s1, a1
	lla	s2, _text		/* physical address of the image */
	slli	t0, s2, 64 - PMD_SHIFT
	bnez	t0, park		/* it cannot map anything */
#ifdef CONFIG_KASAN_SW_TAGS
	call	mask_pointers
	mv	s3, a0
#endif

	/* The boot tables are not in .bss, which is cleared later. */
	lla	t0, __boot_pgtables_start
	lla	t1, __boot_pgtables_end
1:	sd	zero, 0(t0)
	addi	t0, t0, 8
	bltu	t0, t1, 1b

	/* This code at its physical address: the 2 MiB at the start of the image. */
	lla	t0, boot_pg_dir
	lla	t1, idmap_pud
	lla	t2, idmap_pmd
	entry_for t3, t0, s2, PGD_SHIFT
	point	t3, t1, t4
	entry_for t3, t1, s2, PUD_SHIFT
	point	t3, t2, t4
	entry_for t3, t2, s2, PMD_SHIFT
	srli	t4, s2, CONFIG_PAGE_SHIFT - PTE_PFN_SHIFT
	ori	t4, t4, PTE_BLOCK
	sd	t4, 0(t3)

	/* The image at KIMAGE_VADDR, writable and executable until early_init(). */
	li	a2, KIMAGE_VADDR
	lla	t1, init_pud
	lla	t2, init_pmd
	entry_for t3, t0, a2, PGD_SHIFT
	point	t3, t1, t4
	entry_for t3, t1, a2, PUD_SHIFT
	point	t3, t2, t4
	entry_for t3, t2, a2, PMD_SHIFT
	srli	t4, s2, CONFIG_PAGE_SHIFT - PTE_PFN_SHIFT
	ori	t4, t4, PTE_BLOCK
	lla	a3, _end
	sub	a3, a3, s2
	li	t5, 1 << (PMD_SHIFT - CONFIG_PAGE_SHIFT + PTE_PFN_SHIFT)
	li	a4, 1 << PMD_SHIFT
2:	sd	t4, 0(t3)
	addi	t3, t3, 8
	add	t4, t4, t5
	sub	a3, a3, a4
	bgtz	a3, 2b

	call	enable_mmu

	/* From here on everything runs at its link address. */
	lla	t0, trap_entry
	csrw	stvec, t0
	csrw	sscratch, zero
	lla	t0, __bss_start
	lla	t1, __bss_stop
3:	bgeu	t0, t1, 4f
	sd	zero, 0(t0)
	sd	zero, 8(t0)
	addi	t0, t0, 16
	j	3b
4:
	lla	sp, boot_stack_top
	lla	CURRENT, init_task
#ifdef CONFIG_SHADOW_CALL_STACK
	ld	gp, TASK_SCS_BASE(CURRENT)
#endif
	mv	tp, zero
	lla	t0, _text
	sub	t0, t0, s2
	lla	t1, kimage_voffset
	sd	t0, 0(t1)
#ifdef CONFIG_KASAN_SW_TAGS
	lla	t1, masking_error
	sd	s3, 0(t1)
#endif
	mv	a0, s1
	mv	a1, s0
	mv	s0, zero
	call	early_init
	call	start_kernel
	unimp
	.size	primary_entry, . - primary_entry

#ifdef CONFIG_KASAN_SW_TAGS
/*
 * mask_pointers - let this CPU ignore the highest bits of addresses in supervisor mode. Only machine mode can do that, so the
 * firmware is asked. Return: 0, or the firmware's error, which it also gives if the CPU has no pointer masking (Smnpm).
 */
	.type	mask_pointers, %function
mask_pointers:
	li	a0, FWFT_MASKING
	li	a1, MASKED_BITS
	mv	a2, zero
	li	a6, FWFT_SET
	li	a7, SBI_EXT_FWFT
	ecall
	ret
	.size	mask_pointers, . - mask_pointers
#endif

/*
 * enable_mmu - switch the MMU on with boot_pg_dir, and return at the virtual address. s2: physical address of _text. A CPU
 * without this kind of tables does not change satp.
 */
	.type	enable_mmu, %function
enable_mmu:
	lla	t0, boot_pg_dir
	srli	t0, t0, CONFIG_PAGE_SHIFT
	li	t1, SATP_MODE_SV48 << SATP_MODE_SHIFT
	or	t0, t0, t1
	li	t2, KIMAGE_VADDR
	sub	t2, t2, s2
	add	ra, ra, t2
	sfence.vma
	csrw	satp, t0
	csrr	t1, satp
	bne	t0, t1, no_sv48
	sfence.vma
	ret
	.size	enable_mmu, . - enable_mmu

no_sv48:
	lla	s3, 3f
1:	lbu	a0, 0(s3)
	beqz	a0, 2f
	addi	s3, s3, 1
	li	a7, SBI_PUTCHAR
	ecall
	j	1b
2:	li	a7, SBI_SHUTDOWN
	ecall
park:
	wfi
	j	park
3:	.asciz	"Kernel panic - not syncing: this CPU has no Sv48, and page tables of three levels (Sv39) are too small\r\n"
	.balign	4

/*
 * secondary_entry - firmware starts a secondary CPU here: a0 the hart, a1 the CPU's number
 */
	.globl	secondary_entry
	.type	secondary_entry, %function
secondary_entry:
	csrw	sie, zero
	csrci	sstatus, SR_SIE
	li	t0, SR_FS | SR_SUM
	csrc	sstatus, t0
	mv	s1, a1
	lla	s2, _text
#ifdef CONFIG_KASAN_SW_TAGS
	/* As on the CPU that booted: if only this one has none, it does not come. */
	lla	t0, masking_error
	ld	s3, 0(t0)
	call	mask_pointers
	bne	a0, s3, park
#endif
	call	enable_mmu
	lla	t0, trap_entry
	csrw	stvec, t0
	csrw	sscratch, zero
	lla	t0, swapper_pg_dir
	lla	t1, kimage_voffset
	ld	t1, 0(t1)
	sub	t0, t0, t1
	srli	t0, t0, CONFIG_PAGE_SHIFT
	li	t1, SATP_MODE_SV48 << SATP_MODE_SHIFT
	or	t0, t0, t1
	csrw	satp, t0
	sfence.vma
	lla	t0, secondary_boot	/* { task, stack top } per CPU */
	slli	t1, s1, 4
	add	t0, t0, t1
	ld	CURRENT, 0(t0)
	ld	sp, 8(t0)
#ifdef CONFIG_SHADOW_CALL_STACK
	ld	gp, TASK_SCS_BASE(CURRENT)
#endif
	sd	s1, CTX_CPU(CURRENT)
	mv	tp, zero
	mv	s0, zero
	mv	a0, s1
	call	secondary_start
	unimp
	.size	secondary_entry, . - secondary_entry

/* Tables that this file writes before the MMU is on. */
	.section .boot_pgtables, "aw", %nobits
	.balign	PAGE_SIZE
boot_pg_dir:
	.space	PAGE_SIZE
idmap_pud:
	.space	PAGE_SIZE
idmap_pmd:
	.space	PAGE_SIZE
init_pud:
	.space	PAGE_SIZE
init_pmd:
	.space	PAGE_SIZE

	.bss
	.balign	PAGE_SIZE
	.globl	swapper_pg_dir
swapper_pg_dir:
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
