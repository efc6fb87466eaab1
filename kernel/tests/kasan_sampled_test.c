// SPDX-License-Identifier: MIT
/*
 * kasan_sampled_test.c - sampled heap objects (kasan.sample=), in every mode and without one: each kind of bug is found by
 * the MMU or at the free, with both stacks, and traffic is not.
 *
 * Without a mode kasan_expect.c is not there, so this file looks at the reports itself.
 */
#include <kernel/arch.h>
#include <kernel/kasan_port.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/random.h>
#include <kernel/sample.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>
#include <kernel/vmalloc.h>

#include "kasan_test.h"

#ifdef CONFIG_KASAN_SAMPLE

#include <kasan/port.h>

#define TRIES 1000

/* --- Reports ------------------------------------------------------------------------------------------- */

static struct kasan_report_info last;
static unsigned int reports;
static kasan_report_hook_fn saved_hook;
static kasan_line_tap_fn saved_tap;
static bool saved_multi_shot, begun;

/* Texts that lines of the report must have, in this order, and how many had. */
static const char *const *wanted;
static unsigned int found;

static void note(const struct kasan_report_info *info)
{
	if (!reports++)
		last = *info;
}

static bool look(const char *text)
{
	if (wanted && wanted[found] && strstr(text, wanted[found]))
		found++;
	return true;
}

static int init(struct kunit *test)
{
	begun = false;
	/* Nothing is sampled then. */
	kunit_needs(test, kasan_enabled(), "KASAN that is on");
	KUNIT_ASSERT_TRUE(test, sample_start());
	begun = true;
	saved_multi_shot = kasan_save_multi_shot();
	kasan_option("kasan.repeat", "full");
	saved_hook = kasan_report_hook(note);
	saved_tap = kasan_line_tap(look);
	wanted = NULL;
	reports = 0;
	return 0;
}

static void exit(struct kunit *test)
{
	if (!begun)
		return;
	KUNIT_EXPECT_EQ(test, reports, 0);
	kasan_line_tap(saved_tap);
	kasan_report_hook(saved_hook);
	kasan_option("kasan.repeat", "brief");
	kasan_restore_multi_shot(saved_multi_shot);
}

/* The code causes one report of this kind, whose access begins at @address and has @bytes bytes. */
#define EXPECT_BUG(test, type, write, address, bytes, ...)                 \
	do {                                                               \
		reports = 0;                                               \
		barrier();                                                 \
		__VA_ARGS__;                                               \
		barrier();                                                 \
		KUNIT_EXPECT_EQ(test, reports, 1);                         \
		if (reports) {                                             \
			KUNIT_EXPECT_STREQ(test, last.bug_type, type);     \
			KUNIT_EXPECT_EQ(test, last.is_write, write);       \
			KUNIT_EXPECT_EQ(test, last.size, (size_t)(bytes)); \
			KUNIT_EXPECT_PTR_EQ(test, (const void *)last.addr, \
					    (const void *)(address));      \
			kasan_reports_forgive(reports);                    \
		}                                                          \
		reports = 0;                                               \
	} while (0)

/* --- Objects ------------------------------------------------------------------------------------------- */

static bool lies_at_end(const void *p)
{
	return ((uintptr_t)p & (PAGE_SIZE - 1)) != 0;
}

/* A sampled object, at the end of its page or at the beginning. */
static char *sampled(struct kunit *test, struct kmem_cache *cache, size_t size, bool at_end)
{
	char *p;

	for (unsigned int i = 0; i < TRIES; i++) {
		sample_next();
		p = cache ? kmem_cache_alloc(cache, GFP_KERNEL) : kmalloc(size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, p);
		if (kasan_sample_owns(p) && lies_at_end(p) == at_end) {
			memset(p, 0x11, size);
			HIDE_VAR(p);
			return p;
		}
		if (cache)
			kmem_cache_free(cache, p);
		else
			kfree(p);
	}
	KUNIT_FAIL(test, "no object was sampled");
	kunit_abort(test);
}

