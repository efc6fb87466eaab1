// SPDX-License-Identifier: MIT
/*
 * page_alloc.c - the buddy allocator, and each CPU's own list of single pages in front of it.
 *
 * Free memory is kept in blocks of 2^order pages, aligned to their size. When the twin of a block
 * (the block of the same size next to it) becomes free too, the two are joined. The contents of
 * free pages are never touched: all bookkeeping is in struct page. Uninstrumented, because the
 * runtime itself gets memory from here, inside allocations and reports.
 *
 * KASAN: a free poisons the pages before they are in a list where another CPU can see them, and an
 * allocation unpoisons them after they have left all lists. So a free page is always poisoned, and no
 * two CPUs write the same shadow.
 */
#include <kernel/arch.h>
#include <kernel/kasan_shadow.h>
#include <kernel/kernel.h>
#include <kernel/page_owner.h>
#include <kernel/page_quarantine.h>
#include <kernel/page_redzone.h>
#include <kernel/printk.h>
#include <kernel/string.h>

#include "internal.h"

/* A CPU's list: filled and emptied by PCP_BATCH pages, emptied above PCP_HIGH. */
#define PCP_BATCH 16U
#define PCP_HIGH  64U

/* How many pages leave the page quarantine at a time when there are no others. */
#define QUARANTINE_BATCH 64U

static struct zone {
	raw_spinlock_t lock;
	struct {
		struct list_head list;
		unsigned long nr;
	} area[MAX_ORDER + 1];
	unsigned long free;    /* pages in the lists above */
	unsigned long managed; /* pages that were ever added */
	unsigned long reserve; /* only __GFP_HIGH goes below this many free pages */
} zone;

struct pcp {
	struct bare_lock lock;
	unsigned int count;
	struct list_head list;
};

static DEFINE_PER_CPU(struct pcp, pcp_lists);

/* --- Blocks: zone.lock is held in all of these ------------------------------------------------ */

static void put_block(unsigned long pfn, unsigned int order)
{
	struct page *page;

	zone.free += 1UL << order;
	while (order < MAX_ORDER) {
		unsigned long twin_pfn = pfn ^ (1UL << order);
		struct page *twin;

		if (!pfn_valid(twin_pfn))
			break;
		twin = pfn_to_page(twin_pfn);
		if (!PageBuddy(twin) || twin->order != order)
			break;
		list_del(&twin->lru);
		page_clear_flag(twin, PG_buddy);
		zone.area[order].nr--;
		pfn &= twin_pfn;
		order++;
	}
	page = pfn_to_page(pfn);
	page->order = order;
	page_set_flag(page, PG_buddy);
	zone.area[order].nr++;
	/*
	 * With KASAN the block that was freed longest ago is reused first, so that a page stays
	 * poisoned as long as possible. Without it, the last one, because that may still be in the
	 * CPU's cache.
	 */
	if (MM_KASAN)
		list_add_tail(&page->lru, &zone.area[order].list);
	else
		list_add(&page->lru, &zone.area[order].list);
}

/* Put the frames [@pfn, @pfn + @nr) back in the largest blocks that their alignment allows. */
static void put_range(unsigned long pfn, unsigned long nr)
{
	while (nr) {
		unsigned int order = MAX_ORDER;

		if (pfn)
			order = min(order, (unsigned int)__builtin_ctzl(pfn));
		while ((1UL << order) > nr)
			order--;
		put_block(pfn, order);
		pfn += 1UL << order;
		nr -= 1UL << order;
	}
}

/* Take a block of @order, and give back all its pages but the first @nr. */
static struct page *take_block(unsigned int order, unsigned int nr)
{
	unsigned int from = order;
	struct page *page;
	unsigned long pfn;

