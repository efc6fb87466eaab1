/* SPDX-License-Identifier: MIT */
/*
 * pgtable.h - changing the kernel's page tables under their lock: for shadow memory and for architectures. <kernel/arch.h> has
 * what everybody else uses.
 */
#ifndef KERNEL_PGTABLE_H
#define KERNEL_PGTABLE_H

#include <kernel/arch.h>
#include <kernel/bare_lock.h>
#include <asm/irqflags.h>
#include <asm/percpu.h>

/* The lock of the kernel's page tables, taken with interrupts off. @holder: the number of the CPU that
 * holds it + 1, for the fault handler. Both are in one structure, so that one address serves for both
 * stores. */
extern struct pgtable_lock {
	struct bare_lock lock;
	unsigned int holder;
} pgtable_guard;

static inline void pgtable_lock(void)
{
	bare_lock(&pgtable_guard.lock);
	WRITE_ONCE(pgtable_guard.holder, smp_processor_id() + 1);
}

static inline void pgtable_unlock(void)
{
	WRITE_ONCE(pgtable_guard.holder, 0);
	bare_unlock(&pgtable_guard.lock);
}

/* Return: true if this CPU holds the lock. */
static inline bool pgtable_lock_is_mine(void)
{
	return READ_ONCE(pgtable_guard.holder) == smp_processor_id() + 1;
}

static inline unsigned long pgtable_lock_irqsave(void)
{
	unsigned long flags = arch_local_irq_save();

	pgtable_lock();
	return flags;
}

static inline void pgtable_unlock_irqrestore(unsigned long flags)
{
	pgtable_unlock();
	arch_local_irq_restore(flags);
}

/* --- Supplied by the architecture ------------------------------------------------------------- */

/* The top table. Assembly has it, because the first map is made before C runs. */
extern u64 swapper_pg_dir[PTRS_PER_TABLE];

/** pgtable_replace_entry() - change a valid entry of the kernel's tables to @value, which may be valid too, and remove what all
 *  TLBs have of the old one. @va: an address below @entry. @level: 0 (top) to 3. The lock is held. */
void pgtable_replace_entry(u64 *entry, u64 value, unsigned long va, int level);

/** flush_tlb_kernel_range() - remove [@start, @end) from the TLBs of all CPUs. */
void flush_tlb_kernel_range(unsigned long start, unsigned long end);

/* --- kernel/mm/pgtable.c ---------------------------------------------------------------------- */

/** pgtable_walk() - Return: the entry that ends the walk for @va in the kernel's half: a leaf or an invalid one. @level: filled,
 *  its level. Takes no lock: tables are never freed. */
u64 *pgtable_walk(unsigned long va, int *level);

/** pgtable_prepare_top() - make all entries of the top table for [@start, @end). For architectures whose address spaces have
 *  copies of it: early_init() only. Return: false if there is no memory. */
bool pgtable_prepare_top(unsigned long start, unsigned long end);

/** __map_kernel_range() - map_kernel_range() for a caller that holds the lock. */
int __map_kernel_range(unsigned long va, phys_addr_t pa, size_t size, pgprot_t prot);

#ifdef CONFIG_KASAN_SHADOW_OFFSET

/**
 * pgtable_map_all() - map all of [@start, @end) to the one page @page, read-only
 *
 * Through tables that the entries share, so that it takes a few pages whatever the size. The bounds are multiples of what an
 * entry of the top table maps. Boot CPU, without the lock, before there is shadow. A later change makes tables of its own.
 */
void pgtable_map_all(unsigned long start, unsigned long end, phys_addr_t page);

/** pgtable_map_block_to() - the same for the block of 1 << PMD_SHIFT bytes around @va; from then on map_kernel_range() of the
 *  whole block with PROT_BLOCKS_OK needs no memory. At most two different pages in all. Takes the lock. Return: false if there
 *  is no memory for the tables above. */
bool pgtable_map_block_to(unsigned long va, phys_addr_t page);

/** pgtable_is_writable() - Return: true if @va in the kernel's half is mapped, and can be written. Takes no lock. */
bool pgtable_is_writable(unsigned long va);

/** pgtable_take_page() - unmap the page at @va, which is mapped as a single page, without a flush. The lock is held. Return:
 *  its physical address. map_prepared_page() maps another one after flush_tlb_kernel_range(). */
phys_addr_t pgtable_take_page(unsigned long va);

/** pgtable_own_below() - Return: an address in [@low, @high] from which up to @high no page is mapped through a table of its
 *  own: there are only blocks, shared tables, or nothing. Takes no lock: tables are never freed. */
unsigned long pgtable_own_below(unsigned long low, unsigned long high);

#endif

#endif
