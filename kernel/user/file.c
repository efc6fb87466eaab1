// SPDX-License-Identifier: MIT
/* file.c - open files, and the table of descriptors of each process. */
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>

#include "file.h"

static atomic_t files_in_use;

unsigned long user_files_in_use(void)
{
	return (unsigned long)atomic_read(&files_in_use);
}

/* --- Open files ----------------------------------------------------------------------------------- */

struct open_file *file_alloc(const struct file_ops *ops)
{
	struct open_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return NULL;
	atomic_set(&file->usage, 1);
	file->ops = ops;
	atomic_inc(&files_in_use);
	return file;
}

void file_put(struct open_file *file)
{
	if (!atomic_dec_and_test(&file->usage))
		return;
	if (file->ops->release)
		file->ops->release(file);
	atomic_dec(&files_in_use);
	kfree(file);
}

static struct open_file *file_get(struct open_file *file)
{
	atomic_inc(&file->usage);
	return file;
}

/* --- Descriptors ---------------------------------------------------------------------------------- */

static void set_slot(struct process *process, unsigned int fd, struct open_file *file,
		     bool close_on_exec)
{
	process->files[fd] = file;
	process->close_on_exec &= ~(1U << fd);
	if (close_on_exec)
		process->close_on_exec |= 1U << fd;
}

int fd_install(struct open_file *file, bool close_on_exec)
{
	struct process *process = current->process;

	for (unsigned int fd = 0; fd < PROCESS_FILES; fd++) {
		if (!process->files[fd]) {
			set_slot(process, fd, file, close_on_exec);
			return (int)fd;
		}
	}
	return -EMFILE;
}

void fd_replace(unsigned int fd, struct open_file *file, bool close_on_exec)
{
	fd_close(fd);
	set_slot(current->process, fd, file, close_on_exec);
}

struct open_file *fd_file(u64 fd)
{
	return fd < PROCESS_FILES ? current->process->files[fd] : NULL;
}

int fd_close(u64 fd)
{
	struct open_file *file = fd_file(fd);

	if (!file)
		return -EBADF;
	current->process->files[fd] = NULL;
	file_put(file);
	return 0;
}

/* --- All of a process's --------------------------------------------------------------------------- */

void files_init(struct process *process)
{
	set_slot(process, 0, file_get(&console_input), false);
	set_slot(process, 1, file_get(&console_output), false);
	set_slot(process, 2, file_get(&console_output), false);
}

void files_inherit(struct process *child)
{
	struct process *parent = current->process;

	files_close_all(child);
	for (unsigned int fd = 0; fd < PROCESS_FILES; fd++) {
		if (parent->files[fd] && !(parent->close_on_exec & 1U << fd))
			set_slot(child, fd, file_get(parent->files[fd]), false);
	}
}

void files_close_all(struct process *process)
{
	for (unsigned int fd = 0; fd < PROCESS_FILES; fd++) {
		struct open_file *file = process->files[fd];

		if (!file)
			continue;
		process->files[fd] = NULL;
		/* Others may go on using the file, so it must not stay as this task left it. */
		if (file->ops->abandon)
			file->ops->abandon(file);
		file_put(file);
	}
}
