/* SPDX-License-Identifier: MIT */
/* stack_walk.c - call traces for reports and ports. track.c collects the traces that hooks store; walk.h has the
 * walk. */
#include "exidx.h"
#include "walk.h"

#if KASAN_FOLLOWS_FRAMES
uintptr_t kasan_skip_far(const struct kasan_bounds *bounds, uintptr_t ip, uintptr_t fp)
{
	uintptr_t at = fp, prev;
	unsigned int i;

	for (i = 0; i < KASAN_SEARCH_FRAMES && kasan_is_frame(bounds, at); i++) {
		prev = kasan_arch_frame_prev(at);
		if (kasan_arch_frame_ra(at) == ip)
			return prev > at ? prev : 0;
		if (prev <= at)
			break;
		at = prev;
	}
	return fp;
}
#endif

#if KASAN_ARCH_UNWINDS

/* By tables. A report's traces start at the context that found the bug, all others here. */

kasan_noinline size_t kasan_stack_walk_in(const struct kasan_port_task *task, uintptr_t ip,
					  uintptr_t fp, uintptr_t *pcs, size_t max)
{
	const struct kasan_regs *from = kasan_unwind_from[kasan_port_cpu()];
	struct kasan_regs here;

	(void)fp;
	if (kasan_unlikely(!max || !ip))
		return 0;
	pcs[0] = ip;
	kasan_clear(&here);
	kasan_unwind_here(&here);
	return kasan_unwind(task, from ? from : &here, ip, pcs, 1, max);
}

size_t kasan_stack_walk_fault(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			      uintptr_t *pcs, size_t max)
{
	const struct kasan_regs *from = kasan_unwind_from[kasan_port_cpu()];
	size_t count = 0;

	(void)fp;
	if (!max)
		return 0;
	if (ip)
		pcs[count++] = ip;
	if (!from || !ip)
		return count;
	if (from->pc == ip)
		return kasan_unwind(task, from, 0, pcs, count, max);
	/* It called something that is not code, in the middle of its body. */
	if (from->lr == ip) {
		struct kasan_regs caller;

		kasan_copy(&caller, from);
		caller.pc = ip;
		return kasan_unwind(task, &caller, ip, pcs, count, max);
	}
	return count;
}

#elif defined(KASAN_PORT_HAS_WALK)

size_t kasan_stack_walk_in(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			   uintptr_t *pcs, size_t max)
{
	if (kasan_unlikely(!max || !ip))
		return 0;
	pcs[0] = ip;
	return task->stack_start
		       ? kasan_port_walk(task->stack_start, task->stack_end, ip, fp, pcs, max, NULL)
		       : 1;
}

/* The caller of an interrupted function is not known: its registers are not enough. */
size_t kasan_stack_walk_fault(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp,
			      uintptr_t *pcs, size_t max)
{
	(void)task;
	(void)fp;
	if (max && ip)
		pcs[0] = ip;
	return max && ip;
}

#else

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

#endif

size_t kasan_stack_walk(uintptr_t ip, uintptr_t fp, uintptr_t *pcs, size_t max)
{
	struct kasan_port_task task;

	kasan_clear(&task);
	kasan_port_task(&task);
	return kasan_stack_walk_in(&task, ip, fp, pcs, max);
}

uintptr_t kasan_stack_caller(uintptr_t ip, uintptr_t fp)
{
	uintptr_t pcs[2];

	return kasan_stack_walk(ip, fp, pcs, 2) == 2 ? pcs[1] : ip;
}
