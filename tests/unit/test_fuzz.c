/* SPDX-License-Identifier: MIT */
/*
 * test_fuzz.c - fuzz/ on this machine: the loop, the mailbox, coverage and comparisons.
 *
 * The test is the host: it posts the next input when the loop asks its port to wait. fuzz_target.c is compiled with the
 * coverage of this build's compiler.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kasan/fuzz.h>

#include "fuzz_target.h"

static struct kasan_fuzz_mailbox *box;
static unsigned int failures;

/* What the host does at each wait: the next of these; the loop ends behind the last. */
static void (*const *script)(void);
static unsigned int awake_waits, asleep_waits, wakes;
/* What the target does before it calls fuzz_target(). */
static void (*inside)(void);
/* Those of the newest input. */
static size_t seen_size;
static uint8_t seen[64];

static void check(bool ok, const char *what)
{
	if (ok)
		return;
	printf("# not so: %s\n", what);
	failures++;
}
#define CHECK(condition) check(condition, #condition)

static void post(const void *data, size_t size)
{
	memcpy(box->input, data, size < sizeof(box->input) ? size : sizeof(box->input));
	memset(box->counters, 0, sizeof(box->counters));
	box->input_size = (uint32_t)size;
	__atomic_store_n(&box->posted, box->posted + 1, __ATOMIC_RELEASE);
}

bool kasan_port_fuzz_wait(bool sleep)
{
	*(sleep ? &asleep_waits : &awake_waits) += 1;
	if (!sleep && box->spin)
		return true;
	if (!*script)
		return false;
	(*script++)();
	return true;
}

void kasan_port_fuzz_wake(void)
{
	wakes++;
}

static int target(const uint8_t *data, size_t size)
{
	seen_size = size;
	memcpy(seen, data, size < sizeof(seen) ? size : sizeof(seen));
	if (inside)
		inside();
	return fuzz_target(data, size);
}

static void run(void (*const *steps)(void))
{
	memset(box, 0, sizeof(*box));
	script = steps;
	awake_waits = asleep_waits = wakes = 0;
	kasan_fuzz_loop(box, target);
	inside = NULL;
}

static unsigned int counted(void)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < box->counters_used && i < sizeof(box->counters); i++)
		sum += box->counters[i];
	return sum;
}

/* --- The loop ----------------------------------------------------------------------------------- */

static void post_abc(void)
{
	CHECK(box->magic == KASAN_FUZZ_MAGIC && box->size == sizeof(*box));
	post("abc", 3);
}

static void abc_is_done(void)
{
	CHECK(box->posted == 1 && box->taken == 1 && box->done == 1 && box->result == 0);
	CHECK(seen_size == 3 && !memcmp(seen, "abc", 3));
	post("", 0);
}

static void nothing_is_done(void)
{
	CHECK(box->done == 2 && seen_size == 0 && box->result == -1);
	box->input_size = UINT32_MAX;
	box->posted++;
}

static void huge_is_cut(void)
{
	CHECK(box->done == 3 && seen_size == KASAN_FUZZ_INPUT_MAX);
}

static void takes_inputs(void)
{
	static void (*const steps[])(void) = {post_abc, abc_is_done, nothing_is_done, huge_is_cut,
					      NULL};

	run(steps);
	CHECK(!*script && !wakes);
}

static void post_and_sleep(void)
{
	CHECK(box->guest_sleeps == 1);
	box->host_sleeps = 1;
	post("x", 1);
}

static void poll_next_time(void)
{
	CHECK(box->done == 1 && wakes == 1);
	box->host_sleeps = 0;
	box->spin = 10;
	awake_waits = 0;
	post("y", 1);
}

static void has_polled(void)
{
	CHECK(box->done == 2 && wakes == 1 && awake_waits == 10 && box->guest_sleeps == 1);
}

static void polls_then_sleeps(void)
{
	static void (*const steps[])(void) = {post_and_sleep, poll_next_time, has_polled, NULL};

	run(steps);
	CHECK(!*script);
}

