/* SPDX-License-Identifier: MIT */
/*
 * test_heap_tags.c - simple heaps in the software tag-based mode: tags and redzones of objects, bad frees, reuse, early
 * chunks, and reports from the stack ring and from headers.
 *
 * The host's CPU does not ignore the top byte of an address, so pointers with a tag are never dereferenced.
 */
#include <string.h>

#include "../../runtime/base/base.h"
#include "unit.h"

#define GRANULE 16

/* An allocator that keeps each chunk's size in a word before it, and writes into free chunks. */
static char *arena, *bump;
static void *last_released;
static unsigned int released;

static void *raw_take(struct kasan_heap *heap, size_t size)
{
	size_t *word = (size_t *)bump;

	size = (size + 7) & ~(size_t)7;
	*word = size;
	bump += 8 + size;
	return word + 1;
}

static void raw_give(struct kasan_heap *heap, void *raw)
{
	__memset(raw, 0x5a, 2 * sizeof(void *));
	last_released = raw;
	released++;
}

static size_t raw_size(struct kasan_heap *heap, const void *raw)
{
	return ((const size_t *)raw)[-1];
}

static void make_heap(struct kasan_heap *heap, const char *name, size_t quarantine)
{
	arena = bump = unit_arena(1 << 20);
	released = 0;
	*heap = (struct kasan_heap){
		.name = name,
		.quarantine_max = quarantine,
		.release = raw_give,
		.acquire = raw_take,
		.raw_size = raw_size,
	};
}

static char *plain(const void *p)
{
	return kasan_reset_tag(p);
}

/* Each granule of the chunk outside the object is inaccessible, for all sizes, alignments and places. */
static void every_size_and_alignment(void)
{
	static struct kasan_heap heaps[5];

	for (size_t h = 0; h < 5; h++) {
		struct kasan_heap *heap = &heaps[h];

		make_heap(heap, "sizes", 0);
		heap->redzone = h ? 4UL << h : 0;
		kasan_heap_add(heap);
		for (size_t align = 0; align <= 256; align = align ? align * 2 : 1) {
			for (size_t size = 0; size <= 200; size += size < 40 ? 1 : 37) {
				const size_t span = kasan_heap_span(heap, size, align);
				char *raw = arena + (size & 8), *p;

				__memset(raw, 0x5a, span);
				p = kasan_heap_alloc(heap, raw, size, align);
				REQUIRE(p);
				CHECK((uintptr_t)plain(p) % (align > 16 ? align : 16) == 0);
				CHECK(kasan_get_tag(p) >= KASAN_TAG_MIN &&
				      kasan_get_tag(p) <= KASAN_TAG_MAX);
				CHECK_EQ(kasan_first_bad((uintptr_t)p, size + 1),
					 (uintptr_t)plain(p) + size);
				for (size_t at = 1; at <= 2 * GRANULE; at++)
					CHECK(!kasan_byte_accessible(p - at));
				for (size_t at = 0; at < (h ? 4UL << h : 16); at++)
					CHECK(!kasan_byte_accessible(p + size + at));
				CHECK_EQ(kasan_heap_size(heap, p), size);
				/* No byte outside the chunk is changed. */
				CHECK_EQ(raw[span], 0);
				CHECK(kasan_heap_free(heap, p, 0));
				CHECK(last_released == raw);
				__memset(arena, 0, span + 8);
			}
		}
	}
	CHECK_EQ(unit_reports(), 0);
}

static void tags_change_with_the_owner(void)
{
	static struct kasan_heap heap;
	char *p, *q;

	make_heap(&heap, "reuse", 0);
	kasan_heap_add(&heap);
	for (int i = 0; i < 1000; i++) {
		p = kasan_heap_alloc(&heap, arena, 40, 0);
		CHECK(kasan_heap_free(&heap, p, 0));
		q = kasan_heap_alloc(&heap, arena, 40, 0);
		CHECK(plain(p) == plain(q) && p != q);
		CHECK(kasan_heap_free(&heap, q, 0));
	}
	p = kasan_heap_alloc(&heap, arena, 40, 0);
	kasan_heap_free(&heap, p, 0);
	q = kasan_heap_alloc(&heap, arena, 30, 0);
	EXPECT_REPORT("slab-use-after-free", kasan_check_write(p + 8, 8));
	CHECK(unit_find(0, "Freed by task ") > unit_find(0, "Allocated by task "));
	CHECK(unit_saw(" which belongs to the cache reuse of size 40"));
	EXPECT_NO_REPORT(kasan_check_write(q, 30));
	/* A stale pointer can neither free nor reallocate. */
	EXPECT_REPORT("double-free", CHECK(!kasan_heap_free(&heap, p, 0)));
	EXPECT_REPORT("double-free", CHECK(!kasan_heap_realloc(&heap, p, 10)));
	CHECK_EQ(kasan_heap_size(&heap, p), 0);
	CHECK_EQ(kasan_heap_size(&heap, q), 30);
	/* A pointer without a tag fits any object. */
	CHECK_EQ(kasan_heap_size(&heap, plain(q)), 30);
	EXPECT_NO_REPORT(CHECK(kasan_heap_free(&heap, plain(q), 0)));
}

