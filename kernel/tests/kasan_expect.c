// SPDX-License-Identifier: MIT
/*
 * kasan_expect.c - counts the reports that a test case causes and compares them with what it
 * expects.
 *
 * The hook writes volatile variables. The compiler adds the call of the runtime after it has decided what a
 * function may change, so it believes that a bad access changes no variable.
 */
#include <kernel/atomic.h>
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>

#include "kasan_test.h"

#ifdef CONFIG_KASAN_TAGS
unsigned int kasan_tags_without_traces(void)
{
	const unsigned int before = kasan_slab_flags;

	if (before & KASAN_SLAB_TRACES)
		kasan_option("kasan.stacktrace", "off");
	if (before & KASAN_SLAB_SLOW)
		kasan_option("kasan.tag_policy", "adjacent");
	return before;
}

void kasan_tags_with_traces(unsigned int before)
{
	if (before & KASAN_SLAB_TRACES)
		kasan_option("kasan.stacktrace", "on");
	if (before & KASAN_SLAB_SLOW)
		kasan_option("kasan.tag_policy", "random");
}
#endif

/* Guards all that the hook writes. */
static DEFINE_RAW_SPINLOCK(notes_lock);
/* Between kasan_expect_begin() and _end(). */
static volatile bool expecting;
static volatile unsigned int reports, strays;
/* The first report of an expectation, and the first stray one. */
static struct kasan_report_info expected_info, stray_info;
static bool saved_multi_shot;
static kasan_report_hook_fn saved_hook;

/* Runs behind the report, so on several CPUs at once. */
static void note_report(const struct kasan_report_info *info)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&notes_lock, flags);
	if (!expecting) {
		if (!strays)
			stray_info = *info;
		strays++;
	} else {
		if (!reports)
			expected_info = *info;
		reports++;
	}
	raw_spin_unlock_irqrestore(&notes_lock, flags);
}

/* More objects of a size than a CPU keeps at hand, so that some lie side by side in one slab. */
#define CROWD 96

static void free_object(void *object)
{
	kfree(object);
}

/* Behind an object of Generic mode is its own redzone; with tags only a neighbour that lives surely differs. */
static void *alloc_beside(struct kunit *test, size_t size, void *(*alloc)(size_t size))
{
	char *crowd[CROWD], *object = NULL, *beside = NULL;
	unsigned int n = 0;
	size_t slot;

	if (KASAN_TEST_GENERIC)
		return alloc(size);
	while (n < CROWD && !object && (crowd[n] = alloc(size))) {
		slot = ALIGN(ksize(crowd[n]), KASAN_GRANULE_SIZE);
		for (unsigned int i = 0; i < n && !object; i++) {
			long distance = (char *)kasan_reset_tag(crowd[n]) -
					(char *)kasan_reset_tag(crowd[i]);

			if (distance != (long)slot && distance != -(long)slot)
				continue;
			object = distance < 0 ? crowd[n] : crowd[i];
			beside = distance < 0 ? crowd[i] : crowd[n];
		}
		n++;
	}
	for (unsigned int i = 0; i < n; i++) {
		if (crowd[i] != object && crowd[i] != beside)
			kfree(crowd[i]);
	}
	if (beside)
		KUNIT_EXPECT_EQ(test, kunit_add_action_or_reset(test, free_object, beside), 0);
	return object;
}

static void *alloc_anywhere(size_t size)
{
	return kmalloc(size, GFP_KERNEL);
}

static void *alloc_on_node(size_t size)
{
	return kmalloc_node(size, GFP_KERNEL, 0);
}

void *kasan_kmalloc_beside(struct kunit *test, size_t size)
{
	return alloc_beside(test, size, alloc_anywhere);
}

void *kasan_kmalloc_node_beside(struct kunit *test, size_t size)
{
	return alloc_beside(test, size, alloc_on_node);
}

void kasan_expect_begin(void)
{
	reports = 0;
	expecting = true;
}

const struct kasan_report_info *kasan_expect_last(void)
{
	return &expected_info;
}

unsigned int kasan_expect_count(void)
{
	unsigned long flags;
	unsigned int n;

	raw_spin_lock_irqsave(&notes_lock, flags);
	n = reports;
	raw_spin_unlock_irqrestore(&notes_lock, flags);
	return n;
}

static const char *access_name(enum kasan_access access)
{
	static const char *const names[] = {"access", "Read", "Write", "Free"};

	return names[access];
}

