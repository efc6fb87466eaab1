/* SPDX-License-Identifier: MIT */
/* linux/vmalloc.h - memory that is contiguous by address alone. */
#ifndef LINUX_KUNIT_LINUX_VMALLOC_H
#define LINUX_KUNIT_LINUX_VMALLOC_H

#include <kernel/arch.h>
#include <kernel/vmalloc.h>

#define VM_MAP 0x4UL

/* Flags, protection and node are what every area has here. */
#define vmap(pages, count, flags, prot) (vmap)((pages), (count))
#define vunmap(addr)			vfree(addr)
#define vm_map_ram(pages, count, node)	(vmap)((pages), (count))
#define vm_unmap_ram(addr, count)	vfree(addr)

#endif
