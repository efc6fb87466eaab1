// SPDX-License-Identifier: MIT
/*
 * fs.c - a disk: its partitions, and whatever file system U-Boot finds on it (FAT, ext4, squashfs, btrfs, erofs, CBFS),
 * listed and loaded from by U-Boot's own commands.
 *
 * The disk is in RAM. The input is its start; behind that it is zero, so that inputs stay small.
 */
#include <common.h>
#include <blk.h>
#include <command.h>
#include <dm.h>
#include <part.h>
#include <dm/lists.h>
#include <dm/root.h>

#include "target.h"

#define BLOCK  512
#define BLOCKS (16 << 11) /* 16 MiB */

static const unsigned char *disk_data;
static unsigned long disk_size;

static ulong disk_read(struct udevice *dev, lbaint_t start, lbaint_t count, void *buffer)
{
	unsigned long from, whole, known;

	if (start >= BLOCKS || count > BLOCKS - start)
		return 0;
	from = start * BLOCK;
	whole = count * BLOCK;
	known = from < disk_size ? min(disk_size - from, whole) : 0;
	memcpy(buffer, disk_data + from, known);
	memset(buffer + known, 0, whole - known);
	return count;
}

static ulong disk_write(struct udevice *dev, lbaint_t start, lbaint_t count, const void *buffer)
{
	return 0;
}

static const struct blk_ops disk_ops = {
	.read = disk_read,
	.write = disk_write,
};

U_BOOT_DRIVER(fuzz_disk) = {
	.name = "fuzz_disk",
	.id = UCLASS_BLK,
	.ops = &disk_ops,
};

/* U-Boot finds a disk by the class of its parent: "host". */
UCLASS_DRIVER(fuzz_host) = {
	.id = UCLASS_HOST,
	.name = "host",
};

U_BOOT_DRIVER(fuzz_host) = {
	.name = "fuzz_host",
	.id = UCLASS_HOST,
};

static struct blk_desc *disk;

static const char *start(void)
{
	struct udevice *host, *dev;

	if (device_bind_driver(dm_root(), "fuzz_host", "fuzz", &host) ||
	    blk_create_device(host, "fuzz_disk", "fuzz", UCLASS_HOST, 0, BLOCK, BLOCKS, &dev))
		return "fuzz: no disk";
	/* EFI refuses disks without a path to them, so nothing may probe it. There is nothing to probe. */
	dev_or_flags(dev, DM_FLAG_ACTIVATED);
	disk = dev_get_uclass_plat(dev);
	return NULL;
}

static int run(const unsigned char *data, unsigned long size)
{
	/* The valid images have these names. Not the whole of a file: it may claim to be as large as memory. */
	static const char *const commands[] = {
		"ls host 0 /",
		"ls host 0 /dir",
		"ls host 0 /link/inner",
		"size host 0 /file",
		"load host 0 42000000 /file 20000",
		"load host 0 42000000 /dir/file 20000 100",
		"load host 0 42000000 /link 20000",
	};

	disk_data = data;
	disk_size = size;
	blkcache_invalidate(disk->uclass_id, disk->devnum);
	part_init(disk);
	for (int i = 0; i < ARRAY_SIZE(commands); i++)
		run_command(commands[i], 0);
	/* Its partitions, if it has a table. */
	if (disk->part_type != PART_TYPE_UNKNOWN) {
		run_command("part list host 0", 0);
		run_command("ls host 0:1 /", 0);
	}
	disk_size = 0;
	return 0;
}

const struct fuzz_target fuzz_fs = {"fs", start, run};
