/* SPDX-License-Identifier: MIT */
/* test_pieces.c - a shadow in two pieces: memory on both sides of the border, and accesses that cross it. */
#include <string.h>

#include <kasan/asan_interface.h>

#include "../../runtime/base/base.h"
#include "abi.h"
#include "unit.h"

#define SIZE 65536UL

/* The border lies in the middle of @memory. */
static char *memory, *border;

static void split(void)
{
	memory = unit_watched(SIZE);
	border = memory + SIZE / 2;
	kasan_posix_split_shadow((uintptr_t)border);
	kasan_unpoison(memory, SIZE);
}

static void pieces_have_their_own_offsets(void)
{
	const uint8_t *below, *above;

	split();
	below = kasan_shadow_of(border - 1);
	above = kasan_shadow_of(border);
	REQUIRE(below && above);
	CHECK(above != below + 1);
	CHECK(kasan_shadow_of(border - SIZE / 2) == below + 1 - SIZE / 16);
	CHECK(kasan_shadow_of(border + 800) == above + 100);
	CHECK(!kasan_shadow_of(NULL));
	CHECK(!kasan_shadow_of((void *)UINTPTR_MAX));
}

/* Each bad byte around the border is found by each range that holds it, and by no other. */
static void ranges_over_the_border(void)
{
	split();
	for (int bad = -24; bad < 24; bad += 8) {
		kasan_poison(border + bad, 8, KASAN_SLAB_REDZONE);
		for (int from = -40; from < 40; from++)
			for (int size = 1; size < 100; size++) {
				const bool hit = from < bad + 8 && from + size > bad;
				const int first = from > bad ? from : bad;

				CHECKF(kasan_first_bad((uintptr_t)border + from, size) ==
					       (hit ? (uintptr_t)border + first : 0),
				       "bad %d, from %d, %d bytes", bad, from, size);
			}
		kasan_unpoison(border + bad, 8);
	}
}

static void accesses_over_the_border(void)
{
	const uintptr_t at = (uintptr_t)border;

	split();
	EXPECT_NO_REPORT(__asan_load16_noabort(at - 8));
	EXPECT_NO_REPORT(__asan_store8_noabort(at - 3));
	EXPECT_NO_REPORT(__asan_loadN_noabort(at - 100, 200));
	kasan_poison(border, 8, KASAN_SLAB_REDZONE);
	EXPECT_REPORT("slab-out-of-bounds", __asan_load16_noabort(at - 8));
	EXPECT_REPORT("slab-out-of-bounds", __asan_store8_noabort(at - 3));
	EXPECT_REPORT("slab-out-of-bounds", __asan_loadN_noabort(at - 100, 200));
	EXPECT_NO_REPORT(__asan_load8_noabort(at - 8));
	EXPECT_NO_REPORT(__asan_load8_noabort(at + 8));
	kasan_unpoison(border, 8);
}

/* All of it, and nothing else, in one call. */
static void poison_over_the_border(void)
{
	split();
	kasan_poison(memory + 64, SIZE - 128, KASAN_PAGE_FREE);
	CHECK_EQ(kasan_first_bad((uintptr_t)memory, 64), 0);
	CHECK(kasan_first_bad((uintptr_t)memory, 65) == (uintptr_t)memory + 64);
	CHECK_EQ(*kasan_shadow_of(border - 8), KASAN_PAGE_FREE);
	CHECK_EQ(*kasan_shadow_of(border), KASAN_PAGE_FREE);
	CHECK_EQ(kasan_first_bad((uintptr_t)memory + SIZE - 64, 64), 0);
	kasan_unpoison(memory, SIZE - 3);
	CHECK(kasan_first_bad((uintptr_t)memory, SIZE) == (uintptr_t)memory + SIZE - 3);
	kasan_poison_tail(border - 64, 70, 128, KASAN_SLAB_REDZONE);
	CHECK(kasan_first_bad((uintptr_t)border - 64, 128) == (uintptr_t)border + 6);
	kasan_unpoison(memory, SIZE);
}

/* From a byte of shadow back to the memory: in both pieces, and nowhere else. */
static void shadow_to_memory(void)
{
	uintptr_t addr = 0;

	split();
	CHECK(kasan_shadow_fault_to_access((uintptr_t)kasan_shadow_of(border - 8), &addr));
	CHECK(addr == (uintptr_t)border - 8);
	CHECK(kasan_shadow_fault_to_access((uintptr_t)kasan_shadow_of(border + 16), &addr));
	CHECK(addr == (uintptr_t)border + 16);
	CHECK(!kasan_shadow_fault_to_access((uintptr_t)memory, &addr));
}

/* The port may not know its pieces then. */
static void before_kasan_init_all_accesses_pass(void)
{
	bool ok;

	kasan_set_reporting(KASAN_NOT_YET);
	ok = kasan_check_read(NULL, 4) && kasan_byte_accessible(NULL);
	kasan_set_reporting(KASAN_LIVE);
	CHECK(ok);
	CHECK(!kasan_byte_accessible(NULL));
}

UNIT_MAIN(before_kasan_init_all_accesses_pass, pieces_have_their_own_offsets,
	  ranges_over_the_border, accesses_over_the_border, poison_over_the_border,
	  shadow_to_memory)
