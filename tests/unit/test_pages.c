/* SPDX-License-Identifier: MIT */
/* test_pages.c - hooks of page allocators, large allocations and vmalloc areas. */
#include <string.h>

#include "../../runtime/base/base.h"
#include "unit.h"

#define PAGES 8
#define PAGE  CONFIG_KASAN_PAGE_SIZE
#define SIZE  (PAGES * PAGE)

static char *pages;
static struct kasan_large_meta meta;
static size_t large_size, large_span = SIZE;

/* The port's answer: one large allocation at the start of the arena. */
static bool find_large(const void *addr, struct kasan_object *obj)
{
	if ((const char *)addr < pages || (const char *)addr >= pages + large_span)
		return false;
	obj->kind = KASAN_OBJECT_LARGE;
	obj->start = pages;
	obj->size = large_size;
	obj->large = &meta;
	return true;
}

static void set_up(void)
{
	pages = unit_watched(2 * SIZE);
	meta = (struct kasan_large_meta){0};
	kasan_posix_hooks.find_object = NULL;
}

static void free_and_allocate_pages(void)
{
	set_up();
	kasan_free_pages(pages, SIZE);
	CHECK_EQ(kasan_first_bad((uintptr_t)pages, 1), (uintptr_t)pages);
	CHECK_EQ(*kasan_shadow_of(pages + SIZE - 1), KASAN_PAGE_FREE);
	CHECK(kasan_byte_accessible(pages + SIZE));
	EXPECT_REPORT("use-after-free", kasan_check_read(pages + 5000, 8));
	kasan_alloc_pages(pages + PAGE, 2 * PAGE);
	CHECK_EQ(kasan_first_bad((uintptr_t)pages + PAGE, SIZE - PAGE),
		 (uintptr_t)pages + 3 * PAGE);
	CHECK(!kasan_byte_accessible(pages + PAGE - 1));
	EXPECT_REPORT("use-after-free", kasan_check_write(pages + 3 * PAGE - 4, 8));
}

/* Whoever frees part of a page frees all of it: nobody else can have the rest. */
static void sizes_that_are_no_pages(void)
{
	const size_t sizes[] = {
		1, 7, 8, 512, PAGE - 1, PAGE + 1, PAGE + 904, 2 * PAGE - 1, 3 * PAGE + 8};

	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const size_t span = (sizes[i] + PAGE - 1) & ~(PAGE - 1);

		set_up();
		kasan_free_pages(pages, sizes[i]);
		for (size_t at = 0; at < SIZE; at += 8)
			CHECK_EQ(kasan_byte_accessible(pages + at), at >= span);
		kasan_free_pages(pages, SIZE);
		CHECK(kasan_alloc_pages(pages, sizes[i]) == pages);
		for (size_t at = 0; at < SIZE; at += 8)
			CHECK_EQ(kasan_byte_accessible(pages + at), at < span);
		kasan_alloc_pages(pages, SIZE);
	}
	kasan_free_pages(pages, 0);
	CHECK_EQ(kasan_first_bad((uintptr_t)pages, SIZE), 0);
}

