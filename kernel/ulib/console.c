// SPDX-License-Identifier: MIT
/*
 * console.c - the program's output on the console: buffered by lines, without the kernel's
 * timestamps.
 *
 * Not instrumented and without a lock, because program_flush() runs inside reports: on the
 * program's own CPU in the middle of a printf(), or on another one beside it. The worst that such a
 * race does is to show a piece of a line in the wrong order.
 */
#include <kernel/console.h>
#include <kernel/program.h>
#include <kernel/types.h>

#include "ulib.h"

#define LINE_SIZE 1024

static char line[LINE_SIZE];
static unsigned int line_len;

void ulib_console_flush(void)
{
	unsigned int len = READ_ONCE(line_len);

	if (!len)
		return;
	/* Emptied first: a report that comes in while it is written must not write it again. */
	WRITE_ONCE(line_len, 0);
	console_write(line, len);
}

void ulib_console_put(char c)
{
	unsigned int len = READ_ONCE(line_len);

	line[len] = c;
	WRITE_ONCE(line_len, len + 1);
	if (c == '\n' || len + 1 == LINE_SIZE)
		ulib_console_flush();
}

void program_flush(void)
{
	/* The console itself ends an open line before anybody else's begins. */
	ulib_console_flush();
}
