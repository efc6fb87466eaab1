/* SPDX-License-Identifier: MIT */
/* arch.h - what the files of this folder share among themselves. */
#ifndef ARM64_ARCH_H
#define ARM64_ARCH_H

#include <asm/bare_lock.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

/* pgtable.c */
extern bare_lock_t pgtable_lock;
/* The caller holds pgtable_lock. */
int __map_kernel_range(unsigned long va, phys_addr_t pa, size_t size, u64 prot);
/* The entry that ends the walk for @va in the upper half, a leaf or an invalid one. */
u64 *pgtable_walk(unsigned long va, int *level);
/* An address in [@low, @high]; between it and @high no page is mapped through a table of its own: only blocks,
 * shared tables, or nothing. Without the lock: tables never go away. */
unsigned long pgtable_own_below(unsigned long low, unsigned long high);

/* A page from pgtable_page_alloc(), cleared; its physical address, 0 without memory. */
phys_addr_t pgtable_zeroed_page(void);
void clear_table(void *page);
/* Copy this table before it is changed: several entries point to it. */
void pgtable_share(phys_addr_t table);

/** pgtable_set_block_table() - the 2 MiB around @va are mapped by the level 3 table @shared, see
 *  pgtable_share(); from then on map_kernel_range() of a whole block there needs no memory. Return: false
 *  if there is no memory for the tables above. */
bool pgtable_set_block_table(unsigned long va, phys_addr_t shared);
/* Change from the tables of head.S to swapper_pg_dir. */
void pgtable_activate(void);

/* linear.c */
bool ram_add_bank(phys_addr_t base, u64 size);
void linear_map_init(void);

/* early.c */
extern phys_addr_t boot_fdt_phys;
void early_init(phys_addr_t fdt);
/* False until the final map, the shadow and the UART exist: printk() must not be used. */
extern bool early_init_done;

/* entry.S */
u64 semihosting_call(u64 op, void *block);
extern char semihosting_insn[], vectors[], overflow_stack[];

/* smp.c */
struct secondary_boot {
	struct task *task;
	void *stack_top;
};
extern struct secondary_boot secondary_boot[NR_CPUS];
_Noreturn void secondary_start(unsigned int cpu);
/* CPUs by number, from the device tree. */
extern u64 cpu_mpidr[NR_CPUS];
void smp_ipi(unsigned int sgi);

/* irq.c */
void irq_init_secondary(void);
void irq_send_ipi(u32 mask, unsigned int sgi);
void irq_enable_private(unsigned int irq);
void handle_irq(void);

/* fault.c */
/* Is this data abort the shadow load of an inline check? Then give it a result. Return: handled.
 * */
bool kasan_fixup_shadow_load(struct pt_regs *regs);
/* Bytes that the instruction at the pc accesses, 0 if that is not known. */
size_t fault_access_size(const struct pt_regs *regs);
void do_data_abort(struct pt_regs *regs);
void do_instruction_abort(struct pt_regs *regs);

/* user_traps.c: entry points of user.S. */
void el0_sync_handler(struct pt_regs *regs);
void el0_irq_handler(struct pt_regs *regs);
void el0_fiq_handler(struct pt_regs *regs);
void el0_error_handler(struct pt_regs *regs);
/* The last thing before user mode; interrupts off. */
void exit_to_user_mode(struct pt_regs *regs);

/* Entry points of entry.S and head.S. */
void el1_sync_handler(struct pt_regs *regs);
void el1_irq_handler(struct pt_regs *regs);
void el1_fiq_handler(struct pt_regs *regs);
void el1_error_handler(struct pt_regs *regs);
_Noreturn void bad_mode_handler(struct pt_regs *regs, unsigned int vector);
_Noreturn void overflow_handler(struct pt_regs *regs);

#endif
