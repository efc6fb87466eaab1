// SPDX-License-Identifier: MIT
/*
 * kasan_whole.c - reads reports line by line and checks that each is whole: all its parts, in their order,
 * without lines of another report between them.
 */
#include <kernel/kasan_port.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/string.h>
#include <kernel/time.h>

#include "kasan_test.h"
#include "kasan_whole.h"

#define TITLES	   16
#define TITLE_SIZE 80
#define LINE_SIZE  256

/* The kinds of lines that may come next. */
enum part {
	OUTSIDE,
	TITLE,
	ACCESS,
	SHORT,
	BLANK,
	BANNER,
	TRACE,
	FIRST_FRAME, /* a section of frames must have one */
	FRAMES,
	FIRST_STORED, /* the same of traces that were stored: all of their frames are code */
	STORED,
	BODY,
	ROWS,
};

static enum part part;
static bool is_late;
static unsigned int complete, rows, above, carets, others, shown;
static bool is_start, short_is_whole;
static char titles[TITLES][TITLE_SIZE];
static const char *volatile wrong;
static char wrong_line[LINE_SIZE];
static unsigned int was_full;
static void (*watcher)(unsigned int complete, const char *text);

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_separator(const char *text)
{
	return strlen(text) == 66 && strspn(text, "=") == 66;
}

static bool is_frames_headline(const char *text)
{
	return starts(text, "Allocated by task ") || starts(text, "Freed by task ") ||
	       starts(text, "Last potentially related") || starts(text, "Second to last");
}

/* ">ffff00000612a040: 00 05 fc ..." */
static bool is_row(const char *text)
{
	if (strlen(text) != 1 + 16 + 1 + 16 * 3 || (text[0] != ' ' && text[0] != '>') ||
	    text[17] != ':')
		return false;
	return strspn(text + 1, "0123456789abcdef") == 16 &&
	       strspn(text + 18, " 0123456789abcdef") == 48;
}

/* Above the first rows of memory there is nothing to print. */
static bool is_start_of_memory(const char *row)
{
	char address[18];

	snprintf(address, sizeof(address), "%016lx:", PAGE_OFFSET);
	return starts(row + 1, address);
}

static enum part fail(const char *what, const char *text)
{
	if (!wrong) {
		strscpy(wrong_line, text, sizeof(wrong_line));
		wrong = what;
	}
	return OUTSIDE;
}

static enum part body(const char *text)
{
	if (is_separator(text))
		return fail("the report ends without the state of memory", text);
	if (starts(text, "BUG: KASAN"))
		return fail("a report inside of another one", text);
	if (is_frames_headline(text))
		return FIRST_STORED;
	if (starts(text, "Memory state around the buggy address:")) {
		rows = carets = 0;
		above = 2;
		return ROWS;
	}
	return BODY;
}

static enum part memory(const char *text)
{
	if (is_separator(text)) {
		if (rows != above + 3 || carets != 1)
			return fail("not five rows of memory and one mark", text);
		complete++;
		return OUTSIDE;
	}
	if (is_row(text)) {
		const bool marked = text[0] == '>';

		if (!rows)
			is_start = is_start_of_memory(text);
		if (marked ? rows != 2 && (rows > 2 || !is_start) : rows == 2 && above == 2)
			return fail("another row than the middle one is marked", text);
		if (marked)
			above = rows;
		rows++;
		return ROWS;
	}
	if (rows == above + 1 && !carets && text[strspn(text, " ")] == '^') {
		carets++;
		return ROWS;
	}
	return fail("no row of memory", text);
}

/* The report must end here. @what: it is, if it goes on. */
static enum part last_line(const char *what, const char *text)
{
	if (!is_separator(text))
		return fail(what, text);
	complete++;
	return OUTSIDE;
}

