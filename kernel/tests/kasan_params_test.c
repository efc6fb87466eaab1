// SPDX-License-Identifier: MIT
/* kasan_params_test.c - the runtime's options: names, accepted and refused values, single and multi shot. */
#include <kasan/stats.h>
#include <kernel/completion.h>
#include <kernel/kasan_port.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/timer.h>

#include "kasan_test.h"

static void options_are_documented(struct kunit *test)
{
	const struct kasan_option_doc *docs;
	size_t count = 0;

	docs = kasan_options(&count);
	KUNIT_ASSERT_GE(test, count, 4);
	for (size_t i = 0; i < count; i++) {
		KUNIT_EXPECT_EQ(test, strncmp(docs[i].name, "kasan", 5), 0);
		KUNIT_EXPECT_GT(test, strlen(docs[i].values), 0);
		KUNIT_EXPECT_GT(test, strlen(docs[i].help), 0);
		KUNIT_EXPECT_STREQ(test, kasan_option_values(docs[i].name), docs[i].values);
	}
}

static void unknown_names(struct kunit *test)
{
	static const char *const names[] = {"kasan.", "kasan.fualt", "kasanx", "", "kasan.fault.x"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		KUNIT_EXPECT_EQ(test, kasan_option(names[i], "on"), KASAN_OPTION_UNKNOWN);
		KUNIT_EXPECT_NULL(test, kasan_option_values(names[i]));
	}
}

/* Everything that options set except kasan.ignore. */
struct options {
	unsigned int numbers[32];
	size_t depot_size, quarantine_size;
	bool enabled;
};

static void save_options(struct options *options)
{
	const struct kasan_option_doc *docs;
	struct kasan_quarantine_stats quarantine;
	struct kasan_depot_stats depot;
	size_t count;

	docs = kasan_options(&count);
	kasan_quarantine_stats(&quarantine);
	kasan_depot_stats(&depot);
	/* Padding is compared as well. */
	memset(options, 0, sizeof(*options));
	for (size_t i = 0; i < min(count, ARRAY_SIZE(options->numbers)); i++)
		kasan_option_number(docs[i].name, &options->numbers[i]);
	options->enabled = kasan_enabled();
	options->depot_size = depot.max_bytes;
	options->quarantine_size = quarantine.max_bytes;
}

static void cause_report(char *freed);

static void bad_values(struct kunit *test)
{
	static const struct {
		const char *name, *value;
	} bad[] = {
		{"kasan", "maybe"},
		{"kasan", ""},
		{"kasan", NULL},
		{"kasan.fault", "panics"},
		{"kasan.fault", ""},
		{"kasan.fault", NULL},
		{"kasan.stacktrace", "2"},
		{"kasan.stacktrace", NULL},
		{"kasan_multi_shot", "yes "},
		{"kasan.repeat", "short"},
		{"kasan.repeat", "on"},
		{"kasan.repeat", NULL},
		{"kasan.depot_size", "63K"},
		{"kasan.depot_size", "1G"},
		{"kasan.depot_size", NULL},
		{"kasan.depot_size", "8MB"},
		{"kasan.ignore", NULL},
		{"kasan.ignore", "two words"},
		{"kasan.ignore", "a,,b"},
		/* The first of them is in every trace here. */
		{"kasan.ignore", "bad_values,,b"},
		{"kasan.quarantine_size", "-1"},
		{"kasan.quarantine_size", "much"},
		{"kasan.mode", "fast"},
		{"kasan.mode", NULL},
		{"kasan.vmalloc", "yes"},
		{"kasan.write_only", ""},
		{"kasan.slack", "on"},
		{"kasan.slack", NULL},
		{"kasan.stack_ring_size", "15"},
		{"kasan.stack_ring_size", "32K"},
		{"kasan.page_alloc.sample", "0"},
		{"kasan.page_alloc.sample", "-1"},
		{"kasan.page_alloc.sample", "ten"},
		{"kasan.page_alloc.sample", "2147483648"},
		{"kasan.page_alloc.sample", "18446744073709551617"},
		{"kasan.page_alloc.sample", NULL},
		{"kasan.page_alloc.sample.order", "-1"},
		{"kasan.page_alloc.sample.order", "65"},
	};

	char *ptr = kmalloc(32, GFP_KERNEL);
	struct options before, after;

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kfree(ptr);
	save_options(&before);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *value = bad[i].value ? bad[i].value : "(none)";

		KUNIT_EXPECT_EQ_MSG(test, kasan_option(bad[i].name, bad[i].value),
				    KASAN_OPTION_INVALID, "%s=%s", bad[i].name, value);
		/* A refused value changes nothing. */
		save_options(&after);
		KUNIT_EXPECT_MEMEQ_MSG(test, &after, &before, sizeof(before), "%s=%s", bad[i].name,
				       value);
	}
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, cause_report(ptr));
}

