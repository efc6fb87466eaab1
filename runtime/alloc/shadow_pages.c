/* SPDX-License-Identifier: MIT */
/* shadow_pages.c - whole pages and vmalloc areas in Generic mode. The system maps shadow for an area before it calls
 * these, and keeps it mapped, because neighbouring areas share shadow pages. */
#include "whole_pages.h"

#include "../base/lock.h"
#include "../shadow/shadow.h"

#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_SLAB

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

const char *kasan_end_pages(const void *ptr, const void *base)
{
	struct kasan_lock *lock = kasan_claim_lock_of((uintptr_t)base);
	uint8_t *shadow = kasan_shadow_of(base);
	const char *wrong = ptr != base ? "invalid-free" : NULL;
	unsigned long flags;

	/* Without shadow a bad free cannot be detected. */
	if (!shadow)
		return wrong;
	flags = kasan_lock(lock);
	/* Pages that are free, or were not taken since they were freed, still have the value from kasan_free_pages(),
	 * so any pointer into them was freed before. */
	if (*shadow == KASAN_PAGE_FREE)
		wrong = "double-free";
	else if (!wrong)
		*shadow = KASAN_PAGE_FREE;
	kasan_unlock(lock, flags);
	return wrong;
}

void kasan_open_vmalloc(const void *start, size_t size)
{
	const size_t span = kasan_whole_pages(size);

	if (!kasan_on())
		return;
	if (kasan_likely(size == span)) {
		kasan_fill_pages((uintptr_t)start, size, 0);
		return;
	}
	/* To the byte asked for, not to the page. */
	kasan_poison_tail(start, size, span, KASAN_VMALLOC_INVALID);
}

void kasan_poison_vmalloc(const void *start, size_t size)
{
	if (kasan_on())
		kasan_fill_pages((uintptr_t)start, kasan_whole_pages(size), KASAN_VMALLOC_INVALID);
}

#endif /* CONFIG_KASAN_GENERIC */
