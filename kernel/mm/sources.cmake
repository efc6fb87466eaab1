# SPDX-License-Identifier: MIT
set(REDZONE_MM_SOURCES
	fault_inject.c linear.c memblock.c mm_init.c page_alloc.c page_debug.c page_owner.c page_quarantine.c
	page_redzone.c pgtable.c slab_api.c slab_common.c kmalloc.c mempool.c percpu.c util.c
	vmap_tree.c vmap_shadow.c vmalloc.c vrealloc.c nofault.c stack.c stack_demand.c)
if(REDZONE_ALLOCATOR STREQUAL "slab")
	set(allocator slab_bitmap.c)
else()
	set(allocator slub.c slub_freelist.c)
	if(NOT REDZONE_MODE STREQUAL "off")
		list(APPEND allocator slab_entry.c)
	endif()
endif()
list(APPEND REDZONE_MM_SOURCES ${allocator})
if(REDZONE_SHADOW_CALL_STACK)
	list(APPEND REDZONE_MM_SOURCES scs.c)
	set(scs scs.c)
endif()

# page_owner.c and linear.c run inside reports. The runtime gets its memory from page_alloc.c, page_quarantine.c
# and memblock.c, while it holds its own locks. slub_freelist.c reads and writes free slots, which are poisoned. The
# others are hot paths of the allocators: they touch their own descriptors only, and their memcpy() and memset() on
# memory of users are checked because they are called by these names.
set(REDZONE_MM_UNINSTRUMENTED fault_inject.c linear.c memblock.c page_alloc.c page_owner.c page_quarantine.c
	page_redzone.c pgtable.c ${allocator} slab_api.c mm_init.c kmalloc.c percpu.c
	vmalloc.c vmap_tree.c vmap_shadow.c stack.c stack_demand.c ${scs})
