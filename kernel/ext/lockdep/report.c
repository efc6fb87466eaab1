// SPDX-License-Identifier: MIT
/*
 * report.c - the lock of the validator's tables, and its reports: their text is made under that lock and printed after it was
 * released, because whoever has the console may wait for the lock. Also what tests ask about reports.
 */
#include <kernel/arch.h>
#include <kernel/console.h>
#include <kernel/kasan_port.h>
#include <kernel/sched.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>
#include <kernel/time.h>

#include "internal.h"

/* Room for the reports that one operation may cause. */
#define TEXT_BYTES 16384U
/* Bugs that are known to be reported. */
#define NR_SEEN 512U

/**
 * struct work - what this CPU does; interrupts are off meanwhile
 * @busy: between lockdep_enter() and lockdep_leave(). @text, @length: lines to print. @reports: number of reports in it.
 */
struct work {
	bool busy;
	unsigned int reports;
	size_t length;
	char text[TEXT_BYTES];
};

static struct work works[NR_CPUS];
static struct bare_lock tables_lock;

static struct {
	unsigned long a, b;
	enum lockdep_kind kind;
} seen[NR_SEEN];
static unsigned int nr_seen;

static unsigned long reports_seen, reports_forgiven;
static unsigned int holds;
static struct lockdep_report_info last_report;
static bool any_report;
static lockdep_line_tap_fn line_tap;

void lockdep_lock(void)
{
	bare_lock(&tables_lock);
}

void lockdep_unlock(void)
{
	bare_unlock(&tables_lock);
}

bool lockdep_enter(unsigned long *flags)
{
	struct work *work;

	*flags = arch_local_irq_save();
	work = &works[smp_processor_id()];
	if (work->busy || panic_in_progress()) {
		arch_local_irq_restore(*flags);
		return false;
	}
	work->busy = true;
	return true;
}

static void print_line(const char *text)
{
	const lockdep_line_tap_fn tap = __atomic_load_n(&line_tap, __ATOMIC_ACQUIRE);

	if (!tap || tap(text))
		console_write_line(text);
}

/* All lines together, so that no other CPU's lines come in between. */
static void print_text(struct work *work)
{
	unsigned long flags = console_lock();
	char *line = work->text, *end = work->text + work->length;

	while (line < end) {
		print_line(line);
		while (*line++)
			;
	}
	console_unlock(flags);
}

void lockdep_leave(unsigned long flags)
{
	struct work *work = &works[smp_processor_id()];
	const unsigned int reports = work->reports;

	if (unlikely(work->length))
		print_text(work);
	work->length = 0;
	work->reports = 0;
	work->busy = false;
	arch_local_irq_restore(flags);
	if (unlikely(reports && panic_on_warn && !__atomic_load_n(&holds, __ATOMIC_RELAXED)))
		panic("lockdep: panic_on_warn set ...");
}

/* --- Text ------------------------------------------------------------------------------------------- */

bool report_once(enum lockdep_kind kind, unsigned long a, unsigned long b)
{
	for (unsigned int i = 0; i < nr_seen; i++) {
		if (seen[i].kind == kind && seen[i].a == a && seen[i].b == b)
			return false;
	}
	/* Too many bugs to remember each: rather say nothing than the same again and again. */
	if (nr_seen >= NR_SEEN) {
		bound_reached("NR_SEEN", "reports", NR_SEEN);
		return false;
	}
	seen[nr_seen].kind = kind;
	seen[nr_seen].a = a;
	seen[nr_seen++].b = b;
	return true;
}

void reports_forget(unsigned int class)
{
	unsigned int i = 0;

	while (i < nr_seen) {
		/* Numbers of code places are larger than those of classes. The second number of a recursion is not a class. */
		if (seen[i].a == class || (seen[i].b == class && seen[i].kind != LOCKDEP_RECURSION))
			seen[i] = seen[--nr_seen];
		else
			i++;
	}
}

const char *lockdep_kind_name(enum lockdep_kind kind)
{
	static const char *const names[LOCKDEP_KINDS] = {
		[LOCKDEP_CIRCULAR] = "possible circular dependency",
		[LOCKDEP_RECURSION] = "possible recursive locking",
		[LOCKDEP_INVERSION_HARD] = "irq-inversion (hard)",
		[LOCKDEP_INVERSION_SOFT] = "irq-inversion (soft)",
		[LOCKDEP_IRQ_STATE] = "inconsistent irq state",
		[LOCKDEP_WAIT_CONTEXT] = "invalid wait context",
		[LOCKDEP_BAD_UNLOCK] = "bad unlock",
		[LOCKDEP_HELD_FREED] = "held lock freed",
		[LOCKDEP_HELD_AT_EXIT] = "lock held at task exit",
		[LOCKDEP_HELD_IN_USER_MODE] = "lock held at return to user mode",
		[LOCKDEP_HELD_IN_SLEEP] = "lock held while sleeping",
		[LOCKDEP_NO_KEY] = "lock not initialised",
		[LOCKDEP_ASSERTION] = "lock not held",
	};

	return names[kind];
}

