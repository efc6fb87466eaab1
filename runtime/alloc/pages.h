/* SPDX-License-Identifier: MIT */
/*
 * pages.h - what the hooks of whole pages share: pages.c has what all modes do, shadow_pages.c and tags_pages.c
 * what Generic mode and the tag-based modes do in their own ways.
 */
#ifndef KASAN_ALLOC_PAGES_H
#define KASAN_ALLOC_PAGES_H

#include "../core/internal.h"

extern bool kasan_opt_vmalloc; /* kasan.vmalloc= */

static inline size_t kasan_whole_pages(size_t size)
{
	return (size + (CONFIG_KASAN_PAGE_SIZE - 1)) & ~(size_t)(CONFIG_KASAN_PAGE_SIZE - 1);
}

/** kasan_end_pages() - free @ptr, of the allocation that starts at the page @base. kasan_on(). Return: what is
 *  wrong with that, "double-free" or "invalid-free"; NULL: nothing, and of several CPUs that do it at once only
 *  one is told so. The allocation's first granule is then KASAN_PAGE_FREE, but for pages that have no tags
 *  because sampling has left them out. */
const char *kasan_end_pages(const void *ptr, const void *base);

#endif /* KASAN_ALLOC_PAGES_H */
