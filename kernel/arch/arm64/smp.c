/* SPDX-License-Identifier: MIT */
/*
 * smp.c - starting the other CPUs through the firmware, and stopping them.
 */
#include <kernel/arch.h>
#include <kernel/sched.h>

#include "internal.h"
#include "mte.h"
#include "psci.h"

u64 cpu_mpidr[NR_CPUS];
struct secondary_boot secondary_boot[NR_CPUS];

extern char secondary_entry[];

/*
 * First C function of a secondary CPU, on the stack of its idle task, interrupts off. With stack tagging it must have no
 * variable whose address is used: it would get no tag before mte_enable_cpu(), and its pointer would be checked after.
 */
void secondary_start(unsigned int cpu)
{
	mte_enable_cpu();
	user_init_cpu();
	irq_init_secondary();
	timer_start_cpu();
	smp_cpu_online(cpu);
}

int arch_start_cpu(unsigned int cpu, struct task *idle)
{
	secondary_boot[cpu].task = idle;
	secondary_boot[cpu].stack_top = task_stack_top(idle);
	dsb(ish);
	return psci_cpu_on(cpu_mpidr[cpu], __pa_symbol(secondary_entry), cpu);
}

void arch_stop_cpu(void)
{
	/* A pending tick would wake the CPU again and again. */
	write_sysreg(0, cntv_ctl_el0);
	for (;;)
		wfi();
}