static char *at_end(struct kunit *test, size_t size)
{
	return sampled(test, NULL, size, true);
}

static char *at_beginning(struct kunit *test, size_t size)
{
	return sampled(test, NULL, size, false);
}

/* --- Each kind of bug ------------------------------------------------------------------------------------ */

static void overflow(struct kunit *test)
{
	char *p = at_end(test, 64);

	EXPECT_BUG(test, "slab-out-of-bounds", true, p + 64, 1,
		   KASAN_TEST_BUG(WRITE_ACCESS(p[64], 1)));
	kfree(p);
	p = at_end(test, 128);
	EXPECT_BUG(test, "slab-out-of-bounds", false, p + 128, 4,
		   KASAN_TEST_BUG(READ_ACCESS(*(u32 *)(p + 128))));
	kfree(p);
	/* A byte far from the object still lies on the guard. */
	p = at_end(test, 32);
	EXPECT_BUG(test, "slab-out-of-bounds", false, p + 32 + 1000, 1,
		   KASAN_TEST_BUG(READ_ACCESS(p[32 + 1000])));
	kfree(p);
}

static void underflow(struct kunit *test)
{
	char *p = at_beginning(test, 40);

	EXPECT_BUG(test, "slab-out-of-bounds", false, p - 1, 1, KASAN_TEST_BUG(READ_ACCESS(p[-1])));
	kfree(p);
	p = at_beginning(test, 40);
	EXPECT_BUG(test, "slab-out-of-bounds", true, p - 8, 8,
		   KASAN_TEST_BUG(WRITE_ACCESS(*(u64 *)(p - 8), 1)));
	kfree(p);
}

/* The access is carried out after the report, and the system goes on. */
static void use_after_free(struct kunit *test)
{
	char *p = at_beginning(test, 100);
	char value = 0;

	(void)value; /* the bugs may have been removed */
	p[30] = 'k';
	kfree(p);
	HIDE_VAR(p);
	EXPECT_BUG(test, "slab-use-after-free", false, p + 30, 1,
		   KASAN_TEST_BUG(value = *(volatile char *)(p + 30)));
	KASAN_TEST_BUG(KUNIT_EXPECT_EQ(test, value, 'k'));
	p = at_end(test, 100);
	kfree(p);
	HIDE_VAR(p);
	EXPECT_BUG(test, "slab-use-after-free", true, p + 1, 1,
		   KASAN_TEST_BUG(WRITE_ACCESS(p[1], 2)));
}

/* Pages wait: all others are used before this one is used again. */
static void use_long_after_free(struct kunit *test)
{
	char *p = at_beginning(test, 24), *other;
	unsigned int i, n = 0;

	kfree(p);
	HIDE_VAR(p);
	/* Not quite all: without a mode, other threads' objects are sampled by time. */
	for (i = 0; i < TRIES && n < CONFIG_KASAN_SAMPLE_OBJECTS - 8; i++) {
		sample_next();
		other = kmalloc(24, GFP_KERNEL);
		n += kasan_sample_owns(other);
		KUNIT_EXPECT_FALSE(test, other == p);
		kfree(other);
	}
	EXPECT_BUG(test, "slab-use-after-free", false, p + 2, 1, KASAN_TEST_BUG(READ_ACCESS(p[2])));
}

static void double_free(struct kunit *test)
{
	char *p = at_end(test, 80);

	kfree(p);
	HIDE_VAR(p);
	EXPECT_BUG(test, "double-free", false, p, 0, KASAN_TEST_BUG(kfree(p)));
}

static void invalid_free(struct kunit *test)
{
	char *p = at_end(test, 80);

	EXPECT_BUG(test, "invalid-free", false, p + 8, 0, KASAN_TEST_BUG(kfree(p + 8)));
	/* It is still alive. */
	p[0] = 1;
	kfree(p);
	EXPECT_BUG(test, "invalid-free", false, (uintptr_t)p & PAGE_MASK, 0,
		   KASAN_TEST_BUG(kfree((void *)((uintptr_t)p & PAGE_MASK))));
}

