/* SPDX-License-Identifier: MIT */
/*
 * test_page_heap_tags.c - simple page allocators in the software tag-based mode: pages have tags, a stale pointer
 * cannot free them, and reports name the allocation.
 *
 * The host's CPU does not ignore the top byte of an address, so pointers with a tag are never dereferenced.
 */
#include <string.h>

#include "../../runtime/base/base.h"
#include "unit.h"

#define PAGE  4096UL
#define PAGES 8U

static bool used[PAGES];
static unsigned int released;
static char *base;

static void *take(struct kasan_page_heap *heap, size_t count)
{
	for (unsigned int i = 0; i + count <= PAGES; i++) {
		if (memchr(used + i, true, count))
			continue;
		memset(used + i, true, count);
		return base + i * PAGE;
	}
	return NULL;
}

static void give(struct kasan_page_heap *heap, void *first, size_t count)
{
	CHECKF(first == kasan_reset_tag(first), "the allocator got a tag");
	memset(used + ((char *)first - base) / PAGE, false, count);
	__memset(first, 1, count * PAGE);
	released++;
}

static void new_heap(struct kasan_page_heap *heap)
{
	/* Tags of the memory in front are read as well. */
	base = (char *)unit_arena((PAGES + 1) * PAGE) + PAGE;
	memset(used, false, sizeof(used));
	released = 0;
	heap->name = "pages";
	heap->start = base;
	heap->size = PAGES * PAGE;
	heap->acquire = take;
	heap->release = give;
	CHECK(!kasan_page_heap_add(heap));
}

static void pages_have_tags(void)
{
	static struct kasan_page_heap heap = {.redzone = PAGE};
	char *p, *plain;

	new_heap(&heap);
	for (size_t size = 0; size <= 2 * PAGE; size += 41) {
		p = kasan_page_alloc(&heap, size);
		REQUIRE(p);
		plain = kasan_reset_tag(p);
		CHECK(p != plain && (uintptr_t)plain % PAGE == 0);
		CHECK_EQ(kasan_page_heap_size(&heap, p), size);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, size + 1), (uintptr_t)plain + size);
		CHECK(kasan_page_free(&heap, p, size, 0));
		CHECK(!kasan_byte_accessible(p));
	}
}

static void stale_pointers_cannot_free(void)
{
	static struct kasan_page_heap heap;
	char *p, *q;

	new_heap(&heap);
	p = kasan_page_alloc(&heap, PAGE);
	CHECK(kasan_page_free(&heap, p, PAGE, 0));
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free(&heap, p, PAGE, 0)));
	/* The same page has another owner, and another tag. */
	q = kasan_page_alloc(&heap, PAGE);
	CHECK(q != p && kasan_reset_tag(q) == kasan_reset_tag(p));
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free(&heap, p, PAGE, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_page_free(&heap, q + 16, 0, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, q, PAGE, 0)));
	CHECK_EQ(released, 2);
}

static void reports_name_the_allocation(void)
{
	static struct kasan_page_heap heap = {.redzone = PAGE, .quarantine_max = 4 * PAGE};
	char *p;
	uintptr_t a;

	new_heap(&heap);
	p = kasan_page_alloc(&heap, PAGE);
	a = (uintptr_t)kasan_reset_tag(p);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + PAGE, 1));
	CHECK(unit_saw(" allocated 4096-byte region [%016lx, %016lx)", a, a + PAGE));
	CHECK(unit_find(0, "Allocated by task ") > 0);
	CHECK(kasan_page_free(&heap, p, PAGE, 0));
	CHECK_EQ(released, 0);
	EXPECT_REPORT("use-after-free", kasan_check_read(p + 100, 1));
	CHECK(unit_saw(" freed 4096-byte region [%016lx, %016lx)", a, a + PAGE));
	CHECK(unit_find(0, "Allocated by task ") > 0);
	CHECK(unit_find(0, "Freed by task ") > 0);
	kasan_page_heap_shrink(&heap);
	CHECK_EQ(released, 1);
}

