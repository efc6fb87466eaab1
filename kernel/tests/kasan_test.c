// SPDX-License-Identifier: MIT
/* kasan_test.c - the suite `kasan`: every case causes bugs and expects each to be reported. */
#include "kasan_test.h"

static struct kunit_case kasan_test_cases[] = {
#define KASAN_CASE(name) KUNIT_CASE(name),
#include "kasan_cases.h"
#undef KASAN_CASE
	{}};

KUNIT_SUITE(kasan, kasan_test_cases, KASAN_BUG_SUITE_INIT);
