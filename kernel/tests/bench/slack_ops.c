// SPDX-License-Identifier: MIT
/*
 * slack_ops.c - what kasan.slack=check costs, by size: sizes that fill their last granule, and others. bench/slack-arm64.md has
 * the figures; the tables of ./redzone bench do not. Instrumented.
 */
#include <kernel/kernel.h>
#include <kernel/slab.h>

#include "bench.h"

#define PAIR(size)                                   \
	static void kmalloc_##size(void)             \
	{                                            \
		void *p = kmalloc(size, GFP_KERNEL); \
                                                     \
		HIDE_VAR(p);                         \
		if (unlikely(!p))                    \
			bench_fail("kmalloc");       \
		kfree(p);                            \
	}

PAIR(13)
PAIR(16)
PAIR(61)
PAIR(64)
PAIR(100)
PAIR(1000)
PAIR(1024)
PAIR(4095)
PAIR(8100)
PAIR(8192)
PAIR(20001)
PAIR(20016)

static char *resized;

static bool make_resized(unsigned long unused)
{
	resized = kmalloc(61, GFP_KERNEL);
	return resized;
}

static void drop_resized(void)
{
	kfree(resized);
}

/* In place. */
static void krealloc_61(void)
{
	resized = krealloc(resized, 61, GFP_KERNEL);
}

const struct bench_op bench_slack_ops[] = {
	{"slack.kmalloc_13", kmalloc_13, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_16", kmalloc_16, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_61", kmalloc_61, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_64", kmalloc_64, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_100", kmalloc_100, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_1000", kmalloc_1000, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_1024", kmalloc_1024, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_4095", kmalloc_4095, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_8100", kmalloc_8100, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_8192", kmalloc_8192, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_20001", kmalloc_20001, .warm = 1024, .rounds = 1024},
	{"slack.kmalloc_20016", kmalloc_20016, .warm = 1024, .rounds = 1024},
	{"slack.krealloc_61", krealloc_61, .warm = 1024, .rounds = 1024, .setup = make_resized,
	 .teardown = drop_resized},
	{},
};
