/* SPDX-License-Identifier: MIT */
/*
 * initrd.h - files that the boot loader has loaded: an archive in the format "cpio newc" at
 * [initrd_start, initrd_end), see <kernel/arch.h>.
 */
#ifndef KERNEL_INITRD_H
#define KERNEL_INITRD_H

#include <kernel/types.h>

/** struct initrd_file - @name: without leading "/" or "./". @data: @size bytes, read-only, without a NUL
 *  after them. */
struct initrd_file {
	const char *name;
	const void *data;
	size_t size;
};

/** initrd_init() - read the archive's table of contents. Warns about a damaged archive and keeps the files
 *  before the damage. Call once, when kmalloc() works. */
void initrd_init(void);

/** initrd_find() - Return: the file @name, the last one if there are several; NULL if there is none. Valid
 *  for ever. */
const struct initrd_file *initrd_find(const char *name);

/** initrd_files() - Return: the table of files. @count: filled. */
const struct initrd_file *initrd_files(size_t *count);

#endif
