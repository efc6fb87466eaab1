// SPDX-License-Identifier: MIT
/* vrealloc.c - changing the size of a vmalloc area, in its pages or by moving it. */
#include <kernel/kernel.h>
#include <kernel/string.h>

#include "vmap.h"

/* Its pages have room for @size bytes, and at least half of them would stay in use. */
static bool fits(const struct vm_struct *vm, size_t size)
{
	const size_t usable = (size_t)vm->nr_pages << PAGE_SHIFT;

	return size <= usable && size > usable / 2 - PAGE_SIZE / 2;
}

static void resize(struct vm_struct *vm, size_t size, gfp_t gfp)
{
	const size_t old = vm->size;

	kasan_vrealloc(vm->addr, old, size);
	/* Reports on other CPUs read it. */
	WRITE_ONCE(vm->size, size);
	if (size > old && gfp & __GFP_ZERO)
		memset((char *)vm->addr + old, 0, size - old);
}

void *vrealloc(const void *p, size_t size, gfp_t gfp)
{
	struct vm_struct *vm;
	void *moved;

	if (!p)
		return __vmalloc(size, gfp);
	if (!size) {
		vfree(p);
		return NULL;
	}
	/* A freed area, or the pointer of an earlier one, is a bug of the caller: leave it alone. */
	if (!kasan_check_byte(p))
		return NULL;
	vm = find_vm_area(p);
	if (WARN(!vm || vm->borrowed || (p != vm->addr && p != kasan_reset_tag(vm->addr)),
		 "Trying to vrealloc() bad address (%016lx)\n", (unsigned long)p))
		return NULL;
	if (fits(vm, size)) {
		resize(vm, size, gfp);
		return vm->addr;
	}
	moved = __vmalloc(size, gfp);
	if (moved) {
		memcpy(moved, vm->addr, min(size, vm->size));
		vfree(vm->addr);
	}
	return moved;
}
