/* SPDX-License-Identifier: MIT */
/*
 * stack_walk.c - who called whom, by frame pointers.
 *
 * Every allocation and every free walks the stack, so a frame costs two loads and three compares.
 * The chain may be broken by the very bug that is being reported, or run through code built without
 * frame pointers: a record is read only inside the bounds that the port gives for the running
 * stack, and the chain must climb, so garbage ends the trace and can neither fault nor loop.
 */
#include "track.h"

#include "../arch/arch.h"

/* An allocator's own frames between a hook and the function it reports: rarely more than three. */
#define SEARCH_FRAMES 8

/**
 * struct bounds - where a frame pointer may lie so that its record is inside the stack
 * @low: lowest such; @span: distance of the highest. One compare tests both.
 */
struct bounds {
	uintptr_t low, span;
};

static inline bool is_frame(const struct bounds *bounds, uintptr_t fp)
{
	return fp - bounds->low <= bounds->span && !(fp & (KASAN_FRAME_ALIGN - 1));
}

/* A stack smaller than one record would make the span wrap around. */
static inline bool get_bounds(const struct kasan_port_task *task, struct bounds *bounds)
{
	if (!task->stack_start || task->stack_end < task->stack_start + 64)
		return false;
	bounds->low = task->stack_start - (uintptr_t)KASAN_FRAME_RECORD_LOW;
	bounds->span = task->stack_end - (uintptr_t)KASAN_FRAME_RECORD_HIGH - bounds->low;
	return true;
}

static inline __attribute__((always_inline)) size_t follow(const struct bounds *bounds,
							   uintptr_t fp, uintptr_t *pcs,
							   size_t count, size_t max)
{
	while (count < max && is_frame(bounds, fp)) {
		const uintptr_t ra = kasan_arch_frame_ra(fp);
		const uintptr_t prev = kasan_arch_frame_prev(fp);

		if (!ra)
			break;
		pcs[count++] = ra;
		if (prev <= fp)
			break;
		fp = prev;
	}
	return count;
}

/* Return: the frame above the one that returns to @ip; @fp itself if none of the first few does. */
static inline uintptr_t skip_to(const struct bounds *bounds, uintptr_t ip, uintptr_t fp)
{
	uintptr_t at = fp, prev;
	unsigned int i;

	/* Nearly always it is the first: the hook's own. */
	for (i = 0; i < SEARCH_FRAMES && is_frame(bounds, at); i++) {
		prev = kasan_arch_frame_prev(at);
		if (kasan_arch_frame_ra(at) == ip)
			return prev > at ? prev : 0;
		if (prev <= at)
			break;
		at = prev;
	}
	return fp;
}

size_t kasan_stack_walk_in(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			   uintptr_t *pcs, size_t max)
{
	struct bounds bounds;

	if (kasan_unlikely(!max || !ip))
		return 0;
	pcs[0] = ip;
	if (!get_bounds(task, &bounds))
		return 1;
	return follow(&bounds, skip_to(&bounds, ip, fp), pcs, 1, max);
}

size_t kasan_stack_walk_fault(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			      uintptr_t *pcs, size_t max)
{
	struct bounds bounds;
	size_t count = 0;

	if (!max)
		return 0;
	/* A call through a null function pointer has no instruction, but its caller has a frame. */
	if (ip)
		pcs[count++] = ip;
	if (!get_bounds(task, &bounds))
		return count;
	return follow(&bounds, fp, pcs, count, max);
}

size_t kasan_stack_walk(uintptr_t ip, uintptr_t fp, uintptr_t *pcs, size_t max)
{
	struct kasan_port_task task = {0};

	kasan_port_task(&task);
	return kasan_stack_walk_in(&task, ip, fp, pcs, max);
}
