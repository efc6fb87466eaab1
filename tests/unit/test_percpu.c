/* SPDX-License-Identifier: MIT */
/* test_percpu.c - redzones between the copies of a per-CPU variable, and what reports say of an address beside one. */
#include <stdio.h>
#include <string.h>

#include <kasan/percpu.h>

#include "abi.h"
#include "unit.h"

#define SIZE   20U
#define STRIDE 64U
#define COPIES 3U

static char *copies;
static unsigned int stride = STRIDE;
static bool one_at_a_time;

/* In place of the weak default. */
bool kasan_port_find_percpu(uintptr_t addr, struct kasan_percpu *found)
{
	if (!copies || addr - (uintptr_t)copies >= (uintptr_t)COPIES * STRIDE)
		return false;
	found->first = (uintptr_t)copies;
	found->size = SIZE;
	found->stride = stride;
	found->copies = COPIES;
	found->name = "events";
	if (one_at_a_time) {
		found->cpu = (unsigned int)((addr - found->first) / STRIDE);
		found->first += found->cpu * STRIDE;
		found->copies = 1;
	}
	return true;
}

static char *open_copies(void)
{
	copies = kasan_posix_malloc(COPIES * STRIDE);
	kasan_percpu_open(copies, SIZE, STRIDE, COPIES, KASAN_SLAB_REDZONE);
	return copies;
}

static void close_copies(void)
{
	kasan_posix_free(copies);
	copies = NULL;
}

static void exact_to_the_byte(void)
{
	const char *p = open_copies();
	size_t i;

	for (i = 0; i < COPIES * STRIDE; i++)
		CHECK_EQ(kasan_byte_accessible(p + i), i % STRIDE < SIZE);
	close_copies();
}

static void expect_place(const char *at, const char *words, unsigned int cpu)
{
	const char *start = copies + cpu * STRIDE;
	char want[160];

	snprintf(want, sizeof(want),
		 "The buggy address is %s of variable events of CPU %u: 20 bytes [%016lx, %016lx)",
		 words, cpu, (unsigned long)start, (unsigned long)start + SIZE);
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort((uintptr_t)at));
	CHECK(unit_find(0, want) > 0);
	unit_clear();
}

/* The nearer copy is meant. */
static void whose_copy(void)
{
	const char *p = open_copies();

	expect_place(p + SIZE, "0 bytes to the right", 0);
	expect_place(p + STRIDE - 1, "1 bytes to the left", 1);
	expect_place(p + STRIDE + SIZE + 3, "3 bytes to the right", 1);
	expect_place(p + 3 * STRIDE - 1, "43 bytes to the right", 2);
	/* Each by itself, because they do not lie at equal distances. */
	one_at_a_time = true;
	expect_place(p + STRIDE + SIZE + 3, "3 bytes to the right", 1);
	expect_place(p + 2 * STRIDE + SIZE, "0 bytes to the right", 2);
	one_at_a_time = false;
	close_copies();
	EXPECT_REPORT("slab-use-after-free", __asan_load1_noabort((uintptr_t)p));
	CHECK(unit_find(0, "of variable") < 0);
}

/* What the port reads may have been overwritten. */
static void no_stride(void)
{
	const char *p = open_copies();

	stride = 0;
	unit_clear();
	__asan_load1_noabort((uintptr_t)p + SIZE);
	CHECK_EQ(unit_reports(), 1);
	CHECK(unit_find(0, "of variable") < 0);
	stride = STRIDE;
	close_copies();
}

UNIT_MAIN(exact_to_the_byte, whose_copy, no_stride)
