/* SPDX-License-Identifier: MIT */
/*
 * track.c - kasan_track and auxiliary stacks: one answer to "who did it, and from where".
 */
#include "track.h"

#include "../alloc/meta.h"

/* The stack of the code that calls a hook, as a depot handle. */
static uint32_t save_stack(const struct kasan_port_task *task, uintptr_t ip, uintptr_t fp)
{
	uintptr_t pcs[CONFIG_KASAN_STACK_DEPTH];

	return kasan_depot_save(pcs,
				kasan_stack_walk_in(task, ip, fp, pcs, CONFIG_KASAN_STACK_DEPTH));
}

void kasan_set_full_track(struct kasan_track *track, uintptr_t ip, uintptr_t fp)
{
	struct kasan_port_task task = {0};

	kasan_port_task(&task);
	track->pid = task.id;
#ifdef CONFIG_KASAN_EXTRA_INFO
	track->cpu = kasan_port_cpu();
	track->when = kasan_port_clock() >> KASAN_TRACK_CLOCK_SHIFT;
#endif
	/* A switched-off runtime prints no report, so nobody would ever read the stack. */
	if (kasan_likely(kasan_opt_stacktrace && !kasan_opt_off))
		track->stack = save_stack(&task, ip, fp);
	else
		track->stack = 0;
}

__attribute__((__noinline__)) uint32_t kasan_stack_save(uintptr_t ip)
{
	struct kasan_port_task task = {0};

	kasan_port_task(&task);
	return save_stack(&task, ip ? ip : KASAN_CALLER_IP(), KASAN_CALLER_FP());
}

__attribute__((__noinline__)) void kasan_record_aux_stack(const void *addr)
{
	struct kasan_port_task task = {0};
	struct kasan_object object = {0};
	struct kasan_alloc_meta *meta;
	uint32_t stack;

	if (!addr || !kasan_opt_stacktrace || kasan_opt_off)
		return;
	if (!kasan_port_find_object(addr, &object) || object.kind != KASAN_OBJECT_SLAB)
		return;
	meta = kasan_alloc_meta(object.cache, object.start);
	if (!meta)
		return;
	kasan_port_task(&task);
	stack = save_stack(&task, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	/*
	 * Two CPUs that queue work for one object at once may lose one of the two stacks; each
	 * handle stays a whole one, which is all that a report needs.
	 */
	__atomic_store_n(&meta->aux_stack[1],
			 __atomic_load_n(&meta->aux_stack[0], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	__atomic_store_n(&meta->aux_stack[0], stack, __ATOMIC_RELAXED);
}
