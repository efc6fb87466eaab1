/* SPDX-License-Identifier: MIT */
/*
 * printk.h - the tracepoint `console`, as far as KASAN reports go: a probe is called with the title line
 * of each of them, after all of its lines are printed.
 */
#ifndef LINUX_KUNIT_TRACE_EVENTS_PRINTK_H
#define LINUX_KUNIT_TRACE_EVENTS_PRINTK_H

#include <kernel/types.h>

/** trace_console_probe - @data: of its registration. @text: @len characters of the console. */
typedef void (*trace_console_probe)(void *data, const char *text, size_t len);

/** register_trace_console() - Return: 0, or -EBUSY if there is a probe already. */
int register_trace_console(trace_console_probe probe, void *data);

/** unregister_trace_console() - Return: 0, or -ENOENT if that probe is not registered. */
int unregister_trace_console(trace_console_probe probe, void *data);

#endif
