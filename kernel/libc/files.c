// SPDX-License-Identifier: MIT
/*
 * files.c - the file descriptors of programs: which numbers are in use, and what each stands for. Calls that take a
 * descriptor are here, those that take a name are in names.c.
 *
 * A descriptor is an index of a table; the entry is an open file, which dup() shares. An open file is the console, or a
 * node of the program's own file system in memory.
 */
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/page.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>

#include "../program/internal.h"
#include "files.h"

#define FD_COUNT   256
#define READ_LIMIT 0x7ffff000UL /* bytes of one call, as on Linux */

/* Linux's numbers. */
#define SEEK_SET	0
#define SEEK_CUR	1
#define SEEK_END	2
#define F_DUPFD		0
#define F_GETFD		1
#define F_SETFD		2
#define F_GETFL		3
#define F_SETFL		4
#define F_GETLK		5
#define F_SETLK		6
#define F_SETLKW	7
#define F_DUPFD_CLOEXEC 1030
#define F_UNLCK		2
#define TIOCGWINSZ	0x5413
/* What F_SETFL may change. */
#define CHANGEABLE (LIBC_O_APPEND | LIBC_O_NONBLOCK)

/** struct libc_winsize - what a terminal says about its size */
struct libc_winsize {
	u16 rows, columns, x, y;
};

/** struct libc_flock - the start of what fcntl() says of a lock */
struct libc_flock {
	s16 type;
};

static struct libc_file *table[FD_COUNT];
static DEFINE_SPINLOCK(table_lock);

/* The first three descriptors. They live for ever, and each program gets them anew. */
static struct libc_file consoles[3] = {
	{.references = 1, .flags = LIBC_O_RDWR, .console = true},
	{.references = 1, .flags = LIBC_O_RDWR, .console = true},
	{.references = 1, .flags = LIBC_O_RDWR, .console = true},
};

struct libc_file *libc_file_get(int fd)
{
	struct libc_file *file = NULL;
	unsigned long irq;

	spin_lock_irqsave(&table_lock, irq);
	if (fd >= 0 && fd < FD_COUNT)
		file = table[fd];
	if (file)
		file->references++;
	spin_unlock_irqrestore(&table_lock, irq);
	return file;
}

void libc_file_put(struct libc_file *file)
{
	unsigned long irq;
	bool last;

	spin_lock_irqsave(&table_lock, irq);
	last = !--file->references;
	spin_unlock_irqrestore(&table_lock, irq);
	if (!last || file->console)
		return;
	if (file->pipe)
		libc_pipe_close(file);
	else
		ramfs_put(file->fs, file->node);
	kfree(file);
}

/* Put @file, with the caller's reference, into the first free place from @least on. */
static long install(struct libc_file *file, int least)
{
	unsigned long irq;
	int fd;

	spin_lock_irqsave(&table_lock, irq);
	for (fd = least; fd < FD_COUNT && table[fd]; fd++)
		;
	if (fd < FD_COUNT)
		table[fd] = file;
	spin_unlock_irqrestore(&table_lock, irq);
	if (fd < FD_COUNT)
		return fd;
	libc_file_put(file);
	return -EMFILE;
}

long libc_file_open(struct ramfs_node *node, unsigned int flags)
{
	struct libc_file *file = kzalloc(sizeof(*file), GFP_KERNEL | __GFP_NOWARN);

	if (!file) {
		ramfs_put(libc_fs(), node);
		return -ENOMEM;
	}
	file->references = 1;
	file->fs = libc_fs();
	file->node = node;
	file->flags = flags;
	return install(file, 0);
}

long libc_pipe_open(struct libc_pipe *pipe, unsigned int flags)
{
	struct libc_file local = {.pipe = pipe, .flags = flags};
	struct libc_file *file = kmalloc(sizeof(*file), GFP_KERNEL | __GFP_NOWARN);

	if (!file) {
		libc_pipe_close(&local);
		return -ENOMEM;
	}
	*file = local;
	file->references = 1;
	return install(file, 0);
}

long libc_close(int fd)
{
	struct libc_file *file = NULL;
	unsigned long irq;

	spin_lock_irqsave(&table_lock, irq);
	if (fd >= 0 && fd < FD_COUNT)
		swap(file, table[fd]);
	spin_unlock_irqrestore(&table_lock, irq);
	if (!file)
		return -EBADF;
	libc_file_put(file);
	return 0;
}

long libc_dup(int fd, int least)
{
	struct libc_file *file = libc_file_get(fd);

	if (!file)
		return -EBADF;
	if (least < 0 || least >= FD_COUNT) {
		libc_file_put(file);
		return -EINVAL;
	}
	return install(file, least);
}

