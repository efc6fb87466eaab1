/* SPDX-License-Identifier: MIT */
/*
 * file.h - open files and the descriptors that lead to them.
 *
 * A descriptor is a number of one process. Several descriptors, also of several processes, may lead to one
 * open file: dup() and spawn() share it. It is released with its last descriptor. Only a process's own task
 * uses its descriptors, so a file stays open as long as a system call of that task uses it.
 */
#ifndef USER_FILE_H
#define USER_FILE_H

#include <kernel/mutex.h>
#include <kernel/process.h>

/* Flags of openat(), pipe2() and dup3(), Linux's generic ABI. */
#define O_ACCMODE  3U
#define O_NONBLOCK 04000U
#define O_CLOEXEC  02000000U

struct initrd_file;
struct pipe;

/**
 * struct file_ops - what a kind of file can do
 * @read, @write: NULL: -EBADF. @n is at most 0x7ffff000. Return: bytes moved, or an error.
 * @seek: NULL: -ESPIPE. @whence is not checked yet.
 * @abandon: optional: the running task ends, maybe in the middle of @read or @write.
 * @release: optional: the last descriptor is closed. Both must not sleep.
 */
struct file_ops {
	long (*read)(struct open_file *file, char __user *to, size_t n);
	long (*write)(struct open_file *file, const char __user *from, size_t n);
	long (*seek)(struct open_file *file, s64 offset, u64 whence);
	void (*abandon)(struct open_file *file);
	void (*release)(struct open_file *file);
};

/**
 * struct open_file - the file behind one or more descriptors
 * @usage: descriptors, and whoever is about to make one.
 * @flags: O_NONBLOCK.
 * @ramdisk, @pos: a file of the RAM disk and the offset of the next read, which @pos_lock guards. @pipe: of a
 *	pipe's end.
 */
struct open_file {
	atomic_t usage;
	unsigned int flags;
	const struct file_ops *ops;
	union {
		struct {
			const struct initrd_file *ramdisk;
			struct mutex pos_lock;
			size_t pos;
		};
		struct pipe *pipe;
	};
};

/** file_alloc() - Return: a file with one reference, to be given up by file_put() or fd_install(); NULL: no
 *  memory. May sleep. */
struct open_file *file_alloc(const struct file_ops *ops);

/** file_put() - drop a reference; the last one releases the file. */
void file_put(struct open_file *file);

/** fd_install() - give @file the lowest free descriptor of the running process, which takes over the
 *  caller's reference. @close_on_exec: spawn() does not pass it on. Return: the descriptor; -EMFILE. */
int fd_install(struct open_file *file, bool close_on_exec);

/** fd_replace() - the same for descriptor @fd, which is below PROCESS_FILES and is closed first if it is
 *  open. */
void fd_replace(unsigned int fd, struct open_file *file, bool close_on_exec);

/** fd_file() - Return: the file behind @fd of the running process, NULL if it is not open. No reference. */
struct open_file *fd_file(u64 fd);

/** fd_close() - close @fd of the running process. Return: 0; -EBADF. */
int fd_close(u64 fd);

/** files_init() - descriptors 0 to 2 of a new process are the console. */
void files_init(struct process *process);

/** files_inherit() - @child, not started yet, gets the running process's descriptors instead. */
void files_inherit(struct process *child);

/** files_close_all() - @process ends, or never ran. Called by its own task, or when it has none. */
void files_close_all(struct process *process);

/* sys_file.c: the console, of which there is always a reference. */
extern struct open_file console_input, console_output;

#endif