static void bytes_past_the_object(struct kunit *test)
{
	/* At the end of the page 5 bytes remain, because objects of that class are aligned. */
	char *p = at_end(test, 123);

	KASAN_TEST_BUG(WRITE_ACCESS(p[124], 0));
	EXPECT_BUG(test, "slab-out-of-bounds", true, p + 124, 1, kfree(p));
	p = at_beginning(test, 60);
	KASAN_TEST_BUG(WRITE_ACCESS(p[2000], 0));
	EXPECT_BUG(test, "slab-out-of-bounds", true, p + 2000, 1, kfree(p));
}

static void bytes_before_the_object(struct kunit *test)
{
	static const char *const lines[] = {"Write of size 1 at addr ", " found at free by task ",
					    "Unused bytes before the object",
					    " offset -3: found 00, expected ", NULL};
	char *p = at_end(test, 64);

	wanted = lines;
	found = 0;
	KASAN_TEST_BUG(WRITE_ACCESS(p[-3], 0));
	EXPECT_BUG(test, "slab-out-of-bounds", true, p - 3, 1, kfree(p));
	/* The first two are one line. */
	KUNIT_EXPECT_GE(test, found, 1U);
}

/* No compiler has put checks into this function. */
static void code_that_is_not_instrumented(struct kunit *test)
{
	char *p = at_end(test, 64);
	char copy[80];
	size_t length = 65;

	HIDE_VAR(length);
	(void)copy;
	reports = 0;
	KASAN_TEST_BUG(__memcpy(copy, p, length));
	KUNIT_EXPECT_EQ(test, reports, 1);
	KUNIT_EXPECT_STREQ(test, reports ? last.bug_type : "", "slab-out-of-bounds");
	kasan_reports_forgive(reports);
	reports = 0;
	kfree(p);
}

static void object_of_a_cache(struct kunit *test)
{
	static const char *const lines[] = {"slab-use-after-free",
					    "Allocated by task ",
					    "Freed by task ",
					    " kmem_cache_free+",
					    "which belongs to the cache sampled of size 72",
					    "The object was sampled",
					    NULL};
	struct kmem_cache *cache = kmem_cache_create("sampled", 72, 0, 0, NULL);
	char *p;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	p = sampled(test, cache, 72, false);
	kmem_cache_free(cache, p);
	HIDE_VAR(p);
	wanted = lines;
	found = 0;
	EXPECT_BUG(test, "slab-use-after-free", false, p + 71, 1,
		   KASAN_TEST_BUG(READ_ACCESS(p[71])));
	KUNIT_EXPECT_EQ(test, found, ARRAY_SIZE(lines) - 1);
	kmem_cache_destroy(cache);
}

/* --- How much is found --------------------------------------------------------------------------------- */

/* Each plants its bug in @p, a live object of @size bytes, and frees it. */
static void read_past(char *p, size_t size)
{
	KASAN_TEST_BUG(READ_ACCESS(p[size]));
	kfree(p);
}

static void write_past(char *p, size_t size)
{
	KASAN_TEST_BUG(WRITE_ACCESS(p[size], 0));
	kfree(p);
}

static void read_before(char *p, size_t size)
{
	KASAN_TEST_BUG(READ_ACCESS(p[-1]));
	kfree(p);
}

static void write_before(char *p, size_t size)
{
	KASAN_TEST_BUG(WRITE_ACCESS(p[-1], 0));
	kfree(p);
}

static void write_far_past(char *p, size_t size)
{
	KASAN_TEST_BUG(WRITE_ACCESS(p[size + 500], 0));
	kfree(p);
}

static void read_freed(char *p, size_t size)
{
	kfree(p);
	HIDE_VAR(p);
	KASAN_TEST_BUG(READ_ACCESS(p[size / 2]));
}

static void free_twice(char *p, size_t size)
{
	kfree(p);
	HIDE_VAR(p);
	KASAN_TEST_BUG(kfree(p));
}

static bool always(const char *p, size_t size)
{
	return true;
}

