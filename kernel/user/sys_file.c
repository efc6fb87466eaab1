// SPDX-License-Identifier: MIT
/*
 * sys_file.c - system calls on file descriptors; the console, and the files of the initial RAM disk.
 */
#include <kernel/console.h>
#include <kernel/initrd.h>
#include <kernel/kernel.h>
#include <kernel/mutex.h>
#include <kernel/sched.h>
#include <kernel/uaccess.h>

#include "file.h"
#include "internal.h"

#define PATH_SIZE 256L
/* Bytes that a write moves at a time: the buffer is on the kernel stack. */
#define WRITE_PIECE 256UL
/* As in Linux: no transfer is larger, so that every result is a positive int. */
#define TRANSFER_MAX 0x7ffff000UL

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

/* --- The console ---------------------------------------------------------------------------------- */

/* It has nothing to read. */
static long console_read(struct open_file *file, char __user *to, size_t n)
{
	return 0;
}

/* The readable part of the buffer is written. */
static long write_console(struct open_file *file, const char __user *from, size_t n)
{
	struct process *process = current->process;
	unsigned long done = 0;
	char piece[WRITE_PIECE];

	while (done < n && !process_killed()) {
		unsigned long size = min(n - done, WRITE_PIECE);
		unsigned long left = copy_from_user(piece, from + done, size);

		if (process->output)
			process->output(process->output_arg, piece, size - left);
		else
			console_write(piece, size - left);
		done += size - left;
		if (left)
			return done ? (long)done : -EFAULT;
	}
	return (long)done;
}

static const struct file_ops input_ops = {.read = console_read};
static const struct file_ops output_ops = {.write = write_console};

struct open_file console_input = {.usage = ATOMIC_INIT(1), .ops = &input_ops};
struct open_file console_output = {.usage = ATOMIC_INIT(1), .ops = &output_ops};

/* --- Files of the RAM disk ------------------------------------------------------------------------ */

static long ramdisk_read(struct open_file *file, char __user *to, size_t n)
{
	const struct initrd_file *ramdisk = file->ramdisk;
	unsigned long left = 0;

	/* Processes that share the file read one after the other. */
	mutex_lock(&file->pos_lock);
	n = file->pos < ramdisk->size ? min(n, ramdisk->size - file->pos) : 0;
	if (n)
		left = copy_to_user(to, (const char *)ramdisk->data + file->pos, n);
	file->pos += n - left;
	mutex_unlock(&file->pos_lock);
	return n && left == n ? -EFAULT : (long)(n - left);
}

/* Return: the new position, or an error. The lock is held. */
static s64 new_position(const struct open_file *file, s64 offset, u64 whence)
{
	s64 base;

	switch (whence) {
	case SEEK_SET:
		base = 0;
		break;
	case SEEK_CUR:
		base = (s64)file->pos;
		break;
	case SEEK_END:
		base = (s64)file->ramdisk->size;
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, offset, &base) || base < 0)
		return -EINVAL;
	return base;
}

static long ramdisk_seek(struct open_file *file, s64 offset, u64 whence)
{
	s64 pos;

	mutex_lock(&file->pos_lock);
	pos = new_position(file, offset, whence);
	if (pos >= 0)
		file->pos = (size_t)pos;
	mutex_unlock(&file->pos_lock);
	return pos;
}

static const struct file_ops ramdisk_ops = {.read = ramdisk_read, .seek = ramdisk_seek};

/* openat(directory, path, flags, mode): files of the RAM disk, for reading; paths start at its root. */
long sys_openat(const u64 *args)
{
	const struct initrd_file *ramdisk;
	struct open_file *file;
	char path[PATH_SIZE];
	long n;

	n = strncpy_from_user(path, (const char __user *)args[1], PATH_SIZE);
	if (n < 0)
		return n;
	if (n == PATH_SIZE)
		return -ENAMETOOLONG;
	if (args[2] & O_ACCMODE)
		return -EROFS;
	ramdisk = initrd_find(path[0] == '/' ? path + 1 : path);
	if (!ramdisk)
		return -ENOENT;
	file = file_alloc(&ramdisk_ops);
	if (!file)
		return -ENOMEM;
	file->ramdisk = ramdisk;
	mutex_init(&file->pos_lock);
	n = fd_install(file, args[2] & O_CLOEXEC);
	if (n < 0)
		file_put(file);
	return n;
}

/* --- Descriptors ---------------------------------------------------------------------------------- */

long sys_close(const u64 *args)
{
	return fd_close(args[0]);
}

/* lseek(fd, offset, whence) */
long sys_lseek(const u64 *args)
{
	struct open_file *file = fd_file(args[0]);

	if (!file)
		return -EBADF;
	return file->ops->seek ? file->ops->seek(file, (s64)args[1], args[2]) : -ESPIPE;
}

/* read(fd, buffer, size) */
long sys_read(const u64 *args)
{
	struct open_file *file = fd_file(args[0]);

	if (!file || !file->ops->read)
		return -EBADF;
	return file->ops->read(file, (char __user *)args[1],
			       min((unsigned long)args[2], TRANSFER_MAX));
}

/* write(fd, buffer, size) */
long sys_write(const u64 *args)
{
	struct open_file *file = fd_file(args[0]);

	if (!file || !file->ops->write)
		return -EBADF;
	return file->ops->write(file, (const char __user *)args[1],
				min((unsigned long)args[2], TRANSFER_MAX));
}

/* dup(fd): a second descriptor for the same file. */
long sys_dup(const u64 *args)
{
	struct open_file *file = fd_file(args[0]);
	int fd;

	if (!file)
		return -EBADF;
	atomic_inc(&file->usage);
	fd = fd_install(file, false);
	if (fd < 0)
		file_put(file);
	return fd;
}

/* dup3(fd, wanted, flags): the same with a chosen number, whose file is closed. */
long sys_dup3(const u64 *args)
{
	struct open_file *file = fd_file(args[0]);

	if (args[0] == args[1] || args[2] & ~(u64)O_CLOEXEC)
		return -EINVAL;
	if (!file || args[1] >= PROCESS_FILES)
		return -EBADF;
	atomic_inc(&file->usage);
	fd_replace((unsigned int)args[1], file, args[2] & O_CLOEXEC);
	return (long)args[1];
}
