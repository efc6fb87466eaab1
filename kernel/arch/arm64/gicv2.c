/* SPDX-License-Identifier: MIT */
/*
 * gicv2.c - interrupt controller with a memory-mapped CPU interface, up to 8 CPUs.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/types.h>
#include <asm/io.h>
#include <asm/percpu.h>
#include <drivers/fdt.h>
#include "gic.h"

/* Distributor */
#define GICD_CTLR	0x000
#define GICD_TYPER	0x004
#define GICD_ISENABLER	0x100
#define GICD_ICENABLER	0x180
#define GICD_ISPENDR	0x200
#define GICD_ICPENDR	0x280
#define GICD_IPRIORITYR 0x400
#define GICD_ITARGETSR	0x800
#define GICD_SGIR	0xf00

/* CPU interface */
#define GICC_CTLR 0x00
#define GICC_PMR  0x04
#define GICC_BPR  0x08
#define GICC_IAR  0x0c
#define GICC_EOIR 0x10

/* All interrupts have the same priority; every CPU takes all of them. */
#define PRIORITY      0xa0U
#define PRIORITY_MASK 0xf0U

static char *dist, *cpuif;
/* The controller's own numbers for the CPUs, one bit each. */
static u8 cpu_bit[NR_CPUS];

static struct gic_ops gicv2_ops;

static u32 four(u32 byte)
{
	return byte * 0x01010101U;
}

static void gicv2_init_dist(void)
{
	writel(0, dist + GICD_CTLR);
	gicv2_ops.nr_irqs = min(((readl(dist + GICD_TYPER) & 0x1f) + 1) * 32, 1020U);
	for (unsigned int irq = 32; irq < gicv2_ops.nr_irqs; irq += 32) {
		writel(~0U, dist + GICD_ICENABLER + irq / 8);
		writel(~0U, dist + GICD_ICPENDR + irq / 8);
	}
	for (unsigned int irq = 32; irq < gicv2_ops.nr_irqs; irq += 4)
		writel(four(PRIORITY), dist + GICD_IPRIORITYR + irq);
	writel(1, dist + GICD_CTLR);
}

static void gicv2_init_cpu(void)
{
	unsigned int cpu = smp_processor_id();
	u32 targets = 0;

	/* The first registers are banked by CPU: its private interrupts, and its own number. */
	for (unsigned int i = 0; i < 32 && !targets; i += 4)
		targets = readl(dist + GICD_ITARGETSR + i);
	targets |= targets >> 16;
	targets |= targets >> 8;
	cpu_bit[cpu] = (u8)targets;
	/* A controller for a single CPU does not have this register. */
	if (!cpu_bit[cpu])
		cpu_bit[cpu] = 1;

	writel(0xffff0000U, dist + GICD_ICENABLER);
	writel(0x0000ffffU, dist + GICD_ISENABLER);
	for (unsigned int irq = 0; irq < 32; irq += 4)
		writel(four(PRIORITY), dist + GICD_IPRIORITYR + irq);
	writel(PRIORITY_MASK, cpuif + GICC_PMR);
	writel(0, cpuif + GICC_BPR);
	writel(1, cpuif + GICC_CTLR);
}

static u32 gicv2_ack(void)
{
	return readl(cpuif + GICC_IAR);
}

static void gicv2_eoi(u32 ack)
{
	writel(ack, cpuif + GICC_EOIR);
}

static void gicv2_enable(unsigned int irq)
{
	/* Shared interrupts go to the boot CPU. */
	if (irq >= 32)
		writeb_relaxed(cpu_bit[0], dist + GICD_ITARGETSR + irq);
	writel(1U << (irq % 32), dist + GICD_ISENABLER + irq / 32 * 4);
}

static void gicv2_disable(unsigned int irq)
{
	writel(1U << (irq % 32), dist + GICD_ICENABLER + irq / 32 * 4);
}

static void gicv2_set_pending(unsigned int irq)
{
	writel(1U << (irq % 32), dist + GICD_ISPENDR + irq / 32 * 4);
}

static void gicv2_ipi(u32 mask, unsigned int sgi)
{
	u32 targets = 0;

	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		if (mask & (1U << cpu))
			targets |= cpu_bit[cpu];
	}
	writel(targets << 16 | sgi, dist + GICD_SGIR);
}

static struct gic_ops gicv2_ops = {
	.name = "GICv2",
	.init_cpu = gicv2_init_cpu,
	.ack = gicv2_ack,
	.eoi = gicv2_eoi,
	.enable = gicv2_enable,
	.disable = gicv2_disable,
	.set_pending = gicv2_set_pending,
	.ipi = gicv2_ipi,
};

const struct gic_ops *gicv2_probe(void)
{
	static const char *const names[] = {"arm,cortex-a15-gic", "arm,gic-400",
					    "arm,cortex-a9-gic", "arm,cortex-a7-gic"};
	phys_addr_t dist_pa, cpuif_pa;
	u64 dist_size, cpuif_size;
	int node = -1;

	for (unsigned int i = 0; i < ARRAY_SIZE(names) && node < 0; i++)
		node = fdt_compatible(-1, names[i]);
	if (node < 0 || !fdt_reg(node, 0, &dist_pa, &dist_size) ||
	    !fdt_reg(node, 1, &cpuif_pa, &cpuif_size))
		return NULL;
	dist = ioremap(dist_pa, dist_size);
	cpuif = ioremap(cpuif_pa, cpuif_size);
	if (!dist || !cpuif)
		panic("GICv2: its registers cannot be mapped");
	gicv2_init_dist();
	return &gicv2_ops;
}
