/* SPDX-License-Identifier: MIT */
/* internal.h - declarations shared by the files of this folder. */
#ifndef RISCV64_INTERNAL_H
#define RISCV64_INTERNAL_H

#include <kernel/arch.h>
#include <asm/csr.h>
#include <asm/ptrace.h>

struct fault;

/* fpu.S */

/** fpu_save(), fpu_load() - store the running task's floating-point registers, load them. It has some. */
void fpu_save(struct fpu_state *state);
void fpu_load(const struct fpu_state *state);

/* fpu.c */

/** fpu_switch() - store @prev's floating-point registers and load @next's; at least one of them has some. Interrupts
 *  off. */
void fpu_switch(struct task *prev, struct task *next);

/* tlb.c */

/* Make all entries of the top table that may be needed after boot: address spaces have copies of them. */
void tlb_prepare_top(void);
/* Change from the tables of head.S to swapper_pg_dir. */
void pgtable_activate(void);

/* early.c */
extern phys_addr_t boot_fdt_phys;
extern unsigned long boot_hart;
#ifdef CONFIG_KASAN_SW_TAGS
/* Why pointers cannot have tags: the firmware's answer, 0 if they can. */
extern long masking_error;
#endif
void early_init(phys_addr_t fdt, unsigned long hart);

/* entry.S */
extern char trap_entry[];
/* Around the code that exceptions enter. */
extern const char exception_entries[], exception_entries_end[];

/* smp.c */
struct secondary_boot {
	struct task *task;
	void *stack_top;
};
extern struct secondary_boot secondary_boot[NR_CPUS];
_Noreturn void secondary_start(unsigned int cpu);
/* The harts of CPUs by number, from the device tree. */
extern unsigned long cpu_hart[NR_CPUS];
/* Handle the calls of other CPUs that are pending. Interrupts off. */
void smp_handle_pending(void);

/* plic.c */
bool plic_probe(void);
void plic_handle(void);
bool plic_has(unsigned int irq);

/* timer.c */
/* Take the counter's value as the time of boot. */
void early_clock_init(void);
/* Read the counter's frequency from the device tree. */
void clock_probe(void);
/* Start the tick on the calling CPU. */
void timer_start_cpu(void);
void timer_interrupt(void);

/* fault.c */
/* Return: the access that @regs says was refused. */
struct fault fault_of(const struct pt_regs *regs);
/* Return: the pointer whose access was refused at @addr. It may have a tag, or others of the bits that the CPU ignores. */
unsigned long fault_pointer(const struct pt_regs *regs, unsigned long addr);
/* Return: true if the page tables allow the access meanwhile, or did so before the CPU looked at them again. */
bool fault_is_over(const struct fault *fault, bool user);

/* user.c */
/* Set this CPU up for user mode. Called once on each CPU. */
void user_init_cpu(void);

/* Entry points of entry.S. */
void kernel_trap(struct pt_regs *regs);
const void *kernel_interrupt_begin(struct pt_regs *regs);
void kernel_interrupt_end(const void *outer);
void user_trap(struct pt_regs *regs);
void user_interrupt_handler(void);
#ifdef CONFIG_SHADOW_CALL_STACK
/* The entry of the exception of @regs could not push the pc. Return: it can by now. */
void scs_entry_fault(struct pt_regs *regs);
#endif

#endif
