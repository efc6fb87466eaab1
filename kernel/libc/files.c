// SPDX-License-Identifier: MIT
/*
 * files.c - the file descriptors of programs: 0, 1 and 2 are the console, others are files of the boot image, which can
 * only be read.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>

#include "../ulib/ulib.h"
#include "libc.h"

#define FD_COUNT   64
#define FD_FIRST   3
#define FD_ERRORS  2
#define READ_LIMIT 0x7ffff000UL /* bytes of one call, as on Linux */

/* Linux's numbers. */
#define O_ACCMODE  3
#define O_CREAT	   0100
#define SEEK_SET   0
#define SEEK_CUR   1
#define SEEK_END   2
#define W_OK	   2
#define S_IFREG	   0100000
#define S_IFCHR	   0020000
#define F_GETFD	   1
#define F_SETFD	   2
#define F_GETFL	   3
#define F_SETFL	   4
#define O_RDWR	   2
#define TIOCGWINSZ 0x5413

/** struct libc_stat - what Linux's stat() calls of arm64 fill */
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

/** struct libc_winsize - what a terminal says about its size */
struct libc_winsize {
	u16 rows, columns, x, y;
};

/** struct file - an open file of the boot image; @data: NULL: the descriptor is free */
struct file {
	const unsigned char *data;
	size_t size;
	s64 pos;
};

static struct file files[FD_COUNT];
static bool console_closed[FD_FIRST];
static DEFINE_SPINLOCK(files_lock);

static bool is_console(int fd)
{
	return fd >= 0 && fd < FD_FIRST && !console_closed[fd];
}

static struct file *file_of(int fd)
{
	return fd >= FD_FIRST && fd < FD_COUNT && files[fd].data ? &files[fd] : NULL;
}

long libc_openat(int dir, const char *path, int flags)
{
	static const unsigned char empty[1];
	const unsigned char *data;
	unsigned long irq;
	size_t size;
	int fd;

	if (!ulib_image_file(path, &data, &size))
		return flags & O_CREAT ? -EROFS : -ENOENT;
	if (flags & O_ACCMODE)
		return -EROFS;
	spin_lock_irqsave(&files_lock, irq);
	for (fd = FD_FIRST; fd < FD_COUNT && files[fd].data; fd++)
		;
	if (fd < FD_COUNT)
		files[fd] = (struct file){.data = size ? data : empty, .size = size};
	spin_unlock_irqrestore(&files_lock, irq);
	return fd < FD_COUNT ? fd : -EMFILE;
}

long libc_close(int fd)
{
	struct file *file = file_of(fd);

	if (is_console(fd))
		console_closed[fd] = true;
	else if (file)
		file->data = NULL;
	else
		return -EBADF;
	return 0;
}

long libc_lseek(int fd, s64 offset, int whence)
{
	struct file *file = file_of(fd);
	s64 base = 0, pos;

	if (!file)
		return is_console(fd) ? -ESPIPE : -EBADF;
	if (whence == SEEK_CUR)
		base = file->pos;
	else if (whence == SEEK_END)
		base = (s64)file->size;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (__builtin_add_overflow(base, offset, &pos) || pos < 0)
		return -EINVAL;
	file->pos = pos;
	return pos;
}

/* Copy what @file has from @pos on. Return: number of bytes. */
static long copy_out(const struct file *file, void *buf, size_t size, s64 pos)
{
	if ((u64)pos >= file->size)
		return 0;
	size = min(size, file->size - (size_t)pos);
	memcpy(buf, file->data + pos, size);
	return (long)size;
}

long libc_readv(int fd, const struct libc_iovec *iov, int count)
{
	struct file *file = file_of(fd);
	long total = 0;

	/* The console has no input. */
	if (!file)
		return is_console(fd) ? 0 : -EBADF;
	for (int i = 0; i < count; i++) {
		long n = copy_out(file, iov[i].base, min(iov[i].len, READ_LIMIT), file->pos);

		file->pos += n;
		total += n;
	}
	return total;
}

long libc_pread(int fd, void *buf, size_t size, s64 offset)
{
	struct file *file = file_of(fd);

	if (!file)
		return is_console(fd) ? -ESPIPE : -EBADF;
	if (offset < 0)
		return -EINVAL;
	return copy_out(file, buf, min(size, READ_LIMIT), offset);
}

long libc_writev(int fd, const struct libc_iovec *iov, int count)
{
	long total = 0;

	if (!is_console(fd))
		return -EBADF;
	for (int i = 0; i < count; i++) {
		const char *text = iov[i].base;

		for (size_t n = 0; n < iov[i].len; n++)
			ulib_console_put(text[n]);
		total += (long)iov[i].len;
	}
	/* The library has buffered it already; a line that is still open has to be seen as well. */
	ulib_console_flush();
	return total;
}

static void fill_stat(struct libc_stat *stat, u32 mode, size_t size)
{
	*stat = (struct libc_stat){
		.ino = 1, .mode = mode, .nlink = 1, .size = (s64)size, .blksize = 4096};
	stat->blocks = (s64)(size + 511) / 512;
}

long libc_fstat(int fd, struct libc_stat *stat)
{
	struct file *file = file_of(fd);

	if (!file && !is_console(fd))
		return -EBADF;
	fill_stat(stat, file ? S_IFREG | 0444 : S_IFCHR | 0620, file ? file->size : 0);
	return 0;
}

long libc_fstatat(int dir, const char *path, struct libc_stat *stat)
{
	const unsigned char *data;
	size_t size;

	if (!ulib_image_file(path, &data, &size))
		return -ENOENT;
	fill_stat(stat, S_IFREG | 0444, size);
	return 0;
}

long libc_faccessat(int dir, const char *path, int mode)
{
	const unsigned char *data;
	size_t size;

	if (!ulib_image_file(path, &data, &size))
		return -ENOENT;
	return mode & W_OK ? -EROFS : 0;
}

long libc_ioctl(int fd, unsigned long request, void *arg)
{
	if (!is_console(fd))
		return file_of(fd) ? -ENOTTY : -EBADF;
	/* The console is a terminal: the library then writes line by line. */
	if (request != TIOCGWINSZ)
		return -ENOTTY;
	*(struct libc_winsize *)arg = (struct libc_winsize){.rows = 25, .columns = 80};
	return 0;
}

long libc_fcntl(int fd, int command)
{
	struct file *file = file_of(fd);

	if (!file && !is_console(fd))
		return -EBADF;
	switch (command) {
	case F_GETFD:
	case F_SETFD:
	case F_SETFL:
		return 0;
	case F_GETFL:
		return file ? 0 : O_RDWR;
	default:
		return -EINVAL;
	}
}

void libc_files_reset(void)
{
	memset(files, 0, sizeof(files));
	memset(console_closed, 0, sizeof(console_closed));
}
