// SPDX-License-Identifier: MIT
/*
 * vmem.c - traffic in whole pages: blocks of the page allocator, vmalloc areas, and threads, whose stacks
 * are areas too and are left poisoned here and there by the frames that ran on them.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/sched.h>
#include <kernel/string.h>

#include "soak.h"

/* --- Pages ----------------------------------------------------------------------------------------- */

#define BLOCKS	  48U
#define ORDER_MAX 5U

struct block {
	struct page *page;
	u32 nr, key;
	bool exact;
};

struct blocks {
	struct block slot[BLOCKS];
};

static bool pages_setup(struct soak_worker *w)
{
	w->private = kzalloc(sizeof(struct blocks), GFP_KERNEL);
	return w->private;
}

static void free_private(struct soak_worker *w)
{
	kfree(w->private);
}

static void get_block(struct soak_worker *w, struct block *b)
{
	u32 order = soak_below(w, 1 + soak_below(w, ORDER_MAX + 1));
	gfp_t gfp = soak_below(w, 4) ? GFP_KERNEL : GFP_ATOMIC | __GFP_NOWARN;

	b->exact = !soak_below(w, 4);
	b->key = prandom_u32_state(&w->rnd);
	b->nr = b->exact ? 1 + soak_below(w, 1U << order) : 1U << order;
	b->page = b->exact ? alloc_pages_exact(gfp, b->nr) : alloc_pages(gfp, order);
	if (b->page)
		soak_fill(page_to_virt(b->page), (size_t)b->nr << PAGE_SHIFT, b->key);
	else
		soak_no_memory();
}

static void put_block(struct soak_worker *w, struct block *b)
{
	soak_check(page_to_virt(b->page), (size_t)b->nr << PAGE_SHIFT, b->key, "a block of pages");
	if (b->exact) {
		free_pages_exact(b->page, b->nr);
	} else if (soak_below(w, 4)) {
		__free_pages(b->page, get_order((size_t)b->nr << PAGE_SHIFT));
	} else {
		get_page(b->page);
		put_page(b->page);
		put_page(b->page);
	}
	b->page = NULL;
}

static void pages_step(struct soak_worker *w)
{
	struct blocks *blocks = w->private;
	struct block *b = &blocks->slot[soak_below(w, BLOCKS)];

	if (b->page)
		put_block(w, b);
	else
		get_block(w, b);
}

static void pages_drain(struct soak_worker *w)
{
	struct blocks *blocks = w->private;

	for (unsigned int i = 0; i < BLOCKS; i++) {
		if (blocks->slot[i].page)
			put_block(w, &blocks->slot[i]);
	}
}

/* --- vmalloc --------------------------------------------------------------------------------------- */

#define AREAS 24U

struct area {
	void *p;
	u32 size, key;
};

struct areas {
	struct area slot[AREAS];
};

static bool areas_setup(struct soak_worker *w)
{
	w->private = kzalloc(sizeof(struct areas), GFP_KERNEL);
	return w->private;
}

static void get_area(struct soak_worker *w, struct area *a)
{
	a->size = 1 + soak_below(w, 1U << (8 + soak_below(w, 10)));
	a->key = prandom_u32_state(&w->rnd);
	switch (soak_below(w, 4)) {
	case 0:
		a->p = vzalloc(a->size);
		if (a->p && memchr_inv(a->p, 0, a->size))
			soak_fail("vzalloc(%u) is not clear", a->size);
		break;
	case 1:
		a->p = __vmalloc_align(a->size, PAGE_SIZE << soak_below(w, 5), GFP_KERNEL);
		break;
	case 2:
		a->p = kvmalloc(a->size, GFP_KERNEL);
		break;
	default:
		a->p = vmalloc(a->size);
		break;
	}
	if (a->p)
		soak_fill(a->p, a->size, a->key);
	else
		soak_no_memory();
}

static void put_area(struct area *a)
{
	soak_check(a->p, a->size, a->key, "an area");
	kvfree(a->p);
	a->p = NULL;
}

static void areas_step(struct soak_worker *w)
{
	struct areas *areas = w->private;
	struct area *a = &areas->slot[soak_below(w, AREAS)];

	if (a->p)
		put_area(a);
	else
		get_area(w, a);
}

static void areas_drain(struct soak_worker *w)
{
	struct areas *areas = w->private;

	for (unsigned int i = 0; i < AREAS; i++) {
		if (areas->slot[i].p)
			put_area(&areas->slot[i]);
	}
}

/* --- Threads --------------------------------------------------------------------------------------- */

/* Frames with redzones on a stack of random depth; half of the threads leave them there. */
static noinline u32 descend(u32 depth, bool exit_there)
{
	volatile char low[24], high[40];

	low[depth % sizeof(low)] = (char)depth;
	high[depth % sizeof(high)] = (char)depth;
	if (!depth) {
		if (exit_there)
			kthread_exit(1);
		return 1;
	}
	return descend(depth - 1, exit_there) + (u32)(low[depth % sizeof(low)] & 0) +
	       (u32)(high[depth % sizeof(high)] & 0);
}

static int deep_thread(void *arg)
{
	u32 how = (u32)(uintptr_t)arg;

	return (int)descend(how >> 1, how & 1);
}

static void threads_step(struct soak_worker *w)
{
	size_t size = THREAD_SIZE << soak_below(w, 3);
	void *how = (void *)(uintptr_t)soak_below(w, 120);
	struct task *task = kthread_create_sized(deep_thread, how, size, "soak_deep");

	if (IS_ERR(task)) {
		soak_no_memory();
		return;
	}
	wake_up_process(task);
	if (kthread_join(task) != 1)
		soak_fail("a thread returned something else");
}

const struct soak_kind soak_vmem_kinds[] = {
	{.name = "pages",
	 .threads = 2,
	 .setup = pages_setup,
	 .step = pages_step,
	 .drain = pages_drain,
	 .teardown = free_private},
	{.name = "areas",
	 .threads = 2,
	 .setup = areas_setup,
	 .step = areas_step,
	 .drain = areas_drain,
	 .teardown = free_private},
	{.name = "threads", .threads = 1, .step = threads_step, .pause_ms = 20},
	{},
};
