// SPDX-License-Identifier: MIT
/* device_tree.c - fuzzes kernel/drivers/fdt.c: reads a tree as the boot does, and then everything that is in it. */
#include <stddef.h>
#include <stdint.h>

#include <drivers/fdt.h>
#include <kernel/kernel.h>
#include <kernel/string.h>

/* More of them reach no other code. fdt_reg() looks for a node's parents from the root on, each time. */
#define NODES_MAX 8
#define REGS_MAX  2

static volatile u64 sink;

static void read_bytes(const void *p, size_t size)
{
	const u8 *bytes = p;

	for (size_t i = 0; i < size; i++)
		sink += bytes[i];
}

/* What callers may do with a string: read it up to its end. */
static void read_string(const char *text)
{
	if (text)
		sink += strlen(text);
}

/* Each reads one property: a search for the same one by another way would only take time. */
static void read_node(int node)
{
	static const char *const names[] = {"reg", "ranges", "interrupts", "rng-seed"};
	phys_addr_t base;
	u64 size;

	read_string(fdt_name(node));
	read_string(fdt_string(node, "device_type"));
	sink += fdt_available(node);
	sink += fdt_is_compatible(node, "arm,pl011");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t length = 0;
		const void *value = fdt_prop(node, names[i], &length);

		if (value)
			read_bytes(value, length);
	}
	sink += fdt_u32(node, "interrupts", 1, 7) + fdt_u64(node, "reg", 7);
	for (unsigned int i = 0; i < REGS_MAX && fdt_reg(node, i, &base, &size); i++)
		sink += base + size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t total = fdt_init(data, size);
	int node, child, depth = 0, nodes = 0;
	phys_addr_t base;
	u64 bytes;

	if (!total)
		return 0;
	BUG_ON(total > size);
	for (unsigned int i = 0; fdt_reserved(i, &base, &bytes); i++)
		sink += base + bytes;
	for (node = fdt_root(); node >= 0 && nodes < NODES_MAX;
	     node = fdt_next(node, &depth), nodes++) {
		read_node(node);
		fdt_for_each_subnode (child, node)
			read_string(fdt_name(child));
	}
	read_string(fdt_string(fdt_path("/chosen"), "bootargs"));
	sink += (u64)fdt_path(fdt_string(fdt_path("/chosen"), "stdout-path") ?: "serial0:115200");
	fdt_for_each_subnode (child, fdt_path("/cpus"))
		sink += fdt_u64(child, "reg", 0);
	for (node = fdt_compatible(-1, "arm,gic-v3"); node >= 0;
	     node = fdt_compatible(node, "arm,gic-v3"))
		sink += (u64)node;
	return 0;
}
