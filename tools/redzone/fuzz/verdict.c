// SPDX-License-Identifier: MIT
/*
 * verdict.c - names what went wrong, in one line that is the same for each input that runs into the same bug, and by a
 * key, which is the bug's own: two callers of a function with a bug are two bugs.
 *
 * Only the kernel's own lines count. They begin with a time in brackets, and those of the target do not.
 */
#include <stdio.h>
#include <string.h>

#include "proxy.h"

#define LINE 512

/* Copy the line at @text, without the time in front of it. Return: the start of the next one; NULL behind the last. */
static const char *kernel_line(const char *text, char *line)
{
	const char *end = strchr(text, '\n');
	size_t size = end ? (size_t)(end - text) : strlen(text);
	const char *after = memchr(text, ']', size);

	*line = '\0';
	if (*text == '[' && after && after[1] == ' ') {
		size -= (size_t)(after + 2 - text);
		snprintf(line, LINE, "%.*s", (int)(size < LINE ? size : LINE - 1), after + 2);
		line[strcspn(line, "\r")] = '\0';
	}
	return end ? end + 1 : NULL;
}

/* Cut what differs between two inputs: offsets in functions, and how often. */
static void without_numbers(char *line)
{
	static const char *const ends[] = {"+0x", " again (", " at address ",
					   " at virtual address "};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		char *at = strstr(line, ends[i]);

		if (at)
			*at = '\0';
	}
}

static uint64_t hash(uint64_t so_far, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		so_far = (so_far ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	/* Two words are not the same as one long word. */
	return (so_far ^ 0xff) * 0x100000001b3ULL;
}

static uint64_t hash_title(const char *title)
{
	return hash(0xcbf29ce484222325ULL, title, strlen(title));
}

/* Add the name of the function at @text to @key. */
static uint64_t hash_function(uint64_t key, const char *text)
{
	return hash(key, text, strcspn(text, "+ \n"));
}

/* --- One report --------------------------------------------------------------------------------- */

/*
 * The callers that tell two bugs apart. A line for a bug that was reported before names so many: KASAN_PLACE_FRAMES
 * without the first one, which is in the headline.
 */
#define CALLERS 2

/* A report whose lines are being read. */
struct reading {
	struct verdict *to; /* NULL: no report */
	bool in_trace;
	unsigned int frames;
};

static void begin(struct reading *reading, struct verdict *to, const char *line, size_t offset)
{
	*reading = (struct reading){.to = to};
	snprintf(to->title, sizeof(to->title), "%s", line);
	without_numbers(to->title);
	to->key = hash_title(to->title);
	to->offset = offset;
	to->again = false;
}

/* "KASAN: TYPE in FUNCTION+0x1/0x2 again (2 times): write of size 1 at addr X by task T, called by F+... < G+..." */
static void read_again(struct verdict *to, const char *line)
{
	const char *at = strstr(line, " times): ");

	to->again = true;
	if (!at)
		return;
	to->key = hash(to->key, at + 9, 1);
	at = strstr(at, ", called by ");
	for (unsigned int i = 0; at && i < CALLERS; i++) {
		at += i ? 3 : 12;
		to->key = hash_function(to->key, at);
		at = strstr(at, " < ");
	}
}

/* The line @line of a report, or of what follows it. */
static void read_on(struct reading *reading, const char *line)
{
	static const char *const kinds[] = {"Read of ", "Write of ", "Free of ", "Access of "};
	struct verdict *to = reading->to;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char kind = (char)(kinds[i][0] + 'a' - 'A');

		if (!reading->in_trace && !strncmp(line, kinds[i], strlen(kinds[i])))
			to->key = hash(to->key, &kind, 1);
	}
	if (!strncmp(line, "Call trace:", 11) || !strncmp(line, "Allocated by ", 13)) {
		reading->in_trace = true;
	} else if (reading->in_trace && *line == ' ' && reading->frames <= CALLERS) {
		if (reading->frames++)
			to->key = hash_function(to->key, line + 1);
	} else if (reading->in_trace) {
		/* The first trace has ended. */
		reading->to = NULL;
	}
}

