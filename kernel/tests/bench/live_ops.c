// SPDX-License-Identifier: MIT
/*
 * live_ops.c - does an operation cost more when there are many objects? An object picked at random is
 * freed and another allocated, with 1e3 to 1e6 of them alive. Instrumented.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/random.h>
#include <kernel/slab.h>

#include "bench.h"

#define OBJECT_SIZE 64
/* The quarantine holds 1/32 of the 2 GiB, in slots of 128 bytes under KASAN: only when it is full does each
 * free give something back, and allocations stop to make new slabs. */
#define FULL ((2UL << 30) / 32 / 128 + 65536)

static void **live;
static unsigned long nr_live;
static struct rnd_state order;

static bool make_live(unsigned long nr)
{
	prandom_seed_state(&order, nr);
	live = kvmalloc(nr * sizeof(*live), GFP_KERNEL);
	if (!live)
		return false;
	for (nr_live = 0; nr_live < nr; nr_live++) {
		live[nr_live] = kmalloc(OBJECT_SIZE, GFP_KERNEL);
		if (!live[nr_live])
			return false;
	}
	return true;
}

static void drop_live(void)
{
	while (nr_live)
		kfree(live[--nr_live]);
	kvfree(live);
}

static void replace_one(void)
{
	unsigned long i = prandom_u32_state(&order) % nr_live;

	kfree(live[i]);
	live[i] = kmalloc(OBJECT_SIZE, GFP_KERNEL);
	if (unlikely(!live[i]))
		bench_fail("kmalloc");
}

const struct bench_op bench_live_ops[] = {
	{"live.kmalloc_64@1000", replace_one, .warm = FULL, .rounds = 16384, .setup = make_live,
	 .teardown = drop_live, .argument = 1000},
	{"live.kmalloc_64@10000", replace_one, .warm = FULL, .rounds = 16384, .setup = make_live,
	 .teardown = drop_live, .argument = 10000},
	{"live.kmalloc_64@100000", replace_one, .warm = FULL, .rounds = 16384, .setup = make_live,
	 .teardown = drop_live, .argument = 100000},
	{"live.kmalloc_64@1000000", replace_one, .warm = FULL, .rounds = 16384, .setup = make_live,
	 .teardown = drop_live, .argument = 1000000},
	{},
};
