// SPDX-License-Identifier: MIT
/*
 * vmalloc.c - areas of vmalloc space: opened when they are made, closed before they go.
 *
 * With tags only the pointer that is returned has one. Code must be called by an address without a tag, so executable
 * memory gets none. Hardware tags lie in the pages themselves: only pages that vmalloc() has allocated for the area get
 * tags, not those that have other users.
 */
#include <linux/kasan.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "redzone.h"

#include "internal.h"

#ifdef CONFIG_KASAN_VMALLOC

#ifdef CONFIG_KASAN_HW_TAGS
/* The pages are reached through the linear map as well. */
static void set_page_tags(const void *start, unsigned long size, u8 tag)
{
	const struct vm_struct *area = find_vm_area(start);
	unsigned int i;

	if (WARN_ON_ONCE(!area))
		return;
	for (i = 0; i < area->nr_pages; i++)
		page_kasan_tag_set(area->pages[i], tag);
}
#endif

void *__kasan_unpoison_vmalloc(const void *start, unsigned long size, kasan_vmalloc_flags_t flags)
{
#ifdef CONFIG_KASAN_HW_TAGS
	struct redzone_hw_options options;
	void *ptr;

	redzone_hw_options(&options);
	if (!options.vmalloc || !(flags & KASAN_VMALLOC_VM_ALLOC) ||
	    !(flags & KASAN_VMALLOC_PROT_NORMAL)) {
		if (flags & KASAN_VMALLOC_INIT)
			memset((void *)start, 0, size);
		return (void *)start;
	}
	ptr = redzone_unpoison_vmalloc_init(start, size, flags & KASAN_VMALLOC_INIT);
	set_page_tags(start, size, redzone_get_tag(ptr));
	return ptr;
#else
	if (!is_vmalloc_or_module_addr(kasan_reset_tag(start)))
		return (void *)start;
	if (IS_ENABLED(CONFIG_KASAN_SW_TAGS) && !(flags & KASAN_VMALLOC_PROT_NORMAL))
		return (void *)start;
	if (flags & KASAN_VMALLOC_KEEP_TAG) {
		redzone_unpoison(start, size);
		return (void *)start;
	}
	return redzone_unpoison_vmalloc(start, size);
#endif
}

/* The areas of one per-CPU chunk: their addresses are computed from each other's, so they have one tag. */
void __kasan_unpoison_vmap_areas(struct vm_struct **vms, int count, kasan_vmalloc_flags_t flags)
{
	int i;

	vms[0]->addr = __kasan_unpoison_vmalloc(vms[0]->addr, vms[0]->size, flags);
	for (i = 1; i < count; i++) {
		void *addr = redzone_set_tag(vms[i]->addr, redzone_get_tag(vms[0]->addr));

		vms[i]->addr = __kasan_unpoison_vmalloc(addr, vms[i]->size,
							flags | KASAN_VMALLOC_KEEP_TAG);
	}
}

void __kasan_poison_vmalloc(const void *start, unsigned long size)
{
	/* With hardware tags the pages are poisoned when they are freed. */
	if (!IS_ENABLED(CONFIG_KASAN_HW_TAGS) && is_vmalloc_or_module_addr(kasan_reset_tag(start)))
		redzone_poison_vmalloc(start, round_up(size, KASAN_GRANULE_SIZE));
}

void __kasan_vrealloc(const void *start, unsigned long old_size, unsigned long new_size)
{
	redzone_vrealloc(start, old_size, new_size);
}

#endif