static void large_allocations(void)
{
	uintptr_t start;

	set_up();
	large_size = 3 * PAGE + 1000;
	kasan_free_pages(pages, SIZE);
	kasan_alloc_pages(pages, 4 * PAGE);
	CHECK(kasan_kmalloc_large(pages, large_size, 4 * PAGE, &meta) == pages);
	kasan_posix_hooks.find_object = find_large;
	start = (uintptr_t)pages;
	CHECK_EQ(kasan_first_bad(start, 4 * PAGE), start + large_size);
	CHECK_EQ(meta.size, large_size);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(pages + large_size + 2, 1));
	CHECK(unit_saw(" allocated %zu-byte region [%016lx, %016lx)", large_size, start,
		       start + large_size));
	CHECK(unit_saw("The buggy address is located 2 bytes to the right of"));
	CHECK(unit_find(0, "Allocated by task ") > 0);
	EXPECT_REPORT("invalid-free",
		      CHECK(kasan_kfree_large(pages + 8, pages, &meta, 0) == KASAN_FREE_BAD));
	CHECK_EQ(unit_find(0, "BUG: KASAN: invalid-free in large_allocations+0x"), 1);
	EXPECT_REPORT("invalid-free",
		      CHECK(kasan_kfree_large(pages + 8, pages, &meta, (uintptr_t)set_up + 4) ==
			    KASAN_FREE_BAD));
	CHECK_EQ(unit_find(0, "BUG: KASAN: invalid-free in set_up+0x"), 1);
	EXPECT_NO_REPORT(CHECK(kasan_kfree_large(pages, pages, &meta, 0) == KASAN_FREE_NOW));
	kasan_free_pages(pages, 4 * PAGE);
	EXPECT_REPORT("use-after-free", kasan_check_read(pages + 100, 1));
	CHECK(unit_find(0, "Freed by task ") > 0);
	EXPECT_REPORT("double-free",
		      CHECK(kasan_kfree_large(pages, pages, &meta, 0) == KASAN_FREE_BAD));
	/* A new allocation forgets the last free. */
	kasan_alloc_pages(pages, 4 * PAGE);
	kasan_kmalloc_large(pages, 100, PAGE, &meta);
	large_size = 100;
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(pages + 100, 1));
	CHECK(unit_find(0, "Freed by task ") < 0);
	kasan_posix_hooks.find_object = NULL;
	CHECK(!kasan_kmalloc_large(NULL, 10, PAGE, &meta));
	CHECK(kasan_kmalloc_large(pages, 10, PAGE, NULL) == pages);
}

/* The stacks that queued work for a large object are kept while it lives and after its free, but not in its next
 * life. */
static void large_aux_stacks(void)
{
	static const char first[] = "Last potentially related work creation:";
	static const char second[] = "Second to last potentially related work creation:";
	int at;

	set_up();
	large_size = 3 * PAGE;
	kasan_posix_hooks.find_object = find_large;
	kasan_alloc_pages(pages, 4 * PAGE);
	kasan_kmalloc_large(pages, large_size, 4 * PAGE, &meta);
	kasan_record_aux_stack(pages + 5000);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(pages + large_size, 1));
	at = unit_find(0, first);
	CHECK(at > unit_find(0, "Allocated by task "));
	CHECK(unit_find((size_t)at, " large_aux_stacks+0x") == at + 1);
	CHECK(unit_find(0, second) < 0);
	kasan_record_aux_stack(pages);
	CHECK_EQ(kasan_kfree_large(pages, pages, &meta, 0), KASAN_FREE_NOW);
	kasan_free_pages(pages, 4 * PAGE);
	EXPECT_REPORT("use-after-free", kasan_check_read(pages + 100, 1));
	CHECK(unit_find(0, first) > unit_find(0, "Freed by task "));
	CHECK(unit_find(0, second) > unit_find(0, first));
	kasan_alloc_pages(pages, 4 * PAGE);
	kasan_kmalloc_large(pages, large_size, 4 * PAGE, &meta);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(pages + large_size, 1));
	CHECK(unit_find(0, first) < 0);
	/* An element of a pool has a new life each time it is taken out. */
	kasan_record_aux_stack(pages);
	CHECK(kasan_mempool_poison_object(pages, 0));
	CHECK(kasan_mempool_unpoison_object(pages, large_size) == pages);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(pages + large_size, 1));
	CHECK(unit_find(0, first) < 0);
	kasan_posix_hooks.find_object = NULL;
}

