/* SPDX-License-Identifier: MIT */
/* test_options.c - boot parameters: which values are accepted, that a refused one changes nothing, and that all are
 * documented. */
#include <string.h>

#include "../../runtime/alloc/whole_pages.h"
#include "../../runtime/alloc/hw_sample.h"
#include "../../runtime/tags/tags.h"
#include "../../runtime/report/captured.h"
#include "unit.h"

static char *bad;

static void set_up(void)
{
	bad = unit_watched(4096);
	kasan_poison(bad, 8, KASAN_SLAB_REDZONE);
}

static void every_option_is_documented(void)
{
	static const char *const known[] = {"kasan",
					    "kasan.fault",
					    "kasan_multi_shot",
					    "kasan.repeat",
					    "kasan.stacktrace",
					    "kasan.quarantine_size",
					    "kasan.depot_size",
					    "kasan.stack_ring_size",
					    "kasan.mode",
					    "kasan.vmalloc",
					    "kasan.slack",
					    "kasan.page_alloc.sample",
					    "kasan.page_alloc.sample.order",
					    "kasan.write_only",
					    "kasan.ignore"};
	const struct kasan_option_doc *docs;
	size_t count;

	docs = kasan_options(&count);
	for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		bool found = false;

		for (size_t i = 0; i < count; i++)
			found |= !strcmp(docs[i].name, known[k]);
		CHECKF(found, "%s is not in the table", known[k]);
	}
	for (size_t i = 0; i < count; i++) {
		char values[128], *value, *rest = values;

		CHECK(docs[i].help[0]);
		CHECK(!strcmp(kasan_option_values(docs[i].name), docs[i].values));
		/* Each value in the table is accepted; the first one is the default or harmless. */
		REQUIRE(strlen(docs[i].values) < sizeof(values));
		if (!strchr(docs[i].values, '|'))
			continue;
		strcpy(values, docs[i].values);
		while ((value = strsep(&rest, "|")))
			CHECKF(kasan_option(docs[i].name, value) >= 0, "%s=%s", docs[i].name,
			       value);
	}
	CHECK(!kasan_option_values("kasan.no_such"));
	CHECK_EQ(kasan_option("kasan", "on"), 0);
	CHECK_EQ(kasan_option("kasan.fault", "report"), 0);
	CHECK_EQ(kasan_option("kasan_multi_shot", NULL), 0);
	CHECK_EQ(kasan_option("kasan.stacktrace", "on"), 0);
	CHECK_EQ(kasan_option("kasan.repeat", "full"), 0);
}

static void unknown_names(void)
{
	static const char *const names[] = {
		"",	 "kasa",   "kasan.",	      "kasan.faul",	 "kasan.faultx",
		"KASAN", "kasan-", "kasan_multi_sho", "kasan-multi-sho", "kasan_fault"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK_EQ(kasan_option(names[i], "on"), KASAN_OPTION_UNKNOWN);
		CHECK_EQ(kasan_option(names[i], NULL), KASAN_OPTION_UNKNOWN);
	}
}

/* A name may have `-` instead of any `_`; a value may not. */
static void dashes_in_names(void)
{
	static const char *const names[] = {"kasan.stack-ring-size", "kasan.stack_ring-size"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK_EQ(kasan_option(names[i], "4096"), KASAN_OPTION_NO_EFFECT);
		CHECK_EQ(kasan_option(names[i], "15"), KASAN_OPTION_INVALID);
		CHECK(kasan_option_values(names[i]) ==
		      kasan_option_values("kasan.stack_ring_size"));
	}
	CHECK_EQ(kasan_option("kasan-multi-shot", "off"), 0);
	CHECK_EQ(kasan_opt_multi_shot, 0);
	CHECK_EQ(kasan_option("kasan-multi-shot", NULL), 0);
	CHECK_EQ(kasan_opt_multi_shot, 1);
	CHECK_EQ(kasan_option("kasan.fault", "panic-on-write"), KASAN_OPTION_INVALID);
}