static bool if_it_ends_there(const char *p, size_t size)
{
	return !((uintptr_t)(p + size) & (PAGE_SIZE - 1));
}

static bool if_it_begins_there(const char *p, size_t size)
{
	return !lies_at_end(p);
}

/* What docs/port/sampling.md says: the bug, and when it is found in a sampled object. */
static const struct {
	const char *name;
	void (*plant)(char *p, size_t size);
	bool (*is_found)(const char *p, size_t size);
} kinds[] = {
	{"read past the end", read_past, if_it_ends_there},
	{"write past the end", write_past, always},
	{"read before", read_before, if_it_begins_there},
	{"write before", write_before, always},
	{"write 500 bytes past the end", write_far_past, always},
	{"read after free", read_freed, always},
	{"double free", free_twice, always},
};

/* Random sizes and places: exactly those bugs are found that must be. */
static void what_is_found(struct kunit *test)
{
	for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		unsigned int n = 0, expected = 0, hits = 0;

		for (unsigned int i = 0; i < TRIES && n < 100; i++) {
			const size_t any = 1 + get_random_u32() % 1000;
			/* Half of them need no rounding for their alignment. */
			const size_t size = i & 1 ? ALIGN(any, 8UL) : any;
			char *p;

			sample_next();
			p = kmalloc(size, GFP_KERNEL);
			HIDE_VAR(p);
			if (!kasan_sample_owns(p)) {
				kfree(p);
				continue;
			}
			n++;
			memset(p, 1, size);
			expected += kinds[kind].is_found(p, size);
			reports = 0;
			kinds[kind].plant(p, size);
			hits += reports;
			kasan_reports_forgive(reports);
			reports = 0;
		}
		kunit_info(test, "sampled: %s: %u of %u found, %u expected\n", kinds[kind].name,
			   hits, n, expected);
		KUNIT_EXPECT_EQ(test, n, 100);
		KUNIT_EXPECT_EQ(test, hits, expected);
	}
}

/* --- Legal code ------------------------------------------------------------------------------------------ */

static void sizes_and_reallocation(struct kunit *test)
{
	char *p = at_beginning(test, 50), *q;

	KUNIT_EXPECT_EQ(test, ksize(p), 50);
	memset(p, 'r', 50);
	q = krealloc(p, 70, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, q);
	KUNIT_EXPECT_PTR_NE(test, p, q);
	KUNIT_EXPECT_TRUE(test, q[0] == 'r' && q[49] == 'r');
	kfree(q);
	sample_next();
	p = kzalloc(500, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	for (size_t i = 0; i < 500; i++)
		KUNIT_ASSERT_EQ(test, p[i], 0);
	kfree(p);
}

/* The pool is an area of vmalloc space, but its objects are not areas. */
static void kvfree_of_an_object(struct kunit *test)
{
	char *p = at_beginning(test, 50);

	KUNIT_EXPECT_TRUE(test, is_vmalloc_addr(p));
	kvfree(p);
	KUNIT_EXPECT_EQ(test, kasan_sample_size(p), 0);
}

static void alignment(struct kunit *test)
{
	static const size_t sizes[] = {8, 24, 64, 128, 512, 1000, 2048, 4096};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (unsigned int j = 0; j < 4; j++) {
			char *p;

			sample_next();
			p = kmalloc(sizes[i], GFP_KERNEL);
			KUNIT_ASSERT_NOT_NULL(test, p);
			KUNIT_EXPECT_EQ(test, (uintptr_t)p % 8, 0);
			/* Users rely on that for powers of two. */
			if (!(sizes[i] & (sizes[i] - 1)))
				KUNIT_EXPECT_EQ(test, (uintptr_t)p % sizes[i], 0);
			memset(p, 0x77, sizes[i]);
			kfree(p);
		}
	}
}

