// SPDX-License-Identifier: MIT
/* vrealloc_test.c - vmalloc areas that change their size: contents, room, and what KASAN lets through. */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>

#include "kasan_test.h"

static const size_t sizes[] = {1, 15, 16, 17, 2000, 4080, 4095, 4096, 4097, 6000, 8192, 20001};

static u8 byte_at(size_t i)
{
	return (u8)(i * 31 + (i >> 8) + 1);
}

static void fill(u8 *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		p[i] = byte_at(i);
}

/* Return: the first byte in [0, @size) that is not what fill() wrote; @size if all are. */
static size_t first_wrong(const u8 *p, size_t size)
{
	size_t i;

	for (i = 0; i < size && p[i] == byte_at(i); i++)
		;
	return i;
}

/* Just @size bytes can be used, as far as the mode sees that. */
static void check_bounds(struct kunit *test, const u8 *p, size_t size, size_t old)
{
	const size_t end = KASAN_END(size);

	KUNIT_EXPECT_TRUE_MSG(test, kasan_byte_accessible(p), "%zu to %zu", old, size);
	KUNIT_EXPECT_TRUE_MSG(test, kasan_byte_accessible(p + size - 1), "%zu to %zu", old, size);
	if (!kasan_enabled() || end >= PAGE_ALIGN(size))
		return;
	KUNIT_EXPECT_FALSE_MSG(test, kasan_byte_accessible(p + end), "%zu to %zu", old, size);
	KUNIT_EXPECT_FALSE_MSG(test, kasan_byte_accessible(p + PAGE_ALIGN(size) - 1), "%zu to %zu",
			       old, size);
}

static void every_pair(struct kunit *test)
{
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(sizes); j++) {
			const size_t kept = min(sizes[i], sizes[j]);
			u8 *p = vmalloc(sizes[i]), *q;

			KUNIT_ASSERT_NOT_NULL(test, p);
			fill(p, 0, sizes[i]);
			q = vrealloc(p, sizes[j], GFP_KERNEL | __GFP_ZERO);
			KUNIT_ASSERT_NOT_NULL(test, q);
			KUNIT_EXPECT_EQ(test, find_vm_area(q)->size, sizes[j]);
			KUNIT_EXPECT_EQ_MSG(test, first_wrong(q, kept), kept, "%zu to %zu",
					    sizes[i], sizes[j]);
			if (sizes[j] > kept)
				KUNIT_EXPECT_NULL(test, memchr_inv(q + kept, 0, sizes[j] - kept));
			check_bounds(test, q, sizes[j], sizes[i]);
			if (q != p)
				KUNIT_EXPECT_NULL(test, find_vm_area(p));
			/* All of it, and not more, is there: the checks of these stores say so. */
			fill(q, 0, sizes[j]);
			vfree(q);
		}
	}
}

/* A size that the pages have room for changes no address; the pages behind a small rest come back. */
static void in_place_or_moved(struct kunit *test)
{
	u8 *p = vmalloc(9 * PAGE_SIZE), *q;

	KUNIT_ASSERT_NOT_NULL(test, p);
	fill(p, 0, 9 * PAGE_SIZE);
	for (size_t size = 9 * PAGE_SIZE; size >= 5 * PAGE_SIZE; size -= 333) {
		KUNIT_ASSERT_PTR_EQ(test, vrealloc(p, size, GFP_KERNEL), p);
		check_bounds(test, p, size, size + 333);
		KUNIT_EXPECT_EQ(test, first_wrong(p, size), size);
	}
	for (size_t size = 5 * PAGE_SIZE; size <= 9 * PAGE_SIZE; size += 333) {
		KUNIT_ASSERT_PTR_EQ(test, vrealloc(p, size, GFP_KERNEL), p);
		check_bounds(test, p, size, size - 333);
	}
	KUNIT_EXPECT_EQ(test, find_vm_area(p)->nr_pages, 9U);
	q = vrealloc(p, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, q);
	KUNIT_EXPECT_PTR_NE(test, q, p);
	KUNIT_EXPECT_EQ(test, find_vm_area(q)->nr_pages, 1U);
	vfree(q);
}

static void nothing_and_all(struct kunit *test)
{
	unsigned long before = vmalloc_nr_areas();
	u8 *p = vrealloc(NULL, 5000, GFP_KERNEL | __GFP_ZERO);

	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_NULL(test, memchr_inv(p, 0, 5000));
	KUNIT_EXPECT_NULL(test, vrealloc(p, 0, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, vmalloc_nr_areas(), before);
	p = vmalloc(5000);
	KUNIT_ASSERT_NOT_NULL(test, p);
	fill(p, 0, 5000);
	/* There is no room for that, and nothing was lost. */
	KUNIT_EXPECT_NULL(test, vrealloc(p, 1UL << 45, GFP_KERNEL | __GFP_NOWARN));
	KUNIT_EXPECT_EQ(test, first_wrong(p, 5000), 5000UL);
	KUNIT_EXPECT_EQ(test, find_vm_area(p)->size, 5000UL);
	vfree(p);
	KUNIT_EXPECT_EQ(test, vmalloc_nr_areas(), before);
}

KASAN_SUITE(vrealloc, KUNIT_CASE(every_pair), KUNIT_CASE(in_place_or_moved),
	    KUNIT_CASE(nothing_and_all));
