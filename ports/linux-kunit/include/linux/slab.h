/* SPDX-License-Identifier: MIT */
/* linux/slab.h - objects. There is one memory node, and nobody to be accounted. */
#ifndef LINUX_KUNIT_LINUX_SLAB_H
#define LINUX_KUNIT_LINUX_SLAB_H

#include <kernel/slab.h>

#define SLAB_ACCOUNT 0U

static inline void *kmalloc_node(size_t size, gfp_t gfp, int node)
{
	return kmalloc(size, gfp);
}

#endif