static enum part next_part(const char *text)
{
	switch (part) {
	case OUTSIDE:
		if (is_separator(text))
			return TITLE;
		others++;
		return OUTSIDE;
	case TITLE:
		if (!starts(text, "BUG: KASAN: "))
			return fail("no title", text);
		if (complete < TITLES)
			strscpy(titles[complete], text + strlen("BUG: KASAN: "), TITLE_SIZE);
		return ACCESS;
	case ACCESS:
		is_late = !strcmp(text, "Asynchronous fault: no details available");
		if (is_late && kasan_may_be_late(KASAN_ANY))
			return BLANK;
		if (!starts(text, "Read of size ") && !starts(text, "Write of size ") &&
		    !starts(text, "Free of addr "))
			return fail("no access", text);
		return BLANK;
	case BLANK:
		/* Of the tag-based modes. */
		if (starts(text, "Pointer tag: ["))
			return BLANK;
		if (short_is_whole && starts(text, "kasan: a short report: "))
			return SHORT;
		/* In a short one no empty line precedes it. */
		if (short_is_whole &&
		    (starts(text, "The stack of task ") || starts(text, " its stack pointer is ")))
			return BLANK;
		return *text ? fail("no empty line", text) : BANNER;
	case SHORT:
		return last_line("a short report that goes on", text);
	case BANNER:
		return starts(text, "CPU: ") ? TRACE : fail("no line of the CPU", text);
	case TRACE:
		return strcmp(text, "Call trace:") ? fail("no trace", text) : FIRST_FRAME;
	case FIRST_FRAME:
		return text[0] == ' ' ? FRAMES : fail("an empty trace", text);
	case FRAMES:
		if (text[0] == ' ')
			return FRAMES;
		if (is_late)
			return last_line("an asynchronous report that goes on", text);
		return *text ? fail("a trace without an end", text) : BODY;
	case FIRST_STORED:
	case STORED:
		if (!*text)
			return part == STORED ? BODY : fail("an empty trace", text);
		if (strcmp(text, " (stack is not available)") != 0 &&
		    (text[0] != ' ' || !strstr(text, "+0x")))
			return fail("a stored trace that leads nowhere", text);
		return STORED;
	case BODY:
		return body(text);
	default:
		return memory(text);
	}
}

static bool watch_line(const char *text)
{
	const unsigned int before = complete;
	size_t length = strlen(text);

	part = next_part(text);
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~')
			part = fail("a character that cannot be printed", text);
	if (watcher)
		watcher(before, text);
	return before < shown || wrong;
}

void kasan_watch_begin(unsigned int show, void (*on_line)(unsigned int complete, const char *text))
{
	part = OUTSIDE;
	complete = others = 0;
	wrong = NULL;
	memset(titles, 0, sizeof(titles));
	shown = show;
	watcher = on_line;
	/* The same bug each time, in most of the tests: every report must be a whole one. */
	kasan_option_number("kasan.repeat", &was_full);
	kasan_option("kasan.repeat", "full");
	kasan_line_tap(watch_line);
}

unsigned int kasan_watch_end(struct kunit *test, const struct kunit_loc *loc)
{
	kasan_line_tap(NULL);
	if (!was_full)
		kasan_option("kasan.repeat", "brief");
	if (!wrong && part != OUTSIDE)
		wrong = "the last report has no end";
	if (wrong)
		kunit_fail(test, KUNIT_EXPECTATION, loc, "a report is not whole: %s: \"%s\"", wrong,
			   wrong_line);
	return complete;
}

void kasan_watch_short(bool accept)
{
	short_is_whole = accept;
}

unsigned int kasan_watched(const char **what)
{
	*what = wrong;
	return complete;
}

void kasan_watch_wait(unsigned int n)
{
	const u64 start = clock_ns();

	while ((READ_ONCE(complete) < n || kasan_expect_count() < n) &&
	       clock_ns() - start < 10 * NSEC_PER_SEC)
		msleep(1);
}

const char *kasan_watched_title(unsigned int n)
{
	return n < TITLES ? titles[n] : "";
}

unsigned int kasan_watched_other(void)
{
	return others;
}
