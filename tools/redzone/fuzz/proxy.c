// SPDX-License-Identifier: MIT
/*
 * proxy.c - the libFuzzer target: hands each input to the guest, and gives libFuzzer what the guest has counted and
 * compared.
 *
 * Without a folder for findings a bug ends the process, as with any libFuzzer target: the console goes to stderr, and
 * libFuzzer stores the input. With one, the input is stored and fuzzing goes on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proxy.h"

/* Boots for one input whose emulator was ended by someone else. */
#define RETRIES 3
/* The part of the time that boots after a report may take: 1/BOOT_PART. */
#define BOOT_PART 4

/* libFuzzer's. */
void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *stop);
void __sanitizer_cov_trace_cmp4(uint32_t a, uint32_t b);
void __sanitizer_cov_trace_cmp8(uint64_t a, uint64_t b);
void __sanitizer_weak_hook_memcmp(void *pc, const void *a, const void *b, size_t size, int result);

/* Inputs so far. */
static uint64_t inputs;

/* Once a second, for `./redzone fuzz`: libFuzzer itself has lines at powers of two only. */
static void say_progress(void)
{
	static uint64_t last;
	uint64_t now;

	inputs++;
	if (!config.findings || (now = now_ms()) - last < 1000)
		return;
	last = now;
	fprintf(stderr, "redzone: %llu inputs, %u boots\n", (unsigned long long)inputs,
		guest_boots());
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct config config = {.hang_ms = 5000, .boot_ms = 120000, .spin_us = 200};

static uint8_t *counters;
static uint64_t started, boot_time;

void fail(const char *text, ...)
{
	va_list arguments;

	fprintf(stderr, "redzone: ");
	va_start(arguments, text);
	vfprintf(stderr, text, arguments);
	va_end(arguments);
	fprintf(stderr, "\n");
	guest_stop();
	_exit(1);
}

/* --- The configuration -------------------------------------------------------------------------- */

/* The folder of the executable. */
static char here[4096];

/* Return: @value with each @here@ replaced, allocated. */
static char *with_here(const char *value)
{
	static const char name[] = "@here@";
	char *copy = strdup(value), *at;

	while (copy && (at = strstr(copy, name))) {
		char *longer;

		if (asprintf(&longer, "%.*s%s%s", (int)(at - copy), copy, here, at + strlen(name)) <
		    0)
			longer = NULL;
		free(copy);
		copy = longer;
	}
	if (!copy)
		fail("no memory for the configuration");
	return copy;
}

static void read_places(const char *value)
{
	char *path = with_here(value);
	FILE *file = fopen(path, "rb");

	config.places = calloc(config.counters, sizeof(*config.places));
	if (!file || !config.places ||
	    fread(config.places, sizeof(*config.places), config.counters, file) != config.counters)
		fail("'%s' does not have %zu addresses", path, config.counters);
	fclose(file);
	free(path);
}

static void set(const char *key, const char *value)
{
	static size_t words;

	if (!strcmp(key, "memory"))
		config.memory = strtoull(value, NULL, 0);
	else if (!strcmp(key, "ram"))
		config.ram = strtoull(value, NULL, 0);
	else if (!strcmp(key, "counters"))
		config.counters = strtoull(value, NULL, 0);
	else if (!strcmp(key, "places"))
		read_places(value);
	else if (!strcmp(key, "hang_ms"))
		config.hang_ms = (unsigned int)strtoul(value, NULL, 0);
	else if (!strcmp(key, "boot_ms"))
		config.boot_ms = (unsigned int)strtoul(value, NULL, 0);
	else if (!strcmp(key, "spin_us"))
		config.spin_us = (unsigned int)strtoul(value, NULL, 0);
	else if (!strcmp(key, "leaks"))
		config.leaks = strtoul(value, NULL, 0) != 0;
	else if (!strcmp(key, "word")) {
		config.command = realloc(config.command, (words + 2) * sizeof(*config.command));
		if (!config.command)
			fail("no memory for the configuration");
		config.command[words++] = with_here(value);
		config.command[words] = NULL;
	} else {
		fail("the configuration has an unknown key '%s'", key);
	}
}

/* An exported target may run where the emulator is elsewhere: in the environment, or beside the executable. */
static void choose_emulator(void)
{
	const char *given = getenv("REDZONE_QEMU"), *name = strrchr(config.command[0], '/');
	char *beside;

	if (asprintf(&beside, "%s/%s", here, name ? name + 1 : config.command[0]) < 0)
		fail("no memory for the configuration");
	if (given)
		config.command[0] = strdup(given);
	else if (access(beside, X_OK) == 0)
		config.command[0] = beside;
	if (!config.command[0])
		fail("no memory for the configuration");
}

void read_config(void)
{
	char path[4096], *line = NULL;
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 8);
	size_t room = 0;
	FILE *file;

	if (length < 0)
		fail("the executable's name is unknown: %s", strerror(errno));
	strcpy(path + length, ".conf");
	strcpy(here, path);
	*strrchr(here, '/') = '\0';
	file = fopen(path, "r");
	if (!file)
		fail("'%s' cannot be read: %s", path, strerror(errno));
	while ((length = getline(&line, &room, file)) > 0) {
		char *value = strchr(line, ' ');

		line[strcspn(line, "\n")] = '\0';
		if (!value)
			fail("'%s' has a line without a value: '%s'", path, line);
		*value = '\0';
		set(line, value + 1);
	}
	free(line);
	fclose(file);
	if (!config.command || !config.memory)
		fail("'%s' names no command or no memory", path);
	if (config.counters > KASAN_FUZZ_COUNTERS_MAX)
		config.counters = KASAN_FUZZ_COUNTERS_MAX;
	config.findings = getenv("REDZONE_FUZZ_FINDINGS");
	choose_emulator();
}

