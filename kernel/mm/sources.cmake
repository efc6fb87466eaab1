# SPDX-License-Identifier: MIT
# Memory management. Without shadow or inside a report: the last list.
set(REDZONE_MM_SOURCES
	memblock.c mm_init.c page_alloc.c page_debug.c
	slab.c slab_common.c slab_freelist.c kmalloc.c util.c
	vmap_tree.c vmalloc.c stack.c
	kasan_glue.c)
set(REDZONE_MM_UNINSTRUMENTED slab_freelist.c kasan_glue.c)
