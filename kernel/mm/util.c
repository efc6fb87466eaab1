// SPDX-License-Identifier: MIT
/* util.c - allocations that copy data, and those that use kmalloc() or vmalloc(), whichever has
 * memory. */
#include <kernel/string.h>

#include "internal.h"

char *kstrndup(const char *s, size_t max, gfp_t gfp)
{
	size_t len;
	char *copy;

	if (!s)
		return NULL;
	len = strnlen(s, max);
	copy = kmalloc(len + 1, gfp);
	if (copy) {
		memcpy(copy, s, len);
		copy[len] = '\0';
	}
	return copy;
}

char *kstrdup(const char *s, gfp_t gfp)
{
	return s ? kmemdup(s, strlen(s) + 1, gfp) : NULL;
}

void *kmemdup(const void *src, size_t len, gfp_t gfp)
{
	void *copy = kmalloc(len, gfp);

	/* kmalloc(0) returns a pointer that must not be accessed: copy nothing. */
	if (copy && len)
		memcpy(copy, src, len);
	return copy;
}

void *kvmalloc(size_t size, gfp_t gfp)
{
	/* For more than a page, do not empty caches if kmalloc() fails: there is vmalloc(). */
	gfp_t first = size > PAGE_SIZE ? (gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_NOWARN : gfp;
	void *p = size <= KMALLOC_MAX_SIZE ? kmalloc(size, first) : NULL;

	return p || size <= PAGE_SIZE ? p : __vmalloc(size, gfp);
}

void kvfree(const void *p)
{
	/* The pool of sampled objects is an area itself. */
	if (is_vmalloc_addr(p) && !kasan_sample_owns(p))
		vfree(p);
	else
		kfree(p);
}
