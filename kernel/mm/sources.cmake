# SPDX-License-Identifier: MIT
set(REDZONE_MM_SOURCES
	memblock.c mm_init.c page_alloc.c page_debug.c page_owner.c
	slab.c slab_common.c slab_freelist.c kmalloc.c mempool.c util.c
	vmap_tree.c vmalloc.c stack.c
	kasan_glue.c)

# kasan_glue.c and page_owner.c run inside reports; page_alloc.c and memblock.c are where it gets the
# runtime's memory, with locks of the runtime held; slab_freelist.c reads and writes free slots, which are
# poisoned. The others are the allocators' hot paths: they touch their own descriptors, and what they do for
# a user, memcpy() and memset(), is checked under its plain name.
set(REDZONE_MM_UNINSTRUMENTED memblock.c page_alloc.c page_owner.c slab_freelist.c kasan_glue.c mm_init.c
	slab.c kmalloc.c vmalloc.c vmap_tree.c stack.c)
