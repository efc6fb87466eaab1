// SPDX-License-Identifier: MIT
/*
 * verdict.c - names what went wrong, in one line that is the same for each input that runs into the same bug.
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

void verdict_title(enum end end, const char *console, char *title, size_t size)
{
	static const char *const crashes[] = {
		"Kernel panic - not syncing: ", "Unable to handle kernel ",
		"Internal error: ", "Insufficient stack space"};
	char line[LINE], crash[LINE] = "", returned[LINE] = "";
	const char *next = console;

	while (next && *next) {
		next = kernel_line(next, line);
		if (!strncmp(line, "BUG: memory leak", 16)) {
			snprintf(title, size, "%s", line + 5);
			return;
		}
		/* Some systems say in front of a report where they have moved to. */
		if (!strncmp(line, "KASAN: window ", 14))
			continue;
		if (!strncmp(line, "BUG: KASAN: ", 12) || !strncmp(line, "KASAN: ", 7)) {
			without_numbers(line);
			snprintf(title, size, "%s", line + (*line == 'B' ? 5 : 0));
			return;
		}
		if (!strncmp(line, "program returned ", 17))
			snprintf(returned, sizeof(returned), "%s", line);
		for (size_t i = 0; !*crash && i < sizeof(crashes) / sizeof(*crashes); i++) {
			if (strncmp(line, crashes[i], strlen(crashes[i])) != 0)
				continue;
			without_numbers(line);
			snprintf(crash, sizeof(crash), "%s", line);
		}
	}
	if (end == END_HANG)
		snprintf(title, size, "hang: no end after %u ms", config.hang_ms);
	else if (end == END_SMASHED)
		snprintf(title, size, "crash: the target has overwritten the fuzzer's mailbox");
	else if (end == END_KILLED)
		snprintf(title, size, "the emulator was killed");
	else if (*crash)
		snprintf(title, size, "crash: %s", crash);
	else if (*returned)
		snprintf(title, size, "exit: %s", returned);
	else if (end == END_DEAD)
		snprintf(title, size, "exit: the target ended the program");
	else
		snprintf(title, size, "a report without a headline");
}
