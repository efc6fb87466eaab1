/* SPDX-License-Identifier: MIT */
/*
 * redzone.h - the runtime's interface for files that include Linux's headers, which come first.
 *
 * Both have a kasan_slab_alloc(). So here the runtime's names, except those of the functions that the port supplies
 * (kasan_port_*), begin with redzone_.
 */
#ifndef MM_KASAN_REDZONE_H
#define MM_KASAN_REDZONE_H

#include <linux/kasan.h>
#include <linux/mm.h>

#ifndef CONFIG_KASAN_GENERIC
/* The runtime leaves out a tag or two more than Linux. */
#undef KASAN_TAG_KERNEL
#undef KASAN_TAG_INVALID
#undef KASAN_TAG_MAX
#undef KASAN_TAG_MIN
#endif

#include "redzone/names.h"

#include <kasan/kasan.h>
#include <kasan/port.h>
#ifndef CONFIG_KASAN_GENERIC
#include <kasan/slab_inline.h>
#endif

#include "redzone/names_end.h"

/* Macros, in the modes in which they are no functions, would lead to Linux's functions. */
#ifdef CONFIG_KASAN_HW_TAGS
#define redzone_slab_alloc_init	      kasan_slab_alloc_init
#define redzone_alloc_pages_init      kasan_alloc_pages_init
#define redzone_unpoison_vmalloc_init kasan_unpoison_vmalloc_init
#else
#define redzone_slab_alloc_init(cache, object, size, init) \
	redzone_slab_alloc((cache), (object), (size))
#define redzone_alloc_pages_init(addr, size, init) redzone_alloc_pages((addr), (size))
#endif

#ifdef CONFIG_KASAN_SHADOW_DYNAMIC
/** redzone_place() - tell the runtime where the shadow lies, if it has not been told. From the first hooks after the
 *  architecture's kasan_init(). redzone_placed: it knows. */
void redzone_place(void);
extern bool redzone_placed;
#endif

/** redzone_start() - start the runtime, with the boot parameters. Once, from the first hook of the slab allocator. */
void redzone_start(void);

#endif