/* The current text of kasan.mode=; NULL in modes without it. */
static const char *hw_mode(void)
{
#ifdef CONFIG_KASAN_HW_TAGS
	static const char *const names[] = {"sync", "async", "asymm"};
	struct kasan_hw_options options;

	kasan_hw_options(&options);
	return names[options.mode];
#else
	return NULL;
#endif
}

/* A parameter of another mode is known everywhere, and harmless. */
static void other_modes(struct kunit *test)
{
	const struct kasan_option_doc *docs;
	const char *mode = hw_mode();
	size_t count = 0, without_effect = 0;

	docs = kasan_options(&count);
	for (size_t i = 0; i < count; i++) {
		const char *value = docs[i].fallback;
		int err;

		if (!strncmp(value, "1/32", 4)) {
			if (KASAN_TEST_GENERIC)
				continue;
			value = "1048576";
		}
		err = kasan_option(docs[i].name, value);
		KUNIT_EXPECT_GE_MSG(test, err, 0, "%s=%s", docs[i].name, value);
		without_effect += err == KASAN_OPTION_NO_EFFECT;
		if (!strcmp(docs[i].modes, "all"))
			KUNIT_EXPECT_EQ_MSG(test, err, 0, "%s", docs[i].name);
	}
	/* No mode has a use for all of them. */
	KUNIT_EXPECT_GT(test, without_effect, 0);
	/* Single shot reports once in a boot, and an earlier case may have used that up. The suite runs in
	 * multi shot. */
	KUNIT_EXPECT_EQ(test, kasan_option("kasan_multi_shot", "on"), 0);
	if (mode)
		KUNIT_EXPECT_EQ(test, kasan_option("kasan.mode", mode), 0);
}

static void cause_report(char *freed)
{
	HIDE_VAR(freed);
	KASAN_TEST_BUG(READ_ACCESS(freed[20]));
	/* Counted at once. */
	kasan_settle();
	barrier();
}

static void single_and_multi_shot(struct kunit *test)
{
	char *ptr = kmalloc(32, GFP_KERNEL);
	unsigned long before;
	bool saved;

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kfree(ptr);
	before = kasan_report_count();
	/* The suite runs in multi shot, so every one is reported. */
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, cause_report(ptr));
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, cause_report(ptr));
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 2);

	saved = kasan_save_multi_shot();
	KUNIT_EXPECT_TRUE(test, saved);
	KUNIT_EXPECT_EQ(test, kasan_option("kasan_multi_shot", "off"), 0);
	/* Single shot: at most the first of the system's life. */
	kasan_expect_begin();
	cause_report(ptr);
	before = kasan_report_count();
	cause_report(ptr);
	cause_report(ptr);
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before);
	KUNIT_EXPECT_EQ(test, kasan_option("kasan_multi_shot", NULL), 0);
	cause_report(ptr);
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 1);
	kasan_expect_end(test, KUNIT_CURRENT_LOC, "cause_report()", NULL, KASAN_READ, 1, false);
	kasan_restore_multi_shot(saved);
}

