/* SPDX-License-Identifier: MIT */
/* pages.c - allocations that take pages of their own (kmalloc() above the largest slab) and elements of memory pools
 * that are pages, in all modes. */
#include "whole_pages.h"
#include "hw_slack.h"

#include "../base/up.h"
#include "../track/track.h"

unsigned int kasan_opt_vmalloc = 1;

#if CONFIG_KASAN_SLAB

kasan_noinline void *kasan_kmalloc_large(void *ptr, size_t size, size_t span,
					 struct kasan_large_meta *meta)
{
	if (!ptr || !kasan_on())
		return ptr;
	/* If the allocation only changes its size, its old slack is still armed. */
	kasan_slack_large_end(ptr, meta, "at krealloc", KASAN_CALLER_IP(), KASAN_CALLER_FP());
#ifdef CONFIG_KASAN_TAGS
	/* Pages that sampling skipped keep the tags of free pages. */
	if (kasan_get_tag(ptr) != KASAN_TAG_KERNEL)
#endif
		/* All of the span is written, so that the hook can also change the size in place. */
		kasan_poison_tail(ptr, size, span, KASAN_PAGE_REDZONE);
	if (meta) {
		meta->size = size;
		/* Otherwise tracks of the pages' last life would be printed as this object's. */
		kasan_clear_track(&meta->free);
		meta->aux_stack[0] = meta->aux_stack[1] = 0;
		kasan_set_track(&meta->alloc, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	}
	kasan_slack_large_arm(ptr, meta);
	return ptr;
}

kasan_noinline enum kasan_free_verdict
kasan_kfree_large(void *ptr, void *base, struct kasan_large_meta *meta, uintptr_t ip)
{
	const char *wrong;

	if (!kasan_on())
		return KASAN_FREE_NOW;
	ip = ip ? ip : KASAN_CALLER_IP();
	wrong = kasan_end_pages(ptr, base);
	if (wrong) {
		kasan_report_bad_free(wrong, ptr, ip, KASAN_CALLER_FP());
		return KASAN_FREE_BAD;
	}
	kasan_slack_large_end(ptr, meta, "at free", ip, KASAN_CALLER_FP());
	if (meta)
		kasan_set_track(&meta->free, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	return KASAN_FREE_NOW;
}

void kasan_vrealloc(const void *start, size_t old_size, size_t new_size)
{
	const size_t low = old_size < new_size ? old_size : new_size;
	const size_t high = old_size < new_size ? new_size : old_size;
	/* The granule in which the shorter area ends may change too. */
	const size_t from = low & ~(size_t)KASAN_GRANULE_MASK;
	const size_t to = (high + KASAN_GRANULE_MASK) & ~(size_t)KASAN_GRANULE_MASK;
	const char *at = (const char *)start + from;

	if (!kasan_on() || from == to)
		return;
#ifdef CONFIG_KASAN_HW_TAGS
	/* The area has no tags: kasan.vmalloc=off, or memory that cannot have any. */
	if (kasan_get_tag(start) == KASAN_TAG_KERNEL)
		return;
#endif
	/* No byte of the first granule is left, and an object of 0 bytes would still own it. */
	if (new_size == from)
		kasan_poison(at, to - from, KASAN_VMALLOC_INVALID);
	else
		kasan_poison_tail(at, new_size - from, to - from, KASAN_VMALLOC_INVALID);
}

kasan_noinline bool kasan_mempool_poison_pages(void *addr, size_t size, uintptr_t ip)
{
	const char *wrong = kasan_on() ? kasan_end_pages(addr, addr) : NULL;

	if (wrong) {
		kasan_report_bad_free(wrong, addr, ip ? ip : KASAN_CALLER_IP(), KASAN_CALLER_FP());
		return false;
	}
	kasan_free_pages(addr, size);
	return true;
}

void *kasan_mempool_unpoison_pages(void *addr, size_t size)
{
	return kasan_alloc_pages(addr, size);
}

#endif /* CONFIG_KASAN_SLAB */