/* One of the words, whole, and nothing but it. */
static void words(void)
{
	static const char *const wrong[] = {NULL,	    "",	 "pan",	 "panics",
					    "report|panic", "|", "full|"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK_EQ(kasan_option("kasan.fault", wrong[i]), KASAN_OPTION_INVALID);
		CHECK_EQ(kasan_option("kasan.repeat", wrong[i]), KASAN_OPTION_INVALID);
	}
	CHECK_EQ(kasan_option("kasan.fault", "panic_on_write"), 0);
	CHECK_EQ(kasan_opt_fault, KASAN_PANIC_ON_WRITE);
	CHECK_EQ(kasan_option("kasan.fault", "report"), 0);
	CHECK_EQ(kasan_opt_fault, KASAN_GO_ON);
	CHECK_EQ(kasan_option("kasan.stacktrace", "0"), 0);
	CHECK(!kasan_opt_stacktrace && !kasan_opt_stack_drop);
	CHECK_EQ(kasan_option("kasan.stacktrace", "1"), 0);
	CHECK(kasan_opt_stacktrace && !kasan_opt_stack_drop);
}

static void bad_values_keep_what_was_set(void)
{
	static const char *const values[] = {"",	"x",	    "pan", "panicx", "PANIC",
					     "report ", "panic_on", "1x",  NULL};

	set_up();
	/* The default: a report does not panic. */
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		CHECK_EQ(kasan_option("kasan.fault", values[i]), KASAN_OPTION_INVALID);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(bad, 1));
	/* A value that is not the default is kept as well. */
	CHECK_EQ(kasan_option("kasan.fault", "panic"), 0);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		CHECK_EQ(kasan_option("kasan.fault", values[i]), KASAN_OPTION_INVALID);
	EXPECT_PANIC(kasan_check_read(bad, 1));
	CHECK_EQ(kasan_option("kasan.fault", "report"), 0);
	CHECK_EQ(kasan_option("kasan.stacktrace", "maybe"), KASAN_OPTION_INVALID);
	CHECK_EQ(kasan_option("kasan.stacktrace", NULL), KASAN_OPTION_INVALID);
	CHECK_EQ(kasan_option("kasan_multi_shot", "2"), KASAN_OPTION_INVALID);
	CHECK_EQ(kasan_option("kasan", ""), KASAN_OPTION_INVALID);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(bad, 1));
}

static void panic_on_write_only(void)
{
	set_up();
	CHECK_EQ(kasan_option("kasan.fault", "panic_on_write"), 0);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(bad, 1));
	EXPECT_PANIC(kasan_check_write(bad, 1));
	CHECK(strlen(unit_panic_text()) > 0 && !strchr(unit_panic_text(), '\n'));
	/* A bad free corrupts memory, as a write does. */
	EXPECT_PANIC(kasan_report_invalid_free(bad, 0));
	CHECK_EQ(kasan_option("kasan.fault", "report"), 0);
}

/* The panic comes after the whole report. */
static void panic_follows_the_report(void)
{
	set_up();
	CHECK_EQ(kasan_option("kasan.fault", "panic"), 0);
	unit_clear();
	EXPECT_PANIC(kasan_check_read(bad, 1));
	CHECK_EQ(unit_reports(), 1);
	CHECK(!strcmp(unit_line(0), unit_line(unit_lines() - 1)));
	CHECK_EQ(kasan_option("kasan.fault", "report"), 0);
}

static void stacktraces_off(void)
{
	char *p;
	int at;

	CHECK_EQ(kasan_option("kasan.stacktrace", "off"), 0);
	CHECK(!kasan_opt_stacktrace);
	p = kasan_posix_malloc(20);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 20, 1));
	at = unit_find(0, "Allocated by task ");
	REQUIRE(at > 0);
	CHECK(!strcmp(unit_line((size_t)at + 1), " (stack is not available)"));
	CHECK(unit_find(0, "Call trace:") > 0);
	CHECK_EQ(kasan_option("kasan.stacktrace", "on"), 0);
	kasan_posix_free(p);
}

/* Traces are made and dropped: the depot gets none. */
static void stacktraces_collected_only(void)
{
	struct kasan_depot_stats before, after;
	char *p;
	int at;

	CHECK_EQ(kasan_option("kasan.stacktrace", "Collect"), KASAN_OPTION_INVALID);
	CHECK_EQ(kasan_option("kasan.stacktrace", "collect"), 0);
	kasan_depot_stats(&before);
	p = kasan_posix_malloc(20);
	kasan_depot_stats(&after);
	CHECK_EQ(after.traces, before.traces);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_read(p + 20, 1));
	at = unit_find(0, "Allocated by task ");
	REQUIRE(at > 0);
	CHECK(!strcmp(unit_line((size_t)at + 1), " (stack is not available)"));
	CHECK_EQ(kasan_option("kasan.stacktrace", "on"), 0);
	kasan_posix_free(p);
	kasan_depot_stats(&after);
	CHECK(after.traces > before.traces);
}