long libc_dup3(int fd, int to)
{
	struct libc_file *file = libc_file_get(fd);
	unsigned long irq;

	if (!file)
		return -EBADF;
	if (to < 0 || to >= FD_COUNT || to == fd) {
		libc_file_put(file);
		return to == fd ? -EINVAL : -EBADF;
	}
	spin_lock_irqsave(&table_lock, irq);
	swap(file, table[to]);
	spin_unlock_irqrestore(&table_lock, irq);
	if (file)
		libc_file_put(file);
	return to;
}

bool libc_is_terminal(const struct libc_file *file)
{
	/* dup() may have given it another number. */
	return file->console && (file != &consoles[0] || program_input_is_terminal());
}

bool libc_may_read(const struct libc_file *file)
{
	return (file->flags & LIBC_O_ACCMODE) != LIBC_O_WRONLY;
}

static bool may_write(const struct libc_file *file)
{
	return (file->flags & LIBC_O_ACCMODE) != LIBC_O_RDONLY;
}

static u64 size_of(struct libc_file *file)
{
	struct ramfs_info info;

	ramfs_info(file->fs, file->node, &info);
	return info.size;
}

long libc_lseek(int fd, s64 offset, int whence)
{
	struct libc_file *file = libc_file_get(fd);
	s64 base = 0, pos;

	if (!file)
		return -EBADF;
	if (!file->node) {
		pos = -ESPIPE;
	} else {
		if (whence == SEEK_CUR)
			base = file->pos;
		else if (whence == SEEK_END)
			base = (s64)size_of(file);
		if (whence < SEEK_SET || whence > SEEK_END ||
		    __builtin_add_overflow(base, offset, &pos) || pos < 0)
			pos = -EINVAL;
		else
			file->pos = pos;
	}
	libc_file_put(file);
	return pos;
}

static long read_input(const struct libc_iovec *iov, int count)
{
	long total = 0;

	for (int i = 0; i < count; i++) {
		long n = program_input(iov[i].base, iov[i].len);

		if (n < 0)
			return total ?: -EIO;
		total += n;
		/* The rest may be long in coming. */
		if ((size_t)n < iov[i].len)
			break;
	}
	return total;
}

static long read_pipe(struct libc_file *file, const struct libc_iovec *iov, int count)
{
	/* The first piece that has room: what is there now is enough. */
	for (int i = 0; i < count; i++)
		if (iov[i].len)
			return libc_pipe_read(file, iov[i].base, iov[i].len);
	return 0;
}

/* @pos: where; NULL: at the file's own place, which moves. */
static long read_pieces(struct libc_file *file, const struct libc_iovec *iov, int count,
			const s64 *pos)
{
	s64 at = pos ? *pos : file->pos;
	long total = 0, n = 0;

	if (!libc_may_read(file))
		return -EBADF;
	if (!file->node && pos)
		return -ESPIPE;
	if (file->pipe)
		return read_pipe(file, iov, count);
	if (file->console)
		return read_input(iov, count);
	if (at < 0)
		return -EINVAL;
	for (int i = 0; i < count; i++) {
		size_t size = min(iov[i].len, READ_LIMIT);

		n = ramfs_read(file->fs, file->node, iov[i].base, size, (u64)at);
		if (n < 0)
			break;
		at += n;
		total += n;
		if ((size_t)n < size)
			break;
	}
	if (!pos)
		file->pos = at;
	return total ?: n;
}

static long write_pipe(struct libc_file *file, const struct libc_iovec *iov, int count)
{
	long total = 0;

	for (int i = 0; i < count; i++) {
		long n = libc_pipe_write(file, iov[i].base, iov[i].len);

		if (n < 0)
			return total ?: n;
		total += n;
		if ((size_t)n < iov[i].len)
			break;
	}
	return total;
}

static long write_console(const struct libc_iovec *iov, int count)
{
	/* A copy: the console does not check what it reads. Short pieces stay together. */
	char part[1024];
	size_t used = 0;
	long total = 0;

	for (int i = 0; i < count; i++) {
		const char *text = iov[i].base;

		for (size_t n, left = iov[i].len; left; left -= n, text += n) {
			n = min(left, sizeof(part) - used);
			memcpy(part + used, text, n);
			used += n;
			if (used == sizeof(part)) {
				program_output(part, used);
				used = 0;
			}
		}
		total += (long)iov[i].len;
	}
	program_output(part, used);
	return total;
}

static long write_pieces(struct libc_file *file, const struct libc_iovec *iov, int count,
			 const s64 *pos)
{
	s64 at = pos ? *pos : file->pos;
	long total = 0, n = 0;

	if (!may_write(file))
		return -EBADF;
	if (!file->node && pos)
		return -ESPIPE;
	if (file->pipe)
		return write_pipe(file, iov, count);
	if (file->console)
		return write_console(iov, count);
	if (at < 0)
		return -EINVAL;
	for (int i = 0; i < count; i++) {
		size_t size = min(iov[i].len, READ_LIMIT);

		if (file->flags & LIBC_O_APPEND && !pos)
			n = ramfs_append(file->fs, file->node, iov[i].base, size, (u64 *)&at);
		else
			n = ramfs_write(file->fs, file->node, iov[i].base, size, (u64)at);
		if (n < 0)
			break;
		if (!(file->flags & LIBC_O_APPEND) || pos)
			at += n;
		total += n;
	}
	if (!pos)
		file->pos = at;
	return total ?: n;
}