/* The pages of a freed allocation find new owners one by one; the others still belong to it. */
static void parts_of_a_freed_allocation(void)
{
	static struct kasan_page_heap heap;
	char *p, *q;
	uintptr_t a;

	new_heap(&heap);
	p = kasan_page_alloc(&heap, 3 * PAGE);
	a = (uintptr_t)kasan_reset_tag(p);
	CHECK(kasan_page_free(&heap, p, 0, 0));
	q = kasan_page_alloc(&heap, 100);
	CHECK((uintptr_t)kasan_reset_tag(q) == a);
	EXPECT_REPORT("use-after-free", kasan_check_read(p + PAGE, 1));
	CHECK(unit_saw(" freed 12288-byte region [%016lx, %016lx)", a, a + 3 * PAGE));
	CHECK(unit_find(0, "Freed by task ") > 0);
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free(&heap, p + 2 * PAGE, 0, 0)));
	CHECK(unit_saw(" 12288-byte region [%016lx, %016lx)", a, a + 3 * PAGE));
	CHECK(unit_find(0, "Freed by task ") > 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(q + 100, 1));
	CHECK(unit_saw(" allocated 100-byte region [%016lx, %016lx)", a, a + 100));
	CHECK(kasan_page_free(&heap, q, 100, 0));
}

/* A part keeps the tag of the allocation, and a pointer to a part that was freed is stale. */
static void an_allocation_is_freed_in_parts(void)
{
	static struct kasan_page_heap heap;
	char *p, *q;
	uintptr_t a;

	new_heap(&heap);
	p = kasan_page_alloc(&heap, 4 * PAGE);
	a = (uintptr_t)kasan_reset_tag(p);
	EXPECT_REPORT("double-free",
		      CHECK(!kasan_page_free_part(&heap, (char *)kasan_set_tag(p, 0x5a) + PAGE,
						  PAGE, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_page_free_part(&heap, p + PAGE, PAGE, 0)));
	CHECK_EQ(released, 1);
	EXPECT_REPORT("use-after-free", kasan_check_read(p + PAGE, 1));
	CHECK(unit_saw(" freed 4096-byte region [%016lx, %016lx)", a + PAGE, a + 2 * PAGE));
	CHECK(unit_find(0, "Allocated by task ") > 0);
	q = kasan_page_alloc(&heap, PAGE);
	CHECK((uintptr_t)kasan_reset_tag(q) == a + PAGE && q != p + PAGE);
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free_part(&heap, p + PAGE, PAGE, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_check_write(p, PAGE)));
	EXPECT_NO_REPORT(CHECK(kasan_check_write(p + 2 * PAGE, 2 * PAGE)));
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, p + 2 * PAGE, 2 * PAGE, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, p, PAGE, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, q, PAGE, 0)));
	CHECK_EQ(released, 4);
}

static void poisoned_start(void)
{
	static struct kasan_page_heap heap;
	char *p;
	uintptr_t a;

	new_heap(&heap);
	p = kasan_page_alloc(&heap, 2 * PAGE);
	a = (uintptr_t)kasan_reset_tag(p);
	kasan_poison(kasan_reset_tag(p), 64, KASAN_USER_POISON);
	EXPECT_REPORT("use-after-poison", kasan_check_read(p, 1));
	CHECK(unit_saw(" allocated 8192-byte region [%016lx, %016lx)", a, a + 2 * PAGE));
	EXPECT_NO_REPORT(CHECK(kasan_page_free(&heap, p, 0, 0)));
	EXPECT_REPORT("double-free", CHECK(!kasan_page_free(&heap, p, 0, 0)));
}

UNIT_MAIN(pages_have_tags, stale_pointers_cannot_free, reports_name_the_allocation,
	  parts_of_a_freed_allocation, an_allocation_is_freed_in_parts, poisoned_start)
