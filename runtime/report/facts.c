/* SPDX-License-Identifier: MIT */
/*
 * facts.c - the last report for those who ask, and who is told of a report: __asan_on_error(), the callback that gets
 * the text, and the one before the system ends.
 *
 * The text is collected line by line in one buffer, which belongs to a report from its first line until its callback
 * has returned. A report that another CPU makes meanwhile finds it taken. A callback that does not return keeps it, until
 * a callback is set again.
 */
#include "facts.h"

#include <kasan/asan_interface.h>

#include "captured.h"

#ifdef CONFIG_KASAN
#if CONFIG_KASAN_CALLBACKS

struct kasan_facts kasan_last_facts;

static kasan_text_fn report_callback;
static kasan_death_fn death_callback;

/* The report lock guards @length and @collecting. */
static struct kasan_text {
	char *buffer;
	size_t size, length;
	unsigned int taken; /* a word, because RISC-V has no atomic exchange of bytes */
	bool collecting;
} kept_text;

/* Interrupts are off on the CPU that sets it, which holds the report lock. */
static bool on_error_runs;

/* --- Calls, by way of the port --- */

KASAN_WEAK void kasan_port_callback(void (*call)(const void *with), const void *with)
{
	call(with);
}

KASAN_WEAK void __asan_on_error(void)
{
}

static void call_on_error(const void *with)
{
	(void)with;
	__asan_on_error();
}

static void call_report_callback(const void *with)
{
	const kasan_text_fn callback = __atomic_load_n(&report_callback, __ATOMIC_ACQUIRE);

	if (callback)
		callback(with);
}

static void call_death_callback(const void *with)
{
	kasan_death_fn callback = NULL;

	(void)with;
	/* Once: what it does may itself end the system. */
	callback = __atomic_exchange_n(&death_callback, callback, __ATOMIC_ACQ_REL);
	if (callback)
		callback();
}

/* --- A report begins --- */

static void remember(const struct kasan_report *report)
{
	struct kasan_facts *const facts = &kasan_last_facts;

	facts->pc = report->ip;
	facts->bp = report->fp;
	facts->sp = report->sp;
	facts->pointer = report->pointer;
	facts->size = report->size;
	facts->is_write = report->is_write && !report->is_free;
	__atomic_store_n(&facts->type, report->type, __ATOMIC_RELEASE);
}

void kasan_tell_error(const struct kasan_report *report, bool has_text)
{
	remember(report);
	kept_text.collecting = has_text && __atomic_load_n(&report_callback, __ATOMIC_ACQUIRE) &&
			       !__atomic_exchange_n(&kept_text.taken, 1, __ATOMIC_ACQUIRE);
	kept_text.length = 0;
	on_error_runs = true;
	kasan_port_callback(call_on_error, NULL);
	on_error_runs = false;
}

bool kasan_in_callback(void)
{
	return kasan_lock_owned(&kasan_report_lock) && on_error_runs;
}

/* --- Its text --- */

void kasan_text_add(const struct kasan_line *line)
{
	/* Lines that the port prints elsewhere do not belong to it. */
	if (!kept_text.collecting || !kasan_lock_owned(&kasan_report_lock) ||
	    line->length + 2 > kept_text.size - kept_text.length)
		return;
	__memcpy(kept_text.buffer + kept_text.length, line->text, line->length);
	kept_text.length += line->length;
	kept_text.buffer[kept_text.length++] = '\n';
}

const char *kasan_text_take(void)
{
	if (!kept_text.collecting)
		return NULL;
	kept_text.collecting = false;
	kept_text.buffer[kept_text.length] = '\0';
	return kept_text.buffer;
}

void kasan_text_give(const char *whole, const char *type)
{
	if (__atomic_load_n(&report_callback, __ATOMIC_RELAXED))
		kasan_port_callback(call_report_callback, whole ? whole : type);
	if (whole)
		__atomic_store_n(&kept_text.taken, 0, __ATOMIC_RELEASE);
}

void kasan_set_report_callback(kasan_text_fn callback, char *buffer, size_t size)
{
	kept_text.buffer = buffer;
	kept_text.size = size;
	__atomic_store_n(&report_callback, callback, __ATOMIC_RELEASE);
	__atomic_store_n(&kept_text.taken, 0, __ATOMIC_RELEASE);
}

void kasan_set_death_callback(kasan_death_fn callback)
{
	__atomic_store_n(&death_callback, callback, __ATOMIC_RELEASE);
}

/* --- The end of the system --- */

void kasan_call_death_callback(void)
{
	if (__atomic_load_n(&death_callback, __ATOMIC_RELAXED))
		kasan_port_callback(call_death_callback, NULL);
}

_Noreturn void kasan_end_system(const char *why)
{
	kasan_call_death_callback();
	kasan_port_panic(why);
}

#else

void kasan_call_death_callback(void)
{
}

void kasan_set_report_callback(kasan_text_fn callback, char *buffer, size_t size)
{
	(void)callback;
	(void)buffer;
	(void)size;
}

void kasan_set_death_callback(kasan_death_fn callback)
{
	(void)callback;
}

#endif /* CONFIG_KASAN_CALLBACKS */
#endif /* CONFIG_KASAN */
