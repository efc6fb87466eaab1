// SPDX-License-Identifier: MIT
/*
 * page_quarantine.c - delays the reuse of freed pages (boot parameter kasan.page_quarantine=SIZE).
 *
 * A late access to a freed page is found only while the page is free. Without the quarantine a block
 * may have a new owner a moment after its free, and a late access then reads or writes that owner's
 * memory undetected. Here blocks of any order wait in one queue, poisoned and marked PG_quarantine.
 * When the queue has more than SIZE bytes, the oldest blocks go to the buddy lists. An allocation
 * that finds no memory drains the oldest blocks before it tries anything else or fails, so no
 * allocation fails because of the queue.
 *
 * The queue is linked through the pages' own descriptors and needs no memory. With page_owner=on
 * reports show where a waiting page was freed.
 *
 * Uninstrumented, like the page allocator, which calls it.
 */
#include <kasan/kasan.h>
#include <kernel/kernel.h>
#include <kernel/page_quarantine.h>
#include <kernel/param.h>
#include <kernel/printk.h>

#include "internal.h"

static struct {
	raw_spinlock_t lock;
	struct list_head blocks; /* by page->lru, oldest first */
	unsigned long pages;
	bool said_full;
} queue = {.blocks = LIST_HEAD_INIT(queue.blocks)};

unsigned long page_quarantine_max;

/* --- Boot ------------------------------------------------------------------------------------- */

#define NAME   "kasan.page_quarantine"
#define VALUES "0 or a size as in 512K or 16M, from 4K to half of memory"

static size_t wanted; /* bytes */
static const char *wanted_text;

static int set_wanted(const char *value, void *var)
{
	size_t size;
	int err = param_parse_size(value, &size);

	if (!err && size && size < PAGE_SIZE)
		err = -ERANGE;
	if (!err) {
		wanted = size;
		wanted_text = value;
	}
	return err;
}
setup_param(NAME, set_wanted, VALUES, "bytes of freed pages to hold back; 0, the default: none");

void page_quarantine_init(void)
{
	unsigned long half = totalram_pages() / 2, pages = wanted >> PAGE_SHIFT;

	if (!pages)
		return;
	/* The size of memory was not known yet when the parameter was parsed. */
	if (pages > half) {
		pr_warn("Malformed kernel parameter " NAME "=\"%s\": expected " VALUES
			", which is %luK; keeping the default\n",
			wanted_text, half << (PAGE_SHIFT - 10));
		return;
	}
	if (!MM_KASAN || !kasan_on()) {
		pr_warn("page_quarantine: nothing poisons freed pages without KASAN: off\n");
		return;
	}
	pr_info("page_quarantine: holds up to %lu freed pages\n", pages);
	WRITE_ONCE(page_quarantine_max, pages);
	WRITE_ONCE(page_free_is_special, 1);
}

/* --- The queue -------------------------------------------------------------------------------- */

/* Move the oldest blocks to @out, until that has @pages pages or the queue is empty. queue.lock is
 * held. Return: pages moved. */
static unsigned long expel(unsigned long pages, struct list_head *out)
{
	unsigned long moved = 0;

	while (moved < pages && !list_empty(&queue.blocks)) {
		struct page *page = list_first_entry(&queue.blocks, struct page, lru);

		list_move_tail(&page->lru, out);
		moved += page->nr;
	}
	WRITE_ONCE(queue.pages, queue.pages - moved);
	return moved;
}

/* Release @blocks to the buddy lists. queue.lock is not held, because this takes the zone's lock. */
static void release_all(struct list_head *blocks)
{
	while (!list_empty(blocks)) {
		struct page *page = list_first_entry(blocks, struct page, lru);

		list_del(&page->lru);
		page_clear_flag(page, PG_quarantine);
		page_release(page);
	}
}

bool page_quarantine_put(struct page *page)
{
	const unsigned long max = READ_ONCE(page_quarantine_max);
	LIST_HEAD(out);
	bool full = false;
	unsigned long flags;

	if (page->nr > max)
		return false;
	page_set_flag(page, PG_quarantine);
	raw_spin_lock_irqsave(&queue.lock, flags);
	list_add_tail(&page->lru, &queue.blocks);
	WRITE_ONCE(queue.pages, queue.pages + page->nr);
	if (queue.pages > max) {
		full = !queue.said_full;
		queue.said_full = true;
		expel(queue.pages - max, &out);
	}
	raw_spin_unlock_irqrestore(&queue.lock, flags);
	release_all(&out);
	if (unlikely(full))
		pr_info("page_quarantine: full at %lu pages: the oldest are released\n", max);
	return true;
}

unsigned long page_quarantine_drain(unsigned long pages)
{
	unsigned long flags, moved;
	LIST_HEAD(out);

	local_irq_save(flags);
	/* Reports need memory too, and may come from any place, even from under this lock. */
	if (!READ_ONCE(queue.pages) || raw_spin_lock_held(&queue.lock)) {
		local_irq_restore(flags);
		return 0;
	}
	raw_spin_lock(&queue.lock);
	moved = expel(pages, &out);
	raw_spin_unlock(&queue.lock);
	release_all(&out);
	local_irq_restore(flags);
	return moved;
}

unsigned long page_quarantine_pages(void)
{
	return READ_ONCE(queue.pages);
}