static void kasan_off_reports_nothing(void)
{
	char *p;

	set_up();
	CHECK_EQ(kasan_option("kasan", "off"), 0);
	CHECK(!kasan_enabled());
	EXPECT_NO_REPORT(kasan_check_write(bad, 1));
	p = kasan_posix_malloc(20);
	EXPECT_NO_REPORT(kasan_check_write(p + 20, 1));
	EXPECT_NO_REPORT(kasan_posix_free(p));
	CHECK_EQ(kasan_option("kasan", "on"), 0);
	CHECK(kasan_enabled());
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(bad, 1));
}

static size_t depot_bound(void)
{
	struct kasan_depot_stats stats;

	kasan_depot_stats(&stats);
	return stats.max_bytes;
}

static void sizes(void)
{
	static const char *const wrong[] = {NULL,      "",
					    "K",       "-1",
					    "1T",      "64KB",
					    " 64K",    "64 K",
					    "0x10000", "99999999999999999999",
					    "1e6",     "64k ",
					    "17G00",   "18446744073709551615G"};
	const size_t before = depot_bound();

	CHECK_EQ(before, CONFIG_KASAN_DEPOT_SIZE);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECKF(kasan_option("kasan.depot_size", wrong[i]) == KASAN_OPTION_INVALID, "%s",
		       wrong[i]);
		CHECKF(kasan_option("kasan.quarantine_size", wrong[i]) == KASAN_OPTION_INVALID,
		       "%s", wrong[i]);
	}
	/* The text names the depot's bounds. */
	CHECK_EQ(kasan_option("kasan.depot_size", "65535"), KASAN_OPTION_INVALID);
	CHECK_EQ(kasan_option("kasan.depot_size", "129M"), KASAN_OPTION_INVALID);
	CHECK(strstr(kasan_option_values("kasan.depot_size"), "64K to 128M"));
	CHECK_EQ(depot_bound(), before);
	CHECK_EQ(kasan_option("kasan.depot_size", "64k"), 0);
	CHECK_EQ(depot_bound(), 64UL << 10);
	CHECK_EQ(kasan_option("kasan.depot_size", "128M"), 0);
	CHECK_EQ(depot_bound(), 128UL << 20);
	CHECK_EQ(kasan_option("kasan.depot_size", "8388608"), 0);
	CHECK_EQ(depot_bound(), before);
}

static void other_modes(void)
{
	static const struct {
		const char *name, *right, *wrong[4];
	} of_tags[] = {
		{"kasan.mode", "asymm", {"", "Sync", "synchronous", NULL}},
		{"kasan.vmalloc", "off", {"", "2", "o", NULL}},
		{"kasan.write_only", "on", {"", "true", "-", NULL}},
		{"kasan.slack", "check", {"", "on", "Check", NULL}},
		{"kasan.stack_ring_size", "4096", {"0", "15", "4194305", NULL}},
		{"kasan.page_alloc.sample", "2147483647", {"0", "-1", "2147483648", NULL}},
		{"kasan.page_alloc.sample.order", "0", {"65", "3 ", "0x3", NULL}},
	};

	for (size_t i = 0; i < sizeof(of_tags) / sizeof(of_tags[0]); i++) {
		CHECKF(kasan_option(of_tags[i].name, of_tags[i].right) == KASAN_OPTION_NO_EFFECT,
		       "%s", of_tags[i].name);
		for (size_t k = 0; k < 4; k++)
			CHECKF(kasan_option(of_tags[i].name, of_tags[i].wrong[k]) ==
				       KASAN_OPTION_INVALID,
			       "%s=%s", of_tags[i].name,
			       of_tags[i].wrong[k] ? of_tags[i].wrong[k] : "(none)");
	}
	/* None of the values took effect. */
	CHECK_EQ(kasan_opt_sample, 1);
	CHECK(kasan_opt_vmalloc && !kasan_opt_write_only && !kasan_opt_slack);
	CHECK_EQ(kasan_opt_hw_mode, KASAN_MODE_SYNC);
}

UNIT_MAIN(other_modes, sizes, every_option_is_documented, unknown_names, dashes_in_names, words,
	  bad_values_keep_what_was_set, panic_on_write_only, panic_follows_the_report,
	  stacktraces_off, stacktraces_collected_only, kasan_off_reports_nothing)
