/* SPDX-License-Identifier: MIT */
/* smp.h - the other CPUs: their number, starting them, calling functions on them, stopping them. */
#ifndef KERNEL_SMP_H
#define KERNEL_SMP_H

#include <kernel/types.h>
#include <asm/percpu.h>

/* Number of CPUs of the machine, at most NR_CPUS; CPU 0 is the one that booted. Set by setup_arch(). */
extern unsigned int nr_cpu_ids;
/* Bit n: CPU n runs and takes interrupts. */
extern u32 cpu_online_mask;

#define num_possible_cpus() (nr_cpu_ids)
#define cpu_online(cpu)	    ((READ_ONCE(cpu_online_mask) >> (cpu)) & 1U)

/* A loop: without SIMD registers the compilers' population count is a library call. */
static inline unsigned int num_online_cpus(void)
{
	unsigned int n = 0;

	for (u32 mask = READ_ONCE(cpu_online_mask); mask; mask &= mask - 1)
		n++;
	return n;
}

#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)
#define for_each_online_cpu(cpu)                     \
	for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++) \
		if (cpu_online(cpu))

/** smp_boot_secondaries() - start all CPUs. Thread context, interrupts on, after time_init(). If a CPU does
 *  not come up within a second, it warns and leaves that CPU out. */
void smp_boot_secondaries(void);

/** smp_send_reschedule() - interrupt @cpu, so that it checks need_resched(). */
void smp_send_reschedule(unsigned int cpu);

/**
 * smp_call_function_many() - run fn(arg) on every other online CPU, in interrupt context
 * @wait: return after all calls have finished.
 *
 * While it waits it serves the calls of others, so two callers with interrupts off cannot block each other.
 * The caller must not hold a lock that another CPU takes with interrupts off.
 */
void smp_call_function_many(void (*fn)(void *), void *arg, bool wait);

/** smp_call_function_single() - the same on one online CPU, this one included. */
void smp_call_function_single(unsigned int cpu, void (*fn)(void *), void *arg, bool wait);

/** smp_send_stop() - stop all other CPUs for good, at a panic or shutdown. Gives up on a CPU that keeps its
 *  interrupts off for 100 ms. Any context. */
void smp_send_stop(void);

#endif
