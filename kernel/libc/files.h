/* SPDX-License-Identifier: MIT */
/* files.h - shared by the two files that make descriptors: files.c has the table, names.c finds and makes files. */
#ifndef KERNEL_LIBC_FILES_H
#define KERNEL_LIBC_FILES_H

#include <kernel/ramfs.h>

#include "libc.h"

/* Linux's numbers. */
#define LIBC_O_RDONLY	0U
#define LIBC_O_WRONLY	1U
#define LIBC_O_RDWR	2U
#define LIBC_O_ACCMODE	3U
#define LIBC_O_APPEND	02000U
#define LIBC_O_NONBLOCK 04000U

struct libc_pipe;

/** struct libc_file - an open file: the console, an end of @pipe, or @node of @fs. @pos: the next byte, or a directory's
 *  cookie. */
struct libc_file {
	unsigned long references;
	unsigned int flags;
	bool console;
	struct libc_pipe *pipe;
	struct ramfs *fs;
	struct ramfs_node *node;
	s64 pos;
};

/** struct libc_dirent - what getdents64() gives */
struct libc_dirent {
	u64 ino;
	s64 off;
	u16 reclen;
	u8 type;
	char name[];
};

/** libc_fs() - Return: the program's tree of files. */
struct ramfs *libc_fs(void);

/** libc_file_get() - Return: the open file of @fd, with a reference; NULL if there is none. */
struct libc_file *libc_file_get(int fd);
void libc_file_put(struct libc_file *file);

/** libc_file_open() - open @node, whose reference is taken over. Return: a descriptor, or an error. */
long libc_file_open(struct ramfs_node *node, unsigned int flags);

/** libc_pipe_open() - the same for an end of @pipe: its reader or its writer, as @flags say. */
long libc_pipe_open(struct libc_pipe *pipe, unsigned int flags);

/** libc_may_read() - Return: true if @file is open for reading. */
bool libc_may_read(const struct libc_file *file);

/** libc_is_terminal() - Return: true if @file is the console; of standard input, if the host says that somebody types it. */
bool libc_is_terminal(const struct libc_file *file);

/* --- pipe.c ----------------------------------------------------------------------------------- */

/** libc_pipe_read(), libc_pipe_write() - wait until there is something to read, or room. Return: bytes; an error. */
long libc_pipe_read(struct libc_file *file, char *buf, size_t size);
long libc_pipe_write(struct libc_file *file, const char *buf, size_t size);

/** libc_pipe_close() - the end that @file is was closed. */
void libc_pipe_close(struct libc_file *file);

/** libc_pipe_number() - Return: a number that both ends have. */
u64 libc_pipe_number(const struct libc_file *file);

/* --- files.c ---------------------------------------------------------------------------------- */

/** libc_descriptors_reset() - close all, and make the first three the console. */
void libc_descriptors_reset(void);

#endif
