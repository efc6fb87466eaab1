/* SPDX-License-Identifier: MIT */
/* whole_pages.h - shared by the hooks of whole pages: pages.c (all modes), shadow_pages.c (Generic) and tags_pages.c
 * (tags). */
#ifndef KASAN_WHOLE_PAGES_H
#define KASAN_WHOLE_PAGES_H

#include "../base/base.h"

extern unsigned int kasan_opt_vmalloc; /* kasan.vmalloc= */

static inline size_t kasan_whole_pages(size_t size)
{
	return (size + (CONFIG_KASAN_PAGE_SIZE - 1)) & ~(size_t)(CONFIG_KASAN_PAGE_SIZE - 1);
}

/** kasan_end_pages() - free @ptr of the allocation that starts at the page @base, while kasan_on(). Return:
 *  "double-free", "invalid-free", or NULL if nothing is wrong. If several CPUs free it at once, only one gets NULL. The
 *  first granule is then KASAN_PAGE_FREE, unless sampling skipped the pages. */
const char *kasan_end_pages(const void *ptr, const void *base);

#endif /* KASAN_WHOLE_PAGES_H */
