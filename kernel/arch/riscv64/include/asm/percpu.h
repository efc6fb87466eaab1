/* SPDX-License-Identifier: MIT */
/* percpu.h - the number of this CPU, in the context of the task that it runs. 0 is the CPU that booted. */
#ifndef ASM_PERCPU_H
#define ASM_PERCPU_H

#include <kernel/types.h>
#include <asm/current.h>
#include <asm/switch.h>

/** smp_processor_id() - Return: this CPU's number, below NR_CPUS. Stable while preemption is off. */
static __always_inline unsigned int smp_processor_id(void)
{
	unsigned long cpu;

	/* One instruction: the task cannot move to another CPU between the register and the load. */
	__asm__ __volatile__("ld %0, %1(" CURRENT_NAME ")" : "=r"(cpu) : "i"(CTX_CPU));
	/* The compiler then indexes arrays without an instruction that clears the upper half. */
	if (cpu >= NR_CPUS)
		__builtin_unreachable();
	return (unsigned int)cpu;
}
#define raw_smp_processor_id() smp_processor_id()

#endif
