// SPDX-License-Identifier: MIT
/*
 * save.c - brings files that a program wrote back to the host, when the program has ended, in whatever way.
 *
 * The boot image has the private file "save": the name of each, followed by a NUL. Their contents go to the host's channels
 * from HOST_SAVED on, in that order, and then a line "saved NUMBER RESULT" with 0 or a negative errno.
 */
#include <kernel/errno.h>
#include <kernel/host.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/ramfs.h>
#include <kernel/string.h>

#include "../program/internal.h"
#include "files.h"

/* Bytes that go to the host at once; not a thread's stack, and not the heap, which may be damaged. */
static unsigned char part[4096];

static long copy_out(struct ramfs *fs, struct ramfs_node *node, unsigned int channel)
{
	u64 pos = 0;
	long count;

	while ((count = ramfs_read(fs, node, part, sizeof(part), pos)) > 0) {
		if (!host_send(channel, part, (size_t)count))
			return -EIO;
		pos += (u64)count;
	}
	return count;
}

static long save(const char *name, unsigned int channel)
{
	struct ramfs *fs = libc_fs();
	struct ramfs_info info;
	struct ramfs_node *node;
	long error;

	if (!fs)
		return -ENOENT;
	/* The program died inside of the tree. */
	if (ramfs_is_locked(fs))
		return -EBUSY;
	error = ramfs_lookup(fs, ramfs_root(fs), name, &node);
	if (error)
		return error;
	ramfs_info(fs, node, &info);
	if (info.type == RAMFS_FILE)
		error = copy_out(fs, node, channel);
	else
		error = info.type == RAMFS_DIR ? -EISDIR : -EINVAL;
	ramfs_put(fs, node);
	return error;
}

void libc_save_files(void)
{
	size_t size, length;
	const char *name = program_setting("save", &size);
	unsigned int number = 0;

	for (; name && size; name += length, size -= length, number++) {
		length = strnlen(name, size) + 1;
		/* The host writes the list, with a NUL after each name. */
		if (length > size || HOST_SAVED + number > HOST_CHANNEL_MAX)
			return;
		host_tell("saved", number, save(name, HOST_SAVED + number));
	}
}
