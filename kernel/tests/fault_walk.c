// SPDX-License-Identifier: MIT
/* fault_walk.c - repeats a piece of work; each time another allocation fails. */
#include <kernel/fault_inject.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/module.h>
#include <kernel/page_quarantine.h>
#include <kernel/param.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/time.h>

#include "fault_walk.h"

static bool print_sites;
core_param("kasan_test.fault_sites", print_sites, bool, "on|off",
	   "print the call chain of every allocation that the suites fault_* let fail");

/* --- Counting memory --------------------------------------------------------------------------- */

struct counters {
	unsigned long objects, pages;
};

/* Memory that is held back is given back first, by the path that a lack of memory takes. */
static struct counters count_memory(void)
{
	struct counters counters;
	unsigned long slab_pages;

	rcu_barrier();
	module_purge();
	vmalloc_purge();
	kmem_cache_shrink_all();
	page_quarantine_drain(ULONG_MAX);
	drain_all_pages();
	kmem_cache_totals(&slab_pages, &counters.objects);
	counters.objects -= vmalloc_spare_objects();
	/* How many slabs the objects take depends on where they lie in them. */
	counters.pages = totalram_pages() - nr_free_pages() - mm_kept_pages() - slab_pages;
	return counters;
}

/* Threads may still be ending: give them time before the numbers count. */
static bool memory_is_back(const struct counters *before, struct counters *after)
{
	for (int tries = 0; tries < 200; tries++) {
		*after = count_memory();
		if (after->objects <= before->objects && after->pages <= before->pages)
			return true;
		msleep(10);
	}
	return false;
}

/* --- The walk ------------------------------------------------------------------------------------ */

/* No work here allocates this often: more means that the walk does not end. */
#define MAX_FAILURES 2000UL
#define MAX_SITES    256U

struct walk {
	unsigned long sites[MAX_SITES];
	unsigned int nr_sites;
	unsigned long failures, errors;
};

void fault_print_site(struct kunit *test, const uintptr_t *site)
{
	char text[FAULT_SITE_DEPTH * 18 + 1] = "";
	size_t n = 0;

	if (!print_sites)
		return;
	for (int i = 0; i < FAULT_SITE_DEPTH && site[i]; i++)
		n += (size_t)scnprintf(text + n, sizeof(text) - n, " %lx", (unsigned long)site[i]);
	kunit_info(test, "site:%s", text);
}

static void note_site(struct kunit *test, struct walk *walk, const uintptr_t *site)
{
	unsigned long hash = 0;

	for (int i = 0; i < FAULT_SITE_DEPTH; i++)
		hash = (hash ^ site[i]) * 0x9e3779b97f4a7c15UL;
	for (unsigned int i = 0; i < walk->nr_sites; i++) {
		if (walk->sites[i] == hash)
			return;
	}
	if (walk->nr_sites < MAX_SITES)
		walk->sites[walk->nr_sites++] = hash;
	fault_print_site(test, site);
}

static void show_site(struct kunit *test, const uintptr_t *site)
{
	for (int i = 0; i < FAULT_SITE_DEPTH && site[i]; i++)
		kunit_info(test, "  %pB", (void *)site[i]);
}

static void walk_by(struct kunit *test, fault_work_fn work, unsigned int kinds, unsigned long count,
		    const struct task *task, unsigned int least)
{
	struct walk *walk = kunit_kzalloc(test, sizeof(*walk), GFP_KERNEL);
	uintptr_t site[FAULT_SITE_DEPTH];
	struct counters before, after;
	unsigned long nth, seen;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, walk);
	/* The first run makes tables and caches that stay. */
	KUNIT_ASSERT_EQ(test, work(), 0);
	KUNIT_ASSERT_EQ(test, work(), 0);
	before = count_memory();
	for (nth = 1; nth <= MAX_FAILURES; nth++) {
		fault_inject_nth(kinds, nth, count, task);
		err = work();
		seen = fault_inject_stop(site);
		if (seen < nth)
			break;
		walk->failures++;
		walk->errors += err != 0;
		note_site(test, walk, site);
		if (err == -EIO) {
			KUNIT_FAIL(test, "wrong after failure %lu, in:", nth);
			show_site(test, site);
		}
		if (!memory_is_back(&before, &after)) {
			KUNIT_EXPECT_LE(test, after.objects, before.objects);
			KUNIT_EXPECT_LE(test, after.pages, before.pages);
			kunit_info(test, "lost after failure %lu, result %d, in:", nth, err);
			show_site(test, site);
			before = after;
		}
	}
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_LE(test, nth, MAX_FAILURES);
	KUNIT_EXPECT_GE(test, walk->nr_sites, least);
	kunit_info(test, "%lu failures at %u sites, %lu times an error", walk->failures,
		   walk->nr_sites, walk->errors);
}

void fault_walk(struct kunit *test, fault_work_fn work, unsigned int kinds, const struct task *task,
		unsigned int least)
{
	walk_by(test, work, kinds, 1, task, least);
}

void fault_walk_onwards(struct kunit *test, fault_work_fn work, unsigned int least)
{
	walk_by(test, work, FAULT_ALL, ULONG_MAX, current, least);
}

void fault_walk_own(struct kunit *test, fault_work_fn work, unsigned int least)
{
	fault_walk(test, work, FAULT_ALL, current, least);
}
