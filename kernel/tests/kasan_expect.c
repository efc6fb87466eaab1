// SPDX-License-Identifier: MIT
/*
 * kasan_expect.c - counts the reports that a test case causes and compares them with what it
 * expects.
 *
 * What the hook writes is volatile: to the compiler a bad access cannot change any variable,
 * because the call of the runtime is added after it has decided what a function may touch.
 */
#include <kernel/atomic.h>
#include <kernel/kernel.h>
#include <kernel/string.h>

#include "kasan_test.h"

/* Between kasan_expect_begin() and _end(). */
static volatile bool expecting;
static volatile unsigned int reports, strays;
/* Of the first report of an expectation, and of the first stray one. */
static struct kasan_report_info expected_info, stray_info;
static bool saved_multi_shot;
static kasan_report_hook_fn saved_hook;

static void note_report(const struct kasan_report_info *info)
{
	if (!expecting) {
		if (!strays)
			stray_info = *info;
		strays++;
		return;
	}
	if (!reports)
		expected_info = *info;
	reports++;
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

static const char *access_name(enum kasan_access access)
{
	static const char *const names[] = {"access", "Read", "Write", "Free"};

	return names[access];
}

static enum kasan_access access_of(const struct kasan_report_info *info)
{
	return info->is_free ? KASAN_FREE : info->is_write ? KASAN_WRITE : KASAN_READ;
}

void kasan_expect_end(struct kunit *test, const struct kunit_loc *loc, const char *expression,
		      const char *type, enum kasan_access access, size_t size, bool exactly_one)
{
	const struct kasan_report_info *info = &expected_info;
	unsigned int n = reports;

	expecting = false;
	if (!n) {
		kunit_fail(test, KUNIT_EXPECTATION, loc,
			   "KASAN failure expected in \"%s\", but none occurred", expression);
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
	if (exactly_one && n != 1)
		kunit_fail(test, KUNIT_EXPECTATION, loc,
			   "one KASAN report expected in \"%s\", but there were %u", expression, n);
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
	if (!kasan_enabled())
		kunit_skip(test, "KASAN is off (kasan=off)");
	return kasan_test_init(test);
}

void kasan_test_exit(struct kunit *test)
{
	static const struct kunit_loc nowhere = {.file = "(outside of any expectation)"};

	if (strays)
		kunit_fail(test, KUNIT_EXPECTATION, &nowhere,
			   "%u KASAN reports that nobody expected, the first: %s at %pS", strays,
			   stray_info.bug_type, (void *)stray_info.ip);
	expecting = false;
	strays = 0;
}