static unsigned int whole_reports, repeat_lines;

static bool count_reports(const char *text)
{
	whole_reports += !strncmp(text, "BUG: KASAN: ", 12);
	repeat_lines += !strncmp(text, "KASAN: ", 7) && strstr(text, " again (");
	return true;
}

static noinline void bug_in_a_loop(char *freed, unsigned int rounds)
{
	/* Volatile, or the compiler unrolls the loop, and its one place becomes several. */
	for (volatile unsigned int left = rounds; left; left--)
		cause_report(freed);
	barrier();
}

/* kasan.repeat=: a known place is a line at the 2nd, 4th, 8th time with the default, a whole report with "full"; each
 * counts as one. */
static void repeats(struct kunit *test)
{
	unsigned int was_full = 0;
	char *ptr = kmalloc(32, GFP_KERNEL);
	unsigned long before;

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kfree(ptr);
	kasan_option_number("kasan.repeat", &was_full);
	before = kasan_report_count();
	whole_reports = repeat_lines = 0;
	kasan_expect_begin();
	kasan_line_tap(count_reports);
	KUNIT_EXPECT_EQ(test, kasan_option("kasan.repeat", "brief"), 0);
	bug_in_a_loop(ptr, 5);
	/* A late report begins wherever it was noticed, and that need not be the same place each time. */
	if (!kasan_may_be_late(KASAN_READ)) {
		KUNIT_EXPECT_EQ(test, whole_reports, 1U);
		KUNIT_EXPECT_EQ(test, repeat_lines, 2U);
	}
	whole_reports = repeat_lines = 0;
	KUNIT_EXPECT_EQ(test, kasan_option("kasan.repeat", "full"), 0);
	bug_in_a_loop(ptr, 3);
	KUNIT_EXPECT_EQ(test, whole_reports, 3U);
	KUNIT_EXPECT_EQ(test, repeat_lines, 0U);
	kasan_line_tap(NULL);
	KUNIT_EXPECT_EQ(test, kasan_option("kasan.repeat", was_full ? "full" : "brief"), 0);
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before + 8);
	KUNIT_EXPECT_EQ(test, kasan_expect_count(), 8U);
	kasan_expect_end(test, KUNIT_CURRENT_LOC, "bug_in_a_loop()", "slab-use-after-free",
			 KASAN_READ, 1, false);
}

static void disabled_for_a_while(struct kunit *test)
{
	char *ptr = kmalloc(32, GFP_KERNEL);
	unsigned long before;

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kfree(ptr);
	before = kasan_report_count();
	kasan_disable_current();
	kasan_disable_current();
	cause_report(ptr);
	kasan_enable_current();
	cause_report(ptr);
	KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(ptr + 20));
	kasan_enable_current();
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before);
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, cause_report(ptr));
}

/* --- kasan_disable_current() belongs to the task ---------------------------------------------- */

struct quiet_task {
	char *freed;
	struct completion silent, go;
	unsigned long reports_inside;
};

/* Silent before and after each sleep, whichever CPU it continues on. */
static int quiet_thread(void *arg)
{
	struct quiet_task *quiet = arg;
	unsigned long before;

	kasan_disable_current();
	kasan_disable_current();
	complete(&quiet->silent);
	wait_for_completion(&quiet->go);
	before = kasan_report_count();
	current->cpus_mask = 0;
	for (int i = 0; i < 8; i++) {
		cause_report(quiet->freed);
		msleep(1);
	}
	kasan_enable_current();
	cause_report(quiet->freed);
	quiet->reports_inside = kasan_report_count() - before;
	kasan_enable_current();
	cause_report(quiet->freed);
	return 0;
}

