/* SPDX-License-Identifier: MIT */
/*
 * track.h - inside track/: stack walking variants, and the FIFO that both quarantines stand on.
 */
#ifndef KASAN_TRACK_H
#define KASAN_TRACK_H

#include "../core/internal.h"

/**
 * kasan_stack_walk_in() - kasan_stack_walk() for a caller that already asked kasan_port_task()
 *
 * @ip may be the return address of a function further out than the one whose frame @fp names: an
 * allocator passes its own caller's. The frames in between are left out of the trace.
 */
size_t kasan_stack_walk_in(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			   uintptr_t *pcs, size_t max);

/** kasan_stack_walk_fault() - the same where @ip is an instruction in the function that @fp belongs
 *  to: every frame is a caller of @ip, so none is left out. */
size_t kasan_stack_walk_fault(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			      uintptr_t *pcs, size_t max);

/* --- fifo.c ----------------------------------------------------------------------------------- */

/**
 * struct kasan_held - one object in a quarantine
 * @object: what to release.
 * @info: slab: its struct kasan_cache; heap: the bytes of the raw chunk.
 */
struct kasan_held {
	void *object;
	uintptr_t info;
};

/** struct kasan_fifo_cursor - how far kasan_fifo_extract() has come; start with zeroes */
struct kasan_fifo_cursor {
	uint32_t seq, index;
	bool started, finished;
};

/*
 * The caller's lock protects a fifo. Its entries live in pages of kasan_port_alloc(), beside the
 * objects and not inside them: a write after free must not be able to break the queue.
 */

/** kasan_fifo_push() - append. @bytes: what it counts for. Return: false if there is no memory. */
bool kasan_fifo_push(struct kasan_fifo *fifo, void *object, uintptr_t info, size_t bytes);

/** kasan_fifo_pop() - take the oldest. The caller subtracts its bytes. Return: false if empty. */
bool kasan_fifo_pop(struct kasan_fifo *fifo, struct kasan_held *out);

/**
 * kasan_fifo_extract() - take out up to @max entries whose info is @info (0: any)
 * @cursor: looks at no more than one page of entries a call; call again until it says finished.
 *
 * The caller subtracts their bytes. Return: number of entries in @out.
 */
size_t kasan_fifo_extract(struct kasan_fifo *fifo, uintptr_t info, struct kasan_fifo_cursor *cursor,
			  struct kasan_held *out, size_t max);

#endif /* KASAN_TRACK_H */
