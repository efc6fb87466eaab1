// SPDX-License-Identifier: MIT
/*
 * sample_bugs.c - planted bugs in sampled objects (<kernel/sample.h>), in a kernel without a mode of KASAN: nothing else finds
 * bugs there, and nothing is instrumented.
 *
 * The MMU or the free finds each of these, wherever in its page the object lies, so each is reported exactly once.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/preempt.h>
#include <kernel/sample.h>

#include "soak.h"

#if defined(CONFIG_KASAN_SAMPLE) && !defined(CONFIG_KASAN)

#define LARGEST 2000U

/* Return: a sampled object of @size bytes; NULL: all pages of the pool are in use, or there is no memory. */
static noinline char *soak_sampled(size_t size)
{
	char *p;

	/* Another CPU's allocation may take the sample. */
	for (unsigned int i = 0; i < 100; i++) {
		sample_next();
		p = kmalloc(size, GFP_KERNEL);
		if (!p || kasan_sample_owns(p)) {
			HIDE_VAR(p);
			return p;
		}
		kfree(p);
	}
	return NULL;
}

static noinline bool soak_bug_sampled_uaf(struct soak_worker *w)
{
	char *p = soak_sampled(1 + soak_below(w, LARGEST));

	if (!p)
		return false;
	kfree(p);
	SOAK_READ(*p);
	return true;
}

static noinline bool soak_bug_sampled_right(struct soak_worker *w)
{
	const size_t size = 1 + soak_below(w, LARGEST);
	char *p = soak_sampled(size);

	if (!p)
		return false;
	/* No byte of the pattern around the object is 1. */
	SOAK_WRITE(p[size], 1);
	kfree(p);
	return true;
}

static noinline bool soak_bug_sampled_left(struct soak_worker *w)
{
	char *p = soak_sampled(1 + soak_below(w, LARGEST));

	if (!p)
		return false;
	SOAK_WRITE(p[-1], 1);
	kfree(p);
	return true;
}

static noinline bool soak_bug_sampled_double_free(struct soak_worker *w)
{
	char *p = soak_sampled(1 + soak_below(w, LARGEST));

	if (!p)
		return false;
	/* No sample takes the page in between: 63 others are used before. */
	kfree(p);
	kfree(p);
	return true;
}

static const struct soak_bug bugs[] = {
	{"sampled_uaf", "slab-use-after-free", "allocated,freed", .plant = soak_bug_sampled_uaf},
	{"sampled_right", "slab-out-of-bounds", "allocated", .plant = soak_bug_sampled_right},
	{"sampled_left", "slab-out-of-bounds", "allocated", .plant = soak_bug_sampled_left},
	{"sampled_double_free", "double-free", "allocated,freed",
	 .plant = soak_bug_sampled_double_free},
};

static unsigned int planted[ARRAY_SIZE(bugs)];

static void planter_step(struct soak_worker *w)
{
	const size_t i = w->steps < ARRAY_SIZE(bugs) ? w->steps : soak_below(w, ARRAY_SIZE(bugs));

	if (bugs[i].plant(w))
		__atomic_fetch_add(&planted[i], 1, __ATOMIC_RELAXED);
}

const struct soak_kind soak_sample_kinds[] = {
	{.name = "sampled", .threads = 1, .step = planter_step, .pause_ms = 400, .plants = true},
	{},
};

bool soak_all_sampled_planted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!__atomic_load_n(&planted[i], __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

void soak_print_sampled(void)
{
	struct kasan_sample_counts counts;

	for (size_t i = 0; i < ARRAY_SIZE(bugs); i++)
		pr_info("soak: planted %s %s %s %u\n", bugs[i].name, bugs[i].type, bugs[i].traces,
			READ_ONCE(planted[i]));
	kasan_sample_get_counts(&counts);
	pr_info("soak: sampled objects=%lu skipped=%lu live=%lu\n", counts.sampled, counts.skipped,
		counts.live);
	if (!counts.sampled)
		soak_fail("no object was sampled");
}

#else

const struct soak_kind soak_sample_kinds[] = {{}};

bool soak_all_sampled_planted(void)
{
	return true;
}

void soak_print_sampled(void)
{
}

#endif
