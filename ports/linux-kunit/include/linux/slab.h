/* SPDX-License-Identifier: MIT */
/* linux/slab.h - objects. Accounting does not exist here. */
#ifndef LINUX_KUNIT_LINUX_SLAB_H
#define LINUX_KUNIT_LINUX_SLAB_H

#include <kernel/slab.h>

#define SLAB_ACCOUNT 0U
/* Caches are never merged. */
#define SLAB_NO_MERGE 0U

/* For functions that allocate on behalf of their caller. An allocation's whole stack is recorded here, so the
 * caller is in it anyway. */
#define kmalloc_track_caller(size, gfp)		   kmalloc((size), (gfp))
#define kmalloc_node_track_caller(size, gfp, node) kmalloc_node((size), (gfp), (node))

/* Room for one @what, a type or an expression that is not evaluated; GFP_KERNEL, or the flags behind it. */
#define kmalloc_obj(what, ...) \
	((__typeof__(what) *)kmalloc(sizeof(what), LINUX_KUNIT_GFP(, ##__VA_ARGS__, GFP_KERNEL)))
#define kzalloc_obj(what, ...) \
	((__typeof__(what) *)kzalloc(sizeof(what), LINUX_KUNIT_GFP(, ##__VA_ARGS__, GFP_KERNEL)))
#define LINUX_KUNIT_GFP(none, gfp, ...) gfp

#endif
