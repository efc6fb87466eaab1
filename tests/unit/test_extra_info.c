/* SPDX-License-Identifier: MIT */
/* test_extra_info.c - CONFIG_KASAN_EXTRA_INFO: where and when an object was allocated and freed. */
#include <stdio.h>
#include <string.h>

#include "../../runtime/base/base.h"
#include "fake_slab.h"

static uint64_t now;

/* Replaces the runtime's weak function. */
uint64_t kasan_port_clock(void)
{
	return now;
}

/* The line that starts with @what must show @ns, rounded down to a multiple of 256 ns. */
static void check_line(const char *what, uint64_t ns)
{
	char line[128];
	const uint64_t us = (ns >> 8 << 8) / 1000;
	const int at = unit_find(0, what);

	snprintf(line, sizeof(line), " on cpu %u at %lu.%06lus:", kasan_port_cpu(),
		 (unsigned long)(us / 1000000), (unsigned long)(us % 1000000));
	REQUIRE(at >= 0);
	CHECK(strstr(unit_line((size_t)at), line));
}

static void times(void)
{
	static const uint64_t moments[] = {
		0, 255, 256, 1000, 999999999, 1000000000, 86400000000000, (1ULL << 52) - 1,
	};
	struct fake_slab *slab = fake_slab_create("times", 64, 8, 0, 200);

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
		char *p;

		now = moments[i];
		p = fake_slab_alloc(slab, 64);
		REQUIRE(p);
		EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 64, 1));
		check_line("Allocated by task ", now);
		now += 5000000;
		fake_slab_free(slab, p);
		EXPECT_REPORT("slab-use-after-free", kasan_check_read(p, 1));
		check_line("Freed by task ", i + 1 < sizeof(moments) / sizeof(moments[0])
						     ? now
						     : now & ((1ULL << 52) - 1));
		check_line("Allocated by task ", moments[i]);
	}
}

UNIT_MAIN(times)
