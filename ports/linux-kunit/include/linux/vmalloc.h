/* SPDX-License-Identifier: MIT */
/* linux/vmalloc.h - memory that is contiguous by address alone. */
#ifndef LINUX_KUNIT_LINUX_VMALLOC_H
#define LINUX_KUNIT_LINUX_VMALLOC_H

#include <kernel/vmalloc.h>
#include <asm/pgtable.h>

#define VM_MAP 0x4UL

/** vmap(), vm_map_ram() - map pages of one's own. For tests of the tag modes alone: a mode that does
 *  not skip them fails to link. */
void *vmap(struct page **pages, unsigned int count, unsigned long flags, pgprot_t prot);
void vunmap(const void *addr);
void *vm_map_ram(struct page **pages, unsigned int count, int node);
void vm_unmap_ram(const void *addr, unsigned int count);

#endif
