/* SPDX-License-Identifier: MIT */
/* pipe.h - the inside of a pipe, for pipe.c and its tests. */
#ifndef USER_PIPE_H
#define USER_PIPE_H

#include <kernel/spinlock.h>
#include <kernel/types.h>
#include <kernel/wait.h>

/* Bytes that a pipe holds, a power of two; and the largest write that is never mixed with another one. */
#define PIPE_SIZE 16384U
#define PIPE_BUF  4096U

/**
 * struct pipe_end - the readers, or the writers
 * @open: its file has a descriptor.
 * @busy: the task that is copying, without the lock; no other one may do so at this end.
 * @queue: tasks that wait for their turn, for data or for space.
 */
struct pipe_end {
	bool open;
	struct task *busy;
	struct wait_queue_head queue;
};

/**
 * struct pipe - a ring of bytes
 * @lock: guards everything but the bytes of @data: those between @tail and @head belong to @reader.busy, the
 *	others to @writer.busy.
 * @head, @tail: bytes written and read so far, modulo 2^32.
 */
struct pipe {
	spinlock_t lock;
	u32 head, tail;
	struct pipe_end reader, writer;
	char *data;
};

#endif