/* --- All of them -------------------------------------------------------------------------------- */

/* Return: true if @line begins a report, or says that there was one. */
static bool is_headline(const char *line)
{
	/* Some systems say in front of a report where they have moved to. */
	if (!strncmp(line, "KASAN: window ", 14))
		return false;
	return !strncmp(line, "BUG: KASAN: ", 12) || !strncmp(line, "BUG: memory leak", 16) ||
	       !strncmp(line, "KASAN: ", 7);
}

static const char *without_bug(const char *line)
{
	return line + (*line == 'B' ? 5 : 0);
}

/* Add a verdict that is no report. */
static size_t add_end(struct verdict *to, enum end end, const char *crash, const char *returned)
{
	const size_t size = sizeof(to->title);

	if (end == END_HANG)
		snprintf(to->title, size, "hang: no end after %u ms", config.hang_ms);
	else if (end == END_SMASHED)
		snprintf(to->title, size, "crash: the target has overwritten the fuzzer's mailbox");
	else if (end == END_KILLED)
		snprintf(to->title, size, "the emulator was killed");
	else if (*crash)
		snprintf(to->title, size, "crash: %s", crash);
	else if (*returned)
		snprintf(to->title, size, "exit: %s", returned);
	else if (end == END_DEAD)
		snprintf(to->title, size, "exit: the target ended the program");
	else
		/* Of most reports from a place that was reported before there is no line: kasan.repeat=. */
		snprintf(to->title, size, "a bug that was reported before");
	to->key = hash_title(to->title);
	to->offset = 0;
	to->again = end == END_REPORT && !*crash && !*returned;
	return 1;
}

size_t verdict_list(enum end end, const char *console, struct verdict *list, size_t room)
{
	static const char *const crashes[] = {
		"Kernel panic - not syncing: ", "Unable to handle kernel ",
		"Internal error: ", "Insufficient stack space"};
	char line[LINE], crash[LINE] = "", returned[LINE] = "";
	const char *next = console, *start = console, *before;
	struct reading reading = {0};
	size_t count = 0;

	while (next && *next) {
		before = start;
		start = next;
		next = kernel_line(next, line);
		if (is_headline(line)) {
			if (count == room)
				return count;
			/* With the line of `=` in front of it. */
			begin(&reading, &list[count], without_bug(line),
			      (size_t)(before - console));
			if (*line == 'K') {
				read_again(&list[count], line);
				reading.to = NULL;
			}
			count++;
			continue;
		}
		if (reading.to)
			read_on(&reading, line);
		if (!strncmp(line, "program returned ", 17))
			snprintf(returned, sizeof(returned), "%s", line);
		for (size_t i = 0; !*crash && i < sizeof(crashes) / sizeof(*crashes); i++) {
			if (strncmp(line, crashes[i], strlen(crashes[i])) != 0)
				continue;
			without_numbers(line);
			snprintf(crash, sizeof(crash), "%s", line);
		}
	}
	return count ? count : add_end(list, end, crash, returned);
}

void verdict_print(const char *console, FILE *to)
{
	static const char *const heads[] = {
		"BUG: KASAN: ", "BUG: memory leak",
		"Kernel panic - not syncing: ", "Unable to handle kernel ", "Internal error: "};
	bool begun = false, in_trace = false;
	char line[LINE];

	while (console && *console) {
		bool head = false;

		console = kernel_line(console, line);
		for (size_t i = 0; !begun && i < sizeof(heads) / sizeof(*heads); i++)
			head |= !strncmp(line, heads[i], strlen(heads[i]));
		begun |= head;
		if (!begun)
			continue;
		if (in_trace && *line != ' ')
			return;
		/* The frames below the target are the same in each trace. */
		if (in_trace &&
		    (!strncmp(line, " one_input+", 11) || !strncmp(line, " kasan_fuzz_loop+", 17)))
			return;
		if (head || in_trace || strstr(line, " of size "))
			fprintf(to, "%s\n", line + (in_trace ? 1 : 0));
		in_trace |=
			!strncmp(line, "Call trace:", 11) || !strncmp(line, "Allocated by ", 13);
	}
}
