/* SPDX-License-Identifier: MIT */
/*
 * smp.c - starting the other CPUs through the firmware, calls between CPUs, and stopping them.
 */
#include <kernel/arch.h>
#include <kernel/sched.h>
#include <asm/barrier.h>

#include "fence.h"
#include "internal.h"
#include "sbi.h"

unsigned long cpu_hart[NR_CPUS];
struct secondary_boot secondary_boot[NR_CPUS];

/* A CPU has one software interrupt: a bit for each call that is meant. */
static u32 calls[NR_CPUS];

extern char secondary_entry[];

/* First C function of a secondary CPU, on the stack of its idle task, interrupts off. */
void secondary_start(unsigned int cpu)
{
	user_init_cpu();
	csr_set(sie, IE_SOFTWARE);
	timer_start_cpu();
	smp_cpu_online(cpu);
}

int arch_start_cpu(unsigned int cpu, struct task *idle)
{
	secondary_boot[cpu].task = idle;
	secondary_boot[cpu].stack_top = task_stack_top(idle);
	smp_mb();
	fence_share(cpu);
	return sbi_start_hart(cpu_hart[cpu], __pa_symbol(secondary_entry), cpu);
}

void arch_send_ipi(u32 mask, unsigned int ipi)
{
	for (unsigned int cpu = 0; mask; cpu++, mask >>= 1) {
		if (!(mask & 1))
			continue;
		/* Data written for the other CPU must be visible before the call is. */
		__atomic_fetch_or(&calls[cpu], 1U << ipi, __ATOMIC_RELEASE);
		fence(w, o);
		sbi_send_ipi(cpu_hart[cpu]);
	}
}

void smp_handle_pending(void)
{
	u32 pending = __atomic_exchange_n(&calls[smp_processor_id()], 0, __ATOMIC_ACQUIRE);

	for (unsigned int ipi = 0; pending; ipi++, pending >>= 1) {
		if (pending & 1)
			smp_handle_ipi(ipi);
	}
}

void arch_stop_cpu(void)
{
	/* A pending interrupt would wake the CPU again and again. */
	csr_write(sie, 0);
	for (;;)
		wfi();
}
