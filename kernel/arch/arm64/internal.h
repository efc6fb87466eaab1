/* SPDX-License-Identifier: MIT */
/* internal.h - declarations shared by the files of this folder. */
#ifndef ARM64_INTERNAL_H
#define ARM64_INTERNAL_H

#include <kernel/arch.h>
#include <kernel/bare_lock.h>
#include <kernel/program.h>
#include <asm/irqflags.h>
#include <asm/percpu.h>
#include <asm/ptrace.h>
#include "sysreg.h"

/* fpu.c */

/** fpu_switch() - store @prev's floating-point registers and load @next's; at least one of them has some. Interrupts
 *  off. */
void fpu_switch(struct task *prev, struct task *next);

/* pgtable.c */

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

/* The caller holds the lock. */
int __map_kernel_range(unsigned long va, phys_addr_t pa, size_t size, u64 prot);
/* Return: the entry that ends the walk for @va in the upper half: a leaf or an invalid one. */
u64 *pgtable_walk(unsigned long va, int *level);
/* Return: an address in [@low, @high] from which up to @high no page is mapped through a table of its own:
 * there are only blocks, shared tables, or nothing. Takes no lock: tables are never freed. */
unsigned long pgtable_own_below(unsigned long low, unsigned long high);

/* Return: physical address of a cleared page from pgtable_page_alloc(), 0 if there is no memory. */
phys_addr_t pgtable_zeroed_page(void);
void clear_table(void *page);
/* Mark a table that several entries point to: it is copied before a change. */
void pgtable_share(phys_addr_t table);

/** pgtable_set_block_table() - map the 2 MiB around @va by the level 3 table @shared, see pgtable_share().
 *  From then on map_kernel_range() of a whole block there needs no memory. Return: false if there is no
 *  memory for the tables above. */
bool pgtable_set_block_table(unsigned long va, phys_addr_t shared);
/* Change from the tables of head.S to swapper_pg_dir. */
void pgtable_activate(void);

/* Remove [@start, @end) from the TLBs of all CPUs. */
void flush_tlb_kernel_range(unsigned long start, unsigned long end);

/* linear.c */
bool ram_add_bank(phys_addr_t base, u64 size);
void linear_map_init(void);

/* early.c */
extern phys_addr_t boot_fdt_phys;
void early_init(phys_addr_t fdt);
/* False until the final map, the shadow and the UART exist: printk() must not be used. */
extern bool early_init_done;

/* entry.S */
extern char vectors[], overflow_stack[];

/* smp.c */
struct secondary_boot {
	struct task *task;
	void *stack_top;
};
extern struct secondary_boot secondary_boot[NR_CPUS];
_Noreturn void secondary_start(unsigned int cpu);
/* CPUs by number, from the device tree. */
extern u64 cpu_mpidr[NR_CPUS];

/* irq.c */
void irq_init_secondary(void);
void handle_irq(void);

/* timer.c */
/* Take the counter's value as the time of boot. */
void early_clock_init(void);
/* Start the tick on the calling CPU, a secondary one. */
void timer_start_cpu(void);

/* kasan_init.c */
#ifdef CONFIG_KASAN_SHADOW_OFFSET
/* Map all shadow read-only to one page that says "accessible", and the image's shadow to itself. Before any
 * instrumented code. */
void kasan_early_init(void);
/* Did a fault at shadow address @far hit a page table that another CPU was changing? Return: true if the
 * access is to be tried again. */
bool kasan_shadow_spurious_fault(unsigned long far);
#else
static inline void kasan_early_init(void)
{
}
static inline bool kasan_shadow_spurious_fault(unsigned long far)
{
	return false;
}
#endif
#ifdef CONFIG_KASAN_TAGGED_GLOBALS
/* Make the image's globals ready for their tags, while constants can be written; then give them their tags. */
void kasan_prepare_image_globals(void);
void kasan_load_image_globals(void);
#else
static inline void kasan_prepare_image_globals(void)
{
}
static inline void kasan_load_image_globals(void)
{
}
#endif

/* stacktrace.c */
/* Find the stack that holds @sp: the current task's, the boot stack or this CPU's overflow stack. @start,
 * @end: filled. Return: false if @sp is not on any of them. */
bool arch_stack_bounds(uintptr_t sp, uintptr_t *start, uintptr_t *end);
/* Print "Call trace:" and the frames of @regs, or of the caller if NULL. */
void show_trace(const struct pt_regs *regs);

/* Around the code in entry.S that exceptions enter. */
extern const char exception_entries[], exception_entries_end[];

/* scs.c */
#ifdef CONFIG_SHADOW_CALL_STACK
#include <kernel/scs.h>
/* Return: the shadow call stack of this kind, of the running task and this CPU. */
struct scs_place scs_place_of(enum scs_kind kind);

