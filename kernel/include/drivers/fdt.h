/* SPDX-License-Identifier: MIT */
/*
 * fdt.h - reading the flattened device tree.
 *
 * A node is the offset of its FDT_BEGIN_NODE token in the structure block; a negative value means "not
 * found". Every function checks its reads against the block's bounds: with a damaged tree it returns "not
 * found" and never reads outside of the block. No function writes or allocates, so all of them can be
 * called before memory management works.
 */
#ifndef DRIVERS_FDT_H
#define DRIVERS_FDT_H

#include <kernel/types.h>

/** fdt_init() - use the tree at @blob. @max: number of bytes that may be read there. Return: its total size;
 *  0 if it is not a tree of version 17. */
size_t fdt_init(const void *blob, size_t max);

/** fdt_root() - Return: the root node; -1 if there is no tree. */
int fdt_root(void);

/** fdt_next() - Return: the node after @node in tree order, children first; -1 at the end. @depth: the
 *  change of depth is added; may be NULL. */
int fdt_next(int node, int *depth);

/** fdt_first_child(), fdt_next_sibling() - Return: the node, -1 if there is none. */
int fdt_first_child(int node);
int fdt_next_sibling(int node);
#define fdt_for_each_subnode(child, node) \
	for ((child) = fdt_first_child(node); (child) >= 0; (child) = fdt_next_sibling(child))

/** fdt_name() - Return: the node's name with its unit address; "" for the root. */
const char *fdt_name(int node);

/** fdt_path() - Return: the node at @path ("/chosen"; a unit address may be left out); a path without a
 *  leading "/" begins with an alias. -1 if there is no such node. */
int fdt_path(const char *path);

/** fdt_compatible() - Return: the next node in tree order after @after (-1: from the start) whose
 *  "compatible" names @compat; -1 if there is none. */
int fdt_compatible(int after, const char *compat);

/** fdt_is_compatible() - Return: true if @node's "compatible" names @compat. */
bool fdt_is_compatible(int node, const char *compat);

/** fdt_prop() - Return: the property's bytes, NULL if there is none. @len: filled if not NULL. */
const void *fdt_prop(int node, const char *name, size_t *len);

/** fdt_string() - Return: the property if it is a NUL-terminated string, otherwise NULL. */
const char *fdt_string(int node, const char *name);

/** fdt_u32() - Return: cell number @index of the property, @def if there is no such cell. */
u32 fdt_u32(int node, const char *name, unsigned int index, u32 def);

/** fdt_u64() - Return: a property of one or two cells as a number, @def if there is no such property. */
u64 fdt_u64(int node, const char *name, u64 def);

/** fdt_reg() - read entry @index of @node's "reg" by the parent's #address-cells and #size-cells, translated
 *  to a CPU address through the "ranges" of each parent. Return: false if there is none. */
bool fdt_reg(int node, unsigned int index, phys_addr_t *base, u64 *size);

/** fdt_available() - Return: false if "status" says that the device must not be used. */
bool fdt_available(int node);

/** fdt_reserved() - read entry @index of the memory reservation block. Return: false at its end. */
bool fdt_reserved(unsigned int index, phys_addr_t *base, u64 *size);

/**
 * fdt_setup_memory() - add the tree's RAM to memblock, reserve the parts in use, and map all of it at PAGE_OFFSET
 * @tree: physical address of the tree. @size: of the tree.
 *
 * Page tables come from memblock from then on. Sets initrd_start and initrd_end. Boot CPU, in setup_arch(). Return: the command
 * line, "" if there is none.
 */
const char *fdt_setup_memory(phys_addr_t tree, size_t size);

#endif
