/* SPDX-License-Identifier: MIT */
/*
 * sync_types.h - the data of spin locks, wait queues and completions, without their functions.
 *
 * Apart from those because struct task embeds them and their functions need struct task.
 */
#ifndef KERNEL_SYNC_TYPES_H
#define KERNEL_SYNC_TYPES_H

#include <kernel/list.h>
#include <kernel/types.h>

/**
 * struct spinlock - a test-and-set lock
 * @holder: CPU that has it, plus 1; 0: nobody.
 *
 * Not a ticket lock: this kernel runs on virtual CPUs, often more than the host has. A ticket goes to a
 * CPU that the host is not running, and all others wait for the host.
 *
 * Zeroed memory is an unlocked lock.
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

/** struct completion - an event. @done: waiters that may still pass, UINT_MAX: all, for ever. */
struct completion {
	unsigned int done;
	struct wait_queue_head wait;
};

#endif
