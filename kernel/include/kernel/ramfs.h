/* SPDX-License-Identifier: MIT */
/*
 * ramfs.h - a tree of files and directories in memory.
 *
 * Names are as on Linux: "/" separates them, "." and ".." mean what they say, and a name that does not begin with "/"
 * is looked up in a directory that the caller gives. There are no links, owners or permissions: the mode is kept, and
 * not enforced. Each tree has one lock, which is taken by waiting with yield(): a thread that is killed while it waits
 * leaves nothing behind. So a thread may take it that kthread_kill() may end; if it dies inside, the tree is lost.
 *
 * All functions may sleep. Results are 0, a count, or a negative errno.
 */
#ifndef KERNEL_RAMFS_H
#define KERNEL_RAMFS_H

#include <kernel/types.h>

/* Bytes of a name without its NUL, as on Linux. */
#define RAMFS_NAME_MAX 255
/* Bytes of a path with its NUL, as on Linux. */
#define RAMFS_PATH_MAX 4096

/** enum ramfs_type - the values are Linux's, of the type in a directory entry */
enum ramfs_type {
	RAMFS_DEVICE = 2, /* what its name says: null, zero, full, random, or a standard stream */
	RAMFS_DIR = 4,
	RAMFS_FILE = 8,
};

struct ramfs;
struct ramfs_node;

/** struct ramfs_info - what is known of a node; times: nanoseconds since boot, as clock_ns() counts */
struct ramfs_info {
	u64 ino;
	enum ramfs_type type;
	u32 mode;  /* permission bits, 0777 */
	u32 nlink; /* names: 0 or 1; a directory: 2 and one for each directory in it */
	u64 size;
	u64 accessed, modified, changed;
};

/** ramfs_create() - Return: a tree with the directories / /tmp and /dev, and the devices; NULL: no memory. */
struct ramfs *ramfs_create(void);

/** ramfs_destroy() - free the tree. Neither it nor any of its nodes may be in use. */
void ramfs_destroy(struct ramfs *fs);

/** ramfs_is_locked() - Return: true if somebody is inside of a function of this file. */
bool ramfs_is_locked(struct ramfs *fs);

/** ramfs_root() - Return: the root directory. No reference is taken. */
struct ramfs_node *ramfs_root(struct ramfs *fs);

/** ramfs_get(), ramfs_put() - take and give back a reference. A node without name and reference is freed. */
void ramfs_get(struct ramfs *fs, struct ramfs_node *node);
void ramfs_put(struct ramfs *fs, struct ramfs_node *node);

/** ramfs_lookup() - find @path from the directory @base. @found: filled, with a reference. */
long ramfs_lookup(struct ramfs *fs, struct ramfs_node *base, const char *path,
		  struct ramfs_node **found);

/**
 * ramfs_make() - find or make a file or directory
 * @type: of a new node. @mode: permission bits of a new node. @exclusive: fail with -EEXIST if the name exists.
 * @found: filled, with a reference. May be NULL.
 */
long ramfs_make(struct ramfs *fs, struct ramfs_node *base, const char *path, enum ramfs_type type,
		u32 mode, bool exclusive, struct ramfs_node **found);

/**
 * ramfs_add_borrowed() - make a file @path, and the directories above it, with contents that stay the caller's
 * @data: @size bytes that stay as they are. The first write makes a copy.
 */
long ramfs_add_borrowed(struct ramfs *fs, const char *path, const void *data, size_t size);

/** ramfs_remove() - remove the name @path of a directory (@directory), which is empty, or of something else. */
long ramfs_remove(struct ramfs *fs, struct ramfs_node *base, const char *path, bool directory);

/** ramfs_rename() - rename @from, of the directory @base, to @to, of @to_base, and replace what has that name.
 *  @keep: fail with -EEXIST instead. */
long ramfs_rename(struct ramfs *fs, struct ramfs_node *base, const char *from,
		  struct ramfs_node *to_base, const char *to, bool keep);

/** ramfs_read(), ramfs_write() - copy up to @size bytes from or to offset @pos. A hole that a write leaves reads
 *  as zeros. Return: bytes copied. */
long ramfs_read(struct ramfs *fs, struct ramfs_node *node, void *buf, size_t size, u64 pos);
long ramfs_write(struct ramfs *fs, struct ramfs_node *node, const void *buf, size_t size, u64 pos);

/** ramfs_stream() - Return: the descriptor of the standard stream that the device @node stands for, -1 if it is none. The
 *  caller opens that instead: there is nothing to read or write here. */
int ramfs_stream(const struct ramfs_node *node);

/** ramfs_append() - write at the end. @pos: filled with the offset after what was written. */
long ramfs_append(struct ramfs *fs, struct ramfs_node *node, const void *buf, size_t size,
		  u64 *pos);

/** ramfs_truncate() - make a file @size bytes long. */
long ramfs_truncate(struct ramfs *fs, struct ramfs_node *node, u64 size);

/** ramfs_info() - fill @info. */
void ramfs_info(struct ramfs *fs, struct ramfs_node *node, struct ramfs_info *info);

/** ramfs_set_mode() - set the permission bits. */
void ramfs_set_mode(struct ramfs *fs, struct ramfs_node *node, u32 mode);

/** ramfs_set_times() - set the times of access and modification. */
void ramfs_set_times(struct ramfs *fs, struct ramfs_node *node, u64 accessed, u64 modified);

/**
 * ramfs_entry() - one entry of a directory
 * @cookie: 0 for the first entry. Filled with that of the next one. It stays good when entries come and go.
 * @name: RAMFS_NAME_MAX + 1 bytes, filled. @info: filled.
 *
 * Return: 1, or 0 after the last entry. "." and ".." are the first two.
 */
long ramfs_entry(struct ramfs *fs, struct ramfs_node *dir, u64 *cookie, char *name,
		 struct ramfs_info *info);

/** ramfs_path() - write the absolute path of @dir to @buf. Return: its bytes with the NUL; -ERANGE: @size is less;
 *  -ENOENT: @dir was removed. */
long ramfs_path(struct ramfs *fs, struct ramfs_node *dir, char *buf, size_t size);

#endif