/* More than there are pages: the rest comes from the allocator. Nothing is found. */
static void traffic(struct kunit *test)
{
	static char *objects[2 * CONFIG_KASAN_SAMPLE_OBJECTS];
	struct kasan_sample_counts before, after;
	size_t i, round, size;

	kasan_sample_get_counts(&before);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < ARRAY_SIZE(objects); i++) {
			size = 1 + (i * 37 + round * 101) % 5000;
			sample_next();
			objects[i] = kmalloc(size, GFP_KERNEL);
			KUNIT_ASSERT_NOT_NULL(test, objects[i]);
			memset(objects[i], (int)i, size);
		}
		for (i = 0; i < ARRAY_SIZE(objects); i++) {
			size = 1 + (i * 37 + round * 101) % 5000;
			KUNIT_EXPECT_EQ(test, objects[i][0], (char)i);
			KUNIT_EXPECT_EQ(test, objects[i][size - 1], (char)i);
			kfree(objects[i]);
		}
	}
	kasan_sample_get_counts(&after);
	KUNIT_EXPECT_GE(test, after.sampled - before.sampled, 20UL * 32);
	KUNIT_EXPECT_GT(test, after.skipped, before.skipped);
	KUNIT_EXPECT_LE(test, after.live, before.live + 2);
}

/* For docs/port/sampling.md: QEMU counts instructions as nanoseconds. Time is not asserted. */
static void price(struct kunit *test)
{
	u64 since, sum = 0;
	unsigned int n = 0;
	void *p;

	for (unsigned int i = 0; i < TRIES && n < 200; i++) {
		sample_next();
		since = clock_ns();
		p = kmalloc(64, GFP_KERNEL);
		if (kasan_sample_owns(p)) {
			kfree(p);
			sum += clock_ns() - since;
			n++;
		} else {
			kfree(p);
		}
	}
	KUNIT_ASSERT_GT(test, n, 0U);
	kunit_info(test, "a sampled kmalloc(64) and kfree(): %lu ns\n", (unsigned long)(sum / n));
}

/* The parameter: one allocation in each period, and none without it. */
static void by_time(struct kunit *test)
{
	struct kasan_sample_counts before, after;
	unsigned int kept = 0;
	char text[16];
	void *p;

	kasan_option_number("kasan.sample", &kept);
	KUNIT_ASSERT_EQ(test, kasan_option("kasan.sample", "10"), 0);
	kasan_sample_get_counts(&before);
	for (unsigned int i = 0; i < 30; i++) {
		p = kmalloc(100, GFP_KERNEL);
		kfree(p);
		msleep(5);
	}
	kasan_sample_get_counts(&after);
	/* 15 periods, if the machine is not slow; with other CPUs' allocations as well. */
	KUNIT_EXPECT_GE(test, after.sampled - before.sampled, 4UL);
	KUNIT_EXPECT_EQ(test, kasan_option("kasan.sample", "0"), 0);
	msleep(20);
	kfree(kmalloc(100, GFP_KERNEL));
	kasan_sample_get_counts(&before);
	for (unsigned int i = 0; i < 100; i++)
		kfree(kmalloc(100, GFP_KERNEL));
	kasan_sample_get_counts(&after);
	KUNIT_EXPECT_LE(test, after.sampled - before.sampled, 1UL);
	snprintf(text, sizeof(text), "%u", kept);
	kasan_option("kasan.sample", text);
}

KUNIT_CASES(kasan_sampled_cases, KUNIT_CASE(overflow), KUNIT_CASE(underflow),
	    KUNIT_CASE(use_after_free), KUNIT_CASE(use_long_after_free), KUNIT_CASE(double_free),
	    KUNIT_CASE(invalid_free), KUNIT_CASE(bytes_past_the_object),
	    KUNIT_CASE(bytes_before_the_object), KUNIT_CASE(code_that_is_not_instrumented),
	    KUNIT_CASE(object_of_a_cache), KUNIT_CASE(what_is_found),
	    KUNIT_CASE(sizes_and_reallocation), KUNIT_CASE(kvfree_of_an_object),
	    KUNIT_CASE(alignment), KUNIT_CASE(traffic), KUNIT_CASE(price), KUNIT_CASE(by_time));
KUNIT_SUITE(kasan_sampled, kasan_sampled_cases, .init = init, .exit = exit);

#endif
