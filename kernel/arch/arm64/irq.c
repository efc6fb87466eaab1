/* SPDX-License-Identifier: MIT */
/*
 * irq.c - the controller of interrupts, and from a pending interrupt to kernel/irq/manage.c.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/printk.h>
#include <drivers/fdt.h>
#include <asm/percpu.h>
#include "gic.h"
#include "internal.h"

/* The GIC numbers interrupts between CPUs first, then the private ones. */
#define FIRST_PRIVATE 16
#define FIRST_SHARED  32

static const struct gic_ops *gic;

unsigned int fdt_irq(int node, unsigned int index)
{
	/* Kind, number within its kind, trigger. */
	u32 kind = fdt_u32(node, "interrupts", index * 3, ~0U);
	u32 number = fdt_u32(node, "interrupts", index * 3 + 1, ~0U);

	if (kind == 0 && number < NR_IRQS - FIRST_SHARED)
		return number + FIRST_SHARED;
	if (kind == 1 && number < FIRST_SHARED - FIRST_PRIVATE)
		return number + FIRST_PRIVATE;
	return 0;
}

bool arch_irq_exists(unsigned int irq, bool shared)
{
	return gic && irq >= (shared ? FIRST_SHARED : FIRST_PRIVATE) && irq < gic->nr_irqs &&
	       irq < NR_IRQS;
}

void arch_irq_enable(unsigned int irq)
{
	gic->enable(irq);
}

void arch_irq_disable(unsigned int irq)
{
	gic->disable(irq);
}

bool arch_irq_set_pending(unsigned int irq)
{
	gic->set_pending(irq);
	return true;
}

/* Handle all pending interrupts. Interrupts off. */
void arch_handle_irq(void)
{
	for (;;) {
		u32 ack = gic->ack();
		unsigned int irq = ack & 0x3ff;

		if (irq >= 1020)
			return;
		if (irq < FIRST_PRIVATE) {
			/* Acknowledge first: the same interrupt may be sent again while it is handled. */
			gic->eoi(ack);
			smp_handle_ipi(irq);
			continue;
		}
		irq_handle(irq);
		gic->eoi(ack);
	}
}

void arch_send_ipi(u32 mask, unsigned int ipi)
{
	/* Data written for the other CPU must be visible before the interrupt arrives. */
	dsb(ishst);
	gic->ipi(mask, ipi);
}

void irq_init_secondary(void)
{
	gic->init_cpu();
}

void init_IRQ(void)
{
	gic = gicv2_probe();
	if (!gic)
		gic = gicv3_probe();
	if (!gic)
		panic("no GICv2 or GICv3 in the device tree");
	gic->init_cpu();
}
