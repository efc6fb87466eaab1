// SPDX-License-Identifier: MIT
/*
 * vmalloc_ops.c - areas of one size, and the patterns that the field measures vmalloc() with: one size,
 * holes that fit exactly, many areas alive, random sizes, alignment. Instrumented.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/random.h>
#include <kernel/vmalloc.h>

#include "bench.h"

static __always_inline volatile char *take(size_t size)
{
	volatile char *p = vmalloc(size);

	if (unlikely(!p))
		bench_fail("vmalloc");
	return p;
}

static __always_inline void vmalloc_pair(size_t size)
{
	vfree((void *)take(size));
}

static void vmalloc_4k(void)
{
	vmalloc_pair(4096);
}

static void vmalloc_16k(void)
{
	vmalloc_pair(16384);
}

static void vmalloc_1m(void)
{
	vmalloc_pair(1UL << 20);
}

/* --- Patterns: each area is also written to ----------------------------------------------------------- */

static void touch_pair(size_t size)
{
	volatile char *p = take(size);

	p[0] = 1;
	vfree((void *)p);
}

static void fix_size(void)
{
	touch_pair(PAGE_SIZE);
}

/* Areas that stay while the pattern runs. */
static void **kept;
static unsigned long nr_kept;

static bool keep_areas(unsigned long nr)
{
	kept = vmalloc(nr * sizeof(*kept));
	if (!kept)
		return false;
	for (nr_kept = 0; nr_kept < nr; nr_kept++) {
		kept[nr_kept] = vmalloc(PAGE_SIZE);
		if (!kept[nr_kept])
			return false;
	}
	return true;
}

/* Free every second area, which leaves holes of one page and its guard. */
static bool keep_holes(unsigned long nr)
{
	unsigned long i;

	if (!keep_areas(nr))
		return false;
	for (i = 0; i < nr; i += 2) {
		vfree(kept[i]);
		kept[i] = NULL;
	}
	return true;
}

static void drop_areas(void)
{
	while (nr_kept)
		vfree(kept[--nr_kept]);
	vfree(kept);
}

static void long_busy_list(void)
{
	volatile char *large = take(100 * PAGE_SIZE);
	volatile char *small = take(PAGE_SIZE);

	large[0] = 1;
	small[0] = 1;
	vfree((void *)large);
	vfree((void *)small);
}

static struct rnd_state sizes;

static bool seed_sizes(unsigned long seed)
{
	prandom_seed_state(&sizes, seed);
	return true;
}

static void random_size(void)
{
	touch_pair((prandom_u32_state(&sizes) % 100 + 1) * PAGE_SIZE);
}

/* Like a thread stack of 16 KiB in a kernel with aligned stacks. */
#define ALIGN_BYTES (32UL << 10)

static void fix_align(void)
{
	volatile char *p = __vmalloc_align(5 * PAGE_SIZE, ALIGN_BYTES, GFP_KERNEL);

	if (unlikely(!p))
		bench_fail("vmalloc");
	p[0] = 1;
	vfree((void *)p);
}

/* A run on 4 CPUs has a standard deviation of 2 %. That of the mean of 64 is 0.3 %. */
#define STARTS 64U

const struct bench_op bench_vmalloc_ops[] = {
	{"vmalloc_4k", vmalloc_4k, .warm = 2048, .rounds = 2048, .smp = true, .starts = STARTS,
	 .pages = true},
	{"vmalloc_16k", vmalloc_16k, .warm = 2048, .rounds = 1024, .pages = true},
	{"vmalloc_1m", vmalloc_1m, .warm = 512, .rounds = 64, .pages = true},
	{"test_vmalloc.fix_size", fix_size, .warm = 512, .rounds = 2048, .smp = true,
	 .starts = STARTS, .pages = true},
	{"test_vmalloc.full_fit", fix_size, .warm = 512, .rounds = 1024, .setup = keep_holes,
	 .teardown = drop_areas, .argument = 16384, .pages = true},
	{"test_vmalloc.long_busy_list", long_busy_list, .warm = 256, .rounds = 256,
	 .setup = keep_areas, .teardown = drop_areas, .argument = 15000, .pages = true},
	{"test_vmalloc.random_size", random_size, .warm = 512, .rounds = 512, .setup = seed_sizes,
	 .argument = 1, .pages = true},
	{"test_vmalloc.fix_align", fix_align, .warm = 512, .rounds = 1024, .pages = true},
	{},
};
