/* SPDX-License-Identifier: MIT */
/*
 * setup.c - what the device tree says about the machine: memory, command line, RAM disk, CPUs, console.
 */
#include <kernel/arch.h>
#include <kernel/memblock.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <kernel/string.h>
#include <drivers/fdt.h>
#include <drivers/pl011.h>
#include "internal.h"
#include "psci.h"

unsigned long initrd_start, initrd_end;

static phys_addr_t memblock_page(void)
{
	return memblock_phys_alloc(PAGE_SIZE, PAGE_SIZE);
}

/* Reserving memory twice, or addresses without RAM, does no harm; a full table would. */
static void reserve(phys_addr_t base, u64 size, const char *what)
{
	if (size && memblock_reserve(base, size))
		early_panic("cannot reserve the memory of %s\n", what);
}

static void scan_memory(void)
{
	phys_addr_t base;
	u64 size, total = 0;
	int node, depth = 0;

	for (node = fdt_root(); node >= 0; node = fdt_next(node, &depth)) {
		const char *type = fdt_string(node, "device_type");

		if (!type || strcmp(type, "memory") || !fdt_available(node))
			continue;
		for (unsigned int i = 0; fdt_reg(node, i, &base, &size); i++) {
			/* Banks that do not fit in the table are not used. */
			if (!ram_add_bank(base, size))
				continue;
			if (memblock_add(PAGE_ALIGN(base),
					 ((base + size) & PAGE_MASK) - PAGE_ALIGN(base)))
				early_panic("too many banks of memory\n");
			total += size;
		}
	}
	if (!total)
		early_panic("the device tree names no memory\n");
}

static void scan_reserved(void)
{
	phys_addr_t base;
	u64 size;
	int node;

	for (unsigned int i = 0; fdt_reserved(i, &base, &size); i++)
		reserve(base, size, "the reservation block");
	fdt_for_each_subnode (node, fdt_path("/reserved-memory")) {
		for (unsigned int i = 0; fdt_reg(node, i, &base, &size); i++)
			reserve(base, size, fdt_name(node));
	}
}

static void scan_initrd(int chosen)
{
	phys_addr_t start = fdt_u64(chosen, "linux,initrd-start", 0);
	phys_addr_t end = fdt_u64(chosen, "linux,initrd-end", 0);

	if (end <= start || !pa_is_ram(start) || !pa_is_ram(end - 1))
		return;
	/* Whole pages: the rest of the archive's first and last page must not be handed out. */
	reserve(start & PAGE_MASK, PAGE_ALIGN(end) - (start & PAGE_MASK), "the RAM disk");
	initrd_start = (unsigned long)__va(start);
	initrd_end = (unsigned long)__va(end);
}

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
	const char *bootargs;
	size_t fdt_size;
	int chosen;

	/* Early, because an emulator translates all code anew after a change of PAN. */
	user_init_cpu();
	if (!boot_fdt_phys)
		early_panic("no device tree: neither in x0 nor 2 MiB below the kernel\n");
	fdt_size = fdt_init((void *)(FIX_FDT_VADDR + fdt_offset), FIX_FDT_SIZE - fdt_offset);
	if (!fdt_size)
		early_panic("the device tree at %lx is damaged\n", boot_fdt_phys);
	move_console();

	scan_memory();
	reserve(__pa_symbol(_text), (u64)(_end - _text), "the kernel");
	reserve(boot_fdt_phys & PAGE_MASK, PAGE_ALIGN(fdt_offset + fdt_size), "the device tree");
	scan_reserved();
	linear_map_init();
	pgtable_page_alloc = memblock_page;

	chosen = fdt_path("/chosen");
	scan_initrd(chosen);
	bootargs = fdt_string(chosen, "bootargs");
	*cmdline = bootargs ? bootargs : "";

	scan_cpus();
	if (!psci_init() && nr_cpu_ids > 1) {
		pr_warn("psci: no firmware to start CPUs with; only one is used\n");
		nr_cpu_ids = 1;
	}
}