static void reports(void)
{
	static struct kasan_heap heap;
	char *p, *q;

	make_heap(&heap, "named", 4096);
	kasan_heap_add(&heap);
	p = kasan_heap_malloc(&heap, 13);
	q = kasan_heap_malloc(&heap, 100);
	EXPECT_NO_REPORT(kasan_check_write(p + 12, 1));
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + 13, 1));
	CHECK(unit_saw("The buggy address belongs to the object at %016lx",
		       (unsigned long)plain(p)));
	CHECK(unit_saw(" which belongs to the cache named of size 13"));
	CHECK(unit_saw("The buggy address is located 0 bytes to the right of"));
	CHECK(unit_saw(" allocated 13-byte region [%016lx, %016lx)", (unsigned long)plain(p),
		       (unsigned long)plain(p) + 13));
	CHECK(unit_find(0, " reports+0x") > 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(q - 1, 1));
	CHECK(unit_saw("The buggy address is located 1 bytes to the left of"));
	CHECK(unit_saw(" which belongs to the cache named of size 100"));
	CHECK(kasan_heap_free(&heap, q, 0));
	CHECK_EQ(released, 0);
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(q + 50, 1));
	CHECK(unit_saw(" freed 100-byte region [%016lx, %016lx)", (unsigned long)plain(q),
		       (unsigned long)plain(q) + 100));
	CHECK(unit_saw("The buggy address is located 50 bytes inside of"));
	/* With nothing in the ring, reports use the headers, both for live objects and for those that are held back. */
	CHECK_EQ(kasan_option("kasan.stacktrace", "off"), 0);
	q = kasan_heap_malloc(&heap, 100);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(q + 100, 1));
	CHECK(unit_saw(" allocated 100-byte region [%016lx, %016lx)", (unsigned long)plain(q),
		       (unsigned long)plain(q) + 100));
	EXPECT_REPORT("invalid-access",
		      kasan_check_read(kasan_set_tag(q, kasan_get_tag(q) ^ 2), 1));
	CHECK(unit_saw(" which belongs to the cache named of size 100"));
	CHECK(kasan_heap_free(&heap, q, 0));
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(q + 99, 1));
	CHECK_EQ(kasan_option("kasan.stacktrace", "on"), 0);
}

static void bad_frees(void)
{
	static struct kasan_heap heap, other;
	char *p, on_stack[16];

	make_heap(&heap, "frees", 4096);
	make_heap(&other, "other", 0);
	kasan_heap_add(&heap);
	kasan_heap_add(&other);
	p = kasan_heap_malloc(&heap, 100);
	EXPECT_NO_REPORT(CHECK(kasan_heap_free(&heap, NULL, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_heap_free(&heap, p + 1, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_heap_free(&heap, p + 16, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_heap_free(&heap, p - 16, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_heap_free(&heap, on_stack, 0)));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_heap_free(&other, p, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_heap_free(&heap, p, 0)));
	EXPECT_REPORT("double-free", CHECK(!kasan_heap_free(&heap, p, 0)));
	CHECK(unit_find(0, "Freed by task ") > 0);
	/* The allocator has the chunk again, so its header is gone. */
	kasan_heap_shrink(&heap);
	CHECK_EQ(released, 1);
	EXPECT_REPORT("double-free", CHECK(!kasan_heap_free(&heap, p, 0)));
	/* The header is overwritten, so the chunk cannot be released. */
	p = kasan_heap_malloc(&heap, 40);
	__memset(plain(p) - 64, 0x41, 48);
	EXPECT_REPORT("invalid-free", CHECK(!kasan_heap_free(&heap, p, 0)));
	CHECK_EQ(released, 1);
}

/* Interrupts are off during a search, so it gives up on an object that is very large. The bound is new for each report. */
static void searches_are_bounded(void)
{
	static const size_t sizes[] = {7UL << 20, 64UL << 20};
	static struct kasan_heap heap;
	uintptr_t a;
	char *p;

	make_heap(&heap, "wide", 0);
	arena = unit_arena(sizes[1] + 4096);
	kasan_heap_add(&heap);
	/* Otherwise the ring names the owner. */
	CHECK_EQ(kasan_option("kasan.stacktrace", "off"), 0);
	for (unsigned int i = 0; i < 4; i++) {
		const size_t size = sizes[i % 2];

		p = kasan_heap_alloc(&heap, arena, size, 0);
		a = (uintptr_t)plain(p);
		unit_clear();
		CHECK(!kasan_check_read(p + size, 1));
		CHECK_EQ(unit_saw(" allocated %zu-byte region [%016lx, %016lx)", size, a, a + size),
			 i % 2 == 0);
		CHECK(kasan_heap_free(&heap, p, 0));
	}
	CHECK_EQ(kasan_option("kasan.stacktrace", "on"), 0);
}

static void early_chunks(void)
{
	static struct kasan_heap heap;
	char *early, *kept, *p;

	make_heap(&heap, "early", 4096);
	early = kasan_heap_malloc(&heap, 64);
	kept = kasan_heap_malloc(&heap, 32);
	CHECK(early == plain(early));
	__memcpy(kept, "twenty-three characters", 24);
	kasan_heap_add(&heap);
	p = kasan_heap_malloc(&heap, 64);
	CHECK(p != plain(p));
	CHECK_EQ(kasan_heap_size(&heap, early), 64);
	EXPECT_NO_REPORT(CHECK(kasan_heap_free(&heap, early, 0)));
	EXPECT_REPORT("double-free", CHECK(!kasan_heap_free(&heap, early, 0)));
	p = kasan_heap_realloc(&heap, kept, 100);
	REQUIRE(p);
	CHECK(p != plain(p) && !strcmp(plain(p), "twenty-three characters"));
	p = kasan_heap_calloc(&heap, 10, 10);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(plain(p)[i], 0);
	p = kasan_heap_malloc(&heap, 0);
	CHECK(p && !kasan_byte_accessible(p));
	EXPECT_NO_REPORT(CHECK(kasan_heap_free(&heap, p, 0)));
	EXPECT_REPORT("double-free", CHECK(!kasan_heap_free(&heap, p, 0)));
}

UNIT_MAIN(every_size_and_alignment, tags_change_with_the_owner, reports, bad_frees,
	  searches_are_bounded, early_chunks)