	while (from <= MAX_ORDER && list_empty(&zone.area[from].list))
		from++;
	if (from > MAX_ORDER)
		return NULL;
	page = list_first_entry(&zone.area[from].list, struct page, lru);
	list_del(&page->lru);
	page_clear_flag(page, PG_buddy);
	zone.area[from].nr--;
	zone.free -= 1UL << from;
	pfn = page_to_pfn(page);
	if ((1UL << from) > nr)
		put_range(pfn + nr, (1UL << from) - nr);
	return page;
}

static bool watermark_ok(gfp_t gfp, unsigned long nr)
{
	return zone.free >= nr + (gfp & __GFP_HIGH ? 0 : zone.reserve);
}

/* --- A CPU's own pages ------------------------------------------------------------------------ */

static void pcp_drain_locked(struct pcp *pcp, unsigned int keep)
{
	if (pcp->count <= keep)
		return;
	raw_spin_lock(&zone.lock);
	while (pcp->count > keep) {
		struct page *page = list_first_entry(&pcp->list, struct page, lru);

		list_del(&page->lru);
		page_clear_flag(page, PG_pcp);
		pcp->count--;
		put_block(page_to_pfn(page), 0);
	}
	raw_spin_unlock(&zone.lock);
}

static void pcp_refill_locked(struct pcp *pcp, gfp_t gfp)
{
	unsigned int want;

	raw_spin_lock(&zone.lock);
	/* When memory is short, take only the one page that is wanted. */
	want = watermark_ok(gfp, PCP_BATCH) ? PCP_BATCH : watermark_ok(gfp, 1);
	for (; want; want--) {
		struct page *page = take_block(0, 1);

		page_set_flag(page, PG_pcp);
		list_add_tail(&page->lru, &pcp->list);
		pcp->count++;
	}
	raw_spin_unlock(&zone.lock);
}

static __always_inline struct pcp *pcp_lock(unsigned long *flags)
{
	struct pcp *pcp;

	local_irq_save(*flags);
	pcp = this_cpu_ptr(&pcp_lists);
	bare_lock(&pcp->lock);
	return pcp;
}

static __always_inline void pcp_unlock(struct pcp *pcp, unsigned long flags)
{
	bare_unlock(&pcp->lock);
	local_irq_restore(flags);
}

/*
 * The common case of pcp_alloc() and pcp_free() calls no function, so few registers need be saved. The page that
 * pcp_take() returns still has the flag PG_pcp: prepare_pages() writes all flags.
 */
static __always_inline struct page *pcp_take(struct pcp *pcp)
{
	struct page *page = list_first_entry(&pcp->list, struct page, lru);

	list_del(&page->lru);
	pcp->count--;
	return page;
}

static noinline struct page *pcp_alloc_slow(gfp_t gfp)
{
	struct page *page = NULL;
	unsigned long flags;
	struct pcp *pcp = pcp_lock(&flags);

	if (!pcp->count)
		pcp_refill_locked(pcp, gfp);
	if (pcp->count)
		page = pcp_take(pcp);
	pcp_unlock(pcp, flags);
	return page;
}

static __always_inline struct page *pcp_alloc(gfp_t gfp)
{
	struct page *page = NULL;
	unsigned long flags;
	struct pcp *pcp = pcp_lock(&flags);

	if (likely(pcp->count))
		page = pcp_take(pcp);
	pcp_unlock(pcp, flags);
	return likely(page) ? page : pcp_alloc_slow(gfp);
}

/* Only the pages of this CPU, or of the one that the task is on by now: each CPU keeps its own list short. */
static noinline void pcp_shorten(void)
{
	unsigned long flags;
	struct pcp *pcp = pcp_lock(&flags);

	if (pcp->count > PCP_HIGH)
		pcp_drain_locked(pcp, PCP_HIGH - PCP_BATCH);
	pcp_unlock(pcp, flags);
}

