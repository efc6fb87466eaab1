/* SPDX-License-Identifier: MIT */
/* test_heap.c - hooks of simple heaps: spans and alignment, redzones, bad frees, quarantine, several heaps, and reports
 * over corrupted headers. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../../runtime/base/base.h"
#include "unit.h"

static void *released[4096];
static unsigned int release_count;

static void note_release(struct kasan_heap *heap, void *raw)
{
	released[release_count++ % 4096] = raw;
}

/* The smallest kind of heap: chunks are cut from an arena and never merged. */
static void *new_chunk(struct kasan_heap *heap, char **bump, size_t size, size_t align)
{
	size_t span = kasan_heap_span(heap, size, align);
	char *raw = *bump;

	*bump += span + 8; /* raw chunks are aligned to 8, not more */
	return kasan_heap_alloc(heap, raw, size, align);
}

static void every_size_and_alignment(void)
{
	static struct kasan_heap heaps[5];

	for (int h = 0; h < 5; h++) {
		struct kasan_heap *heap = &heaps[h];
		/* 0 selects 16. */
		size_t wanted = h ? 4UL << h : 16;

		heap->name = "sizes";
		heap->redzone = h ? wanted : 0;
		heap->release = note_release;
		kasan_heap_add(heap);

		for (size_t align = 0; align <= 256; align = align ? align * 2 : 1)
			for (size_t size = 0; size <= 300; size += size < 40 ? 1 : 37) {
				char *bump = unit_watched(8192), *p;
				char *raw = bump;
				size_t span = kasan_heap_span(heap, size, align);

				p = new_chunk(heap, &bump, size, align);
				REQUIRE(p);
				CHECK((uintptr_t)p % (align ? align : 16) == 0);
				CHECK(p > raw && p + size + wanted <= raw + span);
				CHECK_EQ(kasan_first_bad((uintptr_t)p, size + 1),
					 (uintptr_t)p + size);
				for (size_t i = 0; i < wanted; i++)
					CHECK(!kasan_byte_accessible(p + size + i));
				for (size_t i = 1; i <= 8; i++)
					CHECK(!kasan_byte_accessible(p - i));
				/* No byte outside the chunk is poisoned. */
				CHECK(kasan_byte_accessible(raw + span));
			}
	}
}

static void spans_that_overflow(void)
{
	struct kasan_heap heap = {.name = "huge", .redzone = 16, .release = note_release};

	CHECK_EQ(kasan_heap_span(&heap, SIZE_MAX, 0), 0);
	CHECK_EQ(kasan_heap_span(&heap, SIZE_MAX - 8, 8), 0);
	CHECK_EQ(kasan_heap_span(&heap, SIZE_MAX / 2, (size_t)1 << 63), 0);
	CHECK(!kasan_heap_alloc(&heap, NULL, 10, 0));
	errno = 0;
	CHECK(!kasan_posix_malloc(SIZE_MAX - 4));
	CHECK_EQ(errno, ENOMEM);
	CHECK(!kasan_posix_calloc(SIZE_MAX / 2, 3));
}

static void off_by_one_on_13_bytes(void)
{
	char *p = kasan_posix_malloc(13);
	uintptr_t a = (uintptr_t)p;

	EXPECT_NO_REPORT(kasan_check_write(p + 12, 1));
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + 13, 1));
	CHECK(unit_saw("The buggy address belongs to the object at %016lx", a));
	CHECK(unit_saw("The buggy address is located 0 bytes to the right of"));
	CHECK(unit_saw(" allocated 13-byte region [%016lx, %016lx)", a, a + 13));
	CHECK(unit_find(0, " off_by_one_on_13_bytes+0x") > 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p - 1, 1));
	CHECK(unit_saw("The buggy address is located 1 bytes to the left of"));
	CHECK(unit_saw(" allocated 13-byte region [%016lx, %016lx)", a, a + 13));
	kasan_posix_free(p);
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p, 13));
	CHECK(unit_saw(" freed 13-byte region [%016lx, %016lx)", a, a + 13));
}

