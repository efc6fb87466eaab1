/* SPDX-License-Identifier: MIT */
/* test_wrap.c - functions that <kasan/wrap.h> makes of a library's own: what they report, name, leave out and carry out. */
#include <string.h>

#include <kasan/wrap.h>

#include "unit.h"

#define GOOD 100U
#define ROOM 160U

static unsigned int calls;

KASAN_CHECKED_COPY(vendor_copy, vendor_copy_raw);
KASAN_CHECKED_SET(vendor_set, vendor_set_raw);
KASAN_CHECKED_COMPARE(vendor_compare, vendor_compare_raw);

void *vendor_copy_raw(void *to, const void *from, size_t size)
{
	calls++;
	return __memmove(to, from, size);
}

void *vendor_set_raw(void *to, int byte, size_t size)
{
	calls++;
	return __memset(to, byte, size);
}

int vendor_compare_raw(const void *one, const void *other, size_t size)
{
	calls++;
	return size ? *(const char *)one - *(const char *)other : 0;
}

/* Two buffers of GOOD bytes, each with a redzone after it. */
static char *one, *other;

static void set_up(void)
{
	one = unit_watched(2 * ROOM + 16);
	one += -(uintptr_t)one & 15;
	other = one + ROOM;
	kasan_poison_tail(one, GOOD, ROOM, KASAN_SLAB_REDZONE);
	kasan_poison_tail(other, GOOD, ROOM, KASAN_SLAB_REDZONE);
	__memset(one, 'a', GOOD);
	__memset(other, 'b', GOOD);
	calls = 0;
}

static void good_calls_are_carried_out(void)
{
	set_up();
	EXPECT_NO_REPORT(CHECK(vendor_copy(one, other, GOOD) == one));
	CHECK(one[0] == 'b' && one[GOOD - 1] == 'b');
	EXPECT_NO_REPORT(CHECK(vendor_set(one, 'c', GOOD) == one));
	CHECK(one[0] == 'c' && one[GOOD - 1] == 'c');
	EXPECT_NO_REPORT(CHECK_EQ(vendor_compare(one, other, GOOD), 1));
	CHECK_EQ(calls, 3);
	/* No byte is touched, so any pointer is good. */
	EXPECT_NO_REPORT(vendor_copy(NULL, NULL, 0));
	CHECK_EQ(calls, 4);
}

/* Each operation ends one byte too far, and its caller is what the report names. */
static void bad_calls_are_left_out(void)
{
	set_up();
	EXPECT_REPORT("slab-out-of-bounds", CHECK(vendor_copy(one, other, GOOD + 1) == one));
	CHECK(unit_find(0, "Read of size 101") > 0);
	CHECK(unit_find(0, "BUG: KASAN: slab-out-of-bounds in bad_calls_are_left_out+0x") >= 0);
	CHECK(unit_find(0, " bad_calls_are_left_out+0x") == unit_find(0, "Call trace:") + 1);
	CHECK_EQ(one[0], 'a');
	kasan_unpoison(other, ROOM);
	EXPECT_REPORT("slab-out-of-bounds", vendor_copy(one, other, GOOD + 1));
	CHECK(unit_find(0, "Write of size 101") > 0);
	EXPECT_REPORT("slab-out-of-bounds", CHECK(vendor_set(one, 'c', GOOD + 1) == one));
	CHECK(unit_find(0, "Write of size 101") > 0);
	EXPECT_REPORT("slab-out-of-bounds", CHECK_EQ(vendor_compare(other, one, GOOD + 1), 0));
	CHECK(unit_find(0, "Read of size 101") > 0);
	EXPECT_REPORT("out-of-bounds", vendor_set(one, 'c', (size_t)-1));
	CHECK_EQ(one[0], 'a');
	CHECK_EQ(calls, 0);
}

static void without_a_report_the_program_does_what_it_did(void)
{
	set_up();
	kasan_disable_current();
	EXPECT_NO_REPORT(vendor_set(one, 'c', GOOD + 1));
	CHECK_EQ(one[GOOD], 'c');
	EXPECT_NO_REPORT(vendor_set(one, 'd', (size_t)-1));
	kasan_enable_current();
	CHECK_EQ(calls, 1);
}

UNIT_MAIN(good_calls_are_carried_out, bad_calls_are_left_out,
	  without_a_report_the_program_does_what_it_did)
