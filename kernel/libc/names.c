// SPDX-License-Identifier: MIT
/*
 * names.c - system calls with the name of a file, and the program's tree of files.
 *
 * Each program has a tree of its own, in which the files of the boot image are. Nothing of it outlives the program.
 */
#include <kernel/errno.h>
#include <kernel/initrd.h>
#include <kernel/kernel.h>
#include <kernel/printk.h>
#include <kernel/time.h>
#include <asm/libc.h>

#include "../program/internal.h"
#include "files.h"

/* Linux's numbers. */
#define O_CREAT		 0100U
#define O_EXCL		 0200U
#define O_TRUNC		 01000U
#define AT_FDCWD	 (-100)
#define AT_REMOVEDIR	 0x200
#define AT_EMPTY_PATH	 0x1000
#define RENAME_NOREPLACE 1U
#define UTIME_NOW	 0x3fffffff
#define UTIME_OMIT	 0x3ffffffe
#define S_IFIFO		 0010000
#define S_IFCHR		 0020000
#define S_IFDIR		 0040000
#define S_IFREG		 0100000

/** struct libc_stat - what Linux's stat() calls fill, on most architectures; x86 has another order */
struct libc_stat {
	u64 dev, ino;
	u32 mode, nlink, uid, gid;
	u64 rdev, pad;
	s64 size;
	s32 blksize, pad2;
	s64 blocks;
	struct libc_timespec atime, mtime, ctime;
	u32 unused[2];
};

static struct ramfs *fs;
/* The current directory, with a reference. */
static struct ramfs_node *cwd;
static u32 mask = 022;

struct ramfs *libc_fs(void)
{
	return fs;
}

/** struct base - a directory that names are looked up in; @file: whose it is, NULL: the current directory's */
struct base {
	struct ramfs_node *node;
	struct libc_file *file;
};

/* Fill @base for the descriptor @dir, which counts only if @path is not absolute. */
static long base_of(int dir, const char *path, struct base *base)
{
	*base = (struct base){.node = cwd};
	if (dir == AT_FDCWD || *path == '/')
		return 0;
	base->file = libc_file_get(dir);
	if (!base->file)
		return -EBADF;
	if (!base->file->node) {
		libc_file_put(base->file);
		return -ENOTDIR;
	}
	base->node = base->file->node;
	return 0;
}

static void base_put(struct base *base)
{
	if (base->file)
		libc_file_put(base->file);
}

/* Find @path of the directory @dir. @node: filled, with a reference. */
static long find(int dir, const char *path, struct ramfs_node **node)
{
	struct base base;
	long error = base_of(dir, path, &base);

	if (error)
		return error;
	error = ramfs_lookup(fs, base.node, path, node);
	base_put(&base);
	return error;
}

long libc_openat(int dir, const char *path, unsigned int flags, u32 mode)
{
	struct ramfs_node *node;
	struct ramfs_info info;
	struct base base;
	bool writes = (flags & LIBC_O_ACCMODE) != LIBC_O_RDONLY;
	long error = base_of(dir, path, &base);
	int stream;

	if (error)
		return error;
	if (flags & O_CREAT)
		error = ramfs_make(fs, base.node, path, RAMFS_FILE, mode & ~mask, flags & O_EXCL,
				   &node);
	else
		error = ramfs_lookup(fs, base.node, path, &node);
	base_put(&base);
	if (error)
		return error;
	ramfs_info(fs, node, &info);
	if (info.type == RAMFS_DIR && (writes || flags & O_CREAT))
		error = -EISDIR;
	else if (info.type != RAMFS_DIR && flags & ARCH_O_DIRECTORY)
		error = -ENOTDIR;
	else if (info.type == RAMFS_FILE && flags & O_TRUNC && writes)
		error = ramfs_truncate(fs, node, 0);
	stream = ramfs_stream(node);
	if (!error && stream >= 0)
		error = libc_dup(stream, 0);
	if (error || stream >= 0) {
		ramfs_put(fs, node);
		return error == -EBADF ? -ENOENT : error;
	}
	return libc_file_open(node, flags & (LIBC_O_ACCMODE | LIBC_O_APPEND));
}