/* The allocator had no room for a redzone: the pages behind the object are free. */
static void large_without_redzone(void)
{
	const size_t span = 4 * PAGE;
	size_t at;

	set_up();
	large_span = span;
	kasan_posix_hooks.find_object = find_large;
	for (large_size = span - 7; large_size <= span; large_size++) {
		kasan_free_pages(pages, SIZE);
		kasan_alloc_pages(pages, span);
		kasan_kmalloc_large(pages, large_size, span, &meta);
		for (at = large_size; at < large_size + 256; at += at < span + 1 ? 1 : 51) {
			EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(pages + at, 1));
			CHECK(unit_saw("The buggy address is located %zu bytes to the right of",
				       at - large_size));
			CHECK(unit_saw(" allocated %zu-byte region [%016lx, %016lx)", large_size,
				       (uintptr_t)pages, (uintptr_t)pages + large_size));
		}
		EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(pages + 100, SIZE - 100));
		/* So far away from the object, the report is about the free page. */
		EXPECT_REPORT("use-after-free", kasan_check_read(pages + span + 256, 1));
		CHECK(unit_find(0, " allocated ") < 0);
		/* An object that is free cannot be overrun. */
		CHECK_EQ(kasan_kfree_large(pages, pages, &meta, 0), KASAN_FREE_NOW);
		kasan_free_pages(pages, span);
		EXPECT_REPORT("use-after-free", kasan_check_read(pages + span, 1));
		CHECK(unit_find(0, "The buggy address is located ") < 0);
	}
	large_span = SIZE;
	kasan_posix_hooks.find_object = NULL;
}

/* --- vmalloc ---------------------------------------------------------------------------------- */

static struct kasan_area area;

static bool find_area(const void *addr, struct kasan_area *found)
{
	if ((uintptr_t)addr < area.start || (uintptr_t)addr >= area.start + 2 * PAGE)
		return false;
	*found = area;
	return true;
}

static void vmalloc_areas(void)
{
	bool described = false;

	set_up();
	kasan_poison_vmalloc(pages, SIZE);
	area = (struct kasan_area){(uintptr_t)pages + PAGE, 5000, (uintptr_t)vmalloc_areas + 4};
	kasan_unpoison_vmalloc((void *)area.start, area.size);
	CHECK_EQ(kasan_first_bad(area.start, 2 * PAGE), area.start + 5000);
	CHECK_EQ(*kasan_shadow_of((void *)(area.start + 2 * PAGE - 1)), KASAN_VMALLOC_INVALID);
	CHECK(!kasan_byte_accessible(pages + PAGE - 1));
	kasan_posix_hooks.find_area = find_area;
	EXPECT_REPORT("vmalloc-out-of-bounds", kasan_check_write((void *)(area.start + 5000), 1));
	for (size_t i = 0; i < unit_lines(); i++)
		described |= strstr(unit_line(i), "vmalloc_areas") && i > 6;
	CHECK(described);
	CHECK(!strstr(unit_line((size_t)unit_find(0, "Memory state")), "%"));
	kasan_poison_vmalloc((void *)area.start, area.size);
	CHECK(!kasan_byte_accessible((void *)area.start));
	kasan_posix_hooks.find_area = NULL;
	EXPECT_REPORT("vmalloc-out-of-bounds", kasan_check_read((void *)area.start, 1));
}

/* From every size to every other one, by itself and back: just that many bytes can be used. */
static void vmalloc_areas_resized(void)
{
	static const size_t sizes[] = {1,  7,	 8,	   9,	 15,	     16,
				       17, 4000, PAGE - 1, PAGE, PAGE + 904, 2 * PAGE};
	const size_t count = sizeof(sizes) / sizeof(*sizes);

	set_up();
	for (size_t i = 0; i < count * count; i++) {
		const size_t from = sizes[i / count], to = sizes[i % count];

		kasan_poison_vmalloc(pages, SIZE);
		kasan_unpoison_vmalloc(pages, from);
		kasan_vrealloc(pages, from, to);
		CHECK_EQ(kasan_first_bad((uintptr_t)pages, SIZE), (uintptr_t)pages + to);
		CHECK(!kasan_byte_accessible(pages + (from > to ? from : to)));
		CHECK_EQ(*kasan_shadow_of(pages + ((to + 7) & ~7UL)), KASAN_VMALLOC_INVALID);
	}
}

UNIT_MAIN(free_and_allocate_pages, sizes_that_are_no_pages, large_allocations, large_aux_stacks,
	  large_without_redzone, vmalloc_areas, vmalloc_areas_resized)
