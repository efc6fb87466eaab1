/* SPDX-License-Identifier: MIT */
/* page_owner.h - who allocated and freed a page last; boot parameter page_owner=on. */
#ifndef KERNEL_PAGE_OWNER_H
#define KERNEL_PAGE_OWNER_H

#include <kernel/gfp.h>
#include <kernel/page.h>

/* Set once, at boot, before the first page is allocated. */
extern bool page_owner_on;

/**
 * struct page_owner - what is recorded of a page
 * @allocated: the last of the two was an allocation.
 * @ts, @free_ts: when, in ns since boot; 0: never.
 * @pid, @free_pid: by which task.
 * @order: of the allocation, rounded up.
 * @stack, @free_stack: for kasan_stack_print(); 0: not available.
 */
struct page_owner {
	bool allocated;
	u64 ts, free_ts;
	pid_t pid, free_pid;
	u32 order;
	u32 stack, free_stack;
};

/** page_owner_init() - if it is wanted, make the records. After mem_map, before the first page. */
void page_owner_init(void);

void __page_owner_alloc(const struct page *page, unsigned int nr, gfp_t gfp);
void __page_owner_free(const struct page *page, unsigned int nr);

/** page_owner_alloc(), page_owner_free() - @nr pages are handed out, come back. */
static inline void page_owner_alloc(const struct page *page, unsigned int nr, gfp_t gfp)
{
	if (unlikely(page_owner_on))
		__page_owner_alloc(page, nr, gfp);
}

static inline void page_owner_free(const struct page *page, unsigned int nr)
{
	if (unlikely(page_owner_on))
		__page_owner_free(page, nr);
}

/** page_owner_get() - Return: false if nothing is recorded of @page. */
bool page_owner_get(const struct page *page, struct page_owner *owner);

/** page_owner_print() - the lines for a KASAN report; none if it is off. */
void page_owner_print(const struct page *page);

#endif /* KERNEL_PAGE_OWNER_H */