static __always_inline void pcp_free(struct page *page, bool checked)
{
	unsigned int count;
	unsigned long flags;
	struct pcp *pcp = pcp_lock(&flags);

	WRITE_ONCE(page->flags, (checked ? page->flags & PAGE_KASAN_TAG_MASK : 0) | BIT(PG_pcp));
	/* put_block() says why the order of reuse differs. */
	if (checked)
		list_add_tail(&page->lru, &pcp->list);
	else
		list_add(&page->lru, &pcp->list);
	count = ++pcp->count;
	pcp_unlock(pcp, flags);
	if (unlikely(count > PCP_HIGH))
		pcp_shorten();
}

void drain_all_pages(void)
{
	unsigned long flags;
	unsigned int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		struct pcp *pcp = per_cpu_ptr(&pcp_lists, cpu);

		local_irq_save(flags);
		bare_lock(&pcp->lock);
		pcp_drain_locked(pcp, 0);
		bare_unlock(&pcp->lock);
		local_irq_restore(flags);
	}
}

/* --- Allocation ------------------------------------------------------------------------------- */

static __always_inline struct page *take_pages(gfp_t gfp, unsigned int order, unsigned int nr)
{
	struct page *page = NULL;
	unsigned long flags;

	if (nr == 1)
		return pcp_alloc(gfp);
	raw_spin_lock_irqsave(&zone.lock, flags);
	if (watermark_ok(gfp, nr))
		page = take_block(order, nr);
	raw_spin_unlock_irqrestore(&zone.lock, flags);
	return page;
}

static noinline struct page *take_pages_slow(gfp_t gfp, unsigned int order, unsigned int nr)
{
	struct page *page;

	drain_all_pages();
	page = take_pages(gfp, order, nr);
	/* Drain the oldest pages, and no more than needed: the others still help to find bugs. */
	while (!page && page_quarantine_drain(max(nr, QUARANTINE_BATCH)))
		page = take_pages(gfp, order, nr);
	if (page || !(gfp & __GFP_DIRECT_RECLAIM) || irqs_disabled())
		return page;

	/* Get back memory that is not in use: objects in the quarantine, empty slabs, cached stacks. */
	vmalloc_purge();
	kmem_cache_shrink_all();
	page_quarantine_drain(ULONG_MAX);
	drain_all_pages();
	return take_pages(gfp, order, nr);
}

/* Clear all traces of earlier uses on every page of the block. */
static __always_inline void prepare_pages(struct page *page, unsigned int nr)
{
	unsigned int i;

	for (i = 1; i < nr; i++) {
		page[i].flags = BIT(PG_tail);
		page[i].head = page;
	}
	page->flags = nr > 1 ? BIT(PG_head) : 0;
	page->nr = nr;
	page->head = page;
	__atomic_store_n(&page->refcount, 1, __ATOMIC_RELEASE);
}

/* Unpoison @nr new pages. @last_tag: the tag of the pointers to the last block that started here. Return:
 * true if the pages were also cleared, because that was wanted and is cheaper together. */
static __always_inline bool open_pages(struct page *page, unsigned int nr, gfp_t gfp, u8 last_tag)
{
	void *p = page_to_virt(page);
	bool init = false;

#ifdef CONFIG_KASAN_TAGS
	if (gfp & __GFP_SKIP_KASAN)
		return false;
	init = gfp & __GFP_ZERO && kasan_has_integrated_init();
#endif
	p = kasan_alloc_pages_init(kasan_set_tag(p, last_tag), (size_t)nr << PAGE_SHIFT, init);
	page_kasan_tag_set(page, nr, kasan_get_tag(p));
	return init;
}

/* Not inlined, because most pages need not be cleared. */
static noinline void clear_pages(struct page *page, unsigned int nr)
{
	memset(page_address(page), 0, (size_t)nr << PAGE_SHIFT);
}

/* All that KASAN adds to an allocation. */
static __always_inline struct page *finish_checked(struct page *page, unsigned int nr, gfp_t gfp)
{
	const u8 last_tag = page_kasan_tag(page);
	bool cleared;

	prepare_pages(page, nr);
	kasan_want_linear_shadow(page_to_virt(page));
	cleared = open_pages(page, nr, gfp, last_tag);
	page_owner_alloc(page, nr, gfp);
	if (gfp & __GFP_ZERO && !cleared)
		clear_pages(page, nr);
	return page;
}

