/* SPDX-License-Identifier: MIT */
/*
 * fdt_memory.c - what the device tree says about memory: RAM, the parts of it in use, the RAM disk; and the command line.
 */
#include <kernel/arch.h>
#include <kernel/linear.h>
#include <kernel/memblock.h>
#include <kernel/printk.h>
#include <kernel/string.h>
#include <drivers/fdt.h>

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

const char *fdt_setup_memory(phys_addr_t tree, size_t size)
{
	const phys_addr_t tree_start = tree & PAGE_MASK;
	const char *bootargs;
	int chosen;

	scan_memory();
	reserve(__pa_symbol(_text), (u64)(_end - _text), "the kernel");
	reserve(tree_start, PAGE_ALIGN(tree + size) - tree_start, "the device tree");
	scan_reserved();
	linear_map_init();
	pgtable_page_alloc = memblock_page;

	chosen = fdt_path("/chosen");
	scan_initrd(chosen);
	bootargs = fdt_string(chosen, "bootargs");
	return bootargs ? bootargs : "";
}
