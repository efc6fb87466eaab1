// SPDX-License-Identifier: MIT
/* vmap_test.c - the address space of vmalloc: its trees, and how much shadow is kept for it. */
#include <kernel/arch.h>
#include <kernel/kasan_shadow.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>

#include "../mm/vmap.h"
#include "kasan_test.h"

/* --- The tree -------------------------------------------------------------------------------------- */

/* Slot i may hold a range somewhere in [i, i + 1) * SLOT, so ranges never overlap. */
#define SLOTS 150U
#define SLOT  1000UL

struct model {
	struct vmap_tree tree;
	struct vmap_range range[SLOTS];
	bool in[SLOTS];
};

static void set_bounds(struct model *model, unsigned int i, struct rnd_state *rnd)
{
	model->range[i].start = i * SLOT + prandom_u32_state(rnd) % 400;
	model->range[i].end = model->range[i].start + 1 + prandom_u32_state(rnd) % 600;
}

static void change(struct model *model, struct rnd_state *rnd)
{
	unsigned int i = prandom_u32_state(rnd) % SLOTS;

	if (!model->in[i]) {
		set_bounds(model, i, rnd);
		vmap_insert(&model->tree, &model->range[i]);
	} else if (prandom_u32_state(rnd) % 3) {
		vmap_erase(&model->tree, &model->range[i]);
	} else {
		set_bounds(model, i, rnd);
		vmap_resized(&model->range[i]);
		return;
	}
	model->in[i] = !model->in[i];
}

/* One question of each kind, answered by looking at every slot. */
static void compare(struct kunit *test, struct model *model, struct rnd_state *rnd)
{
	unsigned long addr = prandom_u32_state(rnd) % (SLOTS * SLOT);
	unsigned long size = 1 + prandom_u32_state(rnd) % 620;
	struct vmap_range *fit = NULL, *below = NULL, *holds = NULL;
	unsigned long nr = 0;

	for (unsigned int i = 0; i < SLOTS; i++) {
		struct vmap_range *range = &model->range[i];

		if (!model->in[i])
			continue;
		nr++;
		if (!fit && range->end - range->start >= size)
			fit = range;
		if (range->start < addr)
			below = range;
		if (range->start <= addr && addr < range->end)
			holds = range;
	}
	KUNIT_EXPECT_EQ(test, model->tree.nr, nr);
	KUNIT_EXPECT_PTR_EQ(test, vmap_first_fit(&model->tree, size), fit);
	KUNIT_EXPECT_PTR_EQ(test, vmap_last_below(&model->tree, addr), below);
	KUNIT_EXPECT_PTR_EQ(test, vmap_lookup(&model->tree, addr), holds);
}

static void tree_agrees_with_a_table(struct kunit *test)
{
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, model);
	prandom_seed_state(&rnd, 20260101);
	for (int round = 0; round < 3000; round++) {
		change(model, &rnd);
		compare(test, model, &rnd);
	}
}

/* --- Shadow ---------------------------------------------------------------------------------------- */

#ifdef CONFIG_KASAN_SHADOW_OFFSET

static bool has_shadow(void)
{
	return kasan_enabled();
}

/* Counts the kept shadow pages one by one. No free range above the bound has ever been used. */
static unsigned long count_kept(unsigned long *counted)
{
	unsigned long at = VMALLOC_END, kept = 0, flags;
	struct vmap_range *range;

	raw_spin_lock_irqsave(&vmap_lock, flags);
	while ((range = vmap_last_below(&vmap_free, at))) {
		unsigned long end = min(range->end, range->start + (1UL << 30));

		for (at = ALIGN(range->start, KASAN_SHADOW_PAGE_SPAN);
		     at + KASAN_SHADOW_PAGE_SPAN <= end; at += KASAN_SHADOW_PAGE_SPAN)
			kept += kasan_shadow_is_real(at);
		at = range->start;
	}
	*counted = vmalloc_kept_shadow(NULL);
	raw_spin_unlock_irqrestore(&vmap_lock, flags);
	return kept;
}

#else

#define KASAN_SHADOW_PAGE_SPAN (8 * PAGE_SIZE)

static bool has_shadow(void)
{
	return false;
}

