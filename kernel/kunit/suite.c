// SPDX-License-Identifier: MIT
/* suite.c - runs suites, cases and parameters, counts results and prints them as KTAP. */
#include <kasan/stats.h>
#include <kernel/kernel.h>
#include <kernel/lockdep.h>
#include <kernel/param.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "kunit.h"

/* KTAP indents each level by four blanks. */
enum level {
	LEVEL_SUITE,
	LEVEL_CASE,
	LEVEL_PARAM,
};
#define INDENT(level) ((int)(level) * 4), ""

struct stats {
	unsigned long passed, failed, skipped;
};

/* 0: none; 1: of suites and parameterized cases; 2: always. As Linux's parameter of that name. */
static unsigned int stats_enabled = 1;
range_param("kunit.stats_enabled", stats_enabled, 0, 2, "a number", "print counts of test results");

static unsigned long total(const struct stats *stats)
{
	return stats->passed + stats->failed + stats->skipped;
}

static void count(struct stats *stats, enum kunit_status status)
{
	stats->passed += status == KUNIT_SUCCESS;
	stats->failed += status == KUNIT_FAILURE;
	stats->skipped += status == KUNIT_SKIPPED;
}

static void add(struct stats *sum, const struct stats *part)
{
	sum->passed += part->passed;
	sum->failed += part->failed;
	sum->skipped += part->skipped;
}

/* Combines several results: a failure beats a success, a success beats a skip. */
static enum kunit_status sum_up(const struct stats *stats)
{
	if (stats->failed)
		return KUNIT_FAILURE;
	return stats->passed || !stats->skipped ? KUNIT_SUCCESS : KUNIT_SKIPPED;
}

static bool should_print(const struct stats *stats)
{
	return stats_enabled == 2 || (stats_enabled == 1 && total(stats) > 1);
}

static void print_stats(enum level level, const char *name, const struct stats *stats)
{
	printk("%*s# %s: pass:%lu fail:%lu skip:%lu total:%lu\n", INDENT(level), name,
	       stats->passed, stats->failed, stats->skipped, total(stats));
}

static void print_result(enum level level, enum kunit_status status, size_t number,
			 const char *name, const char *comment)
{
	const char *word = status == KUNIT_FAILURE ? "not ok" : "ok";

	if (status == KUNIT_SKIPPED)
		printk("%*s%s %zu %s # SKIP %s\n", INDENT(level), word, number, name, comment);
	else
		printk("%*s%s %zu %s\n", INDENT(level), word, number, name);
}

void kunit_info(struct kunit *test, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printk("    # %s: %s\n", test->name, text);
}

void __kunit_mark_skipped(struct kunit *test, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(test->status_comment, sizeof(test->status_comment), fmt, args);
	va_end(args);
	/* A failure is never overwritten. */
	if (test->status != KUNIT_FAILURE)
		test->status = KUNIT_SKIPPED;
}

/* --- One case --------------------------------------------------------------------------------- */

/** struct run - one call of a case; on the heap, because a case that hangs keeps it. */
struct run {
	struct kunit test;
	const struct kunit_case *test_case;
};

static void kunit_try_run_case(struct kunit *test)
{
	struct run *run = container_of(test, struct run, test);

	if (test->suite->init) {
		int error = test->suite->init(test);

		if (error) {
			kunit_err(test, "failed to initialize: %d", error);
			test->status = KUNIT_FAILURE;
			return;
		}
	}
	run->test_case->run_case(test);
}

/* @before: number of the lock validator's reports before the case. A case that plants a bug forgives its reports itself. */
static void check_lock_reports(struct kunit *test, unsigned long before)
{
	unsigned long n = lockdep_reports_seen() - before;

	if (!n)
		return;
	test->status = KUNIT_FAILURE;
	kunit_err(test, "%lu reports of the lock validator that nobody expected", n);
	lockdep_reports_forgive(n);
}

static void kunit_try_run_case_cleanup(struct kunit *test)
{
	if (test->suite->exit)
		test->suite->exit(test);
	kunit_cleanup(test);
}

/* Return: true if the thread has ended, however it did. */
static bool run_in_thread(struct kunit *test, void (*fn)(struct kunit *test), unsigned int timeout)
{
	switch (kunit_try(test, fn, timeout)) {
	case KUNIT_TRY_OK:
		return true;
	case KUNIT_TRY_FAULTED:
		test->status = KUNIT_FAILURE;
		kunit_err(test, "try faulted: last line seen %s:%d",
			  test->last_seen_file ? test->last_seen_file : "(none)",
			  test->last_seen_line);
		return true;
	case KUNIT_TRY_TIMEOUT:
		test->status = KUNIT_FAILURE;
		kunit_err(test, "try timed out");
		return false;
	default:
		test->status = KUNIT_FAILURE;
		kunit_err(test, "no memory for its thread");
		return true;
	}
}

