/* SPDX-License-Identifier: MIT */
/*
 * track.h - inside track/: stack walking variants, and the FIFO of a heap's quarantine.
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

struct kasan_fifo;

/* --- depot.c ------------------------------------------------------------------------------------ */

/** kasan_hash_step() - the depot's hash of a trace, one return address after the other, from 0 on;
 *  kasan_hash_end(): the result. */
static inline uintptr_t kasan_hash_step(uintptr_t hash, uintptr_t pc)
{
	/*
	 * Return addresses of one image differ in their low bits: an odd multiplier carries them
	 * up, the shift brings the well mixed top down again. One multiplication a frame.
	 */
#if UINTPTR_MAX > UINT32_MAX
	hash = (hash ^ pc) * 0x9e3779b97f4a7c15UL;
	return hash ^ (hash >> 32);
#else
	hash = (hash ^ pc) * 0x9e3779b1UL;
	return hash ^ (hash >> 15);
#endif
}

static inline uint32_t kasan_hash_end(uintptr_t hash, size_t count)
{
	return (uint32_t)(hash + count);
}

/** kasan_depot_save_hashed() - kasan_depot_save() of 1 to CONFIG_KASAN_STACK_DEPTH return addresses whose
 *  @hash is known. */
uint32_t kasan_depot_save_hashed(uint32_t hash, const uintptr_t *pcs, size_t count);

/* --- fifo.c ----------------------------------------------------------------------------------- */

/**
 * struct kasan_held - one chunk in a quarantine
 * @object: what to release.
 * @info: its bytes.
 */
struct kasan_held {
	void *object;
	uintptr_t info;
};

/*
 * The caller's lock protects a fifo. Its entries live in pages of kasan_port_alloc(), beside the
 * objects and not inside them: a write after free must not be able to break the queue.
 */

/** kasan_fifo_push() - append. @bytes: what it counts for. Return: false if there is no memory. */
bool kasan_fifo_push(struct kasan_fifo *fifo, void *object, uintptr_t info, size_t bytes);

/** kasan_fifo_pop() - take the oldest. The caller subtracts its bytes. Return: false if empty. */
bool kasan_fifo_pop(struct kasan_fifo *fifo, struct kasan_held *out);

#endif /* KASAN_TRACK_H */
