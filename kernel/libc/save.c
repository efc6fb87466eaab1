// SPDX-License-Identifier: MIT
/*
 * save.c - brings files that a program wrote back to the host, when the program has ended, in whatever way.
 *
 * The boot image has the private file "save": NAME, a NUL, the host's PATH, a NUL, and so on; the last pair has an empty
 * NAME, and its PATH gets one line for each other pair, with 0 or a negative errno. The host waits for that one.
 */
#include <kernel/arch.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/ramfs.h>
#include <kernel/string.h>

#include "../ulib/ulib.h"
#include "files.h"

/* Bytes that go to the host at once; not a thread's stack, and not the heap, which may be damaged. */
static unsigned char part[4096];

static long write_all(long to, const void *data, size_t size)
{
	return arch_host_write(to, data, size) == (long)size ? 0 : -EIO;
}

static long copy_out(struct ramfs *fs, struct ramfs_node *node, const char *path)
{
	u64 pos = 0;
	long to, count, error = 0;

	to = arch_host_open(path, true);
	if (to < 0)
		return -EIO;
	while ((count = ramfs_read(fs, node, part, sizeof(part), pos)) > 0 && !error) {
		error = write_all(to, part, (size_t)count);
		pos += (u64)count;
	}
	arch_host_close(to);
	return error ?: min(count, 0L);
}

static long save(const char *name, const char *path)
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
		error = copy_out(fs, node, path);
	else
		error = info.type == RAMFS_DIR ? -EISDIR : -EINVAL;
	ramfs_put(fs, node);
	return error;
}

/* Return: the text behind the one at @text, which has a NUL before @end; NULL without one. */
static const char *next_text(const char *text, const char *end)
{
	size_t length = strnlen(text, (size_t)(end - text));

	return text + length < end ? text + length + 1 : NULL;
}

void libc_save_files(void)
{
	size_t size, used = 0;
	const char *name = ulib_host_setting("save", &size), *end = name + size;
	static char results[1024];

	while (name && name < end) {
		const char *path = next_text(name, end);
		const char *next = path && path < end ? next_text(path, end) : NULL;
		long to;

		if (!next)
			return;
		if (*name) {
			used += (size_t)scnprintf(results + used, sizeof(results) - used, "%ld\n",
						  save(name, path));
		} else {
			to = arch_host_open(path, true);
			if (to < 0 || write_all(to, results, used))
				pr_err("program: the host takes no files\n");
			if (to >= 0)
				arch_host_close(to);
		}
		name = next;
	}
}
