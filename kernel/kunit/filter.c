// SPDX-License-Identifier: MIT
/*
 * filter.c - which cases run: kunit.filter_glob= and kunit.filter_skip=.
 *
 * Each is a list of patterns separated by commas, a pattern is "suite" or "suite.case" with the
 * shell's wildcards. A case runs if a pattern of the first matches; it is then reported as skipped
 * if one of the second matches.
 */
#include <kernel/param.h>
#include <kernel/string.h>

#include "kunit.h"

#define PATTERN_MAX 128

static bool enable = true;
static char *filter_glob;
static char *filter_skip;

core_param("kunit.enable", enable, bool, "0|1", "run the KUnit tests");
core_param("kunit.filter_glob", filter_glob, charp, "suite.case,...",
	   "run only tests that match a pattern");
core_param("kunit.filter_skip", filter_skip, charp, "suite.case,...",
	   "skip tests that match a pattern");

bool kunit_enabled(void)
{
	return enable;
}

const char *kunit_filter_glob(void)
{
	return filter_glob;
}

/* One pattern of the list, the @len characters at @text. */
static bool pattern_matches(const char *text, size_t len, const char *suite, const char *name)
{
	char pattern[PATTERN_MAX];
	char *dot;

	if (!len || len >= sizeof(pattern))
		return false;
	memcpy(pattern, text, len);
	pattern[len] = '\0';
	dot = strchr(pattern, '.');
	if (dot)
		*dot++ = '\0';
	return glob_match(pattern, suite) && (!dot || glob_match(dot, name));
}

static bool list_matches(const char *list, const char *suite, const char *name)
{
	for (;;) {
		size_t len = strcspn(list, ",");

		if (pattern_matches(list, len, suite, name))
			return true;
		if (!list[len])
			return false;
		list += len + 1;
	}
}

size_t kunit_apply_filters(void)
{
	struct kunit_suite *const *suite;
	size_t suites = 0;

	for (suite = __kunit_suites_start; suite < __kunit_suites_end; suite++) {
		const char *name = (*suite)->name;
		bool any = false;

		for (struct kunit_case *c = (*suite)->test_cases; c->run_case; c++) {
			c->filtered_out = filter_glob && !list_matches(filter_glob, name, c->name);
			c->filtered_skip = filter_skip && list_matches(filter_skip, name, c->name);
			any |= !c->filtered_out;
		}
		suites += any;
	}
	return suites;
}
