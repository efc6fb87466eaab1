// SPDX-License-Identifier: MIT
/*
 * hotplug.c - shadow of memory that comes and goes while Linux runs.
 *
 * The architecture's kasan_init() maps the shadow of the memory that is there at boot, and that shadow stays. Each block of
 * memory that comes later gets an area of vmalloc() at the address of its shadow.
 */
#include <linux/init.h>
#include <linux/kasan.h>
#include <linux/kmemleak.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/notifier.h>
#include <linux/pgtable.h>
#include <linux/vmalloc.h>

#include "internal.h"

/* Is there shadow at @addr? At boot some architectures map it in pieces larger than a page. */
static bool is_mapped(unsigned long addr)
{
	pgd_t *pgd = pgd_offset_k(addr);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;

	if (pgd_none(*pgd))
		return false;
	p4d = p4d_offset(pgd, addr);
	if (p4d_none(*p4d) || p4d_leaf(*p4d))
		return !p4d_none(*p4d);
	pud = pud_offset(p4d, addr);
	if (pud_none(*pud) || pud_leaf(*pud))
		return !pud_none(*pud);
	pmd = pmd_offset(pud, addr);
	if (pmd_none(*pmd) || pmd_leaf(*pmd))
		return !pmd_none(*pmd);
	return !pte_none(ptep_get(pte_offset_kernel(pmd, addr)));
}

static int map_shadow(unsigned long start, unsigned long size, int node)
{
	void *shadow;

	if (WARN_ON_ONCE(!PAGE_ALIGNED(start) || !PAGE_ALIGNED(size)))
		return -EINVAL;
	/* Memory of the boot that went offline in between. */
	if (is_mapped(start))
		return 0;
	shadow = __vmalloc_node_range(size, PAGE_SIZE, start, start + size, GFP_KERNEL, PAGE_KERNEL,
				      VM_NO_GUARD, node, __builtin_return_address(0));
	if (!shadow)
		return -ENOMEM;
	/* Nothing points to it: its address is computed. */
	kmemleak_ignore(shadow);
	/* Linux frees the pages next, which poisons them. */
	__memset(shadow, KASAN_SHADOW_INIT, size);
	return 0;
}

static int memory_changes(struct notifier_block *block, unsigned long action, void *data)
{
	const struct memory_notify *memory = data;
	const unsigned long start =
		(unsigned long)kasan_mem_to_shadow(pfn_to_kaddr(memory->start_pfn));
	const unsigned long size = memory->nr_pages << (PAGE_SHIFT - KASAN_SHADOW_SCALE_SHIFT);

	switch (action) {
	case MEM_GOING_ONLINE:
		return notifier_from_errno(map_shadow(start, size, pfn_to_nid(memory->start_pfn)));
	case MEM_CANCEL_ONLINE:
	case MEM_OFFLINE:
		/* The shadow that was mapped at boot is not such an area. */
		if (find_vm_area((void *)start))
			vfree((void *)start);
		return NOTIFY_OK;
	default:
		return NOTIFY_DONE;
	}
}

static int __init watch_memory(void)
{
	hotplug_memory_notifier(memory_changes, DEFAULT_CALLBACK_PRI);
	return 0;
}
core_initcall(watch_memory);
