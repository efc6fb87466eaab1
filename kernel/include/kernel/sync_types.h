/* SPDX-License-Identifier: MIT */
/*
 * sync_types.h - the data of spin locks, wait queues and completions, without their functions.
 *
 * They have their own header because struct task embeds them, and their functions need struct task.
 */
#ifndef KERNEL_SYNC_TYPES_H
#define KERNEL_SYNC_TYPES_H

#include <kernel/list.h>
#include <kernel/types.h>

/**
 * struct spinlock - a test-and-set lock
 * @holder: number of the CPU that holds it, plus 1; 0: free.
 *
 * Not a ticket lock: this kernel runs on virtual CPUs, often on more than the host has. A ticket may go to
 * a CPU that the host is not running, and then all others wait for the host.
 *
 * A zeroed lock is unlocked.
 */
typedef struct spinlock {
	u32 holder;
} spinlock_t;

/** struct wait_queue_head - tasks that wait for something */
struct wait_queue_head {
	spinlock_t lock;
	struct list_head head;
};
typedef struct wait_queue_head wait_queue_head_t;

/** struct completion - an event. @done: number of waiters that may still pass; UINT_MAX: all, for ever. */
struct completion {
	unsigned int done;
	struct wait_queue_head wait;
};

#endif
