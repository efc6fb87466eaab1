// SPDX-License-Identifier: MIT
/*
 * sampling.c - how many bugs sampled heap objects find (<kernel/sample.h>): traffic of objects for a given time, with bugs
 * planted at random, and what was reported. Instrumented like a user's code, in a kernel without a mode of KASAN, where
 * only the MMU and the free of a sampled object find anything.
 *
 * Which objects get a bug is decided before they are allocated, so it has nothing to do with which of them are sampled. Reads
 * are carried out in each of these objects. Writes and double frees would destroy the heap of a kernel that does not see
 * them, so they are left out where the object was not sampled, and nothing could have been found.
 */
#include <kasan/report.h>
#include <kernel/arch.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/sample.h>
#include <kernel/string.h>

#include "bench.h"

#if defined(CONFIG_KASAN_SAMPLE) && !defined(CONFIG_KASAN)

#define LIVE	 256U  /* objects at a time */
#define LARGEST	 1024U /* bytes; their sizes are equally likely */
#define PLANTED	 4U    /* one of this many objects has a bug */
#define FAR_PAST 500U

enum kind {
	READ_PAST,
	WRITE_PAST,
	READ_BEFORE,
	WRITE_BEFORE,
	WRITE_FAR_PAST,
	READ_FREED,
	FREE_TWICE,
	KINDS,
	NO_BUG = KINDS,
};

static const char *const names[KINDS] = {
	"read_past",	  "write_past", "read_before", "write_before",
	"write_far_past", "read_freed", "free_twice",
};

static struct object {
	char *start;
	size_t size;
	enum kind kind;
} objects[LIVE];

static struct {
	unsigned long planted, sampled, found;
} counts[KINDS];
static unsigned long reports, allocations, of_traffic;
static u64 state;

/* Marsaglia's xorshift, multiplied. The upper bits of a product choose, because the lower ones are less random. */
static u32 any(u32 below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (u32)((state * 2685821657736338717UL >> 32) * below >> 32);
}

/* Counted instead of printed: text would take most of the time. */
static bool count_report(const struct kasan_report_info *info)
{
	__atomic_fetch_add(&reports, 1, __ATOMIC_RELAXED);
	return false;
}

static void read_byte(const char *at)
{
	(void)READ_ONCE(*at);
}

static void free_object(struct object *object)
{
	const unsigned long before = reports;
	const bool sampled = kasan_sample_owns(object->start);
	char *p = object->start;

	HIDE_VAR(p);
	switch (object->kind) {
	case READ_PAST:
		read_byte(p + object->size);
		break;
	case READ_BEFORE:
		read_byte(p - 1);
		break;
	case WRITE_PAST:
		if (sampled)
			WRITE_ONCE(p[object->size], 0);
		break;
	case WRITE_BEFORE:
		if (sampled)
			WRITE_ONCE(p[-1], 0);
		break;
	case WRITE_FAR_PAST:
		if (sampled)
			WRITE_ONCE(p[object->size + FAR_PAST], 0);
		break;
	default:
		break;
	}
	kfree(p);
	HIDE_VAR(p);
	if (object->kind == READ_FREED)
		read_byte(p + object->size / 2);
	if (object->kind == FREE_TWICE && sampled)
		kfree(p);
	if (object->kind == NO_BUG || !sampled) {
		if (reports != before)
			bench_fail("sampling: a report of correct code");
		return;
	}
	counts[object->kind].sampled++;
	counts[object->kind].found += reports - before;
}

static void new_object(struct object *object, unsigned long every)
{
	enum kind kind;

	object->size = 1 + any(LARGEST);
	/* A tick samples what is allocated next, so the way to an object with a bug must not take longer than to another. */
	kind = (enum kind)any(KINDS);
	object->kind = any(PLANTED) ? NO_BUG : kind;
	/* By count instead of by time. */
	if (every && allocations % every == 0)
		sample_next();
	object->start = kmalloc(object->size, GFP_KERNEL);
	if (!object->start)
		bench_fail("sampling: memory");
	allocations++;
	of_traffic += kasan_sample_owns(object->start);
	if (object->kind != NO_BUG)
		counts[object->kind].planted++;
	/* Any contents but the pattern of a sampled page, which has no zero. */
	memset(object->start, 0, object->size);
}

bool bench_sampling(unsigned long ms, unsigned long seed, unsigned long every)
{
	kasan_report_filter_fn filter = kasan_report_filter(count_report);
	const u64 end = clock_ns() + ms * 1000000UL;
	unsigned int i;

	if (!sample_start())
		return false;
	state = seed + 1; /* not 0 */
	/* The first values of similar seeds are similar. */
	for (i = 0; i < 16; i++)
		any(2);
	for (i = 0; i < LIVE; i++)
		new_object(&objects[i], every);
	while (clock_ns() < end) {
		i = any(LIVE);
		free_object(&objects[i]);
		new_object(&objects[i], every);
	}
	for (i = 0; i < LIVE; i++)
		free_object(&objects[i]);
	kasan_report_filter(filter);
	pr_info("bench: sampling allocations %lu sampled %lu reports %lu\n", allocations,
		of_traffic, reports);
	for (i = 0; i < KINDS; i++)
		pr_info("bench: sampling %s planted %lu sampled %lu found %lu\n", names[i],
			counts[i].planted, counts[i].sampled, counts[i].found);
	return true;
}

#else

bool bench_sampling(unsigned long ms, unsigned long seed, unsigned long every)
{
	return false;
}

#endif
