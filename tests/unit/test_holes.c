/* SPDX-License-Identifier: MIT */
/* test_holes.c - CONFIG_KASAN_SHADOW_HOLES: shadow that is not mapped is never read for a report. */
#include "../../runtime/base/base.h"
#include "fake_slab.h"

static uintptr_t hole_start, hole_end;

static bool outside_hole(const void *addr, size_t size)
{
	const uintptr_t at = (uintptr_t)addr;

	return at + size <= hole_start || at >= hole_end;
}

static void state_of_a_hole(void)
{
	static char memory[64] __attribute__((aligned(64)));
	uint8_t *const shadow = kasan_shadow_of(memory);
	uint8_t state = 0;

	REQUIRE(shadow);
	CHECK(kasan_memory_state(memory, &state));
	hole_start = (uintptr_t)shadow + 4;
	hole_end = hole_start + 2;
	kasan_posix_hooks.readable = outside_hole;
	CHECK(kasan_memory_state(memory + 31, &state));
	CHECK(!kasan_memory_state(memory + 32, &state));
	CHECK(!kasan_memory_state(memory + 47, &state));
	CHECK(kasan_memory_state(memory + 48, &state));
	CHECK(kasan_shadow_of(memory + 24) == shadow + 3);
	CHECK(!kasan_shadow_of(memory + 32));
	kasan_posix_hooks.readable = NULL;
	CHECK(kasan_shadow_of(memory + 32) == shadow + 4);
}

/* The rows of a report around an object go on past the hole. */
static void report_beside_a_hole(void)
{
	struct fake_slab *slab = fake_slab_create("holes", 64, 8, 0, 4);
	char *p = fake_slab_alloc(slab, 64);
	const uint8_t *const shadow = kasan_shadow_of(p);

	REQUIRE(p && shadow);
	hole_start = (uintptr_t)shadow + 64;
	hole_end = hole_start + 4096;
	kasan_posix_hooks.readable = outside_hole;
	CHECK(!kasan_check_read(p, 65));
	kasan_posix_hooks.readable = NULL;
	CHECK(unit_find(0, "BUG: KASAN: slab-out-of-bounds") >= 0);
	CHECK(unit_find(0, "Memory state around the buggy address") >= 0);
	fake_slab_free(slab, p);
	fake_slab_forget();
}

UNIT_MAIN(state_of_a_hole, report_beside_a_hole)
