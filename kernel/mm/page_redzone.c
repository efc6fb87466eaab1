// SPDX-License-Identifier: MIT
/*
 * page_redzone.c - pages beside allocations that no one may access (boot parameter kasan.page_redzone=).
 *
 * An access far in front of a large object, or far past a block of pages, otherwise lands in memory of another owner. Large
 * objects of kmalloc() get a page in front of them (kmalloc.c), and have one after them already. With =all, each block of the
 * page allocator has a page after it, and so one in front of it, which belongs to the block there. It costs a page for each
 * block, so a single page takes two.
 *
 * Uninstrumented, like the page allocator, which calls it.
 */
#include <kernel/errno.h>
#include <kernel/fault_inject.h>
#include <kernel/kasan_shadow.h>
#include <kernel/page_redzone.h>
#include <kernel/param.h>
#include <kernel/printk.h>
#include <kernel/program.h>
#include <kernel/string.h>

#include "internal.h"

#define NAME "kasan.page_redzone"
#define HELP                                                                                      \
	"which allocations have a page beside them that no one may access; large: objects above " \
	"8 KiB; default: large with "                                                             \
	"a program, else off"

static const char *const words[] = {"off", "large", "all"};

/* One more than what was asked for; 0: nothing was. */
static unsigned int wanted;

static int set_wanted(const char *value, void *var)
{
	unsigned int i;

	for (i = 0; value && i < ARRAY_SIZE(words); i++) {
		if (!strcmp(value, words[i])) {
			wanted = i + 1;
			return 0;
		}
	}
	return -EINVAL;
}
setup_param(NAME, set_wanted, "off|large|all", HELP);

#ifdef CONFIG_KASAN_GENERIC

unsigned int page_redzone;

void page_redzone_set(enum page_redzone which)
{
	WRITE_ONCE(page_redzone, which);
	/* One word says that an allocation is to be treated in another way than usual, for any reason. Blocks that have a
	 * redzone keep it, so the way of a free does not go back. */
	if (which == PAGE_REDZONE_ALL) {
		WRITE_ONCE(page_free_is_special, 1);
		__atomic_fetch_or(&fault_kinds, FAULT_REDZONE | FAULT_PAGE, __ATOMIC_RELAXED);
	} else {
		__atomic_fetch_and(&fault_kinds, ~FAULT_REDZONE, __ATOMIC_RELAXED);
	}
}

void page_redzone_init(void)
{
	if (!MM_KASAN)
		return;
	if (wanted)
		page_redzone_set(wanted - 1);
	else if (redzone_program_main)
		page_redzone_set(PAGE_REDZONE_LARGE);
}

void page_redzone_attach(struct page *head, struct page *page)
{
	page->flags = BIT(PG_redzone);
	page->nr = 0;
	page->head = head;
	__atomic_store_n(&page->refcount, 1, __ATOMIC_RELAXED);
	kasan_want_linear_shadow(page_to_virt(page));
	kasan_poison(page_to_virt(page), PAGE_SIZE, KASAN_PAGE_REDZONE);
}

void page_redzone_join(struct page *head)
{
	struct page *page = head + head->nr;

	if (!pfn_valid(page_to_pfn(page)) || !page_flag(page, PG_redzone) || page->head != head)
		return;
	page->flags = BIT(PG_tail);
	__atomic_store_n(&page->refcount, 0, __ATOMIC_RELAXED);
	kasan_free_pages(page_to_virt(page), PAGE_SIZE);
	head->nr++;
}

#else

void page_redzone_init(void)
{
	if (wanted > 1 + PAGE_REDZONE_OFF)
		pr_warn("page_redzone: only Generic mode has redzones: off\n");
}

#endif
