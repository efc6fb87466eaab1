/* SPDX-License-Identifier: MIT */
/* test_off.c - kasan=off from the start (KASAN_OPTIONS in the environment): hooks leave memory, layout and shadow
 * alone, no check fails, and KASAN cannot be turned on later. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../runtime/base/base.h"
#include "fake_slab.h"

/* The options are read before any constructor runs. So a process without them sets them and executes itself again. */
__attribute__((constructor)) static void restart(int argc, char **argv)
{
	if (getenv("KASAN_OPTIONS"))
		return;
	setenv("KASAN_OPTIONS", "kasan=off", 1);
	execv("/proc/self/exe", argv);
	abort();
}

static size_t poisoned(const char *p, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += !kasan_byte_accessible(p + i);
	return count;
}

static void slabs_have_no_redzones(void)
{
	static const uint32_t sizes[] = {8, 24, 64, 100, 4096};

	CHECK(!kasan_on() && !kasan_enabled());
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct kasan_cache cache = {.name = "off", .object_size = sizes[i]};
		char *slab = unit_watched(8192);
		struct kasan_depot_stats before, after;

		CHECK_EQ(kasan_cache_create(&cache, 8), (sizes[i] + 7) & ~7U);
		kasan_depot_stats(&before);
		memset(slab, 0x5a, 8192);
		kasan_poison_slab(slab, 8192);
		kasan_init_slab_object(&cache, slab);
		kasan_poison_object(&cache, slab);
		CHECK(kasan_slab_alloc(&cache, slab, 1) == slab);
		CHECK(kasan_slab_realloc(&cache, slab, 2) == slab);
		CHECK_EQ(kasan_object_size(&cache, slab), sizes[i]);
		EXPECT_NO_REPORT(kasan_slab_free(&cache, slab, slab, 0));
		CHECK_EQ(kasan_slab_free(&cache, slab, slab, 0), KASAN_FREE_NOW);
		CHECK_EQ(kasan_slab_free_deferred(&cache, slab), KASAN_FREE_NOW);
		CHECK_EQ(poisoned(slab, 8192), 0);
		for (size_t k = 0; k < 8192; k++)
			REQUIRE(slab[k] == 0x5a);
		kasan_depot_stats(&after);
		CHECK_EQ(after.traces, before.traces);
	}
}

static void pages_and_areas(void)
{
	struct kasan_large_meta meta;
	char *p = unit_watched(16384);

	memset(&meta, 0x33, sizeof(meta));
	kasan_free_pages(p, 16384);
	CHECK_EQ(poisoned(p, 16384), 0);
	CHECK(kasan_kmalloc_large(p, 5000, 8192, &meta) == p);
	CHECK_EQ(poisoned(p, 8192), 0);
	CHECK_EQ(kasan_kfree_large(p + 8, p, &meta, 0), KASAN_FREE_NOW);
	CHECK_EQ(meta.size, 0x3333333333333333);
	kasan_unpoison_vmalloc(p, 5000);
	CHECK_EQ(poisoned(p, 8192), 0);
	kasan_poison_vmalloc(p, 8192);
	CHECK_EQ(poisoned(p, 8192), 0);
	EXPECT_NO_REPORT(CHECK(kasan_mempool_poison_pages(p, 4096, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_mempool_poison_pages(p, 4096, 0)));
	EXPECT_NO_REPORT(CHECK(kasan_mempool_poison_object(p, 0)));
	CHECK_EQ(poisoned(p, 8192), 0);
}

/* Heaps know their chunks by poison, so they still poison; but nothing is reported. */
static void heaps_work(void)
{
	char *p = kasan_posix_malloc(20), *q;

	REQUIRE(p);
	strcpy(p, "nineteen characters");
	EXPECT_NO_REPORT(kasan_check_write(p + 20, 1));
	q = kasan_posix_realloc(p, 5000);
	REQUIRE(q);
	CHECK(!strcmp(q, "nineteen characters"));
	EXPECT_NO_REPORT(kasan_posix_free(q));
	EXPECT_NO_REPORT(kasan_posix_free(q));
}

static void nothing_is_reported(void)
{
	char *p = unit_watched(64);

	kasan_poison(p, 64, KASAN_SLAB_FREE);
	kasan_poison_tail(p, 3, 64, KASAN_SLAB_FREE);
	CHECK_EQ(poisoned(p, 64), 0);
	EXPECT_NO_REPORT(CHECK(kasan_check_write(p, 64)));
	EXPECT_NO_REPORT(kasan_report_invalid_free(p, 0));
	EXPECT_NO_REPORT(kasan_report_double_free(p, 0));
}

static void there_is_no_way_back(void)
{
	CHECK_EQ(kasan_option("kasan", "on"), KASAN_OPTION_INVALID);
	CHECK(!kasan_on() && !kasan_enabled());
	CHECK_EQ(kasan_option("kasan", "off"), 0);
}

UNIT_MAIN(slabs_have_no_redzones, pages_and_areas, heaps_work, nothing_is_reported,
	  there_is_no_way_back)
