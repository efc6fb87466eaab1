// SPDX-License-Identifier: MIT
/*
 * tag_bugs.c - planted bugs that the tag-based modes see only if two tags happen to differ. bugs.c plants them, and
 * soak.h has the odds.
 */
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/preempt.h>
#include <kernel/string.h>

#include "soak.h"

#ifdef CONFIG_KASAN_TAGS

#define OBJECT_SIZE 96U

static bool same_place(const void *a, const void *b)
{
	return kasan_reset_tag(a) == kasan_reset_tag(b);
}

/* A read by the first of three owners of a slot. Not preempted, so a CPU gets back what it has freed. */
noinline bool soak_bug_slab_old(struct soak_worker *w)
{
	char *first, *second, *third;
	bool planted = false;

	preempt_disable();
	first = kmalloc(OBJECT_SIZE, GFP_ATOMIC);
	kfree(first);
	second = kmalloc(OBJECT_SIZE, GFP_ATOMIC);
	kfree(second);
	third = kmalloc(OBJECT_SIZE, GFP_ATOMIC);
	HIDE_VAR(first);
	/* An interrupt may have taken the slot. */
	if (first && same_place(first, second) && same_place(first, third)) {
		SOAK_READ(first[soak_below(w, OBJECT_SIZE)]);
		planted = true;
	}
	preempt_enable();
	kfree(third);
	return planted;
}

/* --- A variable of a function that has returned ---------------------------------------------------- */

/* In granules: that far down the stack the variable lies, so that the next function's variable covers it. */
#define MIN_DEPTH 16U
#define DEPTHS	  16U

static noinline char *stale_variable(void)
{
	char local[2 * KASAN_GRANULE_SIZE];
	char *p = local;

	HIDE_VAR(p);
	SOAK_WRITE(p[0], 1);
	return p;
}

/* The same from a place @distance bytes further down the stack. */
static noinline char *stale_variable_below(size_t distance)
{
	char *space = __builtin_alloca(distance);

	HIDE_VAR(space);
	SOAK_WRITE(space[0], 0);
	return stale_variable();
}

/* Its variable lies where those of stale_variable() lay. */
static noinline bool soak_bug_stack_return(char *stale)
{
	char cover[1024];
	char *p = cover;
	size_t offset;

	HIDE_VAR(p);
	memset(p, 0, sizeof(cover));
	offset = (size_t)((char *)kasan_reset_tag(stale) - (char *)kasan_reset_tag(p));
	if (offset >= sizeof(cover))
		return false;
	SOAK_READ(*stale);
	return true;
}

bool plant_stack_return(struct soak_worker *w)
{
	char *stale =
		stale_variable_below(KASAN_GRANULE_SIZE * (MIN_DEPTH + soak_below(w, DEPTHS)));

	return soak_bug_stack_return(stale);
}

#endif
