/* SPDX-License-Identifier: MIT */
/*
 * irq.c - from a pending interrupt to kernel/irq/manage.c, to the tick, and to calls between CPUs.
 *
 * Numbers of interrupts are those of the controller of devices, the PLIC. The tick and calls between CPUs have none.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/printk.h>
#include "internal.h"
#include "traps.h"

bool arch_irq_exists(unsigned int irq, bool shared)
{
	return irq < NR_IRQS && plic_has(irq);
}

bool arch_irq_set_pending(unsigned int irq)
{
	/* Only a device can. */
	return false;
}

/* Handle all pending interrupts. Interrupts off. */
void arch_handle_irq(void)
{
	const unsigned long enabled = csr_read(sie);
	unsigned long pending;

	while ((pending = csr_read(sip) & enabled)) {
		/* Acknowledge first: the same interrupt may be sent again while it is handled. */
		if (pending & IE_SOFTWARE) {
			csr_clear(sip, IE_SOFTWARE);
			smp_handle_pending();
		}
		if (pending & IE_TIMER)
			timer_interrupt();
		if (pending & IE_EXTERNAL)
			plic_handle();
	}
}

void init_IRQ(void)
{
	if (!plic_probe())
		panic("no PLIC in the device tree");
	csr_set(sie, IE_SOFTWARE | IE_EXTERNAL);
}
