// SPDX-License-Identifier: MIT
/*
 * lockdep_expect.c - reads the lines of the validator, and compares them with those that a case expects. Runs
 * functions in the contexts that the cases need.
 */
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/string.h>
#include <kernel/timer.h>

#include "lockdep_expect.h"

/* The texts that are left to be found, and the one that must not be. */
static const char *const *volatile wanted;
static const char *volatile forbidden;
static volatile bool found_before;
static volatile unsigned int lines;
static unsigned long seen_before;
static bool expecting;

/* Is @text one of the texts that must not come? */
static const char *forbidden_in(const char *text, const char *const *texts)
{
	for (; *texts; texts++) {
		if ((*texts)[0] == '!' && strstr(text, *texts + 1))
			return *texts + 1;
	}
	return NULL;
}

/* Called by the validator for each of its lines, one call at a time. */
static bool read_line(const char *text)
{
	bool adjoins = found_before;
	const char *want;

	lines++;
	found_before = false;
	if (!wanted)
		return true;
	if (!forbidden)
		forbidden = forbidden_in(text, wanted);
	while ((want = *wanted) != NULL) {
		if (want[0] == '!') {
			wanted++;
			continue;
		}
		if (want[0] == '>' && !adjoins)
			break;
		if (!strstr(text, want + (want[0] == '>')))
			break;
		/* A line may have several of the texts; from then on "the next line" is another one. */
		adjoins = false;
		found_before = true;
		wanted++;
	}
	return true;
}

void lockdep_expect_begin(struct kunit *test, const char *const *texts)
{
	expecting = true;
	found_before = false;
	forbidden = NULL;
	lines = 0;
	wanted = texts;
	seen_before = lockdep_reports_seen();
	lockdep_reports_hold();
	lockdep_line_tap(read_line);
}

unsigned int lockdep_held_count(void)
{
	return (unsigned int)(current->lockdep.top - current->lockdep.locks);
}

void lockdep_expect_about(struct kunit *test, const struct kunit_loc *loc, enum lockdep_kind kind,
			  const char *lock, const char *other)
{
	struct lockdep_report_info info;

	if (!lockdep_last_report(&info)) {
		kunit_fail(test, KUNIT_EXPECTATION, loc, "there was no report");
		return;
	}
	if (info.kind != kind || strcmp(info.lock, lock) != 0 || strcmp(info.other, other) != 0)
		kunit_fail(test, KUNIT_EXPECTATION, loc,
			   "the report is of %s, of \"%s\" and \"%s\", not of %s, of \"%s\" and "
			   "\"%s\"",
			   lockdep_kind_name(info.kind), info.lock, info.other,
			   lockdep_kind_name(kind), lock, other);
}

void lockdep_expect_end(struct kunit *test, const struct kunit_loc *loc, const char *what,
			unsigned int reports)
{
	unsigned long n = lockdep_reports_seen() - seen_before;

	lockdep_line_tap(NULL);
	lockdep_reports_release();
	expecting = false;
	lockdep_reports_forgive(n);
	if (n != reports)
		kunit_fail(
			test, KUNIT_EXPECTATION, loc,
			"%u reports of the lock validator expected in \"%s\", but there were %lu",
			reports, what, n);
	else if (!reports && lines)
		kunit_fail(test, KUNIT_EXPECTATION, loc,
			   "no line of the lock validator expected in \"%s\", but there were %u",
			   what, lines);
	while (wanted && *wanted && (*wanted)[0] == '!')
		wanted++;
	if (n && wanted && *wanted)
		kunit_fail(test, KUNIT_EXPECTATION, loc, "the report has no line \"%s\" there",
			   *wanted);
	if (forbidden)
		kunit_fail(test, KUNIT_EXPECTATION, loc, "the report has a line \"%s\"", forbidden);
	wanted = NULL;
}

/* --- Contexts -------------------------------------------------------------------------------------- */

void lockdep_in_thread(struct kunit *test, int (*fn)(void *arg), void *arg)
{
	struct task *task = kthread_run(fn, arg, "lockdep_test");

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_join(task);
}

struct irq_call {
	void (*fn)(void *arg);
	void *arg;
	bool done;
};

static void call_in_irq(void *arg)
{
	struct irq_call *call = arg;

	/* A CPU that waits for a call of its own serves others meanwhile, outside of interrupts. */
	if (!in_hardirq())
		return;
	call->fn(call->arg);
	call->done = true;
}

/* Another CPU is interrupted. A machine with one CPU does here what its interrupt vector does. */
void lockdep_in_hardirq(struct kunit *test, void (*fn)(void *arg), void *arg)
{
	struct irq_call call = {.fn = fn, .arg = arg};
	unsigned long flags;

	preempt_disable();
	if (num_online_cpus() > 1) {
		while (!call.done)
			smp_call_function_single(smp_processor_id() ? 0 : 1, call_in_irq, &call,
						 true);
	} else {
		flags = arch_local_irq_save();
		irq_enter();
		fn(arg);
		irq_exit();
		arch_local_irq_restore(flags);
	}
	preempt_enable();
}

struct call {
	struct timer_list timer;
	struct completion done;
	void (*fn)(void *arg);
	void *arg;
};

static void call_it(struct timer_list *timer)
{
	struct call *call = from_timer(call, timer, timer);

	call->fn(call->arg);
	complete(&call->done);
}

void lockdep_in_softirq(struct kunit *test, void (*fn)(void *arg), void *arg)
{
	struct call call = {.fn = fn, .arg = arg};

	init_completion(&call.done);
	timer_setup_on_stack(&call.timer, call_it, 0);
	mod_timer(&call.timer, jiffies);
	wait_for_completion(&call.done);
	del_timer_sync(&call.timer);
}

/* --- For the suites -------------------------------------------------------------------------------- */

static unsigned long case_began;

int lockdep_suite_init(struct kunit_suite *suite)
{
#ifdef CONFIG_KASAN
	return kasan_test_suite_init(suite);
#else
	return 0;
#endif
}

void lockdep_suite_exit(struct kunit_suite *suite)
{
#ifdef CONFIG_KASAN
	kasan_test_suite_exit(suite);
#endif
}

int lockdep_case_init(struct kunit *test)
{
	case_began = lockdep_reports_seen();
#ifdef CONFIG_KASAN
	return kasan_test_init(test);
#else
	return 0;
#endif
}

void lockdep_case_exit(struct kunit *test)
{
	static const struct kunit_loc nowhere = {.file = "(outside of any expectation)"};
	unsigned long n;

	/* The case's thread may have ended between begin and end. */
	lockdep_line_tap(NULL);
	if (expecting)
		lockdep_reports_release();
	n = expecting ? 0 : lockdep_reports_seen() - case_began;
	expecting = false;
	if (n)
		kunit_fail(test, KUNIT_EXPECTATION, &nowhere,
			   "%lu reports of the lock validator that nobody expected", n);
#ifdef CONFIG_KASAN
	kasan_test_exit(test);
#endif
}
