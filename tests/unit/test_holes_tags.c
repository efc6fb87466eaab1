/* SPDX-License-Identifier: MIT */
/* test_holes_tags.c - software tags with CONFIG_KASAN_SHADOW_HOLES: the tags of neighbours decide about a tag, and a
 * neighbour may have no shadow, as vmalloc space beside an area, or what is past the end of RAM. */
#include <sys/mman.h>

#include "unit.h"

#define PAGE 4096UL
/* Memory whose shadow takes one page. */
#define SPAN (PAGE * 16)

/* Return: memory whose shadow is the only one mapped for SPAN bytes before and after it. */
static char *alone(void)
{
	char *const arena = unit_arena(4 * SPAN);
	char *const p = (char *)(((uintptr_t)arena + 2 * SPAN - 1) & ~(SPAN - 1));
	uint8_t *const shadow = kasan_shadow_of(p);

	REQUIRE(shadow && !((uintptr_t)shadow & (PAGE - 1)));
	REQUIRE(!mprotect(shadow - PAGE, PAGE, PROT_NONE));
	REQUIRE(!mprotect(shadow + PAGE, PAGE, PROT_NONE));
	CHECK(!kasan_shadow_of(p - 1) && !kasan_shadow_of(p + SPAN));
	return p;
}

static void pages(void)
{
	char *const p = alone();
	char *const ends[] = {p, p + SPAN - PAGE};

	for (int i = 0; i < 2; i++) {
		char *const tagged = kasan_alloc_pages(ends[i], PAGE);

		CHECK(kasan_get_tag(tagged) != KASAN_TAG_KERNEL);
		CHECK(kasan_check_read(tagged, PAGE));
		kasan_free_pages(tagged, PAGE);
		CHECK(!kasan_check_read(tagged, PAGE));
	}
}

static void areas(void)
{
	char *const p = alone();
	char *const tagged = kasan_unpoison_vmalloc(p, SPAN);

	CHECK(kasan_check_read(tagged, SPAN));
	kasan_poison_vmalloc(tagged, SPAN);
	CHECK(!kasan_check_read(tagged, 1));
}

static void slabs(void)
{
	char *const p = alone();
	static struct kasan_cache cache = {.name = "alone", .object_size = 512};
	char *const ends[] = {p, p + SPAN - 512};

	CHECK_EQ(kasan_cache_create(&cache, 8), 512);
	kasan_poison_slab(p, SPAN);
	for (int i = 0; i < 2; i++) {
		void *const slot = kasan_init_slab_slot(&cache, ends[i]);
		char *const object = kasan_slab_alloc(&cache, slot, 512);

		CHECK(kasan_check_read(object, 512));
		CHECK_EQ(kasan_slab_free(&cache, object, ends[i], 0), KASAN_FREE_NOW);
		CHECK(!kasan_check_read(object, 512));
	}
}

UNIT_MAIN(pages, areas, slabs)
