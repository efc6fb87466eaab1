/* SPDX-License-Identifier: MIT */
/* gic.h - the interrupt controller: GICv2 and GICv3 behind one table of operations. */
#ifndef ARM64_GIC_H
#define ARM64_GIC_H

#include <kernel/types.h>

/**
 * struct gic_ops - one kind of controller
 * @init_cpu: set up this CPU's own part; called on each CPU with interrupts off.
 * @ack: take the pending interrupt of highest priority. Return: a value with its number, for @eoi.
 * @eoi: the interrupt with this value of @ack has been handled.
 * @enable, @disable: @irq is below nr_irqs; private ones change on this CPU only. Level triggered.
 * @set_pending: @irq is a shared one: as if its device asked for it.
 * @ipi: send interrupt @sgi, 0-15, to the CPUs in @mask, at least one.
 */
struct gic_ops {
	const char *name;
	unsigned int nr_irqs;
	void (*init_cpu)(void);
	u32 (*ack)(void);
	void (*eoi)(u32 ack);
	void (*enable)(unsigned int irq);
	void (*disable)(unsigned int irq);
	void (*set_pending)(unsigned int irq);
	void (*ipi)(u32 mask, unsigned int sgi);
};

/** gicv2_probe(), gicv3_probe() - start the controller that the device tree describes.
 *  Return: its operations, NULL if there is no such controller. */
const struct gic_ops *gicv2_probe(void);
const struct gic_ops *gicv3_probe(void);

/** fdt_irq() - number of the interrupt in entry @index of @node's "interrupts" (three cells per
 *  entry). Return: the number, 0 if there is none. */
unsigned int fdt_irq(int node, unsigned int index);

#endif