/* Not inlined, so that with kasan=off it costs no registers. */
static noinline struct page *finish_one_checked(struct page *page, gfp_t gfp)
{
	return finish_checked(page, 1, gfp);
}

/* Return: NULL if no redzones are wanted, or if there is no memory for this one. */
static noinline struct page *alloc_with_redzone(gfp_t gfp, unsigned int nr)
{
	struct page *page = NULL;

	if (READ_ONCE(fault_kinds) & FAULT_REDZONE && nr < 1U << MAX_ORDER)
		page = take_pages(gfp, get_order((size_t)(nr + 1) << PAGE_SHIFT), nr + 1);
	if (!page)
		return NULL;
	finish_checked(page, nr, gfp);
	page_redzone_attach(page, page + nr);
	return page;
}

/* @one: the constant true if @nr is 1. The compiler leaves out a lot then. */
static __always_inline struct page *alloc_nr(gfp_t gfp, unsigned int order, unsigned int nr,
					     bool one)
{
	struct page *page;

	if (unlikely(READ_ONCE(fault_kinds) & FAULT_PAGE)) {
		if (should_fail(FAULT_PAGE, (size_t)nr << PAGE_SHIFT))
			return NULL;
		page = alloc_with_redzone(gfp, nr);
		if (page)
			return page;
	}
	page = take_pages(gfp, order, nr);
	if (unlikely(!page)) {
		page = take_pages_slow(gfp, order, nr);
		if (!page) {
			if (!(gfp & __GFP_NOWARN))
				warn_alloc_failed(gfp, nr);
			return NULL;
		}
	}
	if (MM_KASAN)
		return one ? finish_one_checked(page, gfp) : finish_checked(page, nr, gfp);
	prepare_pages(page, nr);
	page_owner_alloc(page, nr, gfp);
	if (gfp & __GFP_ZERO)
		memset(page_address(page), 0, (size_t)nr << PAGE_SHIFT);
	return page;
}

static noinline struct page *alloc_many(gfp_t gfp, unsigned int order, unsigned int nr)
{
	return alloc_nr(gfp, order, nr, false);
}

struct page *alloc_pages(gfp_t gfp, unsigned int order)
{
	if (likely(!order))
		return alloc_nr(gfp, 0, 1, true);
	if (unlikely(order > MAX_ORDER)) {
		WARN(!(gfp & __GFP_NOWARN), "alloc_pages: order %u is more than %u\n", order,
		     MAX_ORDER);
		return NULL;
	}
	return alloc_many(gfp, order, 1U << order);
}

struct page *alloc_pages_exact(gfp_t gfp, unsigned int nr)
{
	if (unlikely(!nr || nr > 1U << MAX_ORDER)) {
		WARN(!(gfp & __GFP_NOWARN), "alloc_pages_exact: %u pages, not 1 to %u\n", nr,
		     1U << MAX_ORDER);
		return NULL;
	}
	return alloc_many(gfp, get_order((size_t)nr << PAGE_SHIFT), nr);
}

struct page *page_alloc_raw(unsigned int order)
{
	struct page *page = NULL;
	unsigned long flags;

	if (should_fail(FAULT_RUNTIME, PAGE_SIZE << order))
		return NULL;
	local_irq_save(flags);
	if (!raw_spin_lock_held(&zone.lock)) {
		do {
			raw_spin_lock(&zone.lock);
			page = take_block(order, 1U << order);
			raw_spin_unlock(&zone.lock);
		} while (!page && page_quarantine_drain(max(1U << order, QUARANTINE_BATCH)));
	}
	local_irq_restore(flags);
	if (page) {
		prepare_pages(page, 1U << order);
		page_kept(1L << order);
	}
	return page;
}

unsigned long __get_free_pages(gfp_t gfp, unsigned int order)
{
	struct page *page = alloc_pages(gfp, order);

	return page ? (unsigned long)page_address(page) : 0;
}

