/* SPDX-License-Identifier: MIT */
/* test_mempool.c - hooks of memory pools, objects that are freed in two steps, and stacks that allocators store
 * themselves. */
#include <string.h>

#include "../../runtime/alloc/meta.h"
#include "../../runtime/track/track.h"
#include "fake_slab.h"

/* The users of a pool: their stacks are recognised by these names. */
static __attribute__((noinline)) bool put_back(void *p)
{
	return kasan_mempool_poison_object(p, 0);
}

static __attribute__((noinline)) void *take_out(void *p, size_t size)
{
	return kasan_mempool_unpoison_object(p, size);
}

/* Return: true if the last report has the section @headline, and its first line begins with @first. */
static bool has_stack(const char *headline, const char *first)
{
	int at = unit_find(0, headline);

	return at > 0 && unit_find((size_t)at, first) == at + 1;
}

static void slab_objects(void)
{
	struct fake_slab *slab = fake_slab_create("pool", 64, 8, 0, 3);
	char *p = fake_slab_alloc(slab, 40);
	uintptr_t start = (uintptr_t)p;

	CHECK(put_back(p));
	CHECK(!kasan_byte_accessible(p));
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p + 8, 1));
	CHECK(has_stack("Allocated by task ", " fake_slab_alloc+0x"));
	CHECK(has_stack("Freed by task ", " put_back+0x"));
	EXPECT_REPORT("double-free", CHECK(!kasan_mempool_poison_object(p, 0)));
	EXPECT_REPORT("double-free", CHECK_EQ(fake_slab_free(slab, p), KASAN_FREE_BAD));
	take_out(p, 50);
	CHECK_EQ(kasan_first_bad(start, 64), start + 50);
	CHECK_EQ(kasan_object_size(&slab->cache, p), 50);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 50, 1));
	CHECK(has_stack("Allocated by task ", " take_out+0x"));
	CHECK(unit_find(0, "Freed by task ") < 0);
	EXPECT_REPORT("invalid-free", CHECK(!kasan_mempool_poison_object(p + 1, 0)));
	/* None of this has freed the object: the allocator takes it back. */
	EXPECT_NO_REPORT(CHECK(fake_slab_free(slab, p) != KASAN_FREE_BAD));
	EXPECT_NO_REPORT(CHECK(kasan_mempool_poison_object(NULL, 0)));
}

/* The pool keeps its elements: none may wait in the quarantine. */
static void nothing_is_queued(void)
{
	struct fake_slab *slab = fake_slab_create("pool", 64, 8, 0, 4);
	char *p = fake_slab_alloc(slab, 64);
	struct kasan_quarantine_stats before, after;

	kasan_quarantine_stats(&before);
	for (int i = 0; i < 1000; i++) {
		CHECK(kasan_mempool_poison_object(p, 0));
		kasan_mempool_unpoison_object(p, 64);
	}
	kasan_quarantine_stats(&after);
	CHECK_EQ(before.objects, after.objects);
	CHECK_EQ(slab->release_count, 0);
}

static char *pages;
static struct kasan_large_meta meta;
#define LARGE (2 * 4096 + 100)

static bool find_large(const void *addr, struct kasan_object *obj)
{
	if ((const char *)addr < pages || (const char *)addr >= pages + 3 * 4096)
		return false;
	obj->kind = KASAN_OBJECT_LARGE;
	obj->start = pages;
	obj->size = LARGE;
	obj->large = &meta;
	return true;
}

