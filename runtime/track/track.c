/* SPDX-License-Identifier: MIT */
/*
 * track.c - kasan_track and auxiliary stacks: one answer to "who did it, and from where".
 */
#include "walk.h"

#include "../alloc/meta.h"

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
	/* A switched-off runtime prints no report, so nobody would ever read the stack. */
	if (kasan_likely(kasan_opt_stacktrace && !kasan_opt_off))
		track->stack = save_stack(task.stack_start, trace_end(&task), ip, fp);
	else
		track->stack = 0;
}

__attribute__((__noinline__)) uint32_t kasan_stack_save(uintptr_t ip)
{
	struct kasan_port_task task = {0};

	kasan_port_task(&task);
	return save_stack(task.stack_start, trace_end(&task), ip ? ip : KASAN_CALLER_IP(),
			  KASAN_CALLER_FP());
}

/* Where the handles of the object that @addr lies in are; NULL: nowhere. */
static uint32_t *aux_stacks(const void *addr)
{
	struct kasan_object object = {0};
	struct kasan_alloc_meta *meta = NULL;

	if (!kasan_port_find_object(addr, &object))
		return NULL;
	if (object.kind == KASAN_OBJECT_LARGE)
		return object.large ? object.large->aux_stack : NULL;
	if (object.kind == KASAN_OBJECT_SLAB)
		meta = kasan_alloc_meta(object.cache, object.start);
	return meta ? meta->aux_stack : NULL;
}

__attribute__((__noinline__)) void kasan_record_aux_stack(const void *addr)
{
	struct kasan_port_task task = {0};
	uint32_t *aux, stack;

	if (!addr || !kasan_opt_stacktrace || kasan_opt_off)
		return;
	aux = aux_stacks(addr);
	if (!aux)
		return;
	kasan_port_task(&task);
	stack = save_stack(task.stack_start, trace_end(&task), KASAN_CALLER_IP(),
			   KASAN_CALLER_FP());
	/*
	 * Two CPUs that queue work for one object at once may lose one of the two stacks; each
	 * handle stays a whole one, which is all that a report needs.
	 */
	__atomic_store_n(&aux[1], __atomic_load_n(&aux[0], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	__atomic_store_n(&aux[0], stack, __ATOMIC_RELAXED);
}
