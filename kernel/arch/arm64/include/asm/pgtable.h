/* SPDX-License-Identifier: MIT */
/* pgtable.h - the kernel's page tables: 4 levels of 4 KiB tables in the upper half. */
#ifndef ASM_PGTABLE_H
#define ASM_PGTABLE_H

#define PTRS_PER_TABLE 512
#define PMD_SHIFT      21 /* 2 MiB block */
#define PUD_SHIFT      30 /* 1 GiB block */
#define PGD_SHIFT      39

/* Descriptor bits (stage 1, EL1&0). */
#define PTE_VALID      _AC_UL(0x1)
#define PTE_TYPE_TABLE _AC_UL(0x3) /* levels 0-2 */
#define PTE_TYPE_BLOCK _AC_UL(0x1) /* levels 1, 2 */
#define PTE_TYPE_PAGE  _AC_UL(0x3) /* level 3 */
#define PTE_TYPE_MASK  _AC_UL(0x3)
#define PTE_ATTR_SHIFT 2
#define PTE_USER       _AC_UL(0x40) /* EL0 may access it */
#define PTE_RDONLY     _AC_UL(0x80)
#define PTE_SH_INNER   _AC_UL(0x300)
#define PTE_AF	       _AC_UL(0x400)
#define PTE_NG	       _AC_UL(0x800) /* not global: the TLB entry carries the ASID */
#define PTE_PXN	       _AC_UL(0x20000000000000)
#define PTE_UXN	       _AC_UL(0x40000000000000)
/* Ours, in an entry that points to a table: others point to the same one, and it is copied before a change. The CPU
 * ignores bits 58 to 51 there. */
#define PTE_TABLE_SHARED _AC_UL(0x80000000000000)
#define PTE_ADDR_MASK	 _AC_UL(0x0000fffffffff000)

/* Indices into MAIR_EL1 as head.S fills it. */
#define MT_NORMAL	0
#define MT_DEVICE_nGnRE 1
#define MT_NORMAL_NC	2
#define MAIR_EL1_VALUE	_AC_UL(0xff4404ff)
/* Memory with tags. On a CPU that has them, head.S changes the byte of this index to f0. */
#ifdef CONFIG_KASAN_HW_TAGS
#define MT_NORMAL_TAGGED 3
#else
#define MT_NORMAL_TAGGED MT_NORMAL
#endif
#define MAIR_EL1_TAGGED 0xf0

#define PROT_NORMAL_BASE (PTE_AF | PTE_SH_INNER | (MT_NORMAL << PTE_ATTR_SHIFT))

#ifndef __ASSEMBLER__
#include <asm/barrier.h>
#include <asm/memory.h>

typedef u64 pgprot_t;

/* Not a descriptor bit: lets map_kernel_range() use 2 MiB and 1 GiB blocks where they fit. */
#define PROT_BLOCKS_OK (1UL << 55)

#define PAGE_KERNEL	 (PROT_NORMAL_BASE | PTE_PXN | PTE_UXN)
#define PAGE_KERNEL_RO	 (PROT_NORMAL_BASE | PTE_PXN | PTE_UXN | PTE_RDONLY)
#define PAGE_KERNEL_EXEC (PROT_NORMAL_BASE | PTE_UXN | PTE_RDONLY)
/* Memory that allocators hand out: the linear map, vmalloc areas. */
#define PAGE_KERNEL_TAGGED    (PAGE_KERNEL | ((u64)MT_NORMAL_TAGGED << PTE_ATTR_SHIFT))
#define PAGE_KERNEL_TAGGED_RO (PAGE_KERNEL_TAGGED | PTE_RDONLY)
#define PAGE_DEVICE \
	(PTE_AF | PTE_SH_INNER | ((u64)MT_DEVICE_nGnRE << PTE_ATTR_SHIFT) | PTE_PXN | PTE_UXN)

/* The image page by page (at most 64), the linear map (a few for each bank of RAM), and the shadow of both. */
#define PGTABLE_BOOT_TABLES 128
/* Address spaces have the whole lower half, and a top table for it alone. */
#define USER_TOP_ENTRIES PTRS_PER_TABLE

static inline pgprot_t pgprot_user(bool write, bool exec)
{
	return PROT_NORMAL_BASE | PTE_USER | PTE_NG | PTE_PXN | (write ? 0 : PTE_RDONLY) |
	       (exec ? 0 : PTE_UXN);
}

static inline u64 pte_table(phys_addr_t table)
{
	return table | PTE_TYPE_TABLE;
}

static inline u64 pte_leaf(phys_addr_t pa, pgprot_t prot, int level)
{
	return pa | prot | (level < 3 ? PTE_TYPE_BLOCK : PTE_TYPE_PAGE);
}

static inline bool pte_is_table(u64 entry, int level)
{
	return level < 3 && (entry & PTE_TYPE_MASK) == PTE_TYPE_TABLE;
}

static inline bool pte_is_leaf(u64 entry, int level)
{
	return (entry & PTE_TYPE_MASK) == (level < 3 ? PTE_TYPE_BLOCK : PTE_TYPE_PAGE);
}

static inline phys_addr_t pte_address(u64 entry)
{
	return entry & PTE_ADDR_MASK;
}

static inline pgprot_t pte_prot(u64 entry)
{
	return entry & ~(PTE_ADDR_MASK | PTE_TYPE_MASK);
}

static inline bool pte_is_writable(u64 entry)
{
	return (entry & (PTE_VALID | PTE_RDONLY)) == PTE_VALID;
}

/* TLBs hold no invalid entries, but the store must be visible before an access. */
static inline void pgtable_sync_new(unsigned long va)
{
	dsb(ishst);
	isb();
}

#endif /* !__ASSEMBLER__ */
#endif /* ASM_PGTABLE_H */