static void bad_frees(void)
{
	char *p = kasan_posix_malloc(100), on_stack[16];

	EXPECT_NO_REPORT(kasan_posix_free(NULL));
	EXPECT_REPORT("invalid-free", kasan_posix_free(p + 1));
	EXPECT_REPORT("invalid-free", kasan_posix_free(p + 16));
	EXPECT_REPORT("invalid-free", kasan_posix_free(p - 8));
	EXPECT_REPORT("invalid-free", kasan_posix_free(on_stack));
	EXPECT_REPORT("invalid-free", kasan_posix_free(&release_count));
	EXPECT_NO_REPORT(kasan_posix_free(p));
	EXPECT_REPORT("double-free", kasan_posix_free(p));
	CHECK(unit_find(0, "Freed by task ") > 0);
	CHECK(unit_last()->is_free && unit_last()->size == 0);
}

/* Poison of the program's own, at either end and in the middle: the object is still named, and can be freed. */
static void poisoned_objects(void)
{
	static const size_t places[] = {0, 64, 2048, 4096 - 64};
	char *p;

	for (unsigned int i = 0; i < 4; i++) {
		p = kasan_posix_malloc(4096);
		kasan_poison(p + places[i], 64, KASAN_USER_POISON);
		EXPECT_REPORT("use-after-poison", kasan_check_read(p + places[i] + 8, 1));
		CHECK(unit_saw(" allocated 4096-byte region [%016lx, %016lx)", (uintptr_t)p,
			       (uintptr_t)p + 4096));
		EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 4096, 1));
		CHECK(unit_saw(" allocated 4096-byte region [%016lx, %016lx)", (uintptr_t)p,
			       (uintptr_t)p + 4096));
		EXPECT_NO_REPORT(kasan_posix_free(p));
		EXPECT_REPORT("double-free", kasan_posix_free(p));
	}
}

static char *next_raw;

static void *take_raw(struct kasan_heap *heap, size_t size)
{
	char *raw = next_raw;

	next_raw += size;
	return raw;
}

/* Neither object may reach into its neighbour, whose bytes are the allocator's or another program's. */
static void alignment_that_is_no_power_of_two(void)
{
	static struct kasan_heap heap = {
		.name = "odd", .acquire = take_raw, .release = note_release};
	const size_t odd[] = {3, 24, 40, 96, 257};

	for (int added = 0; added <= 1; added++) {
		if (added)
			kasan_heap_add(&heap);
		for (unsigned int i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
			next_raw = unit_watched(8192);
			CHECK(!kasan_heap_memalign(&heap, odd[i], 40));
			CHECK(!kasan_heap_alloc(&heap, next_raw, 40, odd[i]));
			CHECK_EQ(kasan_heap_span(&heap, 40, odd[i]), 0);
		}
	}
}

static void chunks_that_are_not_aligned(void)
{
	static struct kasan_heap heap = {
		.name = "four", .acquire = take_raw, .release = note_release};
	char *raw = (char *)unit_watched(8192) + 64;

	kasan_heap_add(&heap);
	for (size_t align = 0; align <= 64; align = align ? align * 2 : 8) {
		for (unsigned int off = 1; off < 16; off++) {
			if (off == 8)
				continue;
			memset(raw - 64, 0x5a, 1024);
			CHECK(!kasan_heap_alloc(&heap, raw + off, 40, align));
			next_raw = raw + off;
			release_count = 0;
			CHECK(!kasan_heap_memalign(&heap, align, 40));
			CHECK(release_count == 1 && released[0] == raw + off);
			for (int i = 0; i < 1024; i++)
				CHECKF(raw[i - 64] == 0x5a, "byte %d of offset %u", i - 64, off);
			CHECK_EQ(kasan_first_bad((uintptr_t)raw - 64, 1024), 0);
		}
	}
	/* Said once. */
	unit_clear();
	CHECK(!kasan_heap_alloc(&heap, raw + 4, 40, 0));
	CHECK_EQ(unit_lines(), 0);
}

/* Every search follows the list of heaps. */
static void heap_that_is_added_twice(void)
{
	static struct kasan_heap first = {.name = "first", .release = note_release};
	static struct kasan_heap heap = {.name = "twice", .release = note_release};
	char *bump = unit_watched(8192), *p;

	kasan_heap_add(&heap);
	kasan_heap_add(&first);
	kasan_heap_add(&heap);
	kasan_heap_add(&first);
	p = new_chunk(&heap, &bump, 40, 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 40, 1));
	EXPECT_REPORT("invalid-free", CHECK(!kasan_heap_free(&first, p, 0)));
	EXPECT_REPORT("wild-memory-access", kasan_check_read((void *)(1UL << 62), 1));
	CHECK(kasan_heap_free(&heap, p, 0));
}

