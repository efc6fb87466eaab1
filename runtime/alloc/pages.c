/* SPDX-License-Identifier: MIT */
/*
 * pages.c - whole pages: the page allocator's hooks, and allocations that take pages of their own
 * (kmalloc() above the largest slab).
 */
#include "../core/claim.h"
#include "../core/shadow.h"

#ifdef CONFIG_KASAN_GENERIC

void kasan_free_pages(const void *addr, size_t size)
{
	if (kasan_on())
		kasan_fill_pages((uintptr_t)addr, size, KASAN_PAGE_FREE);
}

void kasan_unpoison_pages(const void *addr, size_t size)
{
	if (kasan_on())
		kasan_fill_pages((uintptr_t)addr, size, 0);
}

void *kasan_kmalloc_large(void *ptr, size_t size, size_t span, struct kasan_large_meta *meta)
{
	if (!ptr || !kasan_on())
		return ptr;
	/* All of the span is written, so that the hook also serves to change the size in place. */
	kasan_poison_tail(ptr, size, span, KASAN_PAGE_REDZONE);
	if (meta) {
		meta->size = size;
		/* Tracks of the pages' last life would be printed as this object's. */
		meta->free = (struct kasan_track){0};
		meta->aux_stack[0] = meta->aux_stack[1] = 0;
		kasan_set_track(&meta->alloc, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	}
	return ptr;
}

enum kasan_free_verdict kasan_kfree_large(void *ptr, void *base, struct kasan_large_meta *meta,
					  uintptr_t ip)
{
	const char *wrong;

	if (!kasan_on())
		return KASAN_FREE_NOW;
	wrong = kasan_end_pages(ptr, base);
	if (wrong) {
		kasan_report_bad_free(wrong, ptr, ip, KASAN_CALLER_FP());
		return KASAN_FREE_BAD;
	}
	if (meta)
		kasan_set_track(&meta->free, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	return KASAN_FREE_NOW;
}

#endif /* CONFIG_KASAN_GENERIC */
