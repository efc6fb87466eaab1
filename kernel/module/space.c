// SPDX-License-Identifier: MIT
/*
 * space.c - the memory of modules: addresses in module space, pages, protection and shadow.
 *
 * A module's range has a guard page, the code, the constants, the variables, and another guard page. The
 * whole range gets real shadow. The parts are accessible, exact to the byte, and the rest is
 * KASAN_VMALLOC_INVALID. After unloading all of it is. The shadow is freed when the module is forgotten.
 *
 * Ranges are taken from the upper end, beside the kernel, so that most branches reach the kernel directly.
 * They are taken in steps of MODULE_STEP, so that the same few addresses are used again and again: the
 * depot then nearly always knows the stack traces of a module that is loaded again.
 */
#include <kasan/kasan.h>
#include <kernel/arch.h>
#include <kernel/kasan_shadow.h>
#include <kernel/mm.h>
#include <kernel/mutex.h>
#include <kernel/rculist.h>
#include <kernel/string.h>

#include "internal.h"

/* In bytes. Its shadow is whole pages, so no two modules share a page of shadow. */
#define MODULE_STEP (64UL << 10)

static unsigned long used_pages;

unsigned long module_used_pages(void)
{
	return READ_ONCE(used_pages);
}

static const struct module *overlapping(unsigned long start, size_t span)
{
	const struct module *m;

	list_for_each_entry (m, &modules, list) {
		if (start < m->base + m->span && m->base < start + span)
			return m;
	}
	return NULL;
}

/* Return: the start of a free range of @span bytes; 0 if there is none. @far: search from the lower end. */
static unsigned long find_room(size_t span, bool far)
{
	unsigned long start = far ? MODULES_VADDR : MODULES_END - span;
	const struct module *m;

	while ((m = overlapping(start, span))) {
		if (far) {
			start = m->base + m->span;
			if (start > MODULES_END - span)
				return 0;
		} else {
			if (m->base < MODULES_VADDR + span)
				return 0;
			start = m->base - span;
		}
	}
	return start;
}

static size_t part_pages(const struct module *module, enum module_part_type type)
{
	return PAGE_ALIGN(module->parts[type].size) >> PAGE_SHIFT;
}

static int map_pages(struct module *module)
{
	for (unsigned int i = 0; i < module->nr_pages; i++) {
		unsigned long va = module->base + PAGE_SIZE + ((unsigned long)i << PAGE_SHIFT);

		if (map_kernel_range(va, page_to_phys(module->pages[i]), PAGE_SIZE, PAGE_KERNEL))
			return -ENOMEM;
	}
	return 0;
}

static int alloc_pages_of(struct module *module, size_t nr)
{
	module->pages = kvmalloc(nr * sizeof(*module->pages), GFP_KERNEL);
	if (!module->pages)
		return -ENOMEM;
	while (module->nr_pages < nr) {
		struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

		if (!page)
			return -ENOMEM;
		module->pages[module->nr_pages++] = page;
		used_pages++;
	}
	return 0;
}

/* Free the shadow too, after module_space_free() and before another module gets the range. */
static void give_up_range(struct module *module)
{
	vmalloc_release_shadow(module->base, module->base + module->span);
}

/* Give up everything of @module, its symbols included. module_mutex is held. */
void module_forget(struct module *module)
{
	if (module->base) {
		__list_del(module->list.prev, module->list.next);
		give_up_range(module);
	}
	/* The module's own links stay as they are, because a reader may be at it. */
	if (!module_wait_for_readers()) {
		pr_warn("module %s: its symbols stay in memory, somebody reads them for ever\n",
			module->name);
		return;
	}
	kvfree(module->symtab);
	kfree(module);
}

void module_forget_unloaded(unsigned int keep)
{
	for (;;) {
		struct module *m, *oldest = NULL;
		unsigned int unloaded = 0;

		list_for_each_entry (m, &modules, list) {
			if (m->state != MODULE_STATE_UNLOADED)
				continue;
			unloaded++;
			if (!oldest || m->unloaded_at < oldest->unloaded_at)
				oldest = m;
		}
		if (unloaded <= keep)
			return;
		module_forget(oldest);
	}
}

int module_space_alloc(struct module *module, bool far)
{
	unsigned long at;
	size_t nr = 0;
	int err;

	for (int i = 0; i < MODULE_PARTS; i++)
		nr += part_pages(module, i);
	module->span = ALIGN((nr + 2) << PAGE_SHIFT, MODULE_STEP);
	module->base = find_room(module->span, far);
	if (!module->base) {
		/* Use the addresses that are kept for unloaded modules. */
		module_forget_unloaded(0);
		module->base = find_room(module->span, far);
	}
	if (!module->base)
		return -EFBIG;
	at = module->base + PAGE_SIZE;
	for (int i = 0; i < MODULE_PARTS; i++) {
		module->parts[i].start = at;
		at += part_pages(module, i) << PAGE_SHIFT;
	}
	/* From here on traces can find it. */
	list_add_tail_rcu(&module->list, &modules);
	err = alloc_pages_of(module, nr);
	if (!err) {
		module->has_shadow =
			kasan_map_shadow(module->base, module->span, KASAN_VMALLOC_INVALID);
		err = module->has_shadow ? 0 : -ENOMEM;
	}
	if (!err)
		err = map_pages(module);
	if (err)
		return err;
	/* Everything outside the parts stays poisoned, as kasan_map_shadow() has left it. */
	for (int i = 0; i < MODULE_PARTS; i++)
		kasan_unpoison_vmalloc((void *)module->parts[i].start, module->parts[i].size);
	return 0;
}

static void protect_part(struct module *module, enum module_part_type type, pgprot_t prot)
{
	unsigned long va = module->parts[type].start;

	/* The page tables exist, so this cannot fail. */
	for (size_t i = 0; i < part_pages(module, type); i++, va += PAGE_SIZE)
		map_kernel_range(va, kernel_va_to_pa(va, NULL), PAGE_SIZE, prot);
}

void module_space_protect(struct module *module)
{
	module_sync_code(module->parts[MODULE_TEXT].start, module->parts[MODULE_TEXT].size);
	protect_part(module, MODULE_TEXT, PAGE_KERNEL_EXEC);
	protect_part(module, MODULE_RODATA, PAGE_KERNEL_RO);
}

void module_space_free(struct module *module)
{
	if (!module->base)
		return;
	/* First the globals, while their descriptors can still be read. */
	kasan_unload_globals((void *)module->base, module->span);
	if (module->has_shadow)
		kasan_poison_vmalloc((void *)module->base, module->span);
	/* Unmap before the pages are freed: another owner may get them at once. */
	unmap_kernel_range(module->base, module->span);
	used_pages -= module->nr_pages;
	while (module->nr_pages)
		__free_page(module->pages[--module->nr_pages]);
	kvfree(module->pages);
	module->pages = NULL;
}
