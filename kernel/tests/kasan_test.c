// SPDX-License-Identifier: MIT
/* kasan_test.c - the suite `kasan`: every case causes bugs and expects each to be reported. */
#include "kasan_test.h"

static struct kunit_case kasan_test_cases[] = {
#define KASAN_CASE(name) KUNIT_CASE(name),
#include "kasan_cases.h"
#undef KASAN_CASE
	{}};

static struct kunit_suite kasan_test_suite = {
	.name = "kasan",
	.suite_init = kasan_test_suite_init,
	.suite_exit = kasan_test_suite_exit,
	.init = kasan_bug_test_init,
	.exit = kasan_test_exit,
	.test_cases = kasan_test_cases,
};

kunit_test_suite(kasan_test_suite);
