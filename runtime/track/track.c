/* SPDX-License-Identifier: MIT */
/*
 * track.c - fills struct kasan_track: the task and the stack of an allocation or free.
 */
#include "walk.h"

bool kasan_opt_stacktrace = true;

/* The stack of the code that calls a hook, as a depot handle: walked and hashed in one go. */
static inline __attribute__((always_inline)) uint32_t save_stack(uintptr_t start, uintptr_t end,
								 uintptr_t ip, uintptr_t fp)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH], hash;
	struct kasan_bounds bounds;
	size_t count = 1;

	if (kasan_unlikely(!ip))
		return 0;
	pcs[0] = ip;
	hash = kasan_hash_step(0, ip);
	if (kasan_likely(kasan_get_bounds(start, end, &bounds)))
		count = kasan_follow(&bounds, kasan_skip_to(&bounds, ip, fp), pcs, count,
				     CONFIG_KASAN_STACK_DEPTH, &hash);
	return kasan_depot_save_hashed(kasan_hash_end(hash, count), pcs, count);
}

/* Where stored traces of the task end: in an interrupt, where the interrupt came. */
static inline uintptr_t trace_end(const struct kasan_port_task *task)
{
	return kasan_unlikely(task->trace_end) ? task->trace_end : task->stack_end;
}

void kasan_set_full_track(struct kasan_track *track, uintptr_t ip, uintptr_t fp)
{
	struct kasan_port_task task = {0};

#if defined(KASAN_PORT_HAS_TASK_ID) && defined(KASAN_PORT_HAS_TASK_STACK)
	if (kasan_likely(kasan_port_task_stack(fp, &task.stack_start, &task.stack_end)))
		task.id = kasan_port_task_id();
	else
#endif
		kasan_port_task(&task);
	track->pid = task.id;
#ifdef CONFIG_KASAN_EXTRA_INFO
	track->cpu = kasan_port_cpu();
	track->when = kasan_port_clock() >> KASAN_TRACK_CLOCK_SHIFT;
#endif
	/* A switched-off runtime prints no report, so the stack would never be read. */
	if (kasan_likely(kasan_opt_stacktrace && !kasan_silent()))
		track->stack = save_stack(task.stack_start, trace_end(&task), ip, fp);
	else
		track->stack = 0;
}

uint32_t kasan_save_stack(uintptr_t ip, uintptr_t fp)
{
	struct kasan_port_task task = {0};

	kasan_port_task(&task);
	return save_stack(task.stack_start, trace_end(&task), ip, fp);
}

__attribute__((__noinline__)) uint32_t kasan_stack_save(uintptr_t ip)
{
	return kasan_save_stack(ip ? ip : KASAN_CALLER_IP(), KASAN_CALLER_FP());
}
