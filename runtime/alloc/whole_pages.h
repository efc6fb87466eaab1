/* SPDX-License-Identifier: MIT */
/*
 * whole_pages.h - functions that the hooks of whole pages share. pages.c has the part for all modes,
 * shadow_pages.c that of Generic mode, and tags_pages.c that of the tag-based modes.
 */
#ifndef KASAN_WHOLE_PAGES_H
#define KASAN_WHOLE_PAGES_H

#include "../base/base.h"

extern unsigned int kasan_opt_vmalloc; /* kasan.vmalloc= */

static inline size_t kasan_whole_pages(size_t size)
{
	return (size + (CONFIG_KASAN_PAGE_SIZE - 1)) & ~(size_t)(CONFIG_KASAN_PAGE_SIZE - 1);
}

/** kasan_end_pages() - free @ptr, of the allocation that starts at the page @base. Only if kasan_on().
 *  Return: the error, "double-free" or "invalid-free"; NULL if there is none. If several CPUs do it at
 *  once, only one gets NULL. The allocation's first granule is then KASAN_PAGE_FREE, except in pages that
 *  have no tags because sampling skipped them. */
const char *kasan_end_pages(const void *ptr, const void *base);

#endif /* KASAN_WHOLE_PAGES_H */
