/* SPDX-License-Identifier: MIT */
/* notice.c - the lock of those who print, and the lines they print. */
#include "captured.h"

struct kasan_lock kasan_report_lock;
static unsigned long lines_printed;

void kasan_line_print(struct kasan_line *line)
{
	line->text[line->length] = '\0';
	__atomic_fetch_add(&lines_printed, 1, __ATOMIC_RELAXED);
	kasan_text_add(line);
	kasan_port_print(line->text);
}

static kasan_noinline void format_on_stack(const char *fmt, va_list *args)
{
	struct kasan_line line;

	line.length = 0;
	kasan_line_add_list(&line, fmt, args);
	kasan_line_print(&line);
}

/* Lines of reports are built in a static buffer, which saves 256 bytes of stack. */
static void format_line(const char *fmt, va_list *args)
{
	static struct kasan_line line;
	static bool taken;

	/* No other printing context interrupts the one that owns the lock. */
	if (!kasan_lock_owned(&kasan_report_lock) || taken) {
		format_on_stack(fmt, args);
		return;
	}
	taken = true;
	line.length = 0;
	kasan_line_add_list(&line, fmt, args);
	kasan_line_print(&line);
	taken = false;
}

void kasan_report_line(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	format_line(fmt, &args);
	va_end(args);
}

unsigned long kasan_lines_printed(void)
{
	return __atomic_load_n(&lines_printed, __ATOMIC_RELAXED);
}

bool kasan_notice(const char *fmt, ...)
{
	unsigned long flags;
	va_list args;

	/* Only try: the caller may be the allocator that the reporting CPU waits for. */
	if (!kasan_trylock(&kasan_report_lock, &flags))
		return false;
	va_start(args, fmt);
	format_line(fmt, &args);
	va_end(args);
	kasan_unlock(&kasan_report_lock, flags);
	/* Every context that frees the lock looks for reports that came to wait meanwhile. */
	kasan_flush_reports();
	return true;
}
