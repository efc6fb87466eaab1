/* SPDX-License-Identifier: MIT */
/*
 * gicv3.c - interrupt controller with system registers as the CPU interface and a redistributor
 * per CPU.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <kernel/types.h>
#include <asm/barrier.h>
#include <asm/io.h>
#include <asm/percpu.h>
#include <drivers/fdt.h>
#include "gic.h"
#include "sysreg.h"

/* Distributor; the redistributor's second frame has the same registers for the private interrupts. */
#define GICD_CTLR	0x0000
#define GICD_TYPER	0x0004
#define GICD_IGROUPR	0x0080
#define GICD_ISENABLER	0x0100
#define GICD_ICENABLER	0x0180
#define GICD_ISPENDR	0x200
#define GICD_ICPENDR	0x0280
#define GICD_IPRIORITYR 0x0400
#define GICD_IROUTER	0x6000

#define GICD_CTLR_ENABLE_G1A BIT(1)
#define GICD_CTLR_ARE_NS     BIT(4)
#define GICD_CTLR_RWP	     BIT(31)

/* Redistributor, first frame */
#define GICR_CTLR  0x0000
#define GICR_TYPER 0x0008
#define GICR_WAKER 0x0014

#define GICR_CTLR_RWP		  BIT(3)
#define GICR_TYPER_VLPIS	  BIT(1)
#define GICR_TYPER_LAST		  BIT(4)
#define GICR_WAKER_SLEEP	  BIT(1)
#define GICR_WAKER_CHILDREN_SLEEP BIT(2)

#define GICR_FRAME    0x10000UL
#define GICR_SGI_BASE GICR_FRAME

#define PRIORITY      0xa0U
#define PRIORITY_MASK 0xf0U

#define MAX_REGIONS 4

static char *dist;
static struct {
	char *base;
	u64 size;
} regions[MAX_REGIONS];
static char *redist[NR_CPUS];
/* MPIDR affinity fields of the CPUs that are online. */
static u64 affinity[NR_CPUS];

static struct gic_ops gicv3_ops;

/* Writes take effect with a delay; a bit in the register tells when. */
static void wait_for(const char *ctlr, u32 busy)
{
	for (int polls = 0; readl(ctlr) & busy; polls++) {
		if (polls == 10000000)
			panic("GICv3: a register write does not take effect");
		cpu_relax();
	}
}

static void gicv3_init_dist(void)
{
	u64 boot = read_sysreg(mpidr_el1) & MPIDR_HWID_MASK;

	writel(0, dist + GICD_CTLR);
	wait_for(dist + GICD_CTLR, GICD_CTLR_RWP);
	gicv3_ops.nr_irqs = min(((readl(dist + GICD_TYPER) & 0x1f) + 1) * 32, 1020U);
	for (unsigned int irq = 32; irq < gicv3_ops.nr_irqs; irq += 32) {
		writel(~0U, dist + GICD_ICENABLER + irq / 8);
		writel(~0U, dist + GICD_ICPENDR + irq / 8);
		writel(~0U, dist + GICD_IGROUPR + irq / 8);
	}
	for (unsigned int irq = 32; irq < gicv3_ops.nr_irqs; irq += 4)
		writel(PRIORITY * 0x01010101U, dist + GICD_IPRIORITYR + irq);
	writel(GICD_CTLR_ARE_NS | GICD_CTLR_ENABLE_G1A, dist + GICD_CTLR);
	wait_for(dist + GICD_CTLR, GICD_CTLR_RWP);
	/* Shared interrupts go to the boot CPU. */
	for (unsigned int irq = 32; irq < gicv3_ops.nr_irqs; irq++)
		writeq_relaxed(boot, dist + GICD_IROUTER + irq * 8UL);
}

/* Find the redistributor with this CPU's affinity. */
static char *find_redist(u64 mpidr)
{
	u64 wanted = (mpidr & 0xffffff) | (mpidr >> 8 & 0xff000000);

	for (unsigned int i = 0; i < MAX_REGIONS && regions[i].base; i++) {
		u64 offset = 0;

		while (offset + 2 * GICR_FRAME <= regions[i].size) {
			char *base = regions[i].base + offset;
			u64 typer = readq_relaxed(base + GICR_TYPER);

			if (typer >> 32 == wanted)
				return base;
			if (typer & GICR_TYPER_LAST)
				break;
			offset += (typer & GICR_TYPER_VLPIS ? 4 : 2) * GICR_FRAME;
		}
	}
	return NULL;
}

