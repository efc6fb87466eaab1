/* SPDX-License-Identifier: MIT */
/*
 * stack_walk.c - call traces by frame pointers, for reports and for ports. track.c collects the
 * traces that hooks store; the walk itself is in walk.h.
 */
#include "walk.h"

size_t kasan_stack_walk_in(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			   uintptr_t *pcs, size_t max)
{
	struct kasan_bounds bounds;

	if (kasan_unlikely(!max || !ip))
		return 0;
	pcs[0] = ip;
	if (!kasan_get_bounds(task->stack_start, task->stack_end, &bounds))
		return 1;
	return kasan_follow(&bounds, kasan_skip_to(&bounds, ip, fp), pcs, 1, max);
}

size_t kasan_stack_walk_fault(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			      uintptr_t *pcs, size_t max)
{
	struct kasan_bounds bounds;
	size_t count = 0;

	if (!max)
		return 0;
	/* A call through a null function pointer has no instruction, but its caller has a frame. */
	if (ip)
		pcs[count++] = ip;
	if (!kasan_get_bounds(task->stack_start, task->stack_end, &bounds))
		return count;
	return kasan_follow(&bounds, fp, pcs, count, max);
}

size_t kasan_stack_walk(uintptr_t ip, uintptr_t fp, uintptr_t *pcs, size_t max)
{
	struct kasan_port_task task = {0};

	kasan_port_task(&task);
	return kasan_stack_walk_in(&task, ip, fp, pcs, max);
}
