/* SPDX-License-Identifier: MIT */
/* irqflags.h - masking interrupts on this CPU, under the names that drivers and subsystems use. */
#ifndef KERNEL_IRQFLAGS_H
#define KERNEL_IRQFLAGS_H

#include <asm/irqflags.h>

#define local_irq_disable() arch_local_irq_disable()
#define local_irq_enable()  arch_local_irq_enable()
#define local_irq_save(flags)                    \
	do {                                     \
		(flags) = arch_local_irq_save(); \
	} while (0)
#define local_irq_restore(flags) arch_local_irq_restore(flags)
#define local_save_flags(flags)                    \
	do {                                       \
		(flags) = arch_local_save_flags(); \
	} while (0)

/** irqs_disabled() - Return: true if this CPU takes no interrupts. */
#define irqs_disabled() arch_irqs_disabled_flags(arch_local_save_flags())

#endif
