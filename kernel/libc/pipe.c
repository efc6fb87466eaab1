// SPDX-License-Identifier: MIT
/*
 * pipe.c - pipes between the threads of a program, or from a thread to itself.
 *
 * The lock is taken by waiting with yield(), like that of a tree of files: memory of the program is touched while it is held, and a
 * thread that is killed while it waits leaves nothing behind.
 */
#include <kasan/kasan.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "files.h"
#include "signal.h"

#define PIPE_SIZE 65536U
#define PIPE_BUF  4096U
#define O_CLOEXEC 02000000U

#define FUTEX_WAIT 0
#define EVERYBODY  INT_MAX

/**
 * struct libc_pipe - a pipe
 * @readers, @writers: open files for each end.
 * @head, @tail: bytes ever written and read. @changed: a futex, which counts changes.
 */
struct libc_pipe {
	bool locked;
	unsigned int readers, writers;
	u32 head, tail;
	int changed;
	char data[PIPE_SIZE];
};

static void lock(struct libc_pipe *pipe)
{
	while (__atomic_exchange_n(&pipe->locked, true, __ATOMIC_ACQUIRE))
		yield();
}

static void unlock(struct libc_pipe *pipe)
{
	__atomic_store_n(&pipe->locked, false, __ATOMIC_RELEASE);
}

/* Unlock, and wake all that wait for a change. */
static void unlock_changed(struct libc_pipe *pipe)
{
	__atomic_fetch_add(&pipe->changed, 1, __ATOMIC_SEQ_CST);
	unlock(pipe);
	libc_futex_wake(&pipe->changed, EVERYBODY);
}

/* Unlock, wait for a change, and lock again. Return: 0; -EAGAIN or -EINTR, not locked. */
static long wait_for_change(struct libc_pipe *pipe, const struct libc_file *file)
{
	int seen = __atomic_load_n(&pipe->changed, __ATOMIC_SEQ_CST);
	long error = -EAGAIN;

	unlock(pipe);
	if (file->flags & LIBC_O_NONBLOCK)
		return error;
	error = libc_futex(&pipe->changed, FUTEX_WAIT, seen, NULL);
	if (error == -EINTR)
		return error;
	lock(pipe);
	return 0;
}

long libc_pipe_read(struct libc_file *file, char *buf, size_t size)
{
	struct libc_pipe *pipe = file->pipe;
	u32 first, at;
	long error;

	if (!size)
		return 0;
	lock(pipe);
	while (pipe->head == pipe->tail) {
		if (!pipe->writers) {
			unlock(pipe);
			return 0;
		}
		error = wait_for_change(pipe, file);
		if (error)
			return error;
	}
	size = min(size, (size_t)(pipe->head - pipe->tail));
	at = pipe->tail % PIPE_SIZE;
	first = min((u32)size, PIPE_SIZE - at);
	memcpy(buf, pipe->data + at, first);
	memcpy(buf + first, pipe->data, size - first);
	pipe->tail += (u32)size;
	unlock_changed(pipe);
	return (long)size;
}

/* Write what fits, at least @least bytes. */
static long write_some(struct libc_file *file, const char *buf, size_t size, size_t least)
{
	struct libc_pipe *pipe = file->pipe;
	u32 first, at;
	long error;

	lock(pipe);
	while (pipe->readers && PIPE_SIZE - (pipe->head - pipe->tail) < least) {
		error = wait_for_change(pipe, file);
		if (error)
			return error;
	}
	if (!pipe->readers) {
		unlock(pipe);
		libc_kill(libc_tid(), SIGPIPE);
		return -EPIPE;
	}
	size = min(size, (size_t)(PIPE_SIZE - (pipe->head - pipe->tail)));
	at = pipe->head % PIPE_SIZE;
	first = min((u32)size, PIPE_SIZE - at);
	memcpy(pipe->data + at, buf, first);
	memcpy(pipe->data, buf + first, size - first);
	pipe->head += (u32)size;
	unlock_changed(pipe);
	return (long)size;
}

long libc_pipe_write(struct libc_file *file, const char *buf, size_t size)
{
	/* Small data is written in one piece. */
	const size_t least = size <= PIPE_BUF ? size : 1;
	size_t done = 0;

	while (done < size) {
		long n = write_some(file, buf + done, size - done, least);

		if (n < 0)
			return done ? (long)done : n;
		done += (size_t)n;
	}
	return (long)done;
}

void libc_pipe_close(struct libc_file *file)
{
	struct libc_pipe *pipe = file->pipe;
	bool last;

	lock(pipe);
	if (libc_may_read(file))
		pipe->readers--;
	else
		pipe->writers--;
	last = !pipe->readers && !pipe->writers;
	unlock_changed(pipe);
	/* The other end was closed before: no thread can be here any more. */
	if (last)
		kvfree(pipe);
}

u64 libc_pipe_number(const struct libc_file *file)
{
	return (u64)(uintptr_t)kasan_reset_tag(file->pipe) >> 4;
}

long libc_pipe2(int *fds, unsigned int flags)
{
	struct libc_pipe *pipe;
	long reader, writer;

	if (flags & ~(O_CLOEXEC | LIBC_O_NONBLOCK))
		return -EINVAL;
	pipe = kvmalloc(sizeof(*pipe), GFP_KERNEL | __GFP_NOWARN);
	if (!pipe)
		return -ENOMEM;
	memset(pipe, 0, offsetof(struct libc_pipe, data));
	pipe->readers = pipe->writers = 1;
	flags &= LIBC_O_NONBLOCK;
	/* On failure an end is closed, and with the second the pipe is gone. */
	reader = libc_pipe_open(pipe, flags | LIBC_O_RDONLY);
	writer = libc_pipe_open(pipe, flags | LIBC_O_WRONLY);
	if (reader >= 0 && writer >= 0) {
		fds[0] = (int)reader;
		fds[1] = (int)writer;
		return 0;
	}
	if (reader >= 0)
		libc_close((int)reader);
	if (writer >= 0)
		libc_close((int)writer);
	return reader < 0 ? reader : writer;
}
