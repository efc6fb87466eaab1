/* SPDX-License-Identifier: MIT */
/*
 * irqflags.h - masking interrupts on this CPU.
 *
 * Only PSTATE.I is used: the machine delivers interrupts as IRQ. FIQ and SError stay unmasked outside of
 * exception entry, because each of them is an error that must be reported.
 *
 * Kernels with CONFIG_IRQSOFF tell their tracer. In all others its two calls are nothing.
 */
#ifndef ASM_IRQFLAGS_H
#define ASM_IRQFLAGS_H

#include <kernel/irqsoff.h>
#include <asm/memory.h>

static __always_inline unsigned long arch_local_save_flags(void)
{
	unsigned long flags;

	__asm__ __volatile__("mrs %0, daif" : "=r"(flags)::"memory");
	return flags;
}

static __always_inline bool arch_irqs_disabled_flags(unsigned long flags)
{
	return (flags & PSR_I_BIT) != 0;
}

static __always_inline void arch_local_irq_disable(void)
{
	__asm__ __volatile__("msr daifset, #2" ::: "memory");
	irqsoff_begin();
}

static __always_inline void arch_local_irq_enable(void)
{
	irqsoff_end();
	__asm__ __volatile__("msr daifclr, #2" ::: "memory");
}

/** arch_local_irq_save() - mask interrupts. Return: the state before, for arch_local_irq_restore(). */
static __always_inline unsigned long arch_local_irq_save(void)
{
	unsigned long flags = arch_local_save_flags();

	__asm__ __volatile__("msr daifset, #2" ::: "memory");
	if (!arch_irqs_disabled_flags(flags))
		irqsoff_begin();
	return flags;
}

static __always_inline void arch_local_irq_restore(unsigned long flags)
{
	if (!arch_irqs_disabled_flags(flags))
		irqsoff_end();
	__asm__ __volatile__("msr daif, %0" ::"r"(flags) : "memory");
}

/* Unmask debug exceptions, SError and FIQ, so that an error inside a handler is seen. Interrupts stay off. */
static inline void arch_unmask_errors(void)
{
	__asm__ __volatile__("msr daifclr, #0xd" ::: "memory");
}

#endif
