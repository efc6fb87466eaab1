/* SPDX-License-Identifier: MIT */
/*
 * pgtable.h - the kernel's page tables: 4 levels of 4 KiB tables in the upper half.
 *
 * All functions may be called in any context and from several CPUs at once; tables that an address
 * range needed once are kept for the next mapping there.
 */
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
#define PTE_RDONLY     _AC_UL(0x80)
#define PTE_SH_INNER   _AC_UL(0x300)
#define PTE_AF	       _AC_UL(0x400)
#define PTE_PXN	       _AC_UL(0x20000000000000)
#define PTE_UXN	       _AC_UL(0x40000000000000)
#define PTE_ADDR_MASK  _AC_UL(0x0000fffffffff000)

/* Indices into MAIR_EL1 as head.S fills it. */
#define MT_NORMAL	0
#define MT_DEVICE_nGnRE 1
#define MT_NORMAL_NC	2
#define MAIR_EL1_VALUE	_AC_UL(0xff4404ff)
/* With tags, where the CPU has any: head.S then changes this one's byte to f0. */
#ifdef CONFIG_KASAN_HW_TAGS
#define MT_NORMAL_TAGGED 3
#else
#define MT_NORMAL_TAGGED MT_NORMAL
#endif
#define MAIR_EL1_TAGGED 0xf0

#define PROT_NORMAL_BASE (PTE_AF | PTE_SH_INNER | (MT_NORMAL << PTE_ATTR_SHIFT))

#ifndef __ASSEMBLER__
#include <asm/memory.h>

typedef u64 pgprot_t;

/* Not a descriptor bit: lets map_kernel_range() use 2 MiB and 1 GiB blocks where they fit. */
#define PROT_BLOCKS_OK (1UL << 55)

#define PAGE_KERNEL	 (PROT_NORMAL_BASE | PTE_PXN | PTE_UXN)
#define PAGE_KERNEL_RO	 (PROT_NORMAL_BASE | PTE_PXN | PTE_UXN | PTE_RDONLY)
#define PAGE_KERNEL_EXEC (PROT_NORMAL_BASE | PTE_UXN | PTE_RDONLY)
/* Memory of which pieces are handed out: the linear map, vmalloc areas. */
#define PAGE_KERNEL_TAGGED (PAGE_KERNEL | ((u64)MT_NORMAL_TAGGED << PTE_ATTR_SHIFT))
#define PAGE_DEVICE \
	(PTE_AF | PTE_SH_INNER | ((u64)MT_DEVICE_nGnRE << PTE_ATTR_SHIFT) | PTE_PXN | PTE_UXN)

/**
 * pgtable_page_alloc - where page tables and shadow pages come from
 *
 * Starts as the boot pool inside the image, becomes memblock in setup_arch(); memory management
 * sets it to the page allocator. Called with interrupts off and the page table lock held; must not
 * map anything. Returns the physical address of one page of RAM, contents undefined, 0 if there is
 * none.
 */
extern phys_addr_t (*pgtable_page_alloc)(void);

/**
 * map_kernel_range() - map [@va, @va + @size) to memory from @pa on
 * @va, @pa, @size: multiples of PAGE_SIZE; @va in the upper half.
 * @prot: PAGE_*, optionally with PROT_BLOCKS_OK.
 *
 * A range that is mapped already is mapped anew. Return: 0, or -ENOMEM with the pages before the
 * failure mapped.
 */
int map_kernel_range(unsigned long va, phys_addr_t pa, size_t size, pgprot_t prot);

/** unmap_kernel_range() - unmap pages and blocks that lie in [@va, @va + @size) and flush the TLBs
 *  of all CPUs. Parts that are not mapped are skipped. */
void unmap_kernel_range(unsigned long va, size_t size);

/** kernel_va_to_pa() - Return: physical address that @va maps to, offset in the page included; 0
 *  if it is not mapped. @writable: filled if not NULL. Takes no lock. */
phys_addr_t kernel_va_to_pa(unsigned long va, bool *writable);

/** ioremap() - map @size bytes of device registers at @pa. Return: their address, NULL if the
 *  device window or the page tables are exhausted. Mappings are never taken back. */
void *ioremap(phys_addr_t pa, size_t size);

/** flush_tlb_kernel_range() - on all CPUs. */
void flush_tlb_kernel_range(unsigned long start, unsigned long end);

#endif /* !__ASSEMBLER__ */
#endif /* ASM_PGTABLE_H */
