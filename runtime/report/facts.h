/* SPDX-License-Identifier: MIT */
/* facts.h - the last report for those who ask, and the callbacks of <kasan/asan_interface.h>. */
#ifndef KASAN_FACTS_H
#define KASAN_FACTS_H

#include "../base/base.h"

/**
 * struct kasan_facts - the last report. The report lock guards it; readers take what they find
 * @type: a constant; NULL before the first report. @pc, @bp, @sp: where the access or free was. @pointer: as it was used.
 */
struct kasan_facts {
	const char *type;
	uintptr_t pc, bp, sp, pointer;
	size_t size;
	bool is_write;
};

struct kasan_report;
struct kasan_line;

#if CONFIG_KASAN_CALLBACKS
extern struct kasan_facts kasan_last_facts;

/** kasan_tell_error() - @report is known, and its first line comes next if it @has_text: remember it, and call
 *  __asan_on_error(). The report lock is held. */
void kasan_tell_error(const struct kasan_report *report, bool has_text);

/** kasan_in_callback() - Return: true if __asan_on_error() runs on this CPU, which then holds the report lock. */
bool kasan_in_callback(void);

/** kasan_text_add() - add @line to the text of the report that this CPU prints. */
void kasan_text_add(const struct kasan_line *line);

/** kasan_text_take() - the report is complete. Return: its text, for kasan_text_give(); NULL: there is none. The report
 *  lock is held. */
const char *kasan_text_take(void);

/** kasan_text_give() - call the callback of __asan_set_error_report_callback() with @text; NULL: with @type instead. */
void kasan_text_give(const char *text, const char *type);
#else
#define kasan_tell_error(report, has_text) ((void)(report), (void)(has_text))
#define kasan_in_callback()		   false
#define kasan_text_add(line)		   ((void)(line))
#define kasan_text_give(text, type)	   ((void)(text), (void)(type))
#endif

/* What gets the text of a report, and what is called before the end. */
typedef void (*kasan_text_fn)(const char *text);
typedef void (*kasan_death_fn)(void);

/** kasan_set_report_callback(), kasan_set_death_callback() - as <kasan/asan_interface.h> says. @buffer: always the same
 *  one, of @size bytes, for the text. */
void kasan_set_report_callback(kasan_text_fn callback, char *buffer, size_t size);
void kasan_set_death_callback(kasan_death_fn callback);

#endif /* KASAN_FACTS_H */
