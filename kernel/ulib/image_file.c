// SPDX-License-Identifier: MIT
/* image_file.c - the files that fopen() finds: those that the boot image (initrd) carries. */
#include <kernel/initrd.h>
#include <kernel/types.h>

#include "ulib.h"

bool ulib_image_file(const char *path, const unsigned char **data, size_t *size)
{
	const struct initrd_file *file;

	/* The archive's names are relative; "./x", "/x" and "x" all name the same file. */
	while (path[0] == '/' || (path[0] == '.' && path[1] == '/'))
		path += path[0] == '/' ? 1 : 2;
	file = initrd_find(path);
	if (!file || ulib_is_private(file->name))
		return false;
	*data = file->data;
	*size = file->size;
	return true;
}
