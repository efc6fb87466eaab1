/* SPDX-License-Identifier: MIT */
/*
 * percpu.h - variables with one copy per CPU, as arrays indexed by CPU number.
 *
 * Each CPU's copy has cache lines of its own. Callers of this_cpu_ptr() keep preemption or interrupts off
 * while they use the pointer.
 *
 *	static DEFINE_PER_CPU(unsigned long, ticks);
 *	(*this_cpu_ptr(&ticks))++;
 */
#ifndef KERNEL_PERCPU_H
#define KERNEL_PERCPU_H

#include <kernel/types.h>
#include <asm/percpu.h>

#define SMP_CACHE_BYTES 64

/** DEFINE_PER_CPU() - define a variable, zero-initialised; `static` may stand before it. */
#define DEFINE_PER_CPU(type, name)                                 \
	struct {                                                   \
		__typeof__(type) value __aligned(SMP_CACHE_BYTES); \
	} name[NR_CPUS]

/** DECLARE_PER_CPU() - for a header; the definition is then DEFINE_DECLARED_PER_CPU(name). */
#define DECLARE_PER_CPU(type, name)                                \
	struct percpu_##name {                                     \
		__typeof__(type) value __aligned(SMP_CACHE_BYTES); \
	};                                                         \
	extern struct percpu_##name name[NR_CPUS]
#define DEFINE_DECLARED_PER_CPU(name) struct percpu_##name name[NR_CPUS]

/** per_cpu() - the copy of CPU @cpu, as an lvalue; per_cpu_ptr() - its address. */
#define per_cpu(name, cpu)	((name)[cpu].value)
#define per_cpu_ptr(array, cpu) (&(*(array))[cpu].value)
#define this_cpu_ptr(array)	per_cpu_ptr(array, smp_processor_id())
#define this_cpu_read(name)	per_cpu(name, smp_processor_id())
#define this_cpu_write(name, v) ((void)(per_cpu(name, smp_processor_id()) = (v)))

#endif
