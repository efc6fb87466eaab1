/* SPDX-License-Identifier: MIT */
/*
 * notice.h - who may print, and what has been printed.
 */
#ifndef KASAN_NOTICE_H
#define KASAN_NOTICE_H

#include "../base/format.h"
#include "../base/lock.h"
#include "../base/up.h"

/* Held by a context that prints. It is the first in the order of the runtime's locks, see lock.h. */
extern struct kasan_lock kasan_report_lock;

/** kasan_line_print() - print @line through the port. */
void kasan_line_print(struct kasan_line *line);

/** kasan_lines_printed() - Return: lines printed so far; to see whether the port printed any. */
unsigned long kasan_lines_printed(void);

#endif /* KASAN_NOTICE_H */
