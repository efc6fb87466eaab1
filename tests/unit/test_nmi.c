/* SPDX-License-Identifier: MIT */
/* test_nmi.c - under each lock that the runtime takes comes an NMI, which calls all that <kasan/kasan.h> allows there.
 * Nothing may wait for what the interrupted code holds, and no bug of either may be lost. */
#include <string.h>

#include "../../runtime/alloc/globals.h"
#include "abi.h"
#include "fake_slab.h"

#define PAGE 4096UL

/* Bugs of the NMI in a case. They are bounded, because a report of one takes a lock, under which comes the next. */
#define BUGS 64U

static bool in_nmi;
static unsigned int nmis, planted;
/* Freed, so that each access is a bug; and alive, so that its stacks can be noted. */
static char *freed, *alive;

static void nmi(void)
{
	/* The locks that it takes itself. */
	if (in_nmi)
		return;
	in_nmi = true;
	nmis++;
	kasan_stack_save(0);
	kasan_record_aux_stack(alive);
	__asan_load8_noabort((uintptr_t)alive);
	if (planted < BUGS) {
		planted++;
		__asan_load1_noabort((uintptr_t)freed);
	}
	in_nmi = false;
}

/* Run @work with NMIs. @bugs: how many it has of its own. */
static void interrupted(void (*work)(void), unsigned int bugs)
{
	struct fake_slab *slab = fake_slab_create("nmi", 64, 8, KASAN_CACHE_KMALLOC, 4);

	alive = fake_slab_alloc(slab, 64);
	freed = fake_slab_alloc(slab, 64);
	fake_slab_free(slab, freed);
	unit_clear();
	nmis = planted = 0;
	kasan_posix_hooks.locked = nmi;
	work();
	kasan_posix_hooks.locked = NULL;
	CHECK(nmis >= BUGS && planted == BUGS);
	CHECK_EQ(unit_reports(), BUGS + bugs);
	fake_slab_forget();
}

static void slab_work(void)
{
	struct fake_slab *slab = fake_slab_create("work", 96, 8, KASAN_CACHE_KMALLOC, 64);

	for (int round = 0; round < 8; round++) {
		void *objects[16];

		for (int i = 0; i < 16; i++)
			objects[i] = fake_slab_alloc(slab, 90);
		for (int i = 0; i < 16; i++)
			fake_slab_free(slab, objects[i]);
		kasan_cache_shrink(&slab->cache);
	}
}

static void slabs(void)
{
	interrupted(slab_work, 0);
}

static void release(struct kasan_heap *heap, void *raw)
{
	(void)heap;
	(void)raw;
}

static void heap_work(void)
{
	static struct kasan_heap heap = {
		.name = "heap", .quarantine_max = 1 << 20, .release = release};
	char *raw = unit_watched(1 << 16);

	kasan_heap_add(&heap);
	for (int i = 0; i < 64; i++) {
		const size_t span = kasan_heap_span(&heap, 100, 16);
		void *p = kasan_heap_alloc(&heap, raw, 100, 16);

		REQUIRE(p);
		raw += span + 8;
		kasan_heap_free(&heap, p, 0);
	}
	kasan_heap_shrink(&heap);
}

static void heaps(void)
{
	interrupted(heap_work, 0);
}

static void *take(struct kasan_page_heap *heap, size_t count)
{
	(void)count;
	return heap->start;
}

static void give(struct kasan_page_heap *heap, void *first, size_t count)
{
	(void)heap;
	(void)first;
	(void)count;
}

static void page_work(void)
{
	static struct kasan_page_heap heap = {
		.name = "pages", .size = 4 * PAGE, .acquire = take, .release = give};
	char *pages = unit_watched(1 << 16);

	kasan_free_pages(pages + 8 * PAGE, 2 * PAGE);
	kasan_alloc_pages(pages + 8 * PAGE, 2 * PAGE);
	heap.start = pages;
	CHECK(!kasan_page_heap_add(&heap));
	for (int i = 0; i < 32; i++) {
		void *p = kasan_page_alloc(&heap, PAGE);

		REQUIRE(p);
		kasan_page_free(&heap, p, PAGE, 0);
		kasan_page_heap_shrink(&heap);
	}
}

static void page_heaps(void)
{
	interrupted(page_work, 0);
}

static void global_work(void)
{
	char *p = unit_watched(PAGE);
	struct kasan_global g = {.beg = (uintptr_t)p,
				 .size = 13,
				 .size_with_redzone = 64,
				 .name = "g",
				 .module = "k.c"};

	__asan_register_globals(&g, 1);
	__asan_load1_noabort((uintptr_t)p + 13);
	__asan_unregister_globals(&g, 1);
}

static void globals_and_their_report(void)
{
	interrupted(global_work, 1);
}

/* The report lock itself, and what a report takes under it. */
static void report_work(void)
{
	__asan_store8_noabort((uintptr_t)freed + 8);
	kasan_report_invalid_free(alive + 3, 0);
}

static void reports(void)
{
	interrupted(report_work, 2);
}

UNIT_MAIN(slabs, heaps, page_heaps, globals_and_their_report, reports)