/* Interrupts are off during a search. Without a bound for all searches of a report this takes minutes. */
static void searches_are_bounded(void)
{
	static struct kasan_heap heap = {.name = "wide", .release = note_release};
	const size_t far = 700UL << 20;
	char *arena = unit_arena(far + 4096), *bump = arena, *p;

	kasan_heap_add(&heap);
	/* The heap has one object of nearly all its memory, and after that two small ones at its ends. */
	p = kasan_heap_alloc(&heap, arena, far, 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + far, 1));
	CHECK(kasan_heap_free(&heap, p, 0));
	kasan_unpoison(arena, far + 4096);
	CHECK(new_chunk(&heap, &bump, 40, 0));
	/* Found as far as 256 MiB behind its start, and the next report has steps of its own. */
	p = kasan_heap_alloc(&heap, arena + 8192, 255UL << 20, 0);
	for (unsigned int i = 0; i < 3; i++) {
		EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + (255UL << 20), 1));
		CHECK(unit_saw(" allocated %lu-byte region [%016lx, %016lx)", 255UL << 20,
			       (uintptr_t)p, (uintptr_t)p + (255UL << 20)));
	}
	/* Nobody's poison in the middle: the search for an owner goes on at many places around. */
	kasan_poison(arena + (600UL << 20), 512, KASAN_SLAB_REDZONE);
	for (unsigned int i = 0; i < 400; i++) {
		EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(arena + (600UL << 20) + i, 1));
		CHECK(unit_find(0, "The buggy address belongs to the object") < 0);
	}
}

/* A pointer from one heap is not an object of another heap. */
static void heaps_are_told_apart(void)
{
	static struct kasan_heap a = {.name = "heap-a", .release = note_release};
	static struct kasan_heap b = {.name = "heap-b", .release = note_release};
	char *bump = unit_watched(8192), *p, *q;

	kasan_heap_add(&a);
	kasan_heap_add(&b);
	p = new_chunk(&a, &bump, 40, 0);
	q = new_chunk(&b, &bump, 50, 0);
	CHECK_EQ(kasan_heap_size(&a, p), 40);
	CHECK_EQ(kasan_heap_size(&b, q), 50);
	CHECK_EQ(kasan_heap_size(&b, p), 0);
	CHECK_EQ(kasan_heap_size(&a, p + 8), 0);
	CHECK_EQ(kasan_heap_size(&a, NULL), 0);
	EXPECT_REPORT("invalid-free", CHECK(!kasan_heap_free(&b, p, 0)));
	CHECK_EQ(kasan_heap_size(&a, p), 40);
	EXPECT_NO_REPORT(CHECK(kasan_heap_free(&a, p, 0)));
	CHECK_EQ(kasan_heap_size(&a, p), 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(q + 50, 1));
	bool named = false;
	for (size_t i = 0; i < unit_lines(); i++)
		named |= strstr(unit_line(i), "heap-b") != NULL;
	CHECK(named);
}

static void quarantine_is_bounded_and_in_order(void)
{
	static struct kasan_heap heap = {
		.name = "bounded", .quarantine_max = 4096, .release = note_release};
	char *bump = unit_arena(1 << 20), *p[1000];
	size_t span;

	kasan_heap_add(&heap);
	span = kasan_heap_span(&heap, 100, 0);
	release_count = 0;
	for (int i = 0; i < 1000; i++) {
		p[i] = new_chunk(&heap, &bump, 100, 0);
		REQUIRE(p[i]);
	}
	for (unsigned int i = 0; i < 1000; i++) {
		CHECK(kasan_heap_free(&heap, p[i], 0));
		CHECK((i + 1 - release_count) * span <= 4096);
		EXPECT_REPORT("slab-use-after-free", kasan_check_read(p[i], 1));
	}
	CHECK(1000 - release_count == 4096 / span);
	for (unsigned int i = 1; i < release_count; i++)
		CHECK((char *)released[i] > (char *)released[i - 1]);
	/* An object larger than the whole quarantine is released at once, and pushes nothing out. */
	unsigned int before = release_count;
	char *big = new_chunk(&heap, &bump, 5000, 0);

	CHECK(kasan_heap_free(&heap, big, 0));
	CHECK_EQ(release_count, before + 1);
	/* All objects that wait are released, once each and in order. */
	kasan_heap_shrink(&heap);
	CHECK_EQ(release_count, 1001);
	for (unsigned int i = before + 2; i < release_count; i++)
		CHECK((char *)released[i] > (char *)released[i - 1]);
	kasan_heap_shrink(&heap);
	CHECK_EQ(release_count, 1001);
}

