// SPDX-License-Identifier: MIT
/*
 * trace_console.c - the tracepoint `console` for tests that watch it for KASAN reports.
 *
 * The runtime's report hook is called once for each report that was printed, on the CPU and in the
 * context of the bug. The title is written anew from what the hook gets, so that a probe reads the
 * same line that people read.
 */
#include <kasan/kasan.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <trace/events/printk.h>

/* Long enough for a bug type and a symbol; a longer title is cut. */
#define TITLE_MAX 256

static trace_console_probe the_probe;
static void *the_data;
static kasan_report_hook_fn saved_hook;

static void report_printed(const struct kasan_report_info *info)
{
	trace_console_probe probe = READ_ONCE(the_probe);
	char title[TITLE_MAX];
	int len;

	if (!probe)
		return;
	len = scnprintf(title, sizeof(title), "BUG: KASAN: %s in %pS", info->bug_type,
			(void *)info->ip);
	probe(the_data, title, (size_t)len);
}

int register_trace_console(trace_console_probe probe, void *data)
{
	if (the_probe)
		return -EBUSY;
	the_data = data;
	WRITE_ONCE(the_probe, probe);
	saved_hook = kasan_report_hook(report_printed);
	return 0;
}

int unregister_trace_console(trace_console_probe probe, void *data)
{
	if (!probe || the_probe != probe || the_data != data)
		return -ENOENT;
	kasan_report_hook(saved_hook);
	WRITE_ONCE(the_probe, NULL);
	return 0;
}
