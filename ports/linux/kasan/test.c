// SPDX-License-Identifier: MIT
/*
 * test.c - what Linux's tests of KASAN need of it, and KASAN's reports in other tests.
 */
#include <kunit/test-bug.h>
#include <kunit/visibility.h>
#include <linux/export.h>

#include "redzone.h"

#include "internal.h"
#include "kasan.h"

static bool suite_runs;

void kasan_kunit_test_suite_start(void)
{
	WRITE_ONCE(suite_runs, true);
}
EXPORT_SYMBOL_GPL(kasan_kunit_test_suite_start);

void kasan_kunit_test_suite_end(void)
{
	WRITE_ONCE(suite_runs, false);
}
EXPORT_SYMBOL_GPL(kasan_kunit_test_suite_end);

void kasan_test_reported(void)
{
	/* Only KASAN's own suite expects reports. */
	if (!READ_ONCE(suite_runs))
		kunit_fail_current_test("BUG: KASAN has reported a bug");
}

bool kasan_save_enable_multi_shot(void)
{
	return redzone_save_multi_shot();
}
EXPORT_SYMBOL_GPL(kasan_save_enable_multi_shot);

void kasan_restore_multi_shot(bool enabled)
{
	redzone_restore_multi_shot(enabled);
}
EXPORT_SYMBOL_GPL(kasan_restore_multi_shot);

void kasan_poison(const void *addr, size_t size, u8 value, bool init)
{
	if (init)
		memset(kasan_reset_tag(addr), 0, size);
	redzone_poison(addr, size, value);
}
EXPORT_SYMBOL_GPL(kasan_poison);
