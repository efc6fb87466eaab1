// SPDX-License-Identifier: MIT
/*
 * pipe.c - pipe2(): a stream of bytes from one process to another.
 *
 * The copy from or to user memory happens without the lock, by the one task that holds its end (`busy`). So
 * both ends copy at the same time. If a kernel bug ends that task in the middle of its copy, the end is free
 * again when the task's descriptors are closed, and no byte is lost: only a complete copy moves head or tail.
 *
 * There are no signals that a program could handle, so a write without readers only returns -EPIPE.
 */
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/uaccess.h>

#include "file.h"
#include "internal.h"
#include "pipe.h"

_Static_assert(PIPE_BUF <= PIPE_SIZE && !(PIPE_SIZE & (PIPE_SIZE - 1)), "the size of a pipe");

static atomic_t pipes_in_use;

unsigned long user_pipes_in_use(void)
{
	return (unsigned long)atomic_read(&pipes_in_use);
}

/* --- Waiting -------------------------------------------------------------------------------------- */

/* Sleep until something has changed at @end. The lock is held on entry and on return. Return: 0; -EINTR. */
static int pipe_wait(struct pipe *pipe, struct pipe_end *end)
{
	struct wait_queue_entry wait;

	init_wait_entry(&wait);
	/* Exclusive entries are woken in order of arrival. */
	prepare_to_wait_exclusive(&end->queue, &wait, TASK_INTERRUPTIBLE);
	spin_unlock(&pipe->lock);
	if (!process_killed())
		schedule();
	finish_wait(&wait);
	spin_lock(&pipe->lock);
	return process_killed() ? -EINTR : 0;
}

/* The lock is held, as it is when a task queues itself: none is missed. All waiters are woken, because they may
 * wait for different amounts of space. */
static void wake(struct pipe_end *end)
{
	if (waitqueue_active(&end->queue))
		wake_up_all(&end->queue);
}

/* --- Reading -------------------------------------------------------------------------------------- */

/* Return: bytes copied; the user's memory may end early. */
static u32 copy_out(const struct pipe *pipe, u32 tail, char __user *to, u32 n)
{
	u32 at = tail % PIPE_SIZE, first = min(n, PIPE_SIZE - at);
	u32 left = (u32)copy_to_user(to, pipe->data + at, first);

	if (left || first == n)
		return first - left;
	return n - (u32)copy_to_user(to + first, pipe->data, n - first);
}

/* Wait for data and become the reader. The lock is held. Return: 1; 0: no data and no writer; an error. */
static int begin_read(struct open_file *file)
{
	struct pipe *pipe = file->pipe;
	int err;

	for (;;) {
		if (!pipe->reader.busy) {
			if (pipe->head != pipe->tail)
				break;
			if (!pipe->writer.open)
				return 0;
			if (file->flags & O_NONBLOCK)
				return -EAGAIN;
		}
		err = pipe_wait(pipe, &pipe->reader);
		if (err)
			return err;
	}
	pipe->reader.busy = current;
	return 1;
}

static long pipe_read(struct open_file *file, char __user *to, size_t n)
{
	struct pipe *pipe = file->pipe;
	u32 size, tail;
	int ready;

	if (!n)
		return 0;
	spin_lock(&pipe->lock);
	ready = begin_read(file);
	tail = pipe->tail;
	size = (u32)min(n, (size_t)(pipe->head - tail));
	spin_unlock(&pipe->lock);
	if (ready <= 0)
		return ready;

	size = copy_out(pipe, tail, to, size);

	spin_lock(&pipe->lock);
	pipe->reader.busy = NULL;
	pipe->tail = tail + size;
	wake(&pipe->reader);
	if (size)
		wake(&pipe->writer);
	spin_unlock(&pipe->lock);
	return size ? (long)size : -EFAULT;
}

/* --- Writing -------------------------------------------------------------------------------------- */

static u32 copy_in(struct pipe *pipe, u32 head, const char __user *from, u32 n)
{
	u32 at = head % PIPE_SIZE, first = min(n, PIPE_SIZE - at);
	u32 left = (u32)copy_from_user(pipe->data + at, from, first);

	if (left || first == n)
		return first - left;
	return n - (u32)copy_from_user(pipe->data, from + first, n - first);
}

/* Wait for @need bytes of space and become the writer. The lock is held. Return: bytes of space; an error. */
static long begin_write(struct open_file *file, u32 need)
{
	struct pipe *pipe = file->pipe;
	u32 space = 0;
	int err;

	for (;;) {
		if (!pipe->reader.open)
			return -EPIPE;
		if (!pipe->writer.busy) {
			space = PIPE_SIZE - (pipe->head - pipe->tail);
			if (space >= need)
				break;
			if (file->flags & O_NONBLOCK)
				return -EAGAIN;
		}
		err = pipe_wait(pipe, &pipe->writer);
		if (err)
			return err;
	}
	pipe->writer.busy = current;
	return space;
}