void report_line(const char *fmt, ...)
{
	struct work *work = &works[smp_processor_id()];
	const size_t room = TEXT_BYTES - work->length;
	va_list args;

	/* The last lines of an endless report are lost. */
	if (room < 2)
		return;
	va_start(args, fmt);
	work->length += (size_t)vscnprintf(work->text + work->length, room, fmt, args) + 1;
	va_end(args);
}

static void separator(void)
{
	report_line("==================================================================");
}

/* class_name() without the brackets. */
static void fill_name(char name[LOCKDEP_NAME_LEN], unsigned int class)
{
	char buf[CLASS_NAME_LEN];
	size_t n;

	name[0] = '\0';
	if (!class)
		return;
	n = strlen(class_name(buf, class));
	buf[n - 1] = '\0';
	strscpy(name, buf + 1, LOCKDEP_NAME_LEN);
}

void report_begin(enum lockdep_kind kind, unsigned long ip, unsigned int lock, unsigned int other)
{
	last_report.kind = kind;
	last_report.ip = ip;
	fill_name(last_report.lock, lock);
	fill_name(last_report.other, other);
	any_report = true;
	works[smp_processor_id()].reports++;
	__atomic_fetch_add(&reports_seen, 1, __ATOMIC_RELAXED);
	separator();
	report_line("BUG: lockdep: %s in %pB", lockdep_kind_name(kind), (void *)ip);
}

void report_end(const char *advice)
{
	uintptr_t pcs[32];
	size_t count = stack_trace_save(pcs, ARRAY_SIZE(pcs), NULL);
	size_t first = trace_own_frames(pcs, count, last_report.ip);

	report_line("What to do: %s", advice);
	report_line("%s", "");
	report_line("CPU: %u PID: %d Comm: %s", smp_processor_id(), current->pid, current->comm);
	report_line("Call trace:");
	for (size_t i = first; i < count; i++)
		report_line(i && arch_is_interrupted(pcs[i - 1]) ? " %pS" : " %pB", (void *)pcs[i]);
	separator();
}

void report_bound(const char *option, const char *what, unsigned int size)
{
	report_line("lockdep: all %u %s are in use (%s): more are not followed", size, what,
		    option);
}

/* --- For tests -------------------------------------------------------------------------------------- */

unsigned long lockdep_reports_seen(void)
{
	return __atomic_load_n(&reports_seen, __ATOMIC_RELAXED) -
	       __atomic_load_n(&reports_forgiven, __ATOMIC_RELAXED);
}

void lockdep_reports_forgive(unsigned long n)
{
	__atomic_fetch_add(&reports_forgiven, n, __ATOMIC_RELAXED);
}

void lockdep_reports_hold(void)
{
	__atomic_fetch_add(&holds, 1, __ATOMIC_RELAXED);
}

void lockdep_reports_release(void)
{
	__atomic_fetch_sub(&holds, 1, __ATOMIC_RELAXED);
}

bool lockdep_last_report(struct lockdep_report_info *info)
{
	unsigned long flags;
	bool any;

	if (!lockdep_enter(&flags))
		return false;
	lockdep_lock();
	any = any_report;
	*info = last_report;
	lockdep_unlock();
	lockdep_leave(flags);
	return any;
}

lockdep_line_tap_fn lockdep_line_tap(lockdep_line_tap_fn tap)
{
	return __atomic_exchange_n(&line_tap, tap, __ATOMIC_ACQ_REL);
}

void lockdep_usage(const struct lockdep_map *map, struct lockdep_usage *usage)
{
	unsigned int class = lock_usable(map) ? class_known(map, 0) : NO_CLASS;

	*usage = (struct lockdep_usage){.known = class != NO_CLASS};
	if (!class)
		return;
	usage->usage = READ_ONCE(lock_classes[class].usage);
	usage->contended = READ_ONCE(lock_classes[class].contended);
	usage->longest = READ_ONCE(lock_classes[class].longest) * NSEC_PER_SEC / arch_counter_hz();
}

void lockdep_counts(struct lockdep_counts *counts)
{
	*counts = (struct lockdep_counts){
		.classes = READ_ONCE(nr_lock_classes),
		.deps = READ_ONCE(nr_deps),
		.chains = READ_ONCE(nr_chains),
		.traces = READ_ONCE(nr_traces),
		.max_classes = NR_CLASSES - 1,
		.max_deps = NR_DEPS - 1,
		.max_chains = NR_CHAINS,
	};
}