static enum kasan_access access_of(const struct kasan_report_info *info)
{
	return info->is_free ? KASAN_FREE : info->is_write ? KASAN_WRITE : KASAN_READ;
}

bool kasan_may_be_late(enum kasan_access access)
{
#ifdef CONFIG_KASAN_HW_TAGS
	struct kasan_hw_options options;

	kasan_hw_options(&options);
	if (options.mode == KASAN_MODE_ASYNC)
		return access != KASAN_FREE;
	if (options.mode == KASAN_MODE_ASYMM)
		return access == KASAN_WRITE || access == KASAN_ANY;
#endif
	return false;
}

/* An asynchronous report must not claim any details of the access. */
static void check_late(struct kunit *test, const struct kunit_loc *loc, const char *expression,
		       enum kasan_access access)
{
	const struct kasan_report_info *info = &expected_info;

	if (!kasan_may_be_late(access))
		kunit_fail(test, KUNIT_EXPECTATION, loc,
			   "the report in \"%s\" is asynchronous, and must not be", expression);
	if (strcmp(info->bug_type, "invalid-access") != 0 || info->addr || info->size ||
	    info->is_free)
		kunit_fail(test, KUNIT_EXPECTATION, loc,
			   "the asynchronous report in \"%s\" knows more than it can: %s",
			   expression, info->bug_type);
}

/* Larger accesses are loops, and an interrupt in the middle reports the accesses noted so far. */
#define ONE_ACCESS 16

void kasan_expect_end(struct kunit *test, const struct kunit_loc *loc, const char *expression,
		      const char *type, enum kasan_access access, size_t size, bool exactly_one)
{
	const struct kasan_report_info *info = &expected_info;
	unsigned int n;

	kasan_settle();
	n = reports;
	expecting = false;
	if (!n) {
		kunit_fail(test, KUNIT_EXPECTATION, loc,
			   "KASAN failure expected in \"%s\", but none occurred", expression);
		return;
	}
	if (exactly_one && n != 1 && (!info->is_async || size <= ONE_ACCESS))
		kunit_fail(test, KUNIT_EXPECTATION, loc,
			   "one KASAN report expected in \"%s\", but there were %u", expression, n);
	if (info->is_async) {
		check_late(test, loc, expression, access);
		return;
	}
	if (type && strcmp(type, info->bug_type) != 0)
		kunit_fail(test, KUNIT_EXPECTATION, loc,
			   "KASAN report of %s expected in \"%s\", but it says %s", type,
			   expression, info->bug_type);
	if ((access != KASAN_ANY && access != access_of(info)) ||
	    (size != KASAN_ANY_SIZE && access != KASAN_FREE && size != info->size))
		kunit_fail(test, KUNIT_EXPECTATION, loc,
			   "%s of size %zu expected in \"%s\", but it was a %s of size %zu",
			   access_name(access), size, expression, access_name(access_of(info)),
			   info->size);
}

void kasan_expect_in(struct kunit *test, const struct kunit_loc *loc, const char *function)
{
	char where[80];

	/* A return address may lie behind the function's end. */
	snprintf(where, sizeof(where), "%pS", (void *)(expected_info.ip - 1));
	if (strncmp(where, function, strlen(function)) != 0 || where[strlen(function)] != '+')
		kunit_fail(test, KUNIT_EXPECTATION, loc, "the report is of %s, not of %s", where,
			   function);
}

int kasan_test_suite_init(struct kunit_suite *suite)
{
	saved_multi_shot = kasan_save_multi_shot();
	saved_hook = kasan_report_hook(note_report);
	return 0;
}

void kasan_test_suite_exit(struct kunit_suite *suite)
{
	kasan_report_hook(saved_hook);
	kasan_restore_multi_shot(saved_multi_shot);
}

int kasan_test_init(struct kunit *test)
{
	expecting = false;
	strays = 0;
	return 0;
}

int kasan_bug_test_init(struct kunit *test)
{
	kunit_needs(test, kasan_enabled(), "KASAN that is on");
	return kasan_test_init(test);
}

void kasan_test_exit(struct kunit *test)
{
	static const struct kunit_loc nowhere = {.file = "(outside of any expectation)"};

	kasan_settle();
	if (strays)
		kunit_fail(test, KUNIT_EXPECTATION, &nowhere,
			   "%u KASAN reports that nobody expected, the first: %s at %pS", strays,
			   stray_info.bug_type, (void *)stray_info.ip);
	expecting = false;
	strays = 0;
}
