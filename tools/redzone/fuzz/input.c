// SPDX-License-Identifier: MIT
/*
 * input.c - what every engine does with an input: lets the guest work on it, tries again what other inputs or someone
 * else has caused, stores a finding, and decides whether the guest goes on behind it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proxy.h"

/* The part of the time that boots after a report may take: 1/BOOT_PART, and 1/KNOWN_PART if the bug is known. A bug that
 * every tenth input meets would otherwise end each boot before the emulator is warm. */
#define BOOT_PART  4
#define KNOWN_PART 16

size_t (*engine_edges)(void);

static uint64_t inputs, started, boot_time;
/* The input has found something that was not stored before. */
static bool news;

/* Once a second, for `./redzone fuzz`: the engines themselves say it rarely. */
static void say_progress(void)
{
	static uint64_t last;
	const uint64_t now = now_ms();
	char edges[40] = "";

	if (!started)
		started = now;
	if (!config.findings || config.quiet || now - last < 1000)
		return;
	last = now;
	findings_retry();
	if (engine_edges)
		snprintf(edges, sizeof(edges), ", %zu edges", engine_edges());
	if (fprintf(stderr, "redzone: %llu inputs, %u boots%s\n", (unsigned long long)inputs,
		    guest_boots(), edges) >= 0)
		return;
	/* The campaign has ended without this process. */
	guest_stop();
	_exit(1);
}

/* Count the time since @before as that of a boot, if there were other @boots then. */
static void count_boot(uint64_t before, unsigned int boots)
{
	if (guest_boots() != boots)
		boot_time += now_ms() - before;
}

/* Something that an input leaves behind may end the guest when its result is already there. */
static void look_behind(void)
{
	const uint8_t *data;
	size_t size;

	if (guest_died_late(&data, &size) && config.findings)
		input_store(END_DEAD, data, size);
}

void input_expect(void)
{
	const unsigned int boots = guest_boots();
	const uint64_t before = now_ms();

	look_behind();
	guest_ready();
	count_boot(before, boots);
}

enum end input_run(const uint8_t *data, size_t size)
{
	enum end end = END_KILLED;

	look_behind();
	inputs++;
	news = false;
	say_progress();
	for (int i = 0; end == END_KILLED && i < RETRIES; i++) {
		const unsigned int boots = guest_boots(), reports = guest_reports();
		const uint64_t before = now_ms();

		end = guest_run(data, size);
		count_boot(before, boots);
		if (end == END_KILLED)
			guest_killed();
		/* A report may have left memory in a state that the next input crashes with. Then that says nothing. */
		if ((end == END_DEAD || end == END_HANG || end == END_SMASHED) && reports &&
		    guest_boots() == boots)
			end = guest_run(data, size);
	}
	return end;
}

void input_store(enum end end, const uint8_t *data, size_t size)
{
	static struct verdict list[VERDICTS];
	const char *console = guest_console();
	const size_t count = verdict_list(end, console, list, VERDICTS);

	for (size_t i = 0; i < count; i++) {
		if (!findings_add(&list[i], inputs, data, size, console))
			continue;
		news = true;
		fprintf(stderr, "redzone: finding by input %llu: %s\n", (unsigned long long)inputs,
			list[i].title);
	}
}

bool input_goes_on(enum end end)
{
	if (end == END_GOOD) {
		guest_forget_console();
		return true;
	}
	if (end != END_REPORT)
		return false;
	/* The guest went on behind the bug. The bug's write may do harm later, so a boot is better, unless boots
	 * would take the time that fuzzing needs. */
	if (guest_box()->reports_bad &&
	    boot_time < (now_ms() - started) / (news ? BOOT_PART : KNOWN_PART)) {
		guest_stop();
		return false;
	}
	if (guest_lost())
		guest_stop();
	return true;
}
