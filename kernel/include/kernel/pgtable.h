/* SPDX-License-Identifier: MIT */
/*
 * pgtable.h - changing the kernel's page tables under their lock: what an architecture supplies for shadow memory.
 * <kernel/arch.h> has what everybody else uses.
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

/** __map_kernel_range() - map_kernel_range() for a caller that holds the lock. */
int __map_kernel_range(unsigned long va, phys_addr_t pa, size_t size, pgprot_t prot);

/** flush_tlb_kernel_range() - remove [@start, @end) from the TLBs of all CPUs. */
void flush_tlb_kernel_range(unsigned long start, unsigned long end);

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