static unsigned long count_kept(unsigned long *counted)
{
	return *counted = 0;
}

#endif

#define needs_shadow(test) kunit_needs(test, has_shadow(), "shadow memory of vmalloc space")

/* Threads on their way out still take and free stacks: give them time. */
static void expect_kept(struct kunit *test, unsigned long most)
{
	unsigned long kept = 0, counted = 0;

	for (int tries = 0; tries < 100; tries++) {
		if (!most)
			vmalloc_purge();
		kept = count_kept(&counted);
		if (kept == counted && kept <= most)
			return;
		msleep(5);
	}
	KUNIT_EXPECT_EQ(test, kept, counted);
	KUNIT_EXPECT_LE(test, kept, most);
}

/* An area of addresses only: the same page again and again. */
static void *wide_area(struct kunit *test, struct page *page, size_t nr)
{
	struct page **pages = kvmalloc(nr * sizeof(struct page *), GFP_KERNEL);
	void *area;

	KUNIT_ASSERT_NOT_NULL(test, pages);
	for (size_t i = 0; i < nr; i++)
		pages[i] = page;
	area = vmap(pages, (unsigned int)nr);
	kvfree(pages);
	KUNIT_ASSERT_NOT_NULL(test, area);
	return area;
}

static void kept_shadow_is_bounded(struct kunit *test)
{
	unsigned long max, before, after;
	struct page *page;
	void *area[4];
	size_t nr;

	needs_shadow(test);
	expect_kept(test, 0);
	page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, page);
	before = kasan_vmalloc_shadow_pages();
	vmalloc_kept_shadow(&max);
	/* Three quarters of what may be kept each. */
	nr = max * (KASAN_SHADOW_PAGE_SPAN / PAGE_SIZE) * 3 / 4;
	for (size_t i = 0; i < ARRAY_SIZE(area); i++)
		area[i] = wide_area(test, page, nr);
	KUNIT_EXPECT_GE(test, kasan_vmalloc_shadow_pages(), before + 3 * max);
	/* Some of it lies in the middle: area[1] and area[2] are between others. */
	vfree(area[1]);
	vfree(area[2]);
	expect_kept(test, max);
	/* Not all of it went. */
	KUNIT_EXPECT_GE(test, vmalloc_kept_shadow(NULL), max / 4);
	vfree(area[3]);
	vfree(area[0]);
	expect_kept(test, max);
	KUNIT_EXPECT_LE(test, kasan_vmalloc_shadow_pages(), before + max + 8);

	expect_kept(test, 0);
	after = kasan_vmalloc_shadow_pages();
	KUNIT_EXPECT_LE(test, after, before + 4);
	__free_page(page);
}

static void kept_shadow_is_used_again(struct kunit *test)
{
	unsigned long before;

	needs_shadow(test);
	/* The queue of resting addresses keeps shadow as well, so fill it first. */
	for (int i = 0; i < 100; i++)
		vfree(vmalloc(1UL << 20));
	before = kasan_vmalloc_shadow_pages();
	for (int i = 0; i < 100; i++)
		vfree(vmalloc(1UL << 20));
	KUNIT_EXPECT_LE(test, kasan_vmalloc_shadow_pages(), before + 4);
	expect_kept(test, 0);
	KUNIT_EXPECT_LT(test, kasan_vmalloc_shadow_pages(), before);
}

static void neighbours_share_shadow(struct kunit *test)
{
	unsigned long before, pages = 0, last = 0;
	u8 *p[16];

	needs_shadow(test);
	expect_kept(test, 0);
	before = kasan_vmalloc_shadow_pages();
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		unsigned long span;

		p[i] = vmalloc(PAGE_SIZE);
		KUNIT_ASSERT_NOT_NULL(test, p[i]);
		/* Each takes the lowest place, so they come in order of their addresses. */
		span = (unsigned long)kasan_reset_tag(p[i]) / KASAN_SHADOW_PAGE_SPAN;
		pages += span != last;
		last = span;
	}
	/* Each area has a guard page, so two to four areas share a shadow page, except at holes. */
	KUNIT_EXPECT_LE(test, pages, 3 * ARRAY_SIZE(p) / 4);
	KUNIT_EXPECT_LE(test, kasan_vmalloc_shadow_pages(), before + pages + 2);
	for (size_t i = 0; i < ARRAY_SIZE(p); i += 2)
		vfree(p[i]);
	vmalloc_purge();
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		KUNIT_EXPECT_EQ(test, kasan_byte_accessible(p[i]), i % 2 == 1);
	for (size_t i = 1; i < ARRAY_SIZE(p); i += 2)
		vfree(p[i]);
}