static void report(void)
{
	kasan_fuzz_reported(false);
	kasan_fuzz_reported(true);
}

static void report_inside(void)
{
	inside = report;
	post("r", 1);
}

static void reports_are_counted(void)
{
	static void (*const steps[])(void) = {report_inside, NULL};

	run(steps);
	CHECK(box->reports == 2 && box->reports_bad == 1);
	/* Behind the loop nobody reads them. */
	kasan_fuzz_reported(true);
	CHECK(box->reports == 2);
}

/* --- Coverage ----------------------------------------------------------------------------------- */

static uint8_t first[KASAN_FUZZ_COUNTERS_MAX];
static unsigned int sums[8], nr_sums;

static void note_sum(void)
{
	sums[nr_sums++] = counted();
}

static void post_b(void)
{
	post("b", 1);
}

static void note_b_post_a(void)
{
	note_sum();
	memcpy(first, box->counters, sizeof(first));
	post("aaaa", 4);
}

static void note_a_post_b(void)
{
	note_sum();
	CHECK(memcmp(first, box->counters, sizeof(first)) != 0);
	/* Outside of the loop: it must not count. */
	fuzz_target((const uint8_t *)"aaaaaaaa", 8);
	post("b", 1);
}

static void note_b(void)
{
	note_sum();
	CHECK(!memcmp(first, box->counters, sizeof(first)));
}

static void counts_edges(void)
{
	static void (*const steps[])(void) = {post_b, note_b_post_a, note_a_post_b, note_b, NULL};

	nr_sums = 0;
	run(steps);
	CHECK(box->counters_used > 0 && box->counters_used <= KASAN_FUZZ_COUNTERS_MAX);
	CHECK(nr_sums == 3 && sums[0] > 0 && sums[1] > sums[0] && sums[2] == sums[0]);
}

static void *other_thread(void *ignored)
{
	fuzz_target((const uint8_t *)"aaaaaaaa", 8);
	return ignored;
}

static void call_in_other_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, other_thread, NULL) || pthread_join(thread, NULL))
		abort();
}

static void post_b_with_thread(void)
{
	note_sum();
	inside = call_in_other_thread;
	post("b", 1);
}

/* Counters that are incremented by code in place know no task. */
static void counts_one_task_only(void)
{
	static void (*const steps[])(void) = {post_b, post_b_with_thread, note_sum, NULL};

	nr_sums = 0;
	run(steps);
#ifdef COUNTS_BY_CALLS
	CHECK(nr_sums == 2 && sums[0] > 0 && sums[1] == sums[0]);
#else
	CHECK(nr_sums == 2 && sums[0] > 0 && sums[1] > sums[0]);
#endif
}

/* --- Comparisons -------------------------------------------------------------------------------- */

static const struct kasan_fuzz_cmp *find_cmp(uint32_t input, size_t size, bool memory)
{
	for (size_t i = 0; i < KASAN_FUZZ_CMPS; i++) {
		const struct kasan_fuzz_cmp *cmp = &box->cmps[i];

		if (cmp->input == input && cmp->size == size && cmp->memory == memory)
			return cmp;
	}
	return NULL;
}

/* What the target compares its input with, and another input. */
static const uint32_t wanted = 0x12345678, given = 0x44332211;

static void post_word(void)
{
	CHECK(!kasan_fuzz_wants_compare());
	kasan_fuzz_compare("here", "outside", "of it", 5);
	post((const char *)&given, sizeof(given));
}

static void compare_inside(void)
{
	CHECK(kasan_fuzz_wants_compare());
	kasan_fuzz_compare("here", "0123456789abcdefghij", "0123456789ABCDEFGHIJ", 20);
}

static void word_is_there(void)
{
	const struct kasan_fuzz_cmp *cmp = find_cmp(1, 4, false);

	CHECK(cmp != NULL);
	if (cmp)
		CHECK((!memcmp(cmp->a, &wanted, 4) && !memcmp(cmp->b, &given, 4)) ||
		      (!memcmp(cmp->b, &wanted, 4) && !memcmp(cmp->a, &given, 4)));
	CHECK(!find_cmp(0, 5, true));
	inside = compare_inside;
	post((const char *)&wanted, sizeof(wanted));
}

