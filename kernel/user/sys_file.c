// SPDX-License-Identifier: MIT
/*
 * sys_file.c - system calls on file descriptors: the console, and the files of the initial RAM disk.
 */
#include <kernel/console.h>
#include <kernel/initrd.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/uaccess.h>

#include "internal.h"

#define PATH_SIZE 256L
/* Bytes that a write moves at a time: the buffer is on the kernel stack. */
#define WRITE_PIECE 256UL
/* As in Linux: no transfer is larger, so that every result is a positive int. */
#define TRANSFER_MAX 0x7ffff000UL

#define CONSOLE_FILES 3U

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

static bool is_console(u64 fd)
{
	return fd < CONSOLE_FILES && current->process->console_open & 1U << fd;
}

static struct open_file *get_file(u64 fd)
{
	struct open_file *file;

	if (fd < CONSOLE_FILES || fd >= PROCESS_FILES)
		return NULL;
	file = &current->process->files[fd];
	return file->file ? file : NULL;
}

/* openat(directory, path, flags, mode): files of the RAM disk, for reading; paths start at its root. */
long sys_openat(const u64 *args)
{
	const struct initrd_file *file;
	char path[PATH_SIZE];
	long n;

	n = strncpy_from_user(path, (const char __user *)args[1], PATH_SIZE);
	if (n < 0)
		return n;
	if (n == PATH_SIZE)
		return -ENAMETOOLONG;
	/* O_WRONLY, O_RDWR */
	if (args[2] & 3)
		return -EROFS;
	file = initrd_find(path[0] == '/' ? path + 1 : path);
	if (!file)
		return -ENOENT;
	for (unsigned int fd = CONSOLE_FILES; fd < PROCESS_FILES; fd++) {
		struct open_file *slot = &current->process->files[fd];

		if (!slot->file) {
			*slot = (struct open_file){.file = file};
			return fd;
		}
	}
	return -EMFILE;
}

long sys_close(const u64 *args)
{
	struct open_file *file = get_file(args[0]);

	if (is_console(args[0])) {
		current->process->console_open &= ~(1U << args[0]);
		return 0;
	}
	if (!file)
		return -EBADF;
	file->file = NULL;
	return 0;
}

/* lseek(fd, offset, whence) */
long sys_lseek(const u64 *args)
{
	struct open_file *file = get_file(args[0]);
	s64 pos = (s64)args[1];

	if (is_console(args[0]))
		return -ESPIPE;
	if (!file)
		return -EBADF;
	switch (args[2]) {
	case SEEK_SET:
		break;
	case SEEK_CUR:
		if (__builtin_add_overflow(pos, (s64)file->pos, &pos))
			return -EINVAL;
		break;
	case SEEK_END:
		if (__builtin_add_overflow(pos, (s64)file->file->size, &pos))
			return -EINVAL;
		break;
	default:
		return -EINVAL;
	}
	if (pos < 0)
		return -EINVAL;
	file->pos = (size_t)pos;
	return pos;
}

/* read(fd, buffer, size): the console has nothing to read. */
long sys_read(const u64 *args)
{
	struct open_file *file = get_file(args[0]);
	unsigned long n = args[2], left;
	const char *data;

	if (is_console(args[0]))
		return args[0] == 0 ? 0 : -EBADF;
	if (!file)
		return -EBADF;
	if (file->pos >= file->file->size)
		return 0;
	data = (const char *)file->file->data + file->pos;
	n = min(n, (unsigned long)(file->file->size - file->pos));
	n = min(n, TRANSFER_MAX);
	left = copy_to_user((void __user *)args[1], data, n);
	if (left == n && n)
		return -EFAULT;
	file->pos += n - left;
	return (long)(n - left);
}

/* write(fd, buffer, size): the console. The readable part of the buffer is written. */
long sys_write(const u64 *args)
{
	const char __user *from = (const char __user *)args[1];
	unsigned long n = min((unsigned long)args[2], TRANSFER_MAX), done = 0;
	struct process *process = current->process;
	char piece[WRITE_PIECE];

	if (!is_console(args[0]) || args[0] == 0)
		return -EBADF;
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
