/* SPDX-License-Identifier: MIT */
/* irqflags.h - masking interrupts on this CPU, under the names that drivers and subsystems use. */
#ifndef KERNEL_IRQFLAGS_H
#define KERNEL_IRQFLAGS_H

#include <kernel/lockdep.h>
#include <asm/irqflags.h>

#ifdef CONFIG_LOCKDEP
/* The lock validator marks the locks that are held while interrupts go on. */
#define local_irq_enable()                              \
	do {                                            \
		if (irqs_disabled())                    \
			lockdep_hardirqs_on(_THIS_IP_); \
		arch_local_irq_enable();                \
	} while (0)
#define local_irq_restore(flags)                                         \
	do {                                                             \
		if (!arch_irqs_disabled_flags(flags) && irqs_disabled()) \
			lockdep_hardirqs_on(_THIS_IP_);                  \
		arch_local_irq_restore(flags);                           \
	} while (0)
#else
#define local_irq_enable()	 arch_local_irq_enable()
#define local_irq_restore(flags) arch_local_irq_restore(flags)
#endif

#define local_irq_disable() arch_local_irq_disable()
#define local_irq_save(flags)                    \
	do {                                     \
		(flags) = arch_local_irq_save(); \
	} while (0)
#define local_save_flags(flags)                    \
	do {                                       \
		(flags) = arch_local_save_flags(); \
	} while (0)

/** irqs_disabled() - Return: true if this CPU takes no interrupts. */
#define irqs_disabled() arch_irqs_disabled_flags(arch_local_save_flags())

#endif
