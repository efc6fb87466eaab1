/* SPDX-License-Identifier: MIT */
/*
 * vmalloc.c - areas of virtually contiguous memory. The system maps real shadow for an area before
 * it calls these, and keeps it mapped: neighbouring areas share shadow pages.
 */
#include "../core/shadow.h"

#ifdef CONFIG_KASAN_GENERIC

static size_t whole_pages(size_t size)
{
	return (size + (CONFIG_KASAN_PAGE_SIZE - 1)) & ~(size_t)(CONFIG_KASAN_PAGE_SIZE - 1);
}

void kasan_open_vmalloc(const void *start, size_t size)
{
	const size_t span = whole_pages(size);

	if (!kasan_on())
		return;
	if (kasan_likely(size == span)) {
		kasan_fill_pages((uintptr_t)start, size, 0);
		return;
	}
	/* To the byte: what was asked for, not what the pages happen to hold. */
	kasan_poison_tail(start, size, span, KASAN_VMALLOC_INVALID);
}

void kasan_poison_vmalloc(const void *start, size_t size)
{
	if (kasan_on())
		kasan_fill_pages((uintptr_t)start, whole_pages(size), KASAN_VMALLOC_INVALID);
}

#endif /* CONFIG_KASAN_GENERIC */
