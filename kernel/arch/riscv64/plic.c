/* SPDX-License-Identifier: MIT */
/*
 * plic.c - the platform-level interrupt controller: interrupts of devices. All go to the boot CPU.
 */
#include <kernel/arch.h>
#include <kernel/bug.h>
#include <asm/io.h>
#include <asm/irqflags.h>
#include <drivers/fdt.h>
#include "internal.h"

#define PRIORITY(irq)	   (4UL * (irq))
#define ENABLE(context)	   (0x2000UL + 0x80UL * (context))
#define THRESHOLD(context) (0x200000UL + 0x1000UL * (context))
#define CLAIM(context)	   (0x200004UL + 0x1000UL * (context))

/* The number of a supervisor's external interrupt, in the device tree. */
#define FDT_EXTERNAL 9

static char *plic;
static unsigned int nr_irqs;
/* The boot CPU's, as the controller numbers them. */
static unsigned int context;

bool plic_has(unsigned int irq)
{
	return irq && irq <= nr_irqs;
}

static void set_enabled(unsigned int irq, bool on)
{
	char *reg = plic + ENABLE(context) + irq / 32 * 4;
	const u32 bit = 1U << (irq % 32);
	unsigned long flags = arch_local_irq_save();
	u32 value = readl(reg);

	writel(on ? value | bit : value & ~bit, reg);
	arch_local_irq_restore(flags);
}

void arch_irq_enable(unsigned int irq)
{
	set_enabled(irq, true);
}

void arch_irq_disable(unsigned int irq)
{
	set_enabled(irq, false);
}

void plic_handle(void)
{
	u32 irq;

	while ((irq = readl(plic + CLAIM(context)))) {
		irq_handle(irq);
		/* One that has been disabled meanwhile must be enabled to be completed. */
		writel(irq, plic + CLAIM(context));
	}
}

/* Return: the phandle of the boot CPU's own interrupt controller, 0 if the tree has none. */
static u32 boot_intc(void)
{
	int node, child;

	fdt_for_each_subnode (node, fdt_path("/cpus")) {
		if (fdt_u64(node, "reg", ~0UL) != boot_hart)
			continue;
		fdt_for_each_subnode (child, node) {
			if (fdt_is_compatible(child, "riscv,cpu-intc"))
				return fdt_u32(child, "phandle", 0, 0);
		}
	}
	return 0;
}

/* Each pair in "interrupts-extended" is a context: the CPU's controller, and which of its interrupts. */
static bool find_context(int node)
{
	const u32 intc = boot_intc();

	for (unsigned int i = 0; intc; i++) {
		u32 to = fdt_u32(node, "interrupts-extended", 2 * i, 0);

		if (!to)
			return false;
		if (to == intc &&
		    fdt_u32(node, "interrupts-extended", 2 * i + 1, 0) == FDT_EXTERNAL) {
			context = i;
			return true;
		}
	}
	return false;
}

bool plic_probe(void)
{
	int node = fdt_compatible(-1, "riscv,plic0");
	phys_addr_t base;
	u64 size;

	if (node < 0)
		node = fdt_compatible(-1, "sifive,plic-1.0.0");
	if (node < 0 || !fdt_reg(node, 0, &base, &size) || !find_context(node))
		return false;
	plic = ioremap(base, size);
	if (!plic)
		panic("PLIC: its registers cannot be mapped");
	nr_irqs = min(fdt_u32(node, "riscv,ndev", 0, 0), NR_IRQS - 1);
	for (unsigned int irq = 1; irq <= nr_irqs; irq++) {
		set_enabled(irq, false);
		writel(1, plic + PRIORITY(irq));
	}
	writel(0, plic + THRESHOLD(context));
	return true;
}