unsigned long get_zeroed_page(gfp_t gfp)
{
	return __get_free_pages(gfp | __GFP_ZERO, 0);
}

/* --- Freeing ---------------------------------------------------------------------------------- */

/* A page with one of these flags must not be freed; the reasons are below. */
#define NOT_TO_BE_FREED                                                                 \
	(BIT(PG_reserved) | BIT(PG_buddy) | BIT(PG_pcp) | BIT(PG_tail) | BIT(PG_slab) | \
	 BIT(PG_large) | BIT(PG_quarantine))

static __always_inline bool looks_allocated(const struct page *page, unsigned int nr)
{
	return likely(!(READ_ONCE(page->flags) & NOT_TO_BE_FREED) && page->nr == nr &&
		      page_count(page) > 0);
}

/* Return: what shows that @page is free already; NULL if nothing does. */
static const char *why_free(struct page *page)
{
	if (page_flag(page, PG_buddy) || page_flag(page, PG_pcp))
		return "double free: the page is free already";
	if (page->nr && page_flag(compound_head(page), PG_quarantine))
		return "double free: the page is free already, in the quarantine";
	if (!PageReserved(page) && !PageTail(page) && page_count(page) <= 0)
		return "double free: the page has no reference";
	return NULL;
}

/* Return: what else is wrong; NULL if, at a second look, nothing is. */
static const char *why_wrong(const struct page *page, unsigned int nr)
{
	if (PageReserved(page))
		return "the page was never allocated";
	if (PageTail(page))
		return "the page is not the first of its block";
	if (PageSlab(page) || PageLarge(page))
		return "the page still belongs to the slab allocator";
	if (page->nr != nr)
		return "freed with another order than it was allocated with";
	return NULL;
}

/* Report what is wrong with the free. Return: false if nothing is. */
static noinline bool refuse_free(struct page *page, unsigned int nr, uintptr_t ip)
{
	const char *why = why_free(page);

	if (why) {
		page_double_free(page, why, ip);
		return true;
	}
	why = why_wrong(page, nr);
	if (why)
		bad_page(page, why);
	return why;
}

void page_release(struct page *page)
{
	const unsigned int nr = page->nr;
	unsigned long flags;
	unsigned int i;

	/* A freed large object keeps its descriptors as they are, for reports of late accesses. */
	if (page_flag(page, PG_large_freed)) {
		page->flags &= BIT(PG_large_freed) | BIT(PG_lead) | PAGE_KASAN_TAG_MASK;
	} else {
		for (i = 0; i < nr; i++)
			page[i].flags &= PAGE_KASAN_TAG_MASK;
	}
	raw_spin_lock_irqsave(&zone.lock, flags);
	put_range(page_to_pfn(page), nr);
	raw_spin_unlock_irqrestore(&zone.lock, flags);
}

unsigned int page_free_is_special;

/* Return: false if the block is to be freed as usual. */
static noinline bool free_special(struct page *page)
{
	const unsigned int nr = page->nr;

	page_redzone_join(page);
	if (page_quarantine_max && page_quarantine_put(page))
		return true;
	if (page->nr == nr)
		return false;
	page_release(page);
	return true;
}

/* The end of a free. @checked is a constant: with KASAN's hooks, or as in a kernel without KASAN. */
static __always_inline void finish_free(struct page *page, unsigned int nr, bool checked)
{
	if (checked)
		kasan_free_pages(page_address(page), (size_t)nr << PAGE_SHIFT);
	page_owner_free(page, nr);
	if (checked && unlikely(READ_ONCE(page_free_is_special)) && free_special(page))
		return;
	if (nr > 1)
		page_release(page);
	else
		pcp_free(page, checked);
}

