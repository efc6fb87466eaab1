/* SPDX-License-Identifier: MIT */
/* test_free_tags.c - software tags: kasan_slab_free_start(), for an allocator that knows that a slot starts where the
 * pointer points. It differs from kasan_slab_free() in what it returns, and in the function that a report names. */
#include "unit.h"

#define SIZE 64U

static struct kasan_cache cache;
static char *slot;

static bool find_object(const void *addr, struct kasan_object *obj)
{
	const char *p = kasan_reset_tag(addr);

	if (p < slot || p >= slot + SIZE)
		return false;
	obj->kind = KASAN_OBJECT_SLAB;
	obj->cache = &cache;
	obj->start = slot;
	return true;
}

/* Return: an object of a new cache. */
static char *object_with(uint32_t flags)
{
	cache = (struct kasan_cache){.name = "tagged", .object_size = SIZE, .flags = flags};
	kasan_cache_create(&cache, 8);
	/* Away from the page's ends, where other rules hold. */
	slot = unit_arena(4096) + 1024;
	kasan_posix_hooks.find_object = find_object;
	kasan_poison_slab(slot - 1024, 4096);
	return kasan_slab_alloc(&cache, kasan_init_slab_slot(&cache, slot), 40);
}

static __attribute__((noinline)) bool allocator_free(char *object)
{
	const bool kept = kasan_slab_free_start(&cache, object);

	__asm__ volatile("");
	return kept;
}

static __attribute__((noinline)) bool user_free(char *object)
{
	const bool kept = allocator_free(object);

	__asm__ volatile("");
	return kept;
}

static void free_twice(uint32_t flags, bool traces)
{
	char *const p = object_with(flags);
	uint8_t state = 0;

	EXPECT_NO_REPORT(CHECK(!user_free(p)));
	CHECK(kasan_memory_state(kasan_reset_tag(p), &state));
	/* Readers may still look at the object. */
	CHECK_EQ(state == KASAN_TAG_INVALID, !(flags & KASAN_CACHE_NO_QUARANTINE));
	EXPECT_REPORT("double-free", CHECK(user_free(p)));
	CHECK(unit_find(0, "BUG: KASAN: double-free in user_free+0x") >= 0);
	CHECK_EQ(unit_find(0, "Freed by task ") >= 0, traces);
}

static void with_traces(void)
{
	free_twice(0, true);
	free_twice(KASAN_CACHE_NO_QUARANTINE, true);
}

static void without_traces(void)
{
	CHECK_EQ(kasan_option("kasan.stacktrace", "off"), 0);
	free_twice(0, false);
	free_twice(KASAN_CACHE_NO_QUARANTINE, false);
	CHECK_EQ(kasan_option("kasan.stacktrace", "on"), 0);
}

UNIT_MAIN(with_traces, without_traces)