long libc_readv(int fd, const struct libc_iovec *iov, int count, const s64 *pos)
{
	struct libc_file *file = libc_file_get(fd);
	long result;

	if (!file)
		return -EBADF;
	result = read_pieces(file, iov, count, pos);
	libc_file_put(file);
	return result;
}

long libc_writev(int fd, const struct libc_iovec *iov, int count, const s64 *pos)
{
	struct libc_file *file = libc_file_get(fd);
	long result;

	if (!file)
		return -EBADF;
	result = write_pieces(file, iov, count, pos);
	libc_file_put(file);
	return result;
}

long libc_pread(int fd, void *buf, size_t size, s64 offset)
{
	struct libc_iovec piece = {.base = buf, .len = size};

	return libc_readv(fd, &piece, 1, &offset);
}

long libc_ftruncate(int fd, s64 size)
{
	struct libc_file *file = libc_file_get(fd);
	long result = -EINVAL;

	if (!file)
		return -EBADF;
	if (file->node && may_write(file) && size >= 0)
		result = ramfs_truncate(file->fs, file->node, (u64)size);
	libc_file_put(file);
	return result;
}

/* Fill one record of @room bytes at most. Return: its bytes, 0: no room, or an error. */
static long put_entry(char *buf, size_t room, const char *name, const struct ramfs_info *info,
		      u64 cookie)
{
	struct libc_dirent *entry = (struct libc_dirent *)buf;
	size_t length = strlen(name) + 1;
	size_t size = ALIGN(offsetof(struct libc_dirent, name) + length, 8UL);

	if (size > room)
		return 0;
	entry->ino = info->ino;
	entry->off = (s64)cookie;
	entry->reclen = (u16)size;
	entry->type = info->type;
	memcpy(entry->name, name, length);
	return (long)size;
}

long libc_getdents(int fd, char *buf, size_t size)
{
	struct libc_file *file = libc_file_get(fd);
	char name[RAMFS_NAME_MAX + 1];
	struct ramfs_info info;
	size_t done = 0;
	long result;

	if (!file)
		return -EBADF;
	result = file->node ? 0 : -ENOTDIR;
	while (!result) {
		u64 cookie = (u64)file->pos;
		long put;

		result = ramfs_entry(file->fs, file->node, &cookie, name, &info);
		if (result <= 0)
			break;
		put = put_entry(buf + done, size - done, name, &info, cookie);
		result = put || done ? 0 : -EINVAL;
		if (!put)
			break;
		done += (size_t)put;
		file->pos = (s64)cookie;
	}
	libc_file_put(file);
	return result < 0 ? result : (long)done;
}

long libc_ioctl(int fd, unsigned long request, void *arg)
{
	struct libc_file *file = libc_file_get(fd);
	bool terminal = file && libc_is_terminal(file);

	if (!file)
		return -EBADF;
	libc_file_put(file);
	/* The console is a terminal: the library then writes line by line. */
	if (!terminal || request != TIOCGWINSZ)
		return -ENOTTY;
	*(struct libc_winsize *)arg = (struct libc_winsize){.rows = 25, .columns = 80};
	return 0;
}

long libc_fcntl(int fd, int command, long arg)
{
	struct libc_file *file = libc_file_get(fd);
	long result = 0;

	if (!file)
		return -EBADF;
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		result = libc_dup(fd, (int)arg);
		break;
	case F_GETFD:
	case F_SETFD:
		break;
	case F_GETFL:
		result = file->flags;
		break;
	case F_SETFL:
		file->flags = (file->flags & ~CHANGEABLE) | ((unsigned int)arg & CHANGEABLE);
		break;
	case F_GETLK:
		/* Locks are between processes, and there is one. */
		((struct libc_flock *)arg)->type = F_UNLCK;
		break;
	case F_SETLK:
	case F_SETLKW:
		break;
	default:
		result = -EINVAL;
	}
	libc_file_put(file);
	return result;
}

long libc_fd_valid(int fd)
{
	struct libc_file *file = libc_file_get(fd);

	if (!file)
		return -EBADF;
	libc_file_put(file);
	return 0;
}

void libc_descriptors_reset(void)
{
	for (int fd = 0; fd < FD_COUNT; fd++)
		if (table[fd])
			libc_close(fd);
	for (int fd = 0; fd < 3; fd++) {
		consoles[fd].references = 1;
		table[fd] = &consoles[fd];
	}
}
