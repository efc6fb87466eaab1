/* SPDX-License-Identifier: MIT */
/* percpu.h - the number of this CPU, held in TPIDR_EL1. 0 is the CPU that booted. */
#ifndef ASM_PERCPU_H
#define ASM_PERCPU_H

#include <kernel/types.h>

/** smp_processor_id() - Return: this CPU's number, below NR_CPUS. Stable while preemption is off. */
static __always_inline unsigned int smp_processor_id(void)
{
	unsigned long cpu;

	__asm__ __volatile__("mrs %0, tpidr_el1" : "=r"(cpu));
	/* The compiler then indexes arrays without an instruction that clears the upper half. */
	if (cpu >= NR_CPUS)
		__builtin_unreachable();
	return (unsigned int)cpu;
}
#define raw_smp_processor_id() smp_processor_id()

#endif