/* --- What libFuzzer learns ---------------------------------------------------------------------- */

/* libFuzzer takes the counters as those of a compiled file, with a table of places: address and flags of each. */
static void register_counters(void)
{
	uintptr_t *places;

	/* It wants at least one. */
	if (!config.counters)
		config.counters = 1;
	counters = calloc(config.counters, 1);
	places = calloc(config.counters, 2 * sizeof(*places));
	if (!counters || !places)
		fail("no memory for %zu counters", config.counters);
	for (size_t i = 0; i < config.counters; i++)
		places[2 * i] = config.places ? (uintptr_t)config.places[i] : i + 1;
	__sanitizer_cov_8bit_counters_init(counters, counters + config.counters);
	__sanitizer_cov_pcs_init(places, places + 2 * config.counters);
}

static void take_counters(const struct kasan_fuzz_mailbox *box)
{
	size_t used = box->counters_used;

	memcpy(counters, box->counters, used < config.counters ? used : config.counters);
}

static void take_comparisons(const struct kasan_fuzz_mailbox *box)
{
	for (size_t i = 0; i < KASAN_FUZZ_CMPS; i++) {
		struct kasan_fuzz_cmp cmp;
		uint64_t a, b;

		if (box->cmps[i].input != guest_number())
			continue;
		cmp = box->cmps[i];
		if (cmp.size > KASAN_FUZZ_CMP_MAX)
			continue;
		memcpy(&a, cmp.a, sizeof(a));
		memcpy(&b, cmp.b, sizeof(b));
		if (cmp.memory)
			__sanitizer_weak_hook_memcmp((void *)(uintptr_t)(i + 1), cmp.a, cmp.b,
						     cmp.size, 1);
		else if (cmp.size == 8)
			__sanitizer_cov_trace_cmp8(a, b);
		else
			__sanitizer_cov_trace_cmp4((uint32_t)a, (uint32_t)b);
	}
}

/* --- Verdicts ----------------------------------------------------------------------------------- */

static enum end run(const uint8_t *data, size_t size)
{
	enum end end = END_KILLED;

	for (int i = 0; end == END_KILLED && i < RETRIES; i++) {
		const unsigned int boots = guest_boots(), reports = guest_reports();
		const uint64_t before = now_ms();

		end = guest_run(data, size);
		if (guest_boots() != boots)
			boot_time += now_ms() - before;
		if (end == END_KILLED)
			fprintf(stderr,
				"redzone: the emulator was ended from outside; it boots again\n");
		/* A report may have left memory in a state that the next input crashes with. Then that says nothing. */
		if ((end == END_DEAD || end == END_HANG || end == END_SMASHED) && reports &&
		    guest_boots() == boots)
			end = guest_run(data, size);
	}
	return end;
}

/* Return: LLVMFuzzerTestOneInput()'s value. */
static int found(enum end end, const uint8_t *data, size_t size)
{
	const char *console = guest_console();
	char title[512];

	verdict_title(end, console, title, sizeof(title));
	if (!config.findings) {
		fprintf(stderr, "%s\nredzone: %s\n", console, title);
		guest_stop();
		abort();
	}
	if (findings_add(title, inputs, data, size, console))
		fprintf(stderr, "redzone: finding by input %llu: %s\n", (unsigned long long)inputs,
			title);
	if (end != END_REPORT)
		return -1;
	/* The guest went on behind the bug. What the bug wrote may do harm later, so a boot is better, unless boots
	 * would take the time that fuzzing needs. */
	if (guest_box()->reports_bad && boot_time < (now_ms() - started) / BOOT_PART) {
		guest_stop();
		return -1;
	}
	if (guest_lost())
		guest_stop();
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *from = getenv("REDZONE_FUZZ_MINIMIZE"), *to = getenv("REDZONE_FUZZ_TO");
	const char *limit = getenv("REDZONE_FUZZ_MS");

	(void)argc;
	(void)argv;
	started = now_ms();
	read_config();
	if (from && to) {
		int status = findings_minimize(from, to, limit ? strtoull(limit, NULL, 10) : 10000);

		guest_stop();
		_exit(status);
	}
	register_counters();
	atexit(guest_stop);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kasan_fuzz_mailbox *box;
	enum end end;
	int result = 0;

	if (size > KASAN_FUZZ_INPUT_MAX)
		return -1;
	say_progress();
	end = run(data, size);
	box = guest_box();
	if (box) {
		take_counters(box);
		take_comparisons(box);
		result = box->result == -1 ? -1 : 0;
	}
	if (end != END_GOOD)
		result = found(end, data, size);
	else
		guest_forget_console();
	return result;
}