static void disabled_for_a_task(struct kunit *test)
{
	struct quiet_task quiet = {.freed = kmalloc(32, GFP_KERNEL)};
	struct task *task;

	KUNIT_ASSERT_NOT_NULL(test, quiet.freed);
	kfree(quiet.freed);
	init_completion(&quiet.silent);
	init_completion(&quiet.go);
	task = kthread_create(quiet_thread, &quiet, "quiet");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	/* It silences the CPU of this task, goes to sleep there, and this one runs on. */
	kthread_bind(task, smp_processor_id());
	wake_up_process(task);
	wait_for_completion(&quiet.silent);
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1,
				  cause_report(quiet.freed));
	/* The one report comes when both are undone. */
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, complete(&quiet.go),
				  kthread_join(task));
	KUNIT_EXPECT_EQ(test, quiet.reports_inside, 0);
}

static int ends_silent(void *arg)
{
	kasan_disable_current();
	return 0;
}

/* A task that ends while it is silent leaves no CPU silent, and no task that gets its memory. */
static void disabled_until_the_end(struct kunit *test)
{
	char *ptr = kmalloc(32, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kfree(ptr);
	for (int i = 0; i < 8; i++) {
		struct task *task = kthread_run(ends_silent, NULL, "ends_silent");

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		kthread_join(task);
		KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1,
					  cause_report(ptr));
	}
}

static char *interrupt_freed;
static volatile bool interrupt_ran;

static void report_in_interrupt(struct timer_list *timer)
{
	cause_report(interrupt_freed);
	interrupt_ran = true;
}

/* An interrupt that comes into a silent task is reported: its bug is another's. */
static void interrupts_stay_loud(struct kunit *test)
{
	DEFINE_TIMER(timer, report_in_interrupt);

	interrupt_freed = kmalloc(32, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, interrupt_freed);
	kfree(interrupt_freed);
	interrupt_ran = false;
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, {
		kasan_disable_current();
		mod_timer(&timer, jiffies + 1);
		while (!interrupt_ran)
			cpu_relax();
		kasan_enable_current();
	});
	del_timer_sync(&timer);
}

/* --- kasan.ignore ------------------------------------------------------------------------------ */

static noinline void legacy_driver(char *freed)
{
	cause_report(freed);
	barrier();
}

static void ignored_by_caller(struct kunit *test)
{
	char *ptr = kmalloc(32, GFP_KERNEL);
	unsigned long before;

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kfree(ptr);
	KUNIT_EXPECT_EQ(test, kasan_option("kasan.ignore", "some_function,legacy_*"), 0);
	before = kasan_report_count();
	legacy_driver(ptr);
	KUNIT_EXPECT_EQ(test, kasan_report_count(), before);
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, cause_report(ptr));
	KUNIT_EXPECT_EQ(test, kasan_option("kasan.ignore", ""), 0);
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, legacy_driver(ptr));
}

static void report_fields(struct kunit *test)
{
	char *ptr = kmalloc(32, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ptr);
	kfree(ptr);
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, cause_report(ptr));
	KASAN_EXPECT_ADDR(test, ptr + 20);
	/* An unknown access counts as a write for panic_on_write. */
	KUNIT_EXPECT_EQ(test, kasan_expect_last()->is_write, kasan_expect_last()->is_async);
	KUNIT_EXPECT_FALSE(test, kasan_expect_last()->is_free);
	KUNIT_EXPECT_NE(test, kasan_expect_last()->ip, 0);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, kfree(ptr));
	KUNIT_EXPECT_EQ(test, kasan_expect_last()->size, 0);
}

KASAN_BUG_SUITE(kasan_params, KUNIT_CASE(options_are_documented), KUNIT_CASE(unknown_names),
		KUNIT_CASE(bad_values), KUNIT_CASE(other_modes), KUNIT_CASE(single_and_multi_shot),
		KUNIT_CASE(repeats), KUNIT_CASE(disabled_for_a_while),
		KUNIT_CASE(disabled_for_a_task), KUNIT_CASE(disabled_until_the_end),
		KUNIT_CASE(interrupts_stay_loud), KUNIT_CASE(ignored_by_caller),
		KUNIT_CASE(report_fields));