/* Inlined, so that @ip, which only a report needs, costs nothing. */
static __always_inline void free_nr(struct page *page, unsigned int nr, uintptr_t ip)
{
	int count, taken;

	if (unlikely(!looks_allocated(page, nr)) && refuse_free(page, nr, ip))
		return;
	count = __atomic_fetch_sub(&page->refcount, 1, __ATOMIC_ACQ_REL);
	if (count != 1) {
		if (unlikely(count <= 0)) {
			/* Undo the decrement, unless the page has a new owner by now, whose reference
			 * must stay. */
			taken = count - 1;
			__atomic_compare_exchange_n(&page->refcount, &taken, count, false,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
			page_double_free(page, "double free: two CPUs free it at once", ip);
		}
		return;
	}
	/* Twice the same, so that kasan=off costs one test and no more. */
	if (MM_KASAN)
		finish_free(page, nr, true);
	else
		finish_free(page, nr, false);
}

static __always_inline void free_block(struct page *page, unsigned int order, uintptr_t ip)
{
	if (likely(!order))
		free_nr(page, 1, ip);
	else
		free_nr(page, order <= MAX_ORDER ? 1U << order : 0, ip);
}

void __free_pages(struct page *page, unsigned int order)
{
	free_block(page, order, MM_CALLER_IP());
}

void free_pages_by(struct page *page, unsigned int order, uintptr_t ip)
{
	free_block(page, order, ip);
}

void free_pages_exact(struct page *page, unsigned int nr)
{
	free_nr(page, nr, MM_CALLER_IP());
}

void put_page(struct page *page)
{
	page = compound_head(page);
	free_nr(page, page->nr, MM_CALLER_IP());
}

void free_pages(unsigned long addr, unsigned int order)
{
	if (!addr)
		return;
	if (!is_linear_address((void *)addr) || !pfn_valid(__pa(addr) >> PAGE_SHIFT)) {
		WARN(1, "free_pages: %016lx is not in RAM\n", addr);
		return;
	}
	free_block(virt_to_page((void *)addr), order, MM_CALLER_IP());
}

/* --- Totals and bring-up ---------------------------------------------------------------------- */

unsigned long nr_free_pages(void)
{
	unsigned long sum = READ_ONCE(zone.free) + page_quarantine_pages();
	unsigned int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++)
		sum += READ_ONCE(per_cpu_ptr(&pcp_lists, cpu)->count);
	return sum;
}

static unsigned long kept_pages;

void page_kept(long nr)
{
	__atomic_fetch_add(&kept_pages, (unsigned long)nr, __ATOMIC_RELAXED);
}

unsigned long mm_kept_pages(void)
{
	return READ_ONCE(kept_pages);
}

unsigned long nr_free_blocks(unsigned int order)
{
	return order <= MAX_ORDER ? READ_ONCE(zone.area[order].nr) : 0;
}

unsigned long totalram_pages(void)
{
	return zone.managed;
}

void page_alloc_init(void)
{
	unsigned int i;

	raw_spin_lock_init(&zone.lock);
	for (i = 0; i <= MAX_ORDER; i++)
		INIT_LIST_HEAD(&zone.area[i].list);
	for (i = 0; i < NR_CPUS; i++)
		INIT_LIST_HEAD(&per_cpu_ptr(&pcp_lists, i)->list);
}

void page_alloc_add(unsigned long pfn, unsigned long end)
{
	unsigned long flags, i;

	for (i = pfn; i < end; i++)
		pfn_to_page(i)->flags = 0;
	kasan_free_boot_memory((unsigned long)page_to_virt(pfn_to_page(pfn)),
			       (unsigned long)page_to_virt(pfn_to_page(pfn)) +
				       ((end - pfn) << PAGE_SHIFT));
	raw_spin_lock_irqsave(&zone.lock, flags);
	put_range(pfn, end - pfn);
	zone.managed += end - pfn;
	/* 0.4 % of memory, but not too few pages on a small machine, nor too many on a large one. */
	zone.reserve = max(zone.managed / 256, 32UL);
	zone.reserve = min(zone.reserve, 1024UL);
	raw_spin_unlock_irqrestore(&zone.lock, flags);
}
