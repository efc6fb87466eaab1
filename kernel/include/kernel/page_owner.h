/* SPDX-License-Identifier: MIT */
/* page_owner.h - records the last allocation and free of each page; boot parameter page_owner=on. */
#ifndef KERNEL_PAGE_OWNER_H
#define KERNEL_PAGE_OWNER_H

#include <kernel/gfp.h>
#include <kernel/page.h>

/* Set once, at boot, before the first page is allocated. */
extern bool page_owner_on;

/**
 * struct page_owner - the record of a page
 * @allocated: true if the last of the two was an allocation.
 * @ts, @free_ts: time in ns since boot; 0: never.
 * @pid, @free_pid: the task.
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

/** page_owner_init() - make the records, if wanted. After mem_map exists, before the first page is allocated. */
void page_owner_init(void);

void __page_owner_alloc(const struct page *page, unsigned int nr, gfp_t gfp);
void __page_owner_free(const struct page *page, unsigned int nr);

/** page_owner_alloc(), page_owner_free() - @nr pages are allocated, or freed. */
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

/** page_owner_get() - Return: false if there is no record of @page. */
bool page_owner_get(const struct page *page, struct page_owner *owner);

/** page_owner_print() - print the lines for a KASAN report; nothing if it is off. */
void page_owner_print(const struct page *page);

#endif /* KERNEL_PAGE_OWNER_H */