static void gicv3_init_cpu(void)
{
	unsigned int cpu = smp_processor_id();
	u64 mpidr = read_sysreg(mpidr_el1) & MPIDR_HWID_MASK;
	char *base = find_redist(mpidr);

	if (!base)
		panic("GICv3: CPU %u has no redistributor", cpu);
	redist[cpu] = base;
	affinity[cpu] = mpidr;

	writel(readl(base + GICR_WAKER) & ~(u32)GICR_WAKER_SLEEP, base + GICR_WAKER);
	wait_for(base + GICR_WAKER, GICR_WAKER_CHILDREN_SLEEP);

	base += GICR_SGI_BASE;
	writel(~0U, base + GICD_IGROUPR);
	writel(0xffff0000U, base + GICD_ICENABLER);
	writel(0x0000ffffU, base + GICD_ISENABLER);
	for (unsigned int irq = 0; irq < 32; irq += 4)
		writel(PRIORITY * 0x01010101U, base + GICD_IPRIORITYR + irq);
	wait_for(redist[cpu] + GICR_CTLR, GICR_CTLR_RWP);

	write_sysreg(read_sysreg(ICC_SRE_EL1) | 1, ICC_SRE_EL1);
	isb();
	write_sysreg(PRIORITY_MASK, ICC_PMR_EL1);
	write_sysreg(0, ICC_BPR1_EL1);
	write_sysreg(0, ICC_CTLR_EL1); /* EOI also deactivates the interrupt */
	write_sysreg(1, ICC_IGRPEN1_EL1);
	isb();
}

static u32 gicv3_ack(void)
{
	u32 ack = (u32)read_sysreg(ICC_IAR1_EL1);

	dsb(sy);
	return ack;
}

static void gicv3_eoi(u32 ack)
{
	write_sysreg(ack, ICC_EOIR1_EL1);
	isb();
}

static char *bank(unsigned int irq)
{
	return irq < 32 ? redist[smp_processor_id()] + GICR_SGI_BASE : dist;
}

static void gicv3_enable(unsigned int irq)
{
	writel(1U << (irq % 32), bank(irq) + GICD_ISENABLER + irq / 32 * 4);
}

static void gicv3_disable(unsigned int irq)
{
	writel(1U << (irq % 32), bank(irq) + GICD_ICENABLER + irq / 32 * 4);
}

static void gicv3_set_pending(unsigned int irq)
{
	writel(1U << (irq % 32), dist + GICD_ISPENDR + irq / 32 * 4);
}

static void gicv3_ipi(u32 mask, unsigned int sgi)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		u64 aff = affinity[cpu], target;

		if (!(mask & (1U << cpu)))
			continue;
		/* Affinities 3 to 1 select a cluster; within it, a group of 16 CPUs has one bit each. */
		target = (aff >> 32 & 0xff) << 48 | (aff >> 16 & 0xff) << 32 |
			 (aff >> 8 & 0xff) << 16 | (aff >> 4 & 0xf) << 44 | 1UL << (aff & 0xf) |
			 (u64)sgi << 24;
		write_sysreg(target, ICC_SGI1R_EL1);
	}
	isb();
}

static struct gic_ops gicv3_ops = {
	.name = "GICv3",
	.init_cpu = gicv3_init_cpu,
	.ack = gicv3_ack,
	.eoi = gicv3_eoi,
	.enable = gicv3_enable,
	.disable = gicv3_disable,
	.set_pending = gicv3_set_pending,
	.ipi = gicv3_ipi,
};

const struct gic_ops *gicv3_probe(void)
{
	int node = fdt_compatible(-1, "arm,gic-v3");
	phys_addr_t base;
	u64 size;
	u32 count;

	if (node < 0 || !fdt_reg(node, 0, &base, &size))
		return NULL;
	dist = ioremap(base, size);
	count = min(fdt_u32(node, "#redistributor-regions", 0, 1), (u32)MAX_REGIONS);
	for (u32 i = 0; i < count && fdt_reg(node, i + 1, &base, &size); i++) {
		regions[i].base = ioremap(base, size);
		regions[i].size = size;
	}
	if (!dist || !regions[0].base)
		panic("GICv3: its registers cannot be mapped");
	gicv3_init_dist();
	return &gicv3_ops;
}
