// SPDX-License-Identifier: MIT
/*
 * fs.c - a disk: its partitions, and whatever file system U-Boot finds on it (FAT, ext4, squashfs, btrfs, erofs, CBFS),
 * listed and loaded from by what is behind U-Boot's commands.
 *
 * The disk is in RAM. The input is its start; behind that it is zero, so that inputs stay small. Most of a small image is
 * zero as well, and a change there reaches nothing. So an input may name the parts that are not: it starts with PARTS,
 * and then has, for each part, its place (32 bits), its length (16 bits), both least significant byte first, and its
 * bytes.
 */
#include <common.h>
#include <blk.h>
#include <command.h>
#include <dm.h>
#include <fs.h>
#include <part.h>
#include <asm/unaligned.h>
#include <dm/lists.h>
#include <dm/root.h>

#include "target.h"

#define BLOCK  512
#define BLOCKS (16 << 11) /* 16 MiB */
/* Where files go. Not the whole of a file: it may claim to be as large as memory. */
#define LOAD	 0x42000000
#define LOAD_MAX 0x20000

#define PARTS	   "disk parts:\n"
#define PIECES_MAX 64

/* A part of the disk that is not zero. */
struct filled {
	unsigned long from, size;
	const unsigned char *data;
};

static struct filled pieces[PIECES_MAX];
static unsigned int pieces_used;

static void insert_disk(const unsigned char *data, unsigned long size)
{
	const unsigned long head = sizeof(PARTS) - 1, each = 6;

	pieces_used = 0;
	if (size < head || memcmp(data, PARTS, head)) {
		pieces[pieces_used++] = (struct filled){0, size, data};
		return;
	}
	for (unsigned long at = head; size - at > each && pieces_used < PIECES_MAX;) {
		struct filled *piece = &pieces[pieces_used++];

		piece->from = get_unaligned_le32(data + at);
		piece->size =
			min_t(unsigned long, get_unaligned_le16(data + at + 4), size - at - each);
		piece->data = data + at + each;
		at += each + piece->size;
	}
}

static ulong disk_read(struct udevice *dev, lbaint_t start, lbaint_t count, void *buffer)
{
	unsigned long from, end;

	if (start >= BLOCKS || count > BLOCKS - start)
		return 0;
	from = start * BLOCK;
	end = from + count * BLOCK;
	memset(buffer, 0, end - from);
	for (unsigned int i = 0; i < pieces_used; i++) {
		const struct filled *piece = &pieces[i];
		const unsigned long first = max(from, piece->from);
		const unsigned long behind = min(end, piece->from + piece->size);

		if (first < behind)
			memcpy(buffer + (first - from), piece->data + (first - piece->from),
			       behind - first);
	}
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

/* Do the work of the commands `ls`, `size` and `load`. Their words are not parsed: that would be most of the time of an input. */

static void list(const char *part, const char *path)
{
	if (!fs_set_blk_dev("host", part, FS_TYPE_ANY))
		fs_ls(path);
}

static void load(const char *path, loff_t from)
{
	loff_t done;

	if (!fs_set_blk_dev("host", "0", FS_TYPE_ANY))
		fs_read(path, LOAD, from, LOAD_MAX, &done);
}

static int run(const unsigned char *data, unsigned long size)
{
	loff_t length;

	insert_disk(data, size);
	blkcache_invalidate(disk->uclass_id, disk->devnum);
	part_init(disk);
	/* The valid images have these names. */
	list("0", "/");
	list("0", "/room");
	list("0", "/link/inner");
	if (!fs_set_blk_dev("host", "0", FS_TYPE_ANY))
		fs_size("/file", &length);
	load("/file", 0);
	load("/room/file", 16);
	load("/link", 0);
	load("/long", 0);
	/* Its partitions, if it has a table. */
	if (disk->part_type != PART_TYPE_UNKNOWN) {
		run_command("part list host 0", 0);
		list("0:1", "/");
	}
	pieces_used = 0;
	return 0;
}

const struct fuzz_target fuzz_fs = {"fs", start, run};