static void posix_malloc_family(void)
{
	char *p = kasan_posix_calloc(10, 10), *q;

	for (int i = 0; i < 100; i++)
		CHECK(p[i] == 0);
	memset(p, 7, 100);
	q = kasan_posix_realloc(p, 150);
	CHECK(q != p);
	for (int i = 0; i < 100; i++)
		CHECK(q[i] == 7);
	EXPECT_REPORT("slab-use-after-free", kasan_check_read(p, 1));
	CHECK_EQ(kasan_first_bad((uintptr_t)q, 151), (uintptr_t)q + 150);
	p = kasan_posix_realloc(q, 20);
	CHECK(p[19] == 7);
	CHECK_EQ(kasan_first_bad((uintptr_t)p, 21), (uintptr_t)p + 20);
	kasan_posix_free(p);
	q = kasan_posix_malloc(0);
	CHECK(q && !kasan_byte_accessible(q));
	EXPECT_NO_REPORT(kasan_posix_free(q));
}

/* Flip one bit: either the header is not believed then, or the bit was not part of it. In front of the chunk is no memory. */
static void one_flipped_bit(void)
{
	static struct kasan_heap heap = {.name = "flip", .release = note_release};
	char *raw = (char *)unit_arena(8192) + 4096;
	size_t span, kept = 0;

	REQUIRE(!mprotect(raw - 4096, 4096, PROT_NONE));
	kasan_heap_add(&heap);
	span = kasan_heap_span(&heap, 40, 0);
	for (size_t bit = 0;; bit++) {
		char *p = kasan_heap_alloc(&heap, raw, 40, 0);
		size_t size;

		REQUIRE(p);
		if (bit / 8 >= (size_t)(p - raw))
			break;
		raw[bit / 8] ^= (char)(1 << bit % 8);
		size = kasan_heap_size(&heap, p);
		CHECK(size == 0 || size == 40);
		unit_clear();
		release_count = 0;
		if (kasan_heap_free(&heap, p, 0)) {
			CHECK(size == 40 && release_count == 1 && released[0] == raw);
			kept++;
		} else {
			CHECK(size == 0 && unit_reports() == 1 && release_count == 0);
		}
		CHECK(kasan_byte_accessible(raw + span));
	}
	/* Only the gap before the object contains no part of the header. */
	CHECK(kept <= (8 + 16) * 8);
}

/* Random bytes over everything that a wild write could reach: no crash, and one whole report. */
static void corrupted_headers(void)
{
	static struct kasan_heap heap = {.name = "corrupt", .release = note_release};
	size_t span;

	kasan_heap_add(&heap);
	span = kasan_heap_span(&heap, 40, 0);
	for (int round = 0; round < 10000; round++) {
		char *raw = unit_watched(4096), *p = kasan_heap_alloc(&heap, raw, 40, 0);
		size_t from = unit_below((uint64_t)(p - raw));
		size_t n = 1 + unit_below((uint64_t)(p - raw) - from);
		bool freed = unit_below(2);

		REQUIRE(p);
		if (freed)
			kasan_heap_free(&heap, p, 0);
		for (size_t i = 0; i < n; i++)
			raw[from + i] = (char)(unit_below(8) ? unit_random() : 0);
		unit_clear();
		switch (unit_below(3)) {
		case 0:
			kasan_check_read(p + 36, 8);
			break;
		case 1:
			kasan_check_write(p - 1 - unit_below(8), 1);
			break;
		default:
			kasan_heap_free(&heap, p + 8, 0);
			break;
		}
		CHECK_EQ(unit_reports(), 1);
		CHECK(unit_find(0, "Memory state around the buggy address:") > 0);
		CHECK(!strcmp(unit_line(0), unit_line(unit_lines() - 1)));
		/* The header is overwritten, so the chunk cannot be released, and must not be. */
		kasan_heap_free(&heap, p, 0);
		kasan_unpoison(raw, span);
	}
}

UNIT_MAIN(every_size_and_alignment, spans_that_overflow, off_by_one_on_13_bytes, bad_frees,
	  poisoned_objects, alignment_that_is_no_power_of_two, chunks_that_are_not_aligned,
	  heap_that_is_added_twice, searches_are_bounded, heaps_are_told_apart,
	  quarantine_is_bounded_and_in_order, posix_malloc_family, one_flipped_bit,
	  corrupted_headers)
