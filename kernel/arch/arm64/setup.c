/* SPDX-License-Identifier: MIT */
/*
 * setup.c - what the device tree says about the machine: memory, CPUs, console.
 */
#include <kernel/arch.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <kernel/string.h>
#include <drivers/fdt.h>
#include <drivers/pl011.h>
#include "internal.h"
#include "psci.h"

static void scan_cpus(void)
{
	u64 boot = read_sysreg(mpidr_el1) & MPIDR_HWID_MASK;
	unsigned int left_out = 0;
	int node;

	cpu_mpidr[0] = boot;
	nr_cpu_ids = 1;
	fdt_for_each_subnode (node, fdt_path("/cpus")) {
		const char *type = fdt_string(node, "device_type");
		u64 mpidr;

		if (!type || strcmp(type, "cpu") || !fdt_available(node))
			continue;
		mpidr = fdt_u64(node, "reg", ~0UL);
		if (mpidr & ~MPIDR_HWID_MASK || mpidr == boot)
			continue;
		if (nr_cpu_ids == NR_CPUS)
			left_out++;
		else
			cpu_mpidr[nr_cpu_ids++] = mpidr;
	}
	if (left_out)
		pr_warn("smp: %u CPUs more than the %d that are supported are left out\n", left_out,
			NR_CPUS);
}

static void move_console(void)
{
	phys_addr_t uart = pl011_probe();

	/* The registers start at a page boundary and fill one page. */
	if (uart && !(uart & ~PAGE_MASK) && uart != PL011_DEFAULT_PHYS)
		map_kernel_range(FIX_UART_VADDR, uart, PAGE_SIZE, PAGE_DEVICE);
}

void setup_arch(const char **cmdline)
{
	unsigned long fdt_offset = boot_fdt_phys & ~PAGE_MASK;
	size_t fdt_size;

	/* Early, because an emulator translates all code anew after a change of PAN. */
	user_init_cpu();
	if (!boot_fdt_phys)
		early_panic("no device tree: neither in x0 nor 2 MiB below the kernel\n");
	fdt_size = fdt_init((void *)(FIX_FDT_VADDR + fdt_offset), FIX_FDT_SIZE - fdt_offset);
	if (!fdt_size)
		early_panic("the device tree at %lx is damaged\n", boot_fdt_phys);
	move_console();

	*cmdline = fdt_setup_memory(boot_fdt_phys, fdt_size);
	scan_cpus();
	if (!psci_init() && nr_cpu_ids > 1) {
		pr_warn("psci: no firmware to start CPUs with; only one is used\n");
		nr_cpu_ids = 1;
	}
}
