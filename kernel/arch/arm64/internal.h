/* SPDX-License-Identifier: MIT */
/* internal.h - declarations shared by the files of this folder. */
#ifndef ARM64_INTERNAL_H
#define ARM64_INTERNAL_H

#include <kernel/arch.h>
#include <kernel/bare_lock.h>
#include <asm/irqflags.h>
#include <asm/percpu.h>
#include <asm/ptrace.h>
#include "sysreg.h"

/* fpu.S */

/** fpu_save(), fpu_load() - store the running task's floating-point registers, load them. It has some. */
void fpu_save(struct fpu_state *state);
void fpu_load(const struct fpu_state *state);

/* fpu.c */

/** fpu_switch() - store @prev's floating-point registers and load @next's; at least one of them has some. Interrupts
 *  off. */
void fpu_switch(struct task *prev, struct task *next);

/* tlb.c */

/* Change from the tables of head.S to swapper_pg_dir. */
void pgtable_activate(void);

/* early.c */
extern phys_addr_t boot_fdt_phys;
void early_init(phys_addr_t fdt);

/* entry.S */
extern char vectors[];
/* Around the code that exceptions enter. */
extern const char exception_entries[], exception_entries_end[];

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

/* timer.c */
/* Take the counter's value as the time of boot. */
void early_clock_init(void);
/* Start the tick on the calling CPU, a secondary one. */
void timer_start_cpu(void);

/* fault.c */
/* Return: the access that @regs says was refused. @exec: of an instruction. */
struct fault fault_of(const struct pt_regs *regs, bool exec);
void do_data_abort(struct pt_regs *regs);
void do_instruction_abort(struct pt_regs *regs);

/* user_traps.c */
/* Set this CPU up for user mode, with PAN if it has that. Called once on each CPU. */
void user_init_cpu(void);
/* Entry points of user.S. */
void el0_sync_handler(struct pt_regs *regs);
void el0_irq_handler(struct pt_regs *regs);
void el0_fiq_handler(struct pt_regs *regs);
void el0_error_handler(struct pt_regs *regs);

/* Entry points of entry.S and head.S. */
void el1_sync_handler(struct pt_regs *regs);
#ifdef CONFIG_SHADOW_CALL_STACK
const void *el1_irq_handler(struct pt_regs *regs);
void el1_irq_exit(const void *outer);
#else
void el1_irq_handler(struct pt_regs *regs);
#endif
void el1_fiq_handler(struct pt_regs *regs);
void el1_error_handler(struct pt_regs *regs);
_Noreturn void bad_mode_handler(struct pt_regs *regs, unsigned int vector);
void el1_stack_handler(struct pt_regs *regs);

#endif
