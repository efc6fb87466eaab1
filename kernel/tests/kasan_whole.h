/* SPDX-License-Identifier: MIT */
/* kasan_whole.h - are reports whole? Reads them line by line as they are printed. */
#ifndef TESTS_KASAN_WHOLE_H
#define TESTS_KASAN_WHOLE_H

#include <kernel/types.h>
#include <kunit/test.h>

/**
 * kasan_watch_begin() - from here on every report is read, by one watcher at a time
 * @show: number of reports that are also printed; the others are only read.
 * @on_line: called at each line with the number of complete reports before it; may be NULL. It runs
 *	inside of the report.
 */
void kasan_watch_begin(unsigned int show, void (*on_line)(unsigned int complete, const char *text));

/** kasan_watch_end() - stop reading. @test fails if a report was not whole, or mixed up with another.
 *  Return: complete reports. */
unsigned int kasan_watch_end(struct kunit *test, const struct kunit_loc *loc);

/** kasan_watch_short() - @accept: is a short report whole as well? A task whose stack has little room left gets one. At
 *  first none is. */
void kasan_watch_short(bool accept);

/** kasan_watched() - Return: complete reports so far. @wrong: filled with the first fault, NULL: none. */
unsigned int kasan_watched(const char **wrong);

/**
 * kasan_watch_wait() - until there are @n complete reports, or 10 seconds have passed
 *
 * Complete on the console and counted: a CPU counts its report after its last line.
 * Context: between kasan_expect_begin() and _end(). May sleep.
 */
void kasan_watch_wait(unsigned int n);

/** kasan_watched_title() - Return: the title "TYPE in FUNCTION" of complete report @n, counted from 0, of
 *  the first few; "" of others. */
const char *kasan_watched_title(unsigned int n);

/** kasan_watched_other() - Return: lines of KASAN's that were in no report. */
unsigned int kasan_watched_other(void);

#endif
