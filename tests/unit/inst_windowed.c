/* SPDX-License-Identifier: MIT */
/* inst_windowed.c - instrumented code with the windowed layout, as firmware uses it: outline checks, a heap inside the
 * only window, and neither stack nor globals instrumented. */
#include <string.h>

#include "unit.h"

#define NOINLINE __attribute__((noinline))

static volatile long sink;
static char not_watched[16];
static char *arena;

static void forget(struct kasan_heap *heap, void *raw)
{
}

static struct kasan_heap heap = {.name = "firmware", .quarantine_max = 8192, .release = forget};

static char *allocate(size_t size)
{
	static size_t used;
	char *raw = arena + used;

	used += kasan_heap_span(&heap, size, 0);
	return kasan_heap_alloc(&heap, raw, size, 0);
}

static NOINLINE void write_long(char *p)
{
	*(volatile long *)p = 1;
}

static NOINLINE void read_byte(const char *p)
{
	sink = *(const volatile char *)p;
}

static void heap_in_a_window(void)
{
	char *p;

	arena = unit_watched(65536);
	kasan_heap_add(&heap);
	p = allocate(20);
	REQUIRE(p);
	EXPECT_NO_REPORT(write_long(p); write_long(p + 8); read_byte(p + 19));
	EXPECT_REPORT("slab-out-of-bounds", read_byte(p + 20));
	CHECK(unit_find(0, "BUG: KASAN: slab-out-of-bounds in read_byte+0x") == 1);
	EXPECT_REPORT("slab-out-of-bounds", write_long(p + 16));
	CHECK(unit_last()->is_write && unit_last()->size == 8);
	EXPECT_REPORT("slab-out-of-bounds", memset(p, 0, 21));
	CHECK(kasan_heap_free(&heap, p, 0));
	EXPECT_REPORT("slab-use-after-free", read_byte(p + 3));
	EXPECT_REPORT("double-free", CHECK(!kasan_heap_free(&heap, p, 0)));
}

static void everything_else_is_accessible(void)
{
	char local[32];

	EXPECT_NO_REPORT(write_long(local); read_byte(not_watched); read_byte(not_watched + 15));
	EXPECT_NO_REPORT(memcpy(local, not_watched, 16));
	sink = local[1];
}

UNIT_MAIN(heap_in_a_window, everything_else_is_accessible)
