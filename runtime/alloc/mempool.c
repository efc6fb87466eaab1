/* SPDX-License-Identifier: MIT */
/*
 * mempool.c - elements of memory pools: allocated as the allocator sees it, free as the user does.
 *
 * A pool gives elements back to the user without the allocator, so the allocator's hooks would miss
 * those frees and allocations. The element never enters the quarantine: it still belongs to the pool,
 * whose purpose is to have it at hand.
 */
#include "meta.h"

#include "../core/shadow.h"

static size_t whole_pages(size_t size)
{
	return (size + (CONFIG_KASAN_PAGE_SIZE - 1)) & ~(size_t)(CONFIG_KASAN_PAGE_SIZE - 1);
}

static bool large_to_pool(const struct kasan_object *object, void *ptr,
			  const struct kasan_caller *caller)
{
	const uint8_t *shadow = kasan_shadow_of(object->start);
	const char *wrong = NULL;

	if (shadow && *shadow == KASAN_PAGE_FREE)
		wrong = "double-free";
	else if (ptr != object->start)
		wrong = "invalid-free";
	if (wrong) {
		kasan_report_bad_free(wrong, ptr, caller->report_ip, caller->fp);
		return false;
	}
	if (object->large)
		kasan_set_track(&object->large->free, caller->ip, caller->fp);
	kasan_poison(ptr, whole_pages(object->size), KASAN_PAGE_FREE);
	return true;
}

__attribute__((__noinline__)) bool kasan_mempool_poison_object(void *ptr, uintptr_t ip)
{
	const struct kasan_caller caller = {
		.ip = KASAN_CALLER_IP(),
		.fp = KASAN_CALLER_FP(),
		.report_ip = ip ? ip : KASAN_CALLER_IP(),
	};
	struct kasan_object object = {0};

	if (!ptr)
		return true;
	if (kasan_port_find_object(ptr, &object)) {
		if (object.kind == KASAN_OBJECT_SLAB)
			return kasan_slab_to_pool(object.cache, ptr, object.start, &caller);
		if (object.kind == KASAN_OBJECT_LARGE)
			return large_to_pool(&object, ptr, &caller);
	}
	kasan_report_bad_free("invalid-free", ptr, caller.report_ip, caller.fp);
	return false;
}

__attribute__((__noinline__)) void kasan_mempool_unpoison_object(void *ptr, size_t size)
{
	const struct kasan_caller caller = {.ip = KASAN_CALLER_IP(), .fp = KASAN_CALLER_FP()};
	struct kasan_object object = {0};

	if (!ptr || !kasan_port_find_object(ptr, &object))
		return;
	if (object.kind == KASAN_OBJECT_SLAB) {
		kasan_slab_from_pool(object.cache, ptr, size, &caller);
		return;
	}
	if (object.kind != KASAN_OBJECT_LARGE)
		return;
	kasan_poison_tail(ptr, size, whole_pages(object.size), KASAN_PAGE_REDZONE);
	if (object.large) {
		object.large->free = (struct kasan_track){0};
		kasan_set_track(&object.large->alloc, caller.ip, caller.fp);
	}
}

__attribute__((__noinline__)) bool kasan_mempool_poison_pages(void *addr, size_t size, uintptr_t ip)
{
	const uint8_t *shadow = kasan_shadow_of(addr);

	if (shadow && *shadow == KASAN_PAGE_FREE) {
		kasan_report_bad_free("double-free", addr, ip ? ip : KASAN_CALLER_IP(),
				      KASAN_CALLER_FP());
		return false;
	}
	kasan_poison(addr, size, KASAN_PAGE_FREE);
	return true;
}

void kasan_mempool_unpoison_pages(void *addr, size_t size)
{
	kasan_unpoison(addr, size);
}
