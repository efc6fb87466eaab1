/* SPDX-License-Identifier: MIT */
/*
 * mempool.c - elements of memory pools: allocated for the allocator, free for the user.
 *
 * A pool gives elements to its users without the allocator, so the allocator's hooks would miss those allocations and
 * frees. An element never enters the quarantine, because the pool must have it at hand.
 */
#include "meta.h"
#include "whole_pages.h"
#include "hw_slack.h"

#include "../base/up.h"
#include "../track/track.h"

#if CONFIG_KASAN_SLAB

static bool large_to_pool(const struct kasan_object *object, void *ptr,
			  const struct kasan_caller *caller)
{
	const char *wrong = kasan_end_pages(ptr, object->start);

	if (wrong) {
		kasan_report_bad_free(wrong, ptr, caller->report_ip, caller->fp);
		return false;
	}
	kasan_slack_large_end(ptr, object->large, "at free", caller->report_ip, caller->fp);
	if (object->large)
		kasan_set_track(&object->large->free, caller->ip, caller->fp);
	kasan_poison(ptr, kasan_whole_pages(object->size), KASAN_PAGE_FREE);
	return true;
}

kasan_noinline bool kasan_mempool_poison_object(void *ptr, uintptr_t ip)
{
	const struct kasan_caller caller = {
		.ip = KASAN_CALLER_IP(),
		.fp = KASAN_CALLER_FP(),
		.report_ip = ip ? ip : KASAN_CALLER_IP(),
	};
	struct kasan_object object;

	kasan_clear(&object);
	if (!ptr || !kasan_on())
		return true;
	if (kasan_port_find_object(ptr, &object)) {
		if (object.kind == KASAN_OBJECT_SLAB)
			return kasan_slab_to_pool(object.cache, ptr, object.start, &caller);
		if (object.kind == KASAN_OBJECT_LARGE)
			return large_to_pool(&object, ptr, &caller);
	}
	/* Its page stays as it is. */
	if (kasan_sample_owns(ptr))
		return true;
	kasan_report_bad_free("invalid-free", ptr, caller.report_ip, caller.fp);
	return false;
}

kasan_noinline void *kasan_mempool_unpoison_object(void *ptr, size_t size)
{
	struct kasan_caller caller;
	struct kasan_object object;

	caller.ip = caller.report_ip = KASAN_CALLER_IP();
	caller.fp = KASAN_CALLER_FP();
	kasan_clear(&object);
	if (!ptr || !kasan_on() || !kasan_port_find_object(ptr, &object))
		return ptr;
	if (object.kind == KASAN_OBJECT_SLAB)
		return kasan_slab_from_pool(object.cache, ptr, size, &caller);
	if (object.kind != KASAN_OBJECT_LARGE)
		return ptr;
	ptr = kasan_alloc_pages(ptr, kasan_whole_pages(object.size));
	kasan_poison_tail(ptr, size, kasan_whole_pages(object.size), KASAN_PAGE_REDZONE);
	if (object.large) {
		kasan_clear_track(&object.large->free);
		object.large->aux_stack[0] = object.large->aux_stack[1] = 0;
		kasan_set_track(&object.large->alloc, caller.ip, caller.fp);
	}
	kasan_slack_large_arm(ptr, object.large);
	return ptr;
}

#endif /* CONFIG_KASAN_SLAB */