/**
 * struct scs_walk - a trace that is copied from shadow call stacks, newest entry first
 * @top: address above the next entry. @base: oldest entry of that stack.
 */
struct scs_walk {
	uintptr_t top, base;
};

/** scs_walk_start() - start at the pointer @top. Return: false if the shadow call stacks do not have the
 *  whole trace: @top is none of this context's or the one for faults, or functions that push nothing have called
 *  others. */
bool scs_walk_start(struct scs_walk *walk, uintptr_t top);

/** scs_walk_start_regs() - the same for the interrupted code of @regs; its own pc is not part of the walk. */
bool scs_walk_start_regs(struct scs_walk *walk, const struct pt_regs *regs);

/** scs_walk_next() - Return: false at the end. @pc: filled with a return address, without its authentication
 *  code. */
bool scs_walk_next(struct scs_walk *walk, uintptr_t *pc);
#endif

/* traps.c */
/* Print registers, the code around the pc and the call trace. */
void show_regs(struct pt_regs *regs);
/**
 * die() - end the current thread because of an exception
 * @msg: "Oops", "Oops - BUG", ...
 *
 * Prints registers and trace; then ends the thread, or panics if that is not possible: in
 * interrupts, with preemption off, in an idle or boot task, or by panic_on_oops.
 */
_Noreturn void die(const char *msg, struct pt_regs *regs);

#ifdef CONFIG_SHADOW_CALL_STACK
/* Did the code of @regs return with an empty shadow call stack? Then print so. */
bool scs_handle_underflow(struct pt_regs *regs);
#else
static inline bool scs_handle_underflow(struct pt_regs *regs)
{
	return false;
}
#endif

/* fault.c */
/* Give the shadow load of an inline check a result, if this data abort is one. Return: true if it is. */
bool kasan_fixup_shadow_load(struct pt_regs *regs);
/* Return: bytes that the instruction at the pc accesses, 0 if not known. */
size_t fault_access_size(const struct pt_regs *regs);
void do_data_abort(struct pt_regs *regs);
void do_instruction_abort(struct pt_regs *regs);

/* program_fault.c */
/* Is the exception of @regs a fault of a program's own code, in a context in which a handler of the program may run? */
bool is_program_fault(const struct pt_regs *regs);
/* The stack of the program's code in @regs has no room for another frame. Return: true if a handler of the program may run on its
 * alternate stack. */
bool may_handle_overflow(const struct pt_regs *regs);
/* Let a handler of the program have the fault. Return: false if it has none: then it ends. */
bool handle_program_fault(struct pt_regs *regs, enum program_fault_kind kind, unsigned long addr);
/* Call the program's handler for that; it cannot return. Called on the alternate stack. */
_Noreturn void handle_overflow(struct pt_regs *regs);
/* Get memory for the next faults of this stack. Ends the thread if there is none. */
void refill_stack(struct pt_regs *regs);
/* Map what the code of @regs has touched of a stack, at @addr. Return: true if the access is to be tried again. */
bool handle_stack_fault(struct pt_regs *regs, unsigned long addr);
/* Is there memory of the program at @addr that it has closed itself? */
bool hit_closed_page(unsigned long addr);

/* user_traps.c */
/* Set this CPU up for user mode, with PAN if it has that. Called once on each CPU. */
void user_init_cpu(void);
/* Entry points of user.S. */
void el0_sync_handler(struct pt_regs *regs);
void el0_irq_handler(struct pt_regs *regs);
void el0_irq_exit(void);
void el0_fiq_handler(struct pt_regs *regs);
void el0_error_handler(struct pt_regs *regs);
/* The last thing before user mode; interrupts off. */
void exit_to_user_mode(struct pt_regs *regs);

/* Entry points of entry.S and head.S. */
void el1_sync_handler(struct pt_regs *regs);
#ifdef CONFIG_SHADOW_CALL_STACK
const void *el1_irq_handler(struct pt_regs *regs);
void el1_irq_exit(struct pt_regs *regs, const void *outer);
_Noreturn void scs_fault_handler(struct pt_regs *regs);
_Noreturn void scs_unbalanced_handler(uintptr_t is, uintptr_t was);
#else
void el1_irq_handler(struct pt_regs *regs);
#endif
void el1_fiq_handler(struct pt_regs *regs);
void el1_error_handler(struct pt_regs *regs);
_Noreturn void bad_mode_handler(struct pt_regs *regs, unsigned int vector);
struct pt_regs *overflow_handler(struct pt_regs *regs);
void el1_stack_handler(struct pt_regs *regs);

#endif
