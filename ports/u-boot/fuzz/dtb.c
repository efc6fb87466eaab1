// SPDX-License-Identifier: MIT
/*
 * dtb.c - a device tree: read with the command `fdt` and the functions behind it, changed as before the start of a
 * system, and laid over the tree that U-Boot itself has.
 */
#include <common.h>
#include <command.h>
#include <fdt_support.h>
#include <malloc.h>
#include <asm/global_data.h>
#include <linux/libfdt.h>

#include "target.h"

DECLARE_GLOBAL_DATA_PTR;

/* Room for what is added to a tree. */
#define ROOM 8192
/* By so much a tree grows once more. */
#define MORE 128

/* U-Boot's own tree, packed: QEMU hands over 1 MiB, nearly all of it room. */
static void *own_tree;

static const char *start(void)
{
	own_tree = malloc(fdt_totalsize(gd->fdt_blob));
	if (!own_tree || fdt_open_into(gd->fdt_blob, own_tree, fdt_totalsize(gd->fdt_blob)))
		return "fuzz: no device tree";
	fdt_pack(own_tree);
	return NULL;
}

static void read(const void *tree)
{
	char name[64];
	int node, depth = 0, reserved;

	for (node = fdt_next_node(tree, -1, &depth); node >= 0 && depth >= 0;
	     node = fdt_next_node(tree, node, &depth)) {
		fdt_get_path(tree, node, name, sizeof(name));
		fdt_get_phandle(tree, node);
		fdt_node_offset_by_compatible(tree, node, "fixed-clock");
	}
	reserved = fdt_num_mem_rsv(tree);
	if (reserved > 0)
		fdt_stringlist_count(tree, 0, "compatible");
	fdt_path_offset(tree, "/chosen");
	fdt_get_alias(tree, "serial0");
	fdt_node_offset_by_phandle(tree, 1);
	working_fdt = (struct fdt_header *)tree;
	run_command("fdt print", 0);
	run_command("fdt list /", 0);
	run_command("fdt header", 0);
	run_command("fdt rsvmem print", 0);
	working_fdt = NULL;
}

/*
 * Two bugs of U-Boot write outside their objects for every other input, and each time a boot follows. Inputs that would
 * run into them stop before. They have tests of their own: open-fdt-reserved and open-fdt-cells of ../inputs.
 */
static bool known_open(const void *tree)
{
	return fdt_num_mem_rsv(tree) < 0;
}

static bool known_pack(const void *tree)
{
	return fdt_address_cells(tree, 0) < 0 || fdt_size_cells(tree, 0) < 0;
}

static void change(const void *tree, unsigned long size)
{
	void *copy = malloc(size + ROOM);

	if (!copy)
		return;
	if (!fdt_open_into(tree, copy, size + ROOM - MORE)) {
		fdt_root(copy);
		fdt_chosen(copy);
		fdt_initrd(copy, 0x48000000, 0x48001000);
		if (!known_pack(copy))
			fdt_fixup_memory(copy, 0x40000000, 0x10000000);
		fdt_fixup_ethernet(copy);
		fdt_add_mem_rsv(copy, 0x40000000, 0x1000);
		fdt_increase_size(copy, MORE);
		fdt_pack(copy);
	}
	free(copy);
}

static void lay_over(const void *tree, unsigned long size)
{
	const unsigned long room = fdt_totalsize(own_tree) + size + ROOM;
	void *base = malloc(room), *overlay = malloc(size);

	if (base && overlay && !fdt_open_into(own_tree, base, room)) {
		memcpy(overlay, tree, size);
		fdt_overlay_apply_verbose(base, overlay);
	}
	free(overlay);
	free(base);
}

static int run(const unsigned char *data, unsigned long size)
{
	/* A loader does not know more: it compares the header with what it has loaded. */
	if (size < sizeof(struct fdt_header) || fdt_check_header(data) ||
	    fdt_totalsize(data) > size)
		return 0;
	read(data);
	if (!known_open(data)) {
		change(data, size);
		lay_over(data, size);
	}
	fdt_check_full(data, size);
	return 0;
}

const struct fuzz_target fuzz_dtb = {"dtb", start, run};