static void far_shadow_is_found_at_once(struct kunit *test)
{
	unsigned long batches;

	needs_shadow(test);
	/* Each one far behind the one before, with nothing between them. */
	for (unsigned int shift = 30; shift <= 42; shift += 3) {
		void *p = __vmalloc_align(PAGE_SIZE, 1UL << shift, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, p);
		vfree(p);
	}
	/* Empty the queue of resting addresses. */
	for (int i = 0; i < 40; i++)
		vfree(vmalloc(PAGE_SIZE));
	KUNIT_EXPECT_GT(test, vmalloc_kept_shadow(NULL), 0);
	batches = vmap_shadow_drop();
	KUNIT_EXPECT_GT(test, batches, 0);
	/* One area has two tables of 512 shadow pages each; terabytes have millions of pages. */
	KUNIT_EXPECT_LE(test, batches, 2000);
	expect_kept(test, 0);
}

static void shadow_comes_back(struct kunit *test)
{
	needs_shadow(test);
	for (int i = 0; i < 20; i++) {
		size_t size = (1UL << 20) + 123;
		u8 *p = vmalloc(size);

		KUNIT_ASSERT_NOT_NULL(test, p);
		/* Instrumented code writes the whole area: a wrong shadow byte would be reported. */
		for (size_t at = 0; at < size; at += 509)
			((volatile u8 *)p)[at] = (u8)i;
		((volatile u8 *)p)[size - 1] = (u8)i;
		KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(p + size - 1));
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(p + PAGE_ALIGN(size)));
		vfree(p);
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(p + size / 2));
		vmalloc_purge();
		KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(p + size / 2));
	}
}

/* Areas of all sizes while other threads give all shadow back: areas in use must keep their shadow. */
static int vmap_thread(void *arg)
{
	u8 *slot[12] = {NULL};
	size_t size[12] = {0};
	struct rnd_state rnd;
	int bad = 0;

	prandom_seed_state(&rnd, (u64)(uintptr_t)arg);
	for (int i = 0; i < 300; i++) {
		unsigned int k = prandom_u32_state(&rnd) % ARRAY_SIZE(slot);

		if (slot[k]) {
			bad += slot[k][0] != (u8)k || slot[k][size[k] - 1] != (u8)k;
			vfree(slot[k]);
			slot[k] = NULL;
		} else {
			size[k] = 1 + prandom_u32_state(&rnd) %
					      (PAGE_SIZE << (prandom_u32_state(&rnd) % 7));
			slot[k] = vmalloc(size[k]);
			if (slot[k])
				memset(slot[k], (int)k, size[k]);
		}
		if (!(prandom_u32_state(&rnd) % 16))
			vmalloc_purge();
	}
	for (size_t k = 0; k < ARRAY_SIZE(slot); k++)
		vfree(slot[k]);
	return bad;
}

static void all_at_once(struct kunit *test)
{
	struct task *tasks[NR_CPUS + 1];
	unsigned int n = num_online_cpus() + 1;

	for (unsigned int i = 0; i < n; i++) {
		tasks[i] = kthread_run(vmap_thread, (void *)(uintptr_t)(i + 1), "vmap_stress");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	if (has_shadow())
		expect_kept(test, 0);
}

KASAN_SUITE(vmap, KUNIT_CASE(tree_agrees_with_a_table), KUNIT_CASE(kept_shadow_is_bounded),
	    KUNIT_CASE(kept_shadow_is_used_again), KUNIT_CASE(neighbours_share_shadow),
	    KUNIT_CASE(far_shadow_is_found_at_once), KUNIT_CASE(shadow_comes_back),
	    KUNIT_CASE(all_at_once));