static void large_objects(void)
{
	uintptr_t start;

	pages = unit_watched(65536);
	start = (uintptr_t)pages;
	kasan_posix_hooks.find_object = find_large;
	CHECK(kasan_kmalloc_large(pages, LARGE, 3 * 4096, &meta) == pages);
	EXPECT_REPORT("invalid-free", CHECK(!kasan_mempool_poison_object(pages + 8, 0)));
	CHECK(put_back(pages));
	EXPECT_REPORT("use-after-free", kasan_check_write(pages + LARGE - 1, 1));
	CHECK(has_stack("Allocated by task ", " large_objects+0x"));
	CHECK(has_stack("Freed by task ", " put_back+0x"));
	EXPECT_REPORT("double-free", CHECK(!kasan_mempool_poison_object(pages, 0)));
	take_out(pages, LARGE);
	CHECK_EQ(kasan_first_bad(start, 3 * 4096), start + LARGE);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(pages + LARGE, 1));
	CHECK(has_stack("Allocated by task ", " take_out+0x"));
	CHECK(unit_find(0, "Freed by task ") < 0);
	fake_slab_forget();
	/* Memory without an owner. */
	EXPECT_REPORT("invalid-free", CHECK(!kasan_mempool_poison_object(pages, 0)));
}

static void whole_pages(void)
{
	char *p = unit_watched(65536);

	CHECK(kasan_mempool_poison_pages(p, 8192, 0));
	EXPECT_REPORT("use-after-free", kasan_check_read(p + 8191, 1));
	CHECK(kasan_byte_accessible(p + 8192));
	EXPECT_REPORT("double-free", CHECK(!kasan_mempool_poison_pages(p, 8192, 0)));
	kasan_mempool_unpoison_pages(p, 8192);
	EXPECT_NO_REPORT(kasan_check_write(p, 8192));
}

/* SLAB_TYPESAFE_BY_RCU: the object is freed and still readable, then poisoned and queued. */
static void freed_in_two_steps(void)
{
	struct fake_slab *slab = fake_slab_create("rcu", 64, 8, KASAN_CACHE_NO_QUARANTINE, 3);
	char *p = fake_slab_alloc(slab, 64);
	enum kasan_free_verdict verdict;

	CHECK_EQ(kasan_slab_free(&slab->cache, p, p, 0), KASAN_FREE_NOW);
	EXPECT_NO_REPORT(kasan_check_read(p, 64));
	EXPECT_REPORT("double-free", kasan_slab_free(&slab->cache, p, p, 0));
	verdict = kasan_slab_free_deferred(&slab->cache, p);
	CHECK(verdict == KASAN_FREE_QUARANTINED || verdict == KASAN_FREE_NOW);
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p, 1));
	CHECK(unit_find(0, "Freed by task ") > 0);
	EXPECT_REPORT("double-free", kasan_slab_free(&slab->cache, p, p, 0));
	kasan_cache_shrink(&slab->cache);
	CHECK_EQ(slab->release_count, verdict == KASAN_FREE_QUARANTINED);
}

static __attribute__((noinline)) uint32_t save_here(void)
{
	return kasan_stack_save(0);
}

static void stacks_for_allocators(void)
{
	uint32_t first = 0, handle;

	for (int i = 0; i < 3; i++) {
		handle = save_here();
		CHECK(handle != 0);
		CHECK(!first || handle == first);
		first = handle;
	}
}

static uintptr_t handlers_frame;

static void in_interrupt(struct kasan_port_task *task)
{
	task->trace_end = handlers_frame;
}

static __attribute__((noinline)) uint32_t handler(void)
{
	/* Below the record that leads to its caller. */
	handlers_frame = (uintptr_t)__builtin_frame_address(0) + KASAN_FRAME_RECORD_LOW;
	return save_here();
}

/* The interrupted code is not part of the trace: else each trace would be a new one. */
static void stacks_in_interrupts(void)
{
	uint32_t here = handler(), there = handler(), again;
	const uintptr_t *pcs;
	size_t depth;

	CHECK(here && there && here != there);
	depth = kasan_depot_fetch(here, &pcs);
	kasan_posix_hooks.task = in_interrupt;
	here = handler();
	again = handler();
	kasan_posix_hooks.task = NULL;
	CHECK(here && here == again && here != there);
	CHECK(kasan_depot_fetch(here, &pcs) < depth);
	CHECK(kasan_depot_fetch(here, &pcs) >= 2);
}

UNIT_MAIN(slab_objects, nothing_is_queued, large_objects, whole_pages, freed_in_two_steps,
	  stacks_for_allocators, stacks_in_interrupts)
