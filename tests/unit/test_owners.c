/* SPDX-License-Identifier: MIT */
/* test_owners.c - which owner a report names if the memory of one allocator is inside another's, and if an access
 * starts in one object and its first bad byte is in another. */
#include <stdio.h>
#include <string.h>

#include "../../runtime/base/base.h"
#include "fake_slab.h"
#include "unit.h"

#define PAGES_SIZE 65536UL

static char *pages;

static void keep(struct kasan_heap *heap, void *raw)
{
	(void)heap;
	(void)raw;
}

static struct kasan_heap inner = {.name = "inner", .release = keep};
static struct kasan_heap outer = {.name = "outer", .release = keep};

/* The port's answer: one large allocation at [large_start, large_start + large_size). */
static char *large_start;
static size_t large_size;

static bool find_large(const void *addr, struct kasan_object *obj)
{
	if ((const char *)addr < large_start || (const char *)addr >= large_start + large_size)
		return false;
	obj->kind = KASAN_OBJECT_LARGE;
	obj->start = large_start;
	obj->size = large_size;
	obj->name = "pages";
	return true;
}

static void set_up(char *start, size_t size)
{
	static bool added;

	if (!added) {
		added = true;
		kasan_heap_add(&inner);
		kasan_heap_add(&outer);
	}
	pages = unit_watched(PAGES_SIZE);
	memset(pages, 0, PAGES_SIZE);
	large_start = start ? start : pages;
	large_size = size;
	kasan_posix_hooks.find_object = find_large;
}

static void check_region(const char *name, const char *state, const void *start, size_t size)
{
	const uintptr_t at = (uintptr_t)start;
	char line[128];
	bool named = false;

	snprintf(line, sizeof(line), " which belongs to the cache %s of size ", name);
	named = unit_find(0, line) > 0;
	CHECKF(named, "not of %s", name);
	if (!CHECK(unit_saw(" %s%zu-byte region [%016lx, %016lx)", state, size, at, at + size)) ||
	    !named)
		unit_dump();
}

/* A heap gets its memory from a hooked page allocator. */
static void heap_in_pages(void)
{
	char *p, *q;

	set_up(NULL, PAGES_SIZE);
	p = kasan_heap_alloc(&inner, pages + 256, 40, 0);
	q = kasan_heap_alloc(&inner, pages + 512, 50, 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + 40, 1));
	check_region("inner", "allocated ", p, 40);
	CHECK(unit_saw("The buggy address is located 0 bytes to the right of"));
	CHECK(unit_find(0, "Allocated by task ") > 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(q - 1, 1));
	check_region("inner", "allocated ", q, 50);
	EXPECT_REPORT("invalid-free", kasan_heap_free(&inner, p + 16, 0));
	check_region("inner", "", p, 40);
	EXPECT_NO_REPORT(kasan_heap_free(&inner, p, 0));
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p + 3, 1));
	check_region("inner", "freed ", p, 40);
	CHECK(unit_find(0, "Freed by task ") > 0);
	EXPECT_REPORT("double-free", kasan_heap_free(&inner, p, 0));
	check_region("inner", "", p, 40);
}

/* The rest of these pages belongs to no heap, even if a chunk is close, and even if its header is overwritten. */
static void pages_beside_a_heap(void)
{
	char *p;

	set_up(NULL, PAGES_SIZE);
	p = kasan_heap_alloc(&inner, pages + 256, 40, 0);
	kasan_poison(pages + 1024, 8, KASAN_SLAB_REDZONE);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(pages + 1024, 1));
	check_region("pages", "allocated ", pages, PAGES_SIZE);
	__memset(p - 64, 0x5a, 48);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(pages + 1024, 1));
	check_region("pages", "allocated ", pages, PAGES_SIZE);
	/* The chunk itself is still known by its shadow. */
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 41, 1));
	check_region("heap", "allocated ", p, 40);
	CHECK(unit_saw("The metadata of this object was overwritten: what it said is left out"));
	kasan_heap_free(&inner, p, 0);
}

/* A heap inside a kmalloc() object. */
static void heap_in_a_slab_object(void)
{
	struct fake_slab *slab;
	char *object, *p;

	set_up(NULL, 0);
	slab = fake_slab_create("pool", 1024, 8, 0, 4);
	object = fake_slab_alloc(slab, 1024);
	p = kasan_heap_alloc(&inner, object + 512, 100, 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + 100, 4));
	check_region("inner", "allocated ", p, 100);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(object + 1024, 1));
	check_region("pool", "allocated ", object, 1024);
	/* The object is freed, and the heap's objects with it. */
	fake_slab_free(slab, object);
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p, 1));
	check_region("pool", "freed ", object, 1024);
	fake_slab_forget();
}

/* The other way round: the port's allocator gets its memory from a heap. */
static void pages_in_a_heap(void)
{
	char *p;

	set_up(NULL, 0);
	p = kasan_heap_alloc(&outer, pages + 256, 8192, 0);
	large_start = p + 1024;
	large_size = 1000;
	kasan_poison(p + 1504, 8, KASAN_SLAB_REDZONE);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 1504, 1));
	check_region("pages", "allocated ", p + 1024, 1000);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 8192, 1));
	check_region("outer", "allocated ", p, 8192);
	kasan_heap_free(&outer, p, 0);
}

/* Chunks of one heap are inside a chunk of another heap, before its end. */
static void heap_in_a_heap(void)
{
	char *whole, *p[8];

	set_up(NULL, 0);
	whole = kasan_heap_alloc(&outer, pages + 256, 8192, 0);
	for (size_t i = 0; i < 8; i++)
		p[i] = kasan_heap_alloc(&inner, whole + 512 * i, 100, 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p[5] + 100, 1));
	check_region("inner", "allocated ", p[5], 100);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(whole + 8192, 1));
	check_region("outer", "allocated ", whole, 8192);
	/* A chunk whose header is overwritten is passed over, as the others are. */
	__memset(p[6] - 64, 0x5a, 48);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(whole + 8200, 1));
	check_region("outer", "allocated ", whole, 8192);
	kasan_heap_free(&outer, whole, 0);
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p[5], 1));
	check_region("outer", "freed ", whole, 8192);
}

/* An access starts in the pages, beside the heap, and its first bad byte is at one of the heap's chunks. */
static void first_bad_byte_in_the_inner_one(void)
{
	char *p;

	set_up(NULL, PAGES_SIZE);
	p = kasan_heap_alloc(&inner, pages + 1024, 40, 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(pages + 512, 1000));
	check_region("inner", "allocated ", p, 40);
	CHECK(unit_saw("The buggy address is located %zu bytes to the left of",
		       (size_t)(p - pages - 512)));
}

/* An access that leaves the object in which it starts overruns that one, whatever comes after it. */
static void first_bad_byte_in_the_next_one(void)
{
	char *p;

	set_up(NULL, 8192);
	p = kasan_heap_alloc(&inner, pages + 8192, 40, 0);
	REQUIRE(p);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(pages + 8000, 200));
	check_region("pages", "allocated ", pages, 8192);
	CHECK(unit_saw("The buggy address is located 8000 bytes inside of"));
}

UNIT_MAIN(heap_in_pages, pages_beside_a_heap, heap_in_a_slab_object, pages_in_a_heap,
	  heap_in_a_heap, first_bad_byte_in_the_inner_one, first_bad_byte_in_the_next_one)