long libc_mkdirat(int dir, const char *path, u32 mode)
{
	struct base base;
	long error = base_of(dir, path, &base);

	if (error)
		return error;
	error = ramfs_make(fs, base.node, path, RAMFS_DIR, mode & ~mask, true, NULL);
	base_put(&base);
	return error;
}

long libc_unlinkat(int dir, const char *path, int flags)
{
	struct base base;
	long error = base_of(dir, path, &base);

	if (error)
		return error;
	error = ramfs_remove(fs, base.node, path, flags & AT_REMOVEDIR);
	base_put(&base);
	return error;
}

long libc_renameat(int dir, const char *path, int new_dir, const char *new_path, unsigned int flags)
{
	struct base old, new;
	long error;

	if (flags & ~RENAME_NOREPLACE)
		return -EINVAL;
	error = base_of(dir, path, &old);
	if (error)
		return error;
	error = base_of(new_dir, new_path, &new);
	if (!error) {
		error = ramfs_rename(fs, old.node, path, new.node, new_path, flags);
		base_put(&new);
	}
	base_put(&old);
	return error;
}

/* The tree counts from the boot; a time before that is negative there. */
static struct libc_timespec time_of(u64 ns)
{
	s64 time = (s64)(ns + libc_boot_ns());

	return (struct libc_timespec){.sec = time / (s64)NSEC_PER_SEC,
				      .nsec = time % (s64)NSEC_PER_SEC};
}

static u64 ns_of(const struct libc_timespec *time, u64 omitted)
{
	if (time->nsec == UTIME_OMIT)
		return omitted;
	if (time->nsec == UTIME_NOW)
		return clock_ns();
	return (u64)time->sec * NSEC_PER_SEC + (u64)time->nsec - libc_boot_ns();
}

static void fill_stat(struct libc_stat *stat, struct ramfs_node *node)
{
	static const u32 kinds[] = {
		[RAMFS_DEVICE] = S_IFCHR, [RAMFS_DIR] = S_IFDIR, [RAMFS_FILE] = S_IFREG};
	struct ramfs_info info;

	ramfs_info(fs, node, &info);
	*stat = (struct libc_stat){
		.dev = 1,
		.ino = info.ino,
		.mode = kinds[info.type] | info.mode,
		.nlink = info.nlink,
		.size = (s64)info.size,
		.blksize = PAGE_SIZE,
		.blocks = (s64)(info.size + 511) / 512,
		.atime = time_of(info.accessed),
		.mtime = time_of(info.modified),
		.ctime = time_of(info.changed),
	};
}

long libc_fstat(int fd, struct libc_stat *stat)
{
	struct libc_file *file = libc_file_get(fd);

	if (!file)
		return -EBADF;
	if (!file->node)
		*stat = (struct libc_stat){.ino = file->pipe ? libc_pipe_number(file) : 1,
					   .mode = (libc_is_terminal(file) ? S_IFCHR : S_IFIFO) |
						   0620,
					   .nlink = 1,
					   .blksize = PAGE_SIZE};
	else
		fill_stat(stat, file->node);
	libc_file_put(file);
	return 0;
}

long libc_fstatat(int dir, const char *path, struct libc_stat *stat, int flags)
{
	struct ramfs_node *node;
	long error;

	if (!*path && flags & AT_EMPTY_PATH && dir != AT_FDCWD)
		return libc_fstat(dir, stat);
	error = find(dir, path, &node);
	if (error)
		return error;
	fill_stat(stat, node);
	ramfs_put(fs, node);
	return 0;
}

/* All may do all that the kind of file allows. */
long libc_faccessat(int dir, const char *path)
{
	struct ramfs_node *node;
	long error = find(dir, path, &node);

	if (!error)
		ramfs_put(fs, node);
	return error;
}

