/* SPDX-License-Identifier: MIT */
/*
 * setup.c - what the device tree says about the machine: memory, CPUs.
 */
#include <kernel/arch.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <kernel/string.h>
#include <drivers/fdt.h>
#include "internal.h"
#include "sbi.h"

static void scan_cpus(void)
{
	unsigned int left_out = 0;
	int node;

	cpu_hart[0] = boot_hart;
	nr_cpu_ids = 1;
	fdt_for_each_subnode (node, fdt_path("/cpus")) {
		const char *type = fdt_string(node, "device_type");
		u64 hart;

		if (!type || strcmp(type, "cpu") || !fdt_available(node))
			continue;
		hart = fdt_u64(node, "reg", ~0UL);
		if (hart == ~0UL || hart == boot_hart)
			continue;
		if (nr_cpu_ids == NR_CPUS)
			left_out++;
		else
			cpu_hart[nr_cpu_ids++] = hart;
	}
	if (left_out)
		pr_warn("smp: %u CPUs more than the %d that are supported are left out\n", left_out,
			NR_CPUS);
}

void setup_arch(const char **cmdline)
{
	unsigned long fdt_offset = boot_fdt_phys & ~PAGE_MASK;
	size_t fdt_size;

	user_init_cpu();
	if (!boot_fdt_phys)
		early_panic("no device tree in a1\n");
	fdt_size = fdt_init((void *)(FIX_FDT_VADDR + fdt_offset), FIX_FDT_SIZE - fdt_offset);
	if (!fdt_size)
		early_panic("the device tree at %lx is damaged\n", boot_fdt_phys);
	clock_probe();
#ifdef CONFIG_KASAN_SW_TAGS
	/* Printed with any loglevel=, like that of kasan=off. */
	if (masking_error)
		printk("kasan: no pointer masking (Smnpm, by SBI's FWFT: error %ld): KASAN is off, "
		       "nothing is checked\n",
		       masking_error);
#endif

	*cmdline = fdt_setup_memory(boot_fdt_phys, fdt_size);
	scan_cpus();
	if (nr_cpu_ids > 1 &&
	    !(sbi_has(SBI_EXT_HSM) && sbi_has(SBI_EXT_IPI) && sbi_has(SBI_EXT_FENCE))) {
		pr_warn("sbi: the firmware cannot start CPUs; only one is used\n");
		nr_cpu_ids = 1;
	}
}