/* @comment: filled with the reason of a skip. */
static enum kunit_status run_once(const struct kunit_suite *suite, const struct kunit_case *c,
				  const void *param, int index, char *comment)
{
	unsigned int timeout =
		c->speed == KUNIT_SPEED_SLOW ? KUNIT_TIMEOUT_SLOW_MS : KUNIT_TIMEOUT_MS;
	struct run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	unsigned long lock_reports = lockdep_reports_seen();
	enum kunit_status status;

	if (!run) {
		printk("    # %s: no memory\n", c->name);
		return KUNIT_FAILURE;
	}
	run->test_case = c;
	run->test.name = c->name;
	run->test.suite = suite;
	run->test.param_value = param;
	run->test.param_index = index;
	if (!run_in_thread(&run->test, kunit_try_run_case, timeout))
		return KUNIT_FAILURE;
	if (!run_in_thread(&run->test, kunit_try_run_case_cleanup, timeout))
		return KUNIT_FAILURE;
	/* A cleanup that faulted may have left actions; each call of kunit_try() gets one further.
	 */
	while (run->test.actions)
		if (!run_in_thread(&run->test, kunit_cleanup, timeout))
			return KUNIT_FAILURE;
	check_lock_reports(&run->test, lock_reports);
	status = run->test.status;
	strscpy(comment, run->test.status_comment, KUNIT_STATUS_COMMENT_SIZE);
	kfree(run);
	return status;
}

static enum kunit_status run_params(const struct kunit_suite *suite, const struct kunit_case *c,
				    struct stats *stats, char *comment)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = c->generate_params(NULL, desc);
	enum kunit_status status;

	if (!param) {
		strscpy(comment, "it has no parameters", KUNIT_STATUS_COMMENT_SIZE);
		stats->skipped++;
		return KUNIT_SKIPPED;
	}
	printk("%*sKTAP version 1\n", INDENT(LEVEL_PARAM));
	printk("%*s# Subtest: %s\n", INDENT(LEVEL_PARAM), c->name);
	for (int index = 0; param; index++) {
		if (!desc[0])
			snprintf(desc, sizeof(desc), "param-%d", index);
		comment[0] = '\0';
		status = run_once(suite, c, param, index, comment);
		print_result(LEVEL_PARAM, status, (size_t)index + 1, desc, comment);
		count(stats, status);
		desc[0] = '\0';
		param = c->generate_params(param, desc);
	}
	comment[0] = '\0';
	return sum_up(stats);
}

/* @sum: the results are added, one for each parameter. */
static enum kunit_status run_case(const struct kunit_suite *suite, struct kunit_case *c,
				  size_t number, struct stats *sum)
{
	char comment[KUNIT_STATUS_COMMENT_SIZE] = "";
	struct stats stats = {0};

	if (c->filtered_skip) {
		c->status = KUNIT_SKIPPED;
		strscpy(comment, "excluded by kunit.filter_skip", sizeof(comment));
		count(&stats, c->status);
	} else if (c->generate_params) {
		c->status = run_params(suite, c, &stats, comment);
	} else {
		c->status = run_once(suite, c, NULL, 0, comment);
		count(&stats, c->status);
	}
	if (c->speed == KUNIT_SPEED_SLOW)
		printk("%*s# %s.speed: slow\n", INDENT(LEVEL_CASE), c->name);
	if (c->generate_params && should_print(&stats))
		print_stats(LEVEL_CASE, c->name, &stats);
	print_result(LEVEL_CASE, c->status, number, c->name, comment);
	add(sum, &stats);
	return c->status;
}

/* --- One suite -------------------------------------------------------------------------------- */

static size_t cases_left(const struct kunit_suite *suite)
{
	size_t n = 0;

	for (struct kunit_case *c = suite->test_cases; c->run_case; c++)
		n += !c->filtered_out;
	return n;
}

static enum kunit_status run_suite(struct kunit_suite *suite, size_t number)
{
	struct stats cases = {0}, results = {0};
	enum kunit_status status = KUNIT_FAILURE;
	size_t n = 0;
	int error;

	printk("%*sKTAP version 1\n", INDENT(LEVEL_CASE));
	printk("%*s# Subtest: %s\n", INDENT(LEVEL_CASE), suite->name);
	printk("%*s1..%zu\n", INDENT(LEVEL_CASE), cases_left(suite));
	error = suite->suite_init ? suite->suite_init(suite) : 0;
	if (error) {
		printk("    # %s: failed to initialize (%d)\n", suite->name, error);
	} else {
		for (struct kunit_case *c = suite->test_cases; c->run_case; c++)
			if (!c->filtered_out)
				count(&cases, run_case(suite, c, ++n, &results));
		if (suite->suite_exit)
			suite->suite_exit(suite);
		if (should_print(&cases))
			print_stats(LEVEL_SUITE, suite->name, &cases);
		if (should_print(&results))
			print_stats(LEVEL_SUITE, "Totals", &results);
		status = sum_up(&cases);
	}
	print_result(LEVEL_SUITE, status, number, suite->name, "");
	return status;
}

bool kunit_run_all(void)
{
	size_t suites = kunit_apply_filters(), number = 0;
	struct kunit_suite *const *suite;
	bool ok = true;

	if (!suites) {
		/* A misspelt filter must not look like success. */
		if (kunit_filter_glob())
			pr_err("kunit: no test matches kunit.filter_glob=\"%s\"\n",
			       kunit_filter_glob());
		else
			pr_err("kunit: there are no tests in this kernel\n");
		return false;
	}
	printk("KTAP version 1\n");
	printk("1..%zu\n", suites);
	for (suite = __kunit_suites_start; suite < __kunit_suites_end; suite++)
		if (cases_left(*suite))
			ok &= run_suite(*suite, ++number) != KUNIT_FAILURE;
#ifdef CONFIG_KASAN_TRACE_COMPARE
	/* It counts all traces that the cases made the kernel store and report. */
	ok &= !kasan_print_trace_compare();
#endif
	return ok;
}
