/* SPDX-License-Identifier: MIT */
/* test_tagged_globals.c - globals in the software tag-based mode: descriptors as Clang writes them, memory tags, short
 * granules, the registry, and reports. */
#include <string.h>

#include "unit.h"

#define GRANULE 16

void __hwasan_load1_noabort(uintptr_t addr);
void __hwasan_load1_match_all_noabort(uintptr_t addr, uint8_t match_all);
void __hwasan_load8_match_all_noabort(uintptr_t addr, uint8_t match_all);
void *__hwasan_memset_match_all(void *dst, int c, size_t n, uint8_t match_all);

/* An image: descriptors, and behind them the variables. */
static struct image {
	struct kasan_global_descriptor descriptors[3];
	char *first, *second, *third;
	struct kasan_globals_table table;
} *image;

static uint8_t state_of(const void *p)
{
	uint8_t state = 0xAA;

	CHECK(kasan_memory_state(p, &state));
	return state;
}

/* The host's addresses begin with 0, a kernel's with 0xff: the sum is what the pointer has. */
static uint8_t tag_of(const char *variable, uint8_t compilers)
{
	return (uint8_t)(((uintptr_t)variable >> 56) + compilers);
}

static uintptr_t pointer(const char *variable, uint8_t compilers)
{
	return kasan_tag_addr((uintptr_t)variable, tag_of(variable, compilers));
}

static void describe(unsigned int i, const char *variable, uint32_t size, uint8_t tag)
{
	struct kasan_global_descriptor *d = &image->descriptors[i];

	d->offset = (int32_t)(variable - (const char *)d);
	d->info = size | (uint32_t)tag << 24;
}

static const struct kasan_global_descriptor *end(void)
{
	return image->descriptors + sizeof(image->descriptors) / sizeof(image->descriptors[0]);
}

/* 20 bytes, 64 bytes and 5 bytes, with the tags 0x30 to 0x32. */
static void make_image(void)
{
	image = (struct image *)unit_arena(8192);
	memset(image, 0, sizeof(*image));
	image->first = (char *)image + 1024;
	image->second = image->first + 32;
	image->third = image->second + 64;
	describe(0, image->first, 20, 0x30);
	describe(1, image->second, 64, 0x31);
	describe(2, image->third, 5, 0x32);
}

static void tags_of_memory(void)
{
	make_image();
	kasan_prepare_globals(image->descriptors, end());
	kasan_load_globals(&image->table, image->descriptors, end());
	CHECK_EQ(state_of(image->first), tag_of(image->first, 0x30));
	CHECK_EQ(state_of(image->first + GRANULE), 4);
	CHECK_EQ((uint8_t)image->first[31], tag_of(image->first, 0x30));
	for (unsigned int i = 0; i < 64; i += GRANULE)
		CHECK_EQ(state_of(image->second + i), tag_of(image->second, 0x31));
	CHECK_EQ(state_of(image->third), 5);
	kasan_unload_globals(image, 8192);
	CHECK_EQ(state_of(image->first), KASAN_TAG_KERNEL);
	CHECK_EQ(state_of(image->third), KASAN_TAG_KERNEL);
}

/* Constants that were read-only from the start: the last granule belongs to the variable. */
static void not_prepared(void)
{
	make_image();
	kasan_load_globals(&image->table, image->descriptors, end());
	CHECK_EQ(state_of(image->first + GRANULE), tag_of(image->first, 0x30));
	CHECK_EQ(image->first[31], 0);
	kasan_unload_globals(image, 8192);
}

static void reports(void)
{
	make_image();
	kasan_prepare_globals(image->descriptors, end());
	kasan_load_globals(&image->table, image->descriptors, end());
	/* Twice is harmless. */
	kasan_load_globals(&image->table, image->descriptors, end());
	for (unsigned int i = 0; i < 20; i++)
		__hwasan_load1_noabort(pointer(image->first, 0x30) + i);
	__hwasan_load8_match_all_noabort(pointer(image->second, 0x31) + 56, 0xff);
	__hwasan_load1_match_all_noabort(
		kasan_tag_addr((uintptr_t)image->third, KASAN_TAG_KERNEL) + 5, 0xff);
	CHECK_EQ(unit_reports(), 0);

	EXPECT_REPORT("global-out-of-bounds",
		      __hwasan_load1_noabort(pointer(image->first, 0x30) + 20));
	CHECK(unit_saw("The buggy address belongs to the variable:"));
	CHECK(unit_saw(" <unnamed constant>+0x14/0x14"));
	EXPECT_REPORT("global-out-of-bounds",
		      __hwasan_load8_match_all_noabort(pointer(image->second, 0x31) + 64, 0xff));
	EXPECT_REPORT("global-out-of-bounds",
		      __hwasan_load1_match_all_noabort(pointer(image->second, 0x31) - 1, 0xff));
	CHECK(unit_saw(" 1 bytes to the left of <unnamed constant>+0x0/0x40"));
	EXPECT_REPORT("global-out-of-bounds",
		      __hwasan_memset_match_all((void *)pointer(image->third, 0x32), 0, 6, 0xff));
	/* A pointer that no variable was made for: the variable there is named, the bug is not. */
	EXPECT_REPORT("invalid-access", __hwasan_load1_noabort(pointer(image->second, 0x77)));
	CHECK(unit_saw(" <unnamed constant>+0x0/0x40"));
	kasan_unload_globals(image, 8192);
}

UNIT_MAIN(tags_of_memory, not_prepared, reports)
