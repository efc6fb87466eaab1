/* SPDX-License-Identifier: MIT */
/*
 * notice.h - lines of text: those of reports, and others.
 */
#ifndef KASAN_NOTICE_H
#define KASAN_NOTICE_H

#include "internal.h"
#include "lock.h"

/* Held by a context that prints. It is the first in the order of the runtime's locks, see lock.h. */
extern struct kasan_lock kasan_report_lock;

/** kasan_notice() - print one line that is not a report, from any hook, with no lock held. Prints the
 *  reports that came to wait meanwhile and, like a report, may not return. Return: false if a report is
 *  being printed; then nothing was printed. */
bool kasan_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** struct kasan_line - a line that is put together from pieces; zeroed: empty. A line that is too long is cut. */
struct kasan_line {
	size_t length;
	char text[256];
};
void kasan_line_add(struct kasan_line *line, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void kasan_line_print(struct kasan_line *line);

/** kasan_lines_printed() - Return: lines printed so far; to see whether the port printed any. */
unsigned long kasan_lines_printed(void);

#endif /* KASAN_NOTICE_H */
