/* SPDX-License-Identifier: MIT */
/* internal.h - shared by the files of the file system in memory. */
#ifndef KERNEL_FS_INTERNAL_H
#define KERNEL_FS_INTERNAL_H

#include <kernel/list.h>
#include <kernel/ramfs.h>

/**
 * struct ramfs_node - a file, a directory or a device
 * @parent: NULL: it has no name, or is the root. @name: of its own. @references: of descriptors.
 * @place: in the order of its directory. @next_place: of the next child. @directories: children that are some.
 * @data: @size bytes. @capacity: bytes of its memory; 0: somebody else's memory, or none.
 */
struct ramfs_node {
	enum ramfs_type type;
	u32 mode;
	u64 ino;
	char *name;
	struct ramfs_node *parent;
	unsigned long references;
	struct list_head siblings, children;
	u64 place, next_place;
	u32 directories;
	unsigned char *data;
	size_t size, capacity;
	u64 accessed, modified, changed;
};

struct ramfs {
	bool locked;
	u64 last_ino;
	struct ramfs_node root;
};

void ramfs_lock(struct ramfs *fs);
void ramfs_unlock(struct ramfs *fs);

/* --- contents.c ------------------------------------------------------------------------------- */

/** ramfs_borrow() - let the new file @node have the caller's @data. */
void ramfs_borrow(struct ramfs_node *node, const void *data, size_t size);
/** ramfs_free_contents() - free the memory of @node's contents. */
void ramfs_free_contents(struct ramfs_node *node);

#endif
