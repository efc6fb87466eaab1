/* SPDX-License-Identifier: MIT */
/*
 * irq.c - from a pending interrupt to its handler.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/errno.h>
#include <kernel/printk.h>
#include <drivers/fdt.h>
#include <asm/percpu.h>
#include "gic.h"
#include "internal.h"

/* GIC numbers: 0-15 between CPUs, 16-31 private to a CPU, 32 and up shared. */
#define NR_IRQS 1020

/* The GIC numbers interrupts between CPUs first, then the private ones. */
#define FIRST_PRIVATE 16
#define FIRST_SHARED  32

static const struct gic_ops *gic;

static struct irq_action {
	irq_handler_t fn;
	void *arg;
} actions[NR_IRQS];
static struct bare_lock actions_lock;

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

int request_irq(unsigned int irq, irq_handler_t fn, void *arg)
{
	unsigned long flags;
	int err = 0;

	if (!gic || !fn || irq < FIRST_PRIVATE || irq >= gic->nr_irqs || irq >= NR_IRQS)
		return -EINVAL;
	flags = arch_local_irq_save();
	bare_lock(&actions_lock);
	if (actions[irq].fn) {
		err = -EBUSY;
	} else {
		actions[irq].arg = arg;
		smp_store_release(&actions[irq].fn, fn);
		gic->enable(irq);
	}
	bare_unlock(&actions_lock);
	arch_local_irq_restore(flags);
	return err;
}

static void handle_one(unsigned int irq)
{
	irq_handler_t fn = irq < NR_IRQS ? smp_load_acquire(&actions[irq].fn) : NULL;

	if (fn) {
		fn(irq, actions[irq].arg);
		return;
	}
	pr_warn("irq: interrupt %u has no handler, it is switched off\n", irq);
	gic->disable(irq);
}

/* Handle all pending interrupts. Interrupts off. */
void handle_irq(void)
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
		handle_one(irq);
		gic->eoi(ack);
	}
}

void arch_send_ipi(u32 mask, unsigned int ipi)
{
	/* Data written for the other CPU must be visible before the interrupt arrives. */
	dsb(ishst);
	gic->ipi(mask, ipi);
}

void irq_enable_private(unsigned int irq)
{
	gic->enable(irq);
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
