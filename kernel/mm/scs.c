// SPDX-License-Identifier: MIT
/*
 * scs.c - memory of shadow call stacks: vmalloc areas, each at the start of a slot of SCS_SIZE bytes.
 *
 * The page after an area is unmapped. So is the page before it: it is free, or the guard page of the area
 * that ends there. Nothing else than calls and returns uses an area, and KASAN checks neither, so its
 * shadow does not matter.
 */
#include <kernel/kernel.h>
#include <kernel/scs.h>

#include "vmap.h"

void *scs_alloc(size_t size)
{
	struct vm_struct *vm = vm_create(size, 0, SCS_SIZE, GFP_KERNEL, MM_CALLER_IP());
	u64 *scs;

	if (!vm)
		return NULL;
	/* The pointer has no tag, because it must match all of it. */
	scs = kasan_reset_tag(vm->addr);
	scs[0] = 0;
	return scs;
}

void scs_free(void *scs)
{
	vfree(scs);
}