long libc_truncate(const char *path, s64 size)
{
	struct ramfs_node *node;
	long error = size < 0 ? -EINVAL : find(AT_FDCWD, path, &node);

	if (error)
		return error;
	error = ramfs_truncate(fs, node, (u64)size);
	ramfs_put(fs, node);
	return error;
}

long libc_fchmodat(int dir, const char *path, u32 mode)
{
	struct ramfs_node *node;
	long error = find(dir, path, &node);

	if (error)
		return error;
	ramfs_set_mode(fs, node, mode);
	ramfs_put(fs, node);
	return 0;
}

long libc_fchmod(int fd, u32 mode)
{
	struct libc_file *file = libc_file_get(fd);

	if (!file)
		return -EBADF;
	if (file->node)
		ramfs_set_mode(fs, file->node, mode);
	libc_file_put(file);
	return 0;
}

long libc_utimensat(int dir, const char *path, const struct libc_timespec *times)
{
	static const struct libc_timespec now[2] = {{.nsec = UTIME_NOW}, {.nsec = UTIME_NOW}};
	struct libc_file *file = NULL;
	struct ramfs_node *node;
	struct ramfs_info info;
	long error = 0;

	times = times ?: now;
	if (!path) {
		file = libc_file_get(dir);
		if (!file || !file->node)
			error = -EBADF;
		else
			node = file->node;
	} else {
		error = find(dir, path, &node);
	}
	if (!error) {
		ramfs_info(fs, node, &info);
		ramfs_set_times(fs, node, ns_of(&times[0], info.accessed),
				ns_of(&times[1], info.modified));
		if (path)
			ramfs_put(fs, node);
	}
	if (file)
		libc_file_put(file);
	return error;
}

/* Make the directory @node, whose reference is taken over, the current one. */
static long set_cwd(struct ramfs_node *node)
{
	struct ramfs_info info;

	ramfs_info(fs, node, &info);
	if (info.type == RAMFS_DIR)
		swap(cwd, node);
	ramfs_put(fs, node);
	return info.type == RAMFS_DIR ? 0 : -ENOTDIR;
}

long libc_chdir(const char *path)
{
	struct ramfs_node *node;

	return find(AT_FDCWD, path, &node) ?: set_cwd(node);
}

long libc_fchdir(int fd)
{
	struct libc_file *file = libc_file_get(fd);
	long error = -ENOTDIR;

	if (!file)
		return -EBADF;
	if (file->node) {
		ramfs_get(fs, file->node);
		error = set_cwd(file->node);
	}
	libc_file_put(file);
	return error;
}

long libc_getcwd(char *buf, size_t size)
{
	return ramfs_path(fs, cwd, buf, size);
}

long libc_readlinkat(int dir, const char *path)
{
	/* No file is a link. */
	return libc_faccessat(dir, path) ?: -EINVAL;
}

long libc_umask(u32 new)
{
	u32 old = mask;

	mask = new & 0777;
	return old;
}

static void add_image_files(void)
{
	size_t count;
	const struct initrd_file *files = initrd_files(&count);

	for (size_t i = 0; i < count; i++) {
		long error = 0;

		if (!program_hides(files[i].name))
			error = ramfs_add_borrowed(fs, files[i].name, files[i].data, files[i].size);
		if (error)
			pr_err("program: file %s cannot be shown: error %ld\n", files[i].name,
			       error);
	}
}

void libc_files_end(void)
{
	libc_descriptors_reset();
	/* A thread that was killed inside holds the lock for ever: that tree is lost. */
	if (fs && !ramfs_is_locked(fs)) {
		ramfs_put(fs, cwd);
		ramfs_destroy(fs);
	}
	fs = NULL;
}

bool libc_files_reset(void)
{
	/* An earlier program may have left files. */
	libc_files_end();
	mask = 022;
	fs = ramfs_create();
	if (!fs)
		return false;
	cwd = ramfs_root(fs);
	ramfs_get(fs, cwd);
	add_image_files();
	return true;
}
