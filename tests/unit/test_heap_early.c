/* SPDX-License-Identifier: MIT */
/* test_heap_early.c - simple heaps from their first allocation on: chunks from before the hooks, which have no header
 * and never get one, and the malloc family on top of kasan_heap.acquire. */
#include <string.h>

#include "../../runtime/base/base.h"
#include "unit.h"

/* The smallest allocator that knows its chunks' sizes: a word before each chunk holds its size. */
static char *bump;
static unsigned int released;
static void *last_released;
static bool empty;

static void *raw_take(struct kasan_heap *heap, size_t size)
{
	size_t *word = (size_t *)bump;

	if (empty)
		return NULL;
	size = (size + 7) & ~(size_t)7;
	*word = size;
	bump += 8 + size;
	return word + 1;
}

static void raw_give(struct kasan_heap *heap, void *raw)
{
	released++;
	last_released = raw;
}

static size_t raw_size(struct kasan_heap *heap, const void *raw)
{
	return ((const size_t *)raw)[-1];
}

static struct kasan_heap make_heap(size_t quarantine, bool sizes)
{
	bump = unit_watched(65536);
	kasan_unpoison(bump, 65536);
	released = 0;
	empty = false;
	return (struct kasan_heap){
		.name = "early",
		.quarantine_max = quarantine,
		.release = raw_give,
		.acquire = raw_take,
		.raw_size = sizes ? raw_size : NULL,
	};
}

static void before_the_hooks_chunks_are_raw(void)
{
	struct kasan_heap heap = make_heap(4096, true);
	char *p = kasan_heap_malloc(&heap, 24), *q = kasan_heap_calloc(&heap, 4, 8);

	REQUIRE(p && q);
	CHECK_EQ(q - p, 32);
	CHECK_EQ(kasan_heap_size(&heap, p), 24);
	for (int i = 0; i < 32; i++)
		CHECK_EQ(q[i], 0);
	memcpy(p, "twenty-three characters", 24);
	p = kasan_heap_realloc(&heap, p, 48);
	REQUIRE(p);
	CHECK(!strcmp(p, "twenty-three characters"));
	CHECK_EQ(released, 1);
	CHECK(kasan_heap_free(&heap, q, 0));
	CHECK(last_released == q);
	CHECK(!kasan_heap_memalign(&heap, 4096, 8) || ((uintptr_t)bump & 4095) == 16);
	empty = true;
	CHECK(!kasan_heap_malloc(&heap, 8));
	CHECK_EQ(unit_reports(), 0);
}

static void early_chunks_are_adopted(void)
{
	static struct kasan_heap heap;
	char *early, *other, *p;

	heap = make_heap(4096, true);
	early = kasan_heap_malloc(&heap, 40);
	other = kasan_heap_malloc(&heap, 40);
	REQUIRE(early && other);
	memset(early, 7, 40);
	kasan_heap_add(&heap);
	p = kasan_heap_malloc(&heap, 13);
	REQUIRE(p);
	CHECK_EQ(kasan_first_bad((uintptr_t)p, 14), (uintptr_t)p + 13);
	CHECK_EQ(kasan_first_bad((uintptr_t)early, 40), 0);
	CHECK_EQ(kasan_heap_size(&heap, early), 40);

	/* Freed: the chunk is poisoned and held back, and a second free is reported. */
	EXPECT_NO_REPORT(kasan_heap_free(&heap, early, 0));
	CHECK_EQ(released, 0);
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(early + 8, 8));
	EXPECT_REPORT("double-free", kasan_heap_free(&heap, early, 0));
	CHECK_EQ(kasan_heap_size(&heap, early), 0);
	EXPECT_REPORT("double-free", CHECK(!kasan_heap_realloc(&heap, early, 80)));

	/* Reallocated: the new object has redzones, and the old one is freed. */
	memset(other, 9, 40);
	other = kasan_heap_realloc(&heap, other, 60);
	REQUIRE(other);
	CHECK_EQ(other[39], 9);
	CHECK_EQ(kasan_first_bad((uintptr_t)other, 61), (uintptr_t)other + 60);

	/* An address inside an object with a header, or outside the range, is not an early chunk. */
	EXPECT_REPORT("invalid-free", kasan_heap_free(&heap, p + 8, 0));
	EXPECT_REPORT("invalid-free", kasan_heap_free(&heap, bump + 1024, 0));
	EXPECT_NO_REPORT(kasan_heap_free(&heap, p, 0));
}

static void a_range_can_be_named(void)
{
	static struct kasan_heap heap;
	char *early;

	heap = make_heap(0, false);
	early = raw_take(&heap, 64);
	kasan_heap_add(&heap);
	kasan_heap_adopt(&heap, early, 64);
	/* Without raw_size: the size to poison or copy is unknown. */
	CHECK_EQ(kasan_heap_size(&heap, early), 0);
	CHECK(!kasan_heap_realloc(&heap, early, 100));
	EXPECT_NO_REPORT(kasan_heap_free(&heap, early, 0));
	CHECK(last_released == early);
	EXPECT_REPORT("invalid-free", kasan_heap_free(&heap, early + 4096, 0));
}

static void an_overwritten_size_is_not_believed(void)
{
	static struct kasan_heap heap;
	char *early;

	heap = make_heap(4096, true);
	early = kasan_heap_malloc(&heap, 40);
	kasan_heap_add(&heap);
	((size_t *)early)[-1] = SIZE_MAX / 2;
	CHECK_EQ(kasan_heap_size(&heap, early), 0);
	EXPECT_REPORT("invalid-free", kasan_heap_free(&heap, early, 0));
	CHECK_EQ(released, 0);
}

static void malloc_family(void)
{
	static struct kasan_heap heap;
	char *p, *q;

	heap = make_heap(0, false);
	kasan_heap_add(&heap);
	for (size_t align = 8; align <= 1024; align *= 2) {
		p = kasan_heap_memalign(&heap, align, 33);
		REQUIRE(p);
		CHECK_EQ((uintptr_t)p % align, 0);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, 34), (uintptr_t)p + 33);
		EXPECT_NO_REPORT(kasan_heap_free(&heap, p, 0));
	}
	p = kasan_heap_calloc(&heap, 5, 5);
	REQUIRE(p);
	for (int i = 0; i < 25; i++)
		CHECK_EQ(p[i], 0);
	memset(p, 3, 25);
	/* Realloc always moves the object, to a smaller size as well. */
	q = kasan_heap_realloc(&heap, p, 10);
	CHECK(q && q != p && q[9] == 3);
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p, 1));
	p = kasan_heap_realloc(&heap, NULL, 0);
	REQUIRE(p);
	CHECK_EQ(kasan_first_bad((uintptr_t)p, 1), (uintptr_t)p);
	CHECK(!kasan_heap_calloc(&heap, SIZE_MAX / 2, 3));
	CHECK(!kasan_heap_malloc(&heap, SIZE_MAX));
	empty = true;
	CHECK(!kasan_heap_realloc(&heap, q, 100));
	CHECK_EQ(kasan_heap_size(&heap, q), 10);
	CHECK(!kasan_heap_memalign(&heap, 64, 1));
}

UNIT_MAIN(before_the_hooks_chunks_are_raw, early_chunks_are_adopted, a_range_can_be_named,
	  an_overwritten_size_is_not_believed, malloc_family)