/* Write what fits, or with @whole all or nothing. Return: bytes, more than 0; an error. */
static long write_piece(struct open_file *file, const char __user *from, size_t n, bool whole)
{
	struct pipe *pipe = file->pipe;
	u32 size, head;
	long space;

	spin_lock(&pipe->lock);
	space = begin_write(file, whole ? (u32)n : 1);
	head = pipe->head;
	spin_unlock(&pipe->lock);
	if (space < 0)
		return space;

	n = min(n, (size_t)space);
	size = copy_in(pipe, head, from, (u32)n);
	if (whole && size < n)
		size = 0;

	spin_lock(&pipe->lock);
	pipe->writer.busy = NULL;
	pipe->head = head + size;
	wake(&pipe->writer);
	if (size)
		wake(&pipe->reader);
	spin_unlock(&pipe->lock);
	return size ? (long)size : -EFAULT;
}

static long pipe_write(struct open_file *file, const char __user *from, size_t n)
{
	bool whole = n <= PIPE_BUF;
	size_t done = 0;
	long size = 0;

	while (done < n) {
		size = process_killed() ? -EINTR : write_piece(file, from + done, n - done, whole);
		if (size < 0)
			break;
		done += (size_t)size;
	}
	return done ? (long)done : size;
}

/* --- The ends ------------------------------------------------------------------------------------- */

/* The running task no longer copies, however it ended. */
static void abandon(struct pipe *pipe, struct pipe_end *end)
{
	spin_lock(&pipe->lock);
	if (end->busy == current) {
		end->busy = NULL;
		wake(end);
	}
	spin_unlock(&pipe->lock);
}

static void pipe_free(struct pipe *pipe)
{
	kfree(pipe->data);
	kfree(pipe);
	atomic_dec(&pipes_in_use);
}

static void close_end(struct pipe *pipe, struct pipe_end *end, struct pipe_end *other)
{
	bool last;

	spin_lock(&pipe->lock);
	end->open = false;
	last = !other->open;
	/* Without the lock the other end could be closed now, and the pipe be gone. */
	wake(other);
	spin_unlock(&pipe->lock);
	if (last)
		pipe_free(pipe);
}

static void abandon_reading(struct open_file *file)
{
	abandon(file->pipe, &file->pipe->reader);
}

static void abandon_writing(struct open_file *file)
{
	abandon(file->pipe, &file->pipe->writer);
}

static void release_reader(struct open_file *file)
{
	close_end(file->pipe, &file->pipe->reader, &file->pipe->writer);
}

static void release_writer(struct open_file *file)
{
	close_end(file->pipe, &file->pipe->writer, &file->pipe->reader);
}

static const struct file_ops reader_ops = {
	.read = pipe_read,
	.abandon = abandon_reading,
	.release = release_reader,
};

static const struct file_ops writer_ops = {
	.write = pipe_write,
	.abandon = abandon_writing,
	.release = release_writer,
};

/* --- Making one ----------------------------------------------------------------------------------- */

static struct pipe *pipe_alloc(void)
{
	struct pipe *pipe = kzalloc(sizeof(*pipe), GFP_KERNEL);

	if (!pipe)
		return NULL;
	pipe->data = kmalloc(PIPE_SIZE, GFP_KERNEL | __GFP_NOWARN);
	if (!pipe->data) {
		kfree(pipe);
		return NULL;
	}
	spin_lock_init(&pipe->lock);
	init_waitqueue_head(&pipe->reader.queue);
	init_waitqueue_head(&pipe->writer.queue);
	atomic_inc(&pipes_in_use);
	return pipe;
}

/* Return: the open end, whose release closes it; NULL: no memory. */
static struct open_file *open_end(struct pipe *pipe, struct pipe_end *end,
				  const struct file_ops *ops, unsigned int flags)
{
	struct open_file *file = file_alloc(ops);

	if (!file)
		return NULL;
	file->pipe = pipe;
	file->flags = flags & O_NONBLOCK;
	end->open = true;
	return file;
}

/* Return: 0, with both ends' files; or -ENOMEM. */
static int open_pipe(struct open_file *ends[2], unsigned int flags)
{
	struct pipe *pipe = pipe_alloc();

	if (!pipe)
		return -ENOMEM;
	ends[0] = open_end(pipe, &pipe->reader, &reader_ops, flags);
	if (!ends[0]) {
		pipe_free(pipe);
		return -ENOMEM;
	}
	ends[1] = open_end(pipe, &pipe->writer, &writer_ops, flags);
	if (!ends[1]) {
		file_put(ends[0]);
		return -ENOMEM;
	}
	return 0;
}

/* pipe2(fds, flags): O_CLOEXEC, O_NONBLOCK. fds[0] is for reading, fds[1] for writing. */
long sys_pipe2(const u64 *args)
{
	int __user *ufds = (int __user *)args[0];
	bool close_on_exec = args[1] & O_CLOEXEC;
	struct open_file *ends[2];
	int fds[2], err;

	if (args[1] & ~(u64)(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	err = open_pipe(ends, (unsigned int)args[1]);
	if (err)
		return err;
	fds[0] = fd_install(ends[0], close_on_exec);
	if (fds[0] < 0) {
		file_put(ends[0]);
		file_put(ends[1]);
		return fds[0];
	}
	fds[1] = fd_install(ends[1], close_on_exec);
	if (fds[1] < 0) {
		fd_close((u64)fds[0]);
		file_put(ends[1]);
		return fds[1];
	}
	if (copy_to_user(ufds, fds, sizeof(fds))) {
		fd_close((u64)fds[0]);
		fd_close((u64)fds[1]);
		return -EFAULT;
	}
	return 0;
}