static void memory_is_there(void)
{
	const struct kasan_fuzz_cmp *cmp = find_cmp(2, KASAN_FUZZ_CMP_MAX, true);

	/* The integers were the same this time. */
	CHECK(!find_cmp(2, 4, false));
	CHECK(cmp != NULL);
	if (cmp)
		CHECK(!memcmp(cmp->a, "0123456789abcdef", 16) &&
		      !memcmp(cmp->b, "0123456789ABCDEF", 16));
}

static void keeps_comparisons(void)
{
	static void (*const steps[])(void) = {post_word, word_is_there, memory_is_there, NULL};

	run(steps);
}

/* Two places, of which one compares too often. */
static const char often[1], once[1];

static void compare_in_loop(void)
{
	uint32_t a = 0, b = 1000;

	for (; a < 2 * KASAN_FUZZ_LOG_EACH; a++)
		kasan_fuzz_compare(often, &a, &b, sizeof(a));
	kasan_fuzz_compare(once, "left", "side", 4);
}

static void post_logged(void)
{
	box->compare = KASAN_FUZZ_COMPARE_LOG;
	inside = compare_in_loop;
	post("\x11\x22\x33\x44", 4);
}

static unsigned int logged_of(uint32_t input, const void *place)
{
	unsigned int count = 0;

	for (uint32_t i = 0; i < box->logged && i < KASAN_FUZZ_LOG; i++) {
		const struct kasan_fuzz_cmp *cmp = &box->log[i].cmp;
		const uint32_t expected = count;

		if (box->log[i].place != (uintptr_t)place)
			continue;
		CHECK(cmp->input == input && cmp->size == 4 && cmp->memory == 1);
		if (place == often)
			CHECK(!memcmp(cmp->a, &expected, 4));
		count++;
	}
	return count;
}

static void log_is_there(void)
{
	const uint32_t number = box->done;

	CHECK(logged_of(number, often) == KASAN_FUZZ_LOG_EACH);
	CHECK(logged_of(number, once) == 1);
	/* The target's own comparison as well, and the table has none of them. */
	CHECK(box->logged > KASAN_FUZZ_LOG_EACH + 1);
	CHECK(!find_cmp(number, 4, true) && !find_cmp(number, 4, false));
	/* The next input has as many. */
	if (number == 1)
		post_logged();
}

static void ignore_log(void)
{
	/* A number that the host has overwritten is out of the log. */
	box->logged = KASAN_FUZZ_LOG + 7;
	compare_in_loop();
	CHECK(box->logged == KASAN_FUZZ_LOG + 7);
}

static void post_smashed(void)
{
	inside = ignore_log;
	post("\x11\x22\x33\x44", 4);
}

static void logs_comparisons(void)
{
	static void (*const steps[])(void) = {post_logged, log_is_there, log_is_there, post_smashed,
					      NULL};

	run(steps);
}

/* ------------------------------------------------------------------------------------------------ */

int main(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} list[] = {
		{"takes_inputs", takes_inputs},
		{"polls_then_sleeps", polls_then_sleeps},
		{"reports_are_counted", reports_are_counted},
		{"counts_edges", counts_edges},
		{"counts_one_task_only", counts_one_task_only},
		{"keeps_comparisons", keeps_comparisons},
		{"logs_comparisons", logs_comparisons},
	};
	const size_t count = sizeof(list) / sizeof(list[0]);
	unsigned int failed = 0;

	box = aligned_alloc(64, (sizeof(*box) + 63) / 64 * 64);
	if (!box)
		return 1;
	printf("TAP version 13\n1..%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		failures = 0;
		list[i].run();
		failed += !!failures;
		printf("%sok %zu %s\n", failures ? "not " : "", i + 1, list[i].name);
	}
	free(box);
	return !!failed;
}
