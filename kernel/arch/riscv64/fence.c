/* SPDX-License-Identifier: MIT */
/*
 * fence.c - tells other CPUs of changes in page tables and code.
 *
 * The firmware interrupts them in machine mode, whether they take interrupts or not, and waits: that is slow, above all in an
 * emulator. So a CPU that waits for an interrupt is left alone. It forgets everything when it goes on.
 *
 * Not instrumented: page tables change below shadow.
 */
#include <kernel/arch.h>
#include <kernel/smp.h>
#include <asm/barrier.h>
#include <asm/irqflags.h>
#include <asm/percpu.h>
#include "fence.h"
#include "internal.h"
#include "sbi.h"

/** struct fence_cpu - @started: it may hold something. @idle: it waits. @stale: it has to forget all when it goes on. */
static struct fence_cpu {
	bool started, idle, stale;
} fence_cpus[NR_CPUS];

void fence_share(unsigned int cpu)
{
	WRITE_ONCE(fence_cpus[0].started, true);
	WRITE_ONCE(fence_cpus[cpu].started, true);
}

/* Must @cpu be interrupted? */
static bool must_fence(unsigned int cpu)
{
	struct fence_cpu *other = &fence_cpus[cpu];

	if (!READ_ONCE(other->started) || cpu == smp_processor_id())
		return false;
	/* The page tables first. Either it sees this when it goes on, or it is seen not to wait. */
	WRITE_ONCE(other->stale, true);
	smp_mb();
	return !READ_ONCE(other->idle);
}

/*
 * Return: the harts that must be interrupted and that one call can name, as bits from *@base on; 0 if none are left. *@cpu: from
 * which CPU on; set to where the next call goes on.
 */
static unsigned long next_harts(unsigned int *cpu, unsigned long *base)
{
	unsigned long mask = 0;

	for (; *cpu < nr_cpu_ids; (*cpu)++) {
		const unsigned long hart = cpu_hart[*cpu], first = hart & ~63UL;

		if (mask && first != *base)
			break;
		if (must_fence(*cpu)) {
			*base = first;
			mask |= 1UL << (hart - first);
		}
	}
	return mask;
}

/* This CPU's own part. */
static void fence_own(unsigned long start, unsigned long size, long asid)
{
	if (asid >= 0) {
		__asm__ __volatile__("sfence.vma zero, %0" ::"r"(asid) : "memory");
	} else if (size > 16 * PAGE_SIZE) {
		__asm__ __volatile__("sfence.vma" ::: "memory");
	} else {
		for (unsigned long done = 0; done < size; done += PAGE_SIZE)
			__asm__ __volatile__("sfence.vma %0" ::"r"(start + done) : "memory");
	}
}

/* Interrupts are off, or the thread could move after its own part: then one CPU would be neither this one nor another. */
void fence_all(unsigned long start, unsigned long size, long asid)
{
	const unsigned long flags = arch_local_irq_save();
	unsigned long mask, base;
	unsigned int cpu = 0;

	fence_own(start, size, asid);
	while ((mask = next_harts(&cpu, &base)))
		sbi_fence_vma(mask, base, start, size, asid);
	arch_local_irq_restore(flags);
}

void fence_i_all(void)
{
	const unsigned long flags = arch_local_irq_save();
	unsigned long mask, base;
	unsigned int cpu = 0;

	__asm__ __volatile__("fence.i" ::: "memory");
	while ((mask = next_harts(&cpu, &base)))
		sbi_fence_i(mask, base);
	arch_local_irq_restore(flags);
}

void arch_cpu_idle(void)
{
	struct fence_cpu *own = &fence_cpus[smp_processor_id()];

	smp_store_release(&own->idle, true);
	wfi();
	WRITE_ONCE(own->idle, false);
	smp_mb();
	if (READ_ONCE(own->stale)) {
		WRITE_ONCE(own->stale, false);
		smp_mb();
		__asm__ __volatile__("sfence.vma\n\tfence.i" ::: "memory");
	}
}
