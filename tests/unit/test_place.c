/* SPDX-License-Identifier: MIT */
/* test_place.c - the full layout whose place is known only at run time: before kasan_shadow_place(), wrong places, and what
 * reports and fault handlers are told afterwards. */
#include <string.h>

#include <kasan/asan_interface.h>
#include <kasan/shadow_inline.h>

#include "../../runtime/base/base.h"
#include "abi.h"
#include "unit.h"

extern uintptr_t __asan_shadow_memory_dynamic_address;

#define SIZE 4096UL

/* What the port has set before main(). */
static uintptr_t low, span, offset;

static void forget_place(void)
{
	low = kasan_full_low;
	span = kasan_full_span;
	offset = __asan_shadow_memory_dynamic_address;
	kasan_full_low = KASAN_FULL_NOWHERE;
	kasan_full_span = UINTPTR_MAX - KASAN_FULL_NOWHERE;
	/* No process has memory there, so a check that reads shadow ends the test. */
	__asan_shadow_memory_dynamic_address = (uintptr_t)1 << 62;
}

/* The offset is not a constant of this program: the kernel chose where to map the shadow. */
static void shadow_is_where_the_port_says(void)
{
	char *p = unit_watched(SIZE);

	CHECK((uintptr_t)kasan_shadow_of(p) ==
	      ((uintptr_t)p >> 3) + __asan_shadow_memory_dynamic_address);
	CHECK(__asan_shadow_memory_dynamic_address != 0);
	CHECK(!kasan_shadow_of((void *)(kasan_full_low - 1)));
	CHECK(!kasan_shadow_of((void *)(kasan_full_low + kasan_full_span + 1)));
}

static bool all_may_be_accessed(char *p)
{
	bool ok = true;

	__asan_load1_noabort((uintptr_t)p);
	__asan_store2_noabort((uintptr_t)p);
	__asan_load4_noabort((uintptr_t)p);
	__asan_load8_noabort((uintptr_t)p);
	__asan_store16_noabort((uintptr_t)p);
	for (size_t size = 1; size < 100; size++) {
		__asan_loadN_noabort((uintptr_t)p, size);
		ok &= kasan_check_write(p, size);
	}
	return ok && kasan_byte_accessible(p);
}

/* An instrumented boot runs, and an allocator's hooks write nowhere. */
static void before_it_has_a_place(void)
{
	static struct kasan_cache cache = {.name = "early", .object_size = 32};
	char *p = unit_watched(SIZE);
	bool readable, ok;

	kasan_cache_create(&cache, 8);
	unit_clear();
	forget_place();
	readable = kasan_shadow_of(p);
	kasan_poison(p, SIZE, KASAN_PAGE_FREE);
	kasan_free_pages(p, SIZE);
	kasan_alloc_pages(p, SIZE);
	kasan_slab_alloc(&cache, p, 20);
	kasan_set_reporting(KASAN_NOT_YET);
	ok = all_may_be_accessed(p);
	kasan_set_reporting(KASAN_LIVE);
	CHECK(!kasan_shadow_of(p));
	kasan_full_low = low;
	kasan_full_span = span;
	__asan_shadow_memory_dynamic_address = offset;
	CHECK(!readable);
	CHECK(ok);
	CHECK_EQ(unit_reports(), 0);
	CHECK_EQ(kasan_first_bad((uintptr_t)p, SIZE), 0);
}

static const char *place(uintptr_t at, uintptr_t first, uintptr_t last)
{
	const char *wrong;

	forget_place();
	wrong = kasan_shadow_place(at, first, last);
	kasan_full_low = low;
	kasan_full_span = span;
	__asan_shadow_memory_dynamic_address = offset;
	return wrong ? wrong : "";
}

static void places_that_are_wrong(void)
{
	CHECK(strstr(place(0x1000, 0x2004, 0x2fff), "0x2004"));
	CHECK(strstr(place(0x1000, 0x2000, 0x2ffe), "0x2ffe"));
	CHECK(strstr(place(0x1000, 0x3000, 0x1fff), "0x3000"));
	/* The shadow of the last address would lie below that of the first. */
	CHECK(strstr(place(UINTPTR_MAX - 0xfff, 0, 0xffff), "address 0"));
	CHECK(strstr(kasan_shadow_place(offset, low, low + span), "already"));
	/* The whole address space, and its upper half. */
	CHECK(!place(0x1000, 0, UINTPTR_MAX)[0]);
	CHECK(!place(0xdfff800000000000UL, 0xffff000000000000UL, UINTPTR_MAX)[0]);
}

static void what_others_are_told(void)
{
	char *p = unit_watched(SIZE);
	size_t scale, told;
	uintptr_t addr = 0;

	__asan_get_shadow_mapping(&scale, &told);
	CHECK_EQ(scale, 3);
	CHECK(told == __asan_shadow_memory_dynamic_address);
	CHECK(kasan_shadow_fault_to_access((uintptr_t)kasan_shadow_of(p + 64), &addr));
	CHECK(addr == (uintptr_t)p + 64);
}

UNIT_MAIN(shadow_is_where_the_port_says, before_it_has_a_place, places_that_are_wrong,
	  what_others_are_told)
