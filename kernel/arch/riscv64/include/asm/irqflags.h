/* SPDX-License-Identifier: MIT */
/*
 * irqflags.h - masking interrupts on this CPU: the bit SIE of sstatus.
 *
 * Kernels with CONFIG_IRQSOFF tell their tracer. In all others its two calls are nothing.
 */
#ifndef ASM_IRQFLAGS_H
#define ASM_IRQFLAGS_H

#include <kernel/irqsoff.h>
#include <asm/csr.h>

static __always_inline unsigned long arch_local_save_flags(void)
{
	unsigned long flags;

	__asm__ __volatile__("csrr %0, sstatus" : "=r"(flags)::"memory");
	return flags;
}

static __always_inline bool arch_irqs_disabled_flags(unsigned long flags)
{
	return !(flags & SR_SIE);
}

static __always_inline void arch_local_irq_disable(void)
{
	__asm__ __volatile__("csrci sstatus, 2" ::: "memory");
	irqsoff_begin();
}

static __always_inline void arch_local_irq_enable(void)
{
	irqsoff_end();
	__asm__ __volatile__("csrsi sstatus, 2" ::: "memory");
}

/** arch_local_irq_save() - mask interrupts. Return: the state before, for arch_local_irq_restore(). */
static __always_inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags;

	__asm__ __volatile__("csrrci %0, sstatus, 2" : "=r"(flags)::"memory");
	if (!arch_irqs_disabled_flags(flags))
		irqsoff_begin();
	return flags;
}

static __always_inline void arch_local_irq_restore(unsigned long flags)
{
	if (arch_irqs_disabled_flags(flags)) {
		__asm__ __volatile__("csrci sstatus, 2" ::: "memory");
		return;
	}
	irqsoff_end();
	__asm__ __volatile__("csrsi sstatus, 2" ::: "memory");
}

/* Nothing but interrupts can be masked. */
static inline void arch_unmask_errors(void)
{
}

#endif
