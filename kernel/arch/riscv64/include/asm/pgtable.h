/* SPDX-License-Identifier: MIT */
/* pgtable.h - page tables of Sv48: 4 levels of 4 KiB tables. The upper half is the kernel's. */
#ifndef ASM_PGTABLE_H
#define ASM_PGTABLE_H

#define PTRS_PER_TABLE 512
#define PMD_SHIFT      21 /* 2 MiB block */
#define PUD_SHIFT      30 /* 1 GiB block */
#define PGD_SHIFT      39

/* Bits of an entry. One without R, W and X points to a table. */
#define PTE_VALID _AC_UL(0x1)
#define PTE_R	  _AC_UL(0x2)
#define PTE_W	  _AC_UL(0x4)
#define PTE_X	  _AC_UL(0x8)
#define PTE_USER  _AC_UL(0x10)
#define PTE_G	  _AC_UL(0x20) /* in all address spaces */
#define PTE_A	  _AC_UL(0x40)
#define PTE_D	  _AC_UL(0x80)
#define PTE_LEAF  (PTE_R | PTE_W | PTE_X)
/* Ours, in an entry that points to a table: others point to the same one, and it is copied before a change. */
#define PTE_TABLE_SHARED _AC_UL(0x100)

/* The page's number begins at bit 10, its address at bit 12. */
#define PTE_PFN_SHIFT 10
#define PTE_PFN_MASK  _AC_UL(0x003ffffffffffc00)

/* A CPU may want these bits set in advance: then it need not set them itself. */
#define PROT_KERNEL_BASE (PTE_VALID | PTE_R | PTE_G | PTE_A | PTE_D)

#ifndef __ASSEMBLER__
#include <asm/memory.h>

typedef u64 pgprot_t;

/* Not a bit of an entry: lets map_kernel_range() use 2 MiB and 1 GiB blocks where they fit. */
#define PROT_BLOCKS_OK (1UL << 62)

#define PAGE_KERNEL	 (PROT_KERNEL_BASE | PTE_W)
#define PAGE_KERNEL_RO	 PROT_KERNEL_BASE
#define PAGE_KERNEL_EXEC (PROT_KERNEL_BASE | PTE_X)
/* There are no memory tags. */
#define PAGE_KERNEL_TAGGED    PAGE_KERNEL
#define PAGE_KERNEL_TAGGED_RO PAGE_KERNEL_RO
/* The machine knows which physical addresses are devices. */
#define PAGE_DEVICE PAGE_KERNEL

/* As on arm64, and one for each entry of the top table that is made in advance: pgtable_prepare_top(). */
#define PGTABLE_BOOT_TABLES 168
/* Address spaces have the lower half. The upper half of each top table is a copy of the kernel's. */
#define USER_TOP_ENTRIES (PTRS_PER_TABLE / 2)

static inline pgprot_t pgprot_user(bool write, bool exec)
{
	return PTE_VALID | PTE_R | PTE_USER | PTE_A | PTE_D | (write ? PTE_W : 0) |
	       (exec ? PTE_X : 0);
}

static inline u64 pte_leaf(phys_addr_t pa, pgprot_t prot, int level)
{
	return (u64)pa >> (CONFIG_PAGE_SHIFT - PTE_PFN_SHIFT) | prot;
}

static inline u64 pte_table(phys_addr_t table)
{
	return pte_leaf(table, PTE_VALID, 0);
}

static inline bool pte_is_table(u64 entry, int level)
{
	return level < 3 && (entry & (PTE_VALID | PTE_LEAF)) == PTE_VALID;
}

static inline bool pte_is_leaf(u64 entry, int level)
{
	return (entry & PTE_VALID) && (entry & PTE_LEAF);
}

static inline phys_addr_t pte_address(u64 entry)
{
	return (entry & PTE_PFN_MASK) << (CONFIG_PAGE_SHIFT - PTE_PFN_SHIFT);
}

static inline pgprot_t pte_prot(u64 entry)
{
	return entry & ~PTE_PFN_MASK;
}

static inline bool pte_is_writable(u64 entry)
{
	return entry & PTE_W;
}

/* This CPU may keep that nothing was there. Another one that does so takes a fault, and then looks again: fault_is_over(). */
static inline void pgtable_sync_new(unsigned long va)
{
	__asm__ __volatile__("sfence.vma %0" ::"r"(va) : "memory");
}

#endif /* !__ASSEMBLER__ */
#endif /* ASM_PGTABLE_H */
