// SPDX-License-Identifier: MIT
/*
 * late.c - shadow that is mapped after the boot, as an area of vmalloc() at its address.
 *
 * The architecture's kasan_init() maps the shadow of the memory that is there at boot, and that shadow stays. Memory that is
 * added later gets shadow here. So do modules, if vmalloc space has no shadow; otherwise shadow.c maps theirs.
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
#include "kasan.h"

/* Return: the shadow of the @size bytes at @addr, accessible; NULL if there is no memory for it. */
static void *__maybe_unused map_shadow(const void *addr, unsigned long size, int node)
{
	const unsigned long start = (unsigned long)kasan_mem_to_shadow(addr);
	void *shadow;

	size = PAGE_ALIGN(DIV_ROUND_UP(size, KASAN_GRANULE_SIZE));
	if (WARN_ON_ONCE(!PAGE_ALIGNED(start)))
		return NULL;
	shadow = __vmalloc_node_range(size, PAGE_SIZE, start, start + size, GFP_KERNEL, PAGE_KERNEL,
				      VM_NO_GUARD, node, __builtin_return_address(0));
	if (!shadow)
		return NULL;
	/* Nothing points to it: its address is computed. */
	kmemleak_ignore(shadow);
	return __memset(shadow, KASAN_SHADOW_INIT, size);
}

#ifndef CONFIG_KASAN_VMALLOC

/* On loongarch64 the shadow of all modules is mapped while Linux boots, and stays. */
int kasan_alloc_module_shadow(void *addr, size_t size, gfp_t gfp_mask)
{
	struct vm_struct *area;

	if (IS_ENABLED(CONFIG_LOONGARCH))
		return 0;
	area = find_vm_area(addr);
	if (WARN_ON_ONCE(!area) || !map_shadow(addr, size, NUMA_NO_NODE))
		return -ENOMEM;
	area->flags |= VM_KASAN;
	/* Linux leaves it to this function to tell kmemleak, because this one may fail. */
	if (area->flags & VM_DEFER_KMEMLEAK)
		kmemleak_vmalloc(area, size, gfp_mask);
	return 0;
}

void kasan_free_module_shadow(const struct vm_struct *area)
{
	if (area->flags & VM_KASAN)
		vfree(kasan_mem_to_shadow(area->addr));
}

#endif

#ifdef CONFIG_MEMORY_HOTPLUG

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

static int memory_changes(struct notifier_block *block, unsigned long action, void *data)
{
	const struct memory_notify *memory = data;
	const void *start = pfn_to_kaddr(memory->start_pfn);
	void *shadow = kasan_mem_to_shadow(start);

	switch (action) {
	case MEM_GOING_ONLINE:
		/* It is if this is memory of the boot that has been offline. */
		if (is_mapped((unsigned long)shadow))
			return NOTIFY_OK;
		/* Linux frees the pages next, which poisons them. */
		if (!map_shadow(start, memory->nr_pages << PAGE_SHIFT,
				pfn_to_nid(memory->start_pfn)))
			return notifier_from_errno(-ENOMEM);
		return NOTIFY_OK;
	case MEM_CANCEL_ONLINE:
	case MEM_OFFLINE:
		/* The shadow that was mapped at boot is not such an area. */
		if (find_vm_area(shadow))
			vfree(shadow);
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

#endif
