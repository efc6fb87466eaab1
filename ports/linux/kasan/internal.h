/* SPDX-License-Identifier: MIT */
/* internal.h - what the files of the port share. After redzone.h. */
#ifndef MM_KASAN_INTERNAL_H
#define MM_KASAN_INTERNAL_H

#include <linux/percpu-defs.h>
#include <linux/unaligned.h>

struct kmem_cache;

/* Above 0: this CPU may hold locks that the page allocator takes. */
DECLARE_PER_CPU(unsigned int, kasan_no_pages);

/** kasan_test_reported() - a report is complete: a test that runs has failed, unless it is KASAN's own. */
void kasan_test_reported(void);

/** kasan_cache() - Return: what the runtime knows of @cache. NULL: nothing, as memory was short. */
#ifdef CONFIG_KASAN_GENERIC
#define kasan_cache(cache) \
	((struct redzone_cache *)get_unaligned((const unsigned long *)&(cache)->kasan_info))
#else
struct redzone_cache *kasan_cache(const struct kmem_cache *cache);
#endif

#endif
