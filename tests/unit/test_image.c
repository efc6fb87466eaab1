/* SPDX-License-Identifier: MIT */
/* test_image.c - the first window and the program's own image: a window is refused if its shadow overlaps the image, or
 * if it does not cover the whole image. Inline callbacks for addresses outside give no report. */
#include <stdio.h>
#include <string.h>

#include <kasan/port_kit.h>

#include "../../runtime/base/base.h"
#include "abi.h"
#include "unit.h"

#define WINDOW 65536UL

static uintptr_t image, image_end;

bool kasan_port_image(uintptr_t *start, uintptr_t *end)
{
	*start = image;
	*end = image_end;
	return image_end != 0;
}

static void refused(uintptr_t start, size_t size, void *shadow, const char *words, uintptr_t right)
{
	const char *why = kasan_window_add(start, size, shadow);
	char number[32];

	if (!CHECKF(why, "window %lx+%zx was accepted", start, size))
		return;
	snprintf(number, sizeof(number), "0x%lx", right);
	CHECKF(strstr(why, words) && strstr(why, number), "\"%s\" does not say \"%s\" and %s", why,
	       words, number);
}

static void image_and_window(void)
{
	char *arena = unit_arena(2 * WINDOW);
	const uintptr_t start = (uintptr_t)arena;
	char *shadow = arena + WINDOW;

	image = start + 4096;
	image_end = start + 8193;
	refused(start + 8192, WINDOW - 8192, shadow, "start it at or below", start + 4096);
	refused(start, 8192, shadow, "at least", 8200);
	image = start + WINDOW;
	image_end = start + WINDOW + 4097;
	refused(start, WINDOW, shadow, "would overwrite the image", start + WINDOW + 4104);
	refused(start, WINDOW, shadow + 4096, "would overwrite the image", start + WINDOW + 4104);
	image = start + 4096;
	image_end = start + 8193;
	CHECK(!kasan_window_add(start, WINDOW, shadow));
	/* Only the first window has to cover the image. */
	CHECK(!kasan_window_add((uintptr_t)unit_arena(4096), 4096, unit_arena(512)));
}

/* What `./redzone decode` reads, for an image that was moved up or down. */
static void load_offset_is_printed(void)
{
	const size_t before = unit_lines();

	kasan_print_load_offset((const void *)0x80201000UL, 0x1000);
	kasan_print_load_offset((const void *)0x1000UL, 0x2000);
	CHECK_EQ(unit_lines(), before + 2);
	CHECK(!strcmp(unit_line(before), "Kernel Offset: 0x80200000"));
	CHECK(!strcmp(unit_line(before + 1), "Kernel Offset: 0xfffffffffffff000"));
}

static void outside_is_no_report(void)
{
	char *outside = unit_arena(4096);
	char *inside = (char *)image;

	EXPECT_NO_REPORT(__asan_report_load4_noabort((uintptr_t)outside));
	EXPECT_NO_REPORT(__asan_report_store_n_noabort((uintptr_t)outside, 100));
	kasan_poison(inside, 64, KASAN_SLAB_REDZONE);
	EXPECT_REPORT("slab-out-of-bounds", __asan_report_load4_noabort((uintptr_t)inside));
	EXPECT_REPORT("slab-out-of-bounds", __asan_report_store_n_noabort((uintptr_t)inside, 7));
}

static void the_probe(void)
{
	char *object = (char *)image + 1024;
	const char *why;

	/* There is no stack poison behind the object: the compiler put it elsewhere. */
	why = kasan_probe_begin(object, 16, true);
	CHECKF(why && strstr(why, "shadow offset"), "%s", why);
	/* A check that sees nothing, then one that sees the object. */
	CHECK(!kasan_probe_begin(object, 16, false));
	why = kasan_probe_end(object);
	CHECKF(why && strstr(why, "saw nothing"), "%s", why);
	CHECK(!kasan_probe_begin(object, 16, false));
	EXPECT_NO_REPORT(__asan_load1_noabort((uintptr_t)object));
	CHECK(!kasan_probe_end(object));
	CHECK(kasan_byte_accessible(object));
	/* Outside all windows. */
	why = kasan_probe_begin(unit_arena(4096), 16, true);
	CHECKF(why && strstr(why, "no shadow"), "%s", why);
}

UNIT_MAIN(image_and_window, load_offset_is_printed, outside_is_no_report, the_probe)
