/* SPDX-License-Identifier: MIT */
/* test_depot_tiny.c - a depot of 2 KiB in blocks of 1 KiB: it takes no more than that, keeps a useful number of traces,
 * and says once that it is full. A port without memory: one line says what is lost, and everything else works. */
#include <string.h>

#include "../../runtime/track/track.h"
#include "unit.h"

static size_t given;
static bool refuse;

static void *count_alloc(size_t size)
{
	static char pool[4096] __attribute__((__aligned__(16)));
	void *block = pool + given;

	if (refuse || given + size > sizeof(pool))
		return NULL;
	given += size;
	return block;
}

static size_t lines_with(const char *text)
{
	size_t found = 0;

	for (size_t i = 0; i < unit_lines(); i++)
		found += strstr(unit_line(i), text) != NULL;
	return found;
}

/* The queue of a heap's quarantine gets no memory: objects are released at once, with a message. */
static void release(struct kasan_heap *heap, void *raw)
{
	(void)heap;
	(void)raw;
}

static void no_memory_is_said_once(void)
{
	static struct kasan_heap heap = {
		.name = "tiny", .quarantine_max = 4096, .release = release};
	uintptr_t pcs[2] = {0x1000, 0x2000};

	kasan_heap_add(&heap);
	unit_clear();
	refuse = true;
	for (int i = 0; i < 4; i++) {
		char *raw = unit_watched(512), *p = kasan_heap_alloc(&heap, raw, 40, 0);

		CHECK(kasan_heap_free(&heap, p, 0));
		CHECK_EQ(kasan_depot_save(pcs, 2), 0);
	}
	CHECK_EQ(lines_with("no memory for the quarantine of heap tiny"), 1);
	CHECK_EQ(lines_with("no memory for the stack depot"), 1);
	refuse = false;
}

static void two_kib_are_enough(void)
{
	struct kasan_depot_stats stats;
	uintptr_t pcs[6];
	uint32_t handles[256], count = 0;

	unit_clear();
	given = 0;
	for (uintptr_t n = 0; n < 256; n++) {
		for (uintptr_t i = 0; i < 6; i++)
			pcs[i] = 0x8000000 + n * 64 + i * 4;
		handles[n] = kasan_depot_save(pcs, 6);
		count += handles[n] != 0;
	}
	kasan_depot_stats(&stats);
	CHECK_EQ(stats.max_bytes, 2048);
	CHECK(stats.bytes <= 2048 && given <= 2048);
	/* A record is 32 bytes and its frames on this target. */
	CHECK(count >= 2 * (1024 / (32 + 6 * sizeof(pcs[0]))));
	CHECK_EQ(lines_with("stack depot full"), 1);
	for (uintptr_t n = 0; n < count; n++) {
		const uintptr_t *got;

		REQUIRE(handles[n]);
		CHECK_EQ(kasan_depot_fetch(handles[n], &got), 6);
		CHECK_EQ(got[0], 0x8000000 + n * 64);
	}
	CHECK_EQ(kasan_option("kasan.depot_size", "2K"), 0);
	CHECK_EQ(kasan_option("kasan.depot_size", "1K"), KASAN_OPTION_INVALID);
	CHECK_EQ(kasan_option("kasan.depot_size", "4K"), KASAN_OPTION_INVALID);
}

static void start(void)
{
	kasan_posix_hooks.alloc = count_alloc;
	no_memory_is_said_once();
}

UNIT_MAIN(start, two_kib_are_enough)
