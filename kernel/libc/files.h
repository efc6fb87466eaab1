/* SPDX-License-Identifier: MIT */
/* files.h - shared by the two files that make descriptors: files.c has the table, names.c finds and makes files. */
#ifndef KERNEL_LIBC_FILES_H
#define KERNEL_LIBC_FILES_H

#include <kernel/ramfs.h>

#include "libc.h"

/* Linux's numbers for arm64. */
#define LIBC_O_RDONLY  0U
#define LIBC_O_WRONLY  1U
#define LIBC_O_RDWR    2U
#define LIBC_O_ACCMODE 3U
#define LIBC_O_APPEND  02000U

/** struct libc_file - an open file: the console, or @node of @fs. @pos: the next byte, or a directory's cookie. */
struct libc_file {
	unsigned long references;
	unsigned int flags;
	bool console;
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

/** libc_is_terminal() - Return: true if @file is the console; false for standard input of the host, which is a pipe. */
bool libc_is_terminal(const struct libc_file *file);

/** libc_descriptors_reset() - close all, and make the first three the console. */
void libc_descriptors_reset(void);

#endif
