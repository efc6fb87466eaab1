/* SPDX-License-Identifier: MIT */
/* test_dma.c - buffers that a device has, with a small table of mappings. */
#include <stdio.h>
#include <string.h>

#include <kasan/dma.h>

#include "abi.h"
#include "unit.h"

#define TO   KASAN_DMA_TO_DEVICE
#define FROM KASAN_DMA_FROM_DEVICE

static void the_text_of_a_use(void)
{
	char *p = kasan_posix_malloc(64), want[120];
	int at;

	kasan_dma_map(p, 64, FROM);
	EXPECT_REPORT("dma-use", __asan_load4_noabort((uintptr_t)p + 8));
	snprintf(want, sizeof(want),
		 "The buggy address belongs to the DMA buffer [%016lx, %016lx) of 64 bytes, from "
		 "the device",
		 (unsigned long)p, (unsigned long)p + 64);
	at = unit_find(0, want);
	REQUIRE(at > 0);
	CHECK(!unit_line((size_t)at - 1)[0]);
	CHECK(unit_find((size_t)at, "Mapped by task ") == at + 1);
	CHECK(unit_find((size_t)at, " the_text_of_a_use+0x") == at + 2);
	CHECK(unit_find(0, "Unmapped by task") < 0 && unit_find(0, "Allocated by task") > at);
	unit_clear();
	kasan_dma_unmap(p, 64, FROM);
	__asan_load4_noabort((uintptr_t)p + 8);
	CHECK_EQ(unit_reports(), 0);
	kasan_posix_free(p);
}

static void what_belongs_to_whom(void)
{
	char *p = kasan_posix_malloc(61);
	size_t from, to, i;

	/* Any part of an object: only granules that it shares with other bytes stay open, and all is as it was after. */
	for (from = 0; from < 20; from++) {
		for (to = from + 1; to <= 61; to++) {
			unit_clear();
			kasan_dma_map(p + from, to - from, TO);
			for (i = 0; i < 61; i++) {
				const bool inside = i >= from && i < to;
				const bool whole =
					i / 8 * 8 >= from && (i / 8 * 8 + 8 <= to || to == 61);

				if (inside && whole)
					CHECK(!kasan_byte_accessible(p + i));
				else if (!inside)
					CHECK(kasan_byte_accessible(p + i) ||
					      (i > from && i / 8 == from / 8));
			}
			kasan_dma_unmap(p + from, to - from, TO);
			for (i = 0; i < 64; i++)
				CHECK(kasan_byte_accessible(p + i) == (i < 61));
			CHECK_EQ(unit_reports(), 0);
		}
	}
	kasan_posix_free(p);
}

static void syncs(void)
{
	char *p = kasan_posix_malloc(64);

	kasan_dma_map(p, 64, TO);
	kasan_dma_sync_for_cpu(p + 16, 16);
	CHECK(kasan_byte_accessible(p + 16) && kasan_byte_accessible(p + 31));
	CHECK(!kasan_byte_accessible(p + 15) && !kasan_byte_accessible(p + 32));
	kasan_dma_sync_for_device(p + 16, 16);
	CHECK(!kasan_byte_accessible(p + 16));
	/* Not all of it is mapped. */
	kasan_dma_sync_for_cpu(p + 32, 40);
	CHECK(!kasan_byte_accessible(p + 32));
	kasan_dma_unmap(p, 64, TO);
	kasan_dma_sync_for_device(p, 64);
	CHECK(kasan_byte_accessible(p) && kasan_byte_accessible(p + 63));
	kasan_posix_free(p);
}

static void wrong_unmaps(void)
{
	char *p = kasan_posix_malloc(64);

	kasan_dma_map(p, 64, TO);
	EXPECT_REPORT("dma-invalid-unmap", kasan_dma_unmap(p, 32, TO));
	CHECK(unit_find(0, "The buffer was mapped with another size") == 3);
	/* It is unmapped all the same. */
	CHECK(kasan_byte_accessible(p) && kasan_byte_accessible(p + 63));
	kasan_dma_map(p, 64, TO);
	EXPECT_REPORT("dma-invalid-unmap", kasan_dma_unmap(p, 64, FROM));
	CHECK(unit_find(0, "The buffer was mapped with another direction") == 3);
	EXPECT_REPORT("dma-invalid-unmap", kasan_dma_unmap(p, 64, FROM));
	CHECK(unit_find(0, "This buffer was unmapped before") == 3);
	CHECK(unit_find(0, "Unmapped by task ") > unit_find(0, "Mapped by task "));
	EXPECT_REPORT("dma-invalid-unmap", kasan_dma_unmap(p + 8, 8, TO));
	CHECK(unit_find(0, "No mapping begins at this address") == 3);
	kasan_posix_free(p);
	/* The device would get what has been freed, and the poison of that stays. */
	EXPECT_REPORT("slab-use-after-free", kasan_dma_map(p, 64, FROM));
	unit_clear();
	kasan_dma_unmap(p, 64, FROM);
	CHECK(!kasan_byte_accessible(p) && unit_reports() == 0);
}

/* Sizes that end inside a granule, and at its end. */
static void writes_past_the_end(void)
{
	static const size_t sizes[] = {20, 24};
	size_t i;

	for (i = 0; i < 2; i++) {
		char *p = kasan_posix_malloc(sizes[i]);

		kasan_dma_map(p, sizes[i], FROM);
		/* By the device. */
		p[sizes[i] + 1] ^= 0x55;
		EXPECT_REPORT("dma-out-of-bounds", kasan_dma_unmap(p, sizes[i], FROM));
		CHECK(unit_find(0, "Write of size 1 at addr ") == 2);
		CHECK(strstr(unit_line(2), " found at unmap by task "));
		CHECK(unit_find(0, "Unmapped by task ") > 0);
		p[sizes[i] + 1] ^= 0x55;
		kasan_posix_free(p);
	}
}

static void a_full_table(void)
{
	char *objects[40];
	unsigned int i;

	unit_clear();
	for (i = 0; i < 40; i++) {
		objects[i] = kasan_posix_malloc(64);
		kasan_dma_map(objects[i], 64, TO);
	}
	for (i = 0; i < 40; i++) {
		kasan_dma_unmap(objects[i], 64, TO);
		CHECK(kasan_byte_accessible(objects[i]) && kasan_byte_accessible(objects[i] + 63));
		kasan_posix_free(objects[i]);
	}
	CHECK_EQ(unit_reports(), 0);
}

UNIT_MAIN(the_text_of_a_use, what_belongs_to_whom, syncs, wrong_unmaps, writes_past_the_end,
	  a_full_table)
