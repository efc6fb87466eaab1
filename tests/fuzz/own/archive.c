// SPDX-License-Identifier: MIT
/* archive.c - fuzzes kernel/lib/initrd.c, which reads the archive that `--file` makes. The file is one of the program's
 * own, so it has its own table, and the variables below instead of the kernel's. */
#include <stddef.h>
#include <stdint.h>

#include <kernel/arch.h>
#include <kernel/initrd.h>
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/string.h>

unsigned long initrd_start, initrd_end;

/* Instead of the kernel's: the console would take most of the time. */
int printk(const char *fmt, ...)
{
	char line[128];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	return n;
}

static volatile unsigned long sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct initrd_file *files;
	size_t count;

	initrd_start = (unsigned long)data;
	initrd_end = initrd_start + size;
	initrd_init();
	files = initrd_files(&count);
	for (size_t i = 0; i < count; i++) {
		const u8 *bytes = (const u8 *)files[i].data;

		for (size_t n = 0; n < files[i].size; n++)
			sink += bytes[n];
		BUG_ON(!initrd_find(files[i].name));
	}
	BUG_ON(initrd_find("no such file") && count == 0);
	kfree((void *)files);
	return 0;
}
