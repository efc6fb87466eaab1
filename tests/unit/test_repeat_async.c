/* SPDX-License-Identifier: MIT */
/* test_repeat_async.c - kasan.repeat= with reports of accesses that the CPU found bad some time ago. Tests
 * runtime/report/repeat.c alone, as it is with hardware tags: the rest of the mode needs a CPU with MTE. */
#include <stdio.h>

#include "../../runtime/report/repeat.c"

static unsigned int failed;

static void counts(const struct kasan_report *report, unsigned long want, int line)
{
	const unsigned long count = kasan_count_repeats(report);

	if (count == want)
		return;
	failed++;
	printf("# %s:%d: it is report %lu of its place, not %lu\n", __FILE__, line, count, want);
}

#define COUNTS(report, want) counts(report, want, __LINE__)

/* The trace of an asynchronous report does not begin at the access, so only equal traces are one place. */
static void asynchronous_reports(void)
{
	static struct kasan_report report = {
		.type = "invalid-access", .is_async = true, .is_write = true, .depth = 6};

	for (uintptr_t i = 0; i < 6; i++)
		report.pcs[i] = 0x500000 + i;
	COUNTS(&report, 1);
	COUNTS(&report, 2);
	report.pcs[5]++;
	COUNTS(&report, 1);
	report.pcs[5]--;
	COUNTS(&report, 3);
	/* A synchronous report with the same frames is a different place. */
	report.is_async = false;
	COUNTS(&report, 1);
	report.pcs[5]++;
	COUNTS(&report, 2);
}

int main(void)
{
	printf("TAP version 13\n1..1\n");
	asynchronous_reports();
	printf("%sok 1 - asynchronous_reports\n", failed ? "not " : "");
	return failed != 0;
}
