/* SPDX-License-Identifier: MIT */
/*
 * kasan_port.h - what the kernel remembers of KASAN's reports: the machine's exit status depends on
 * it.
 */
#ifndef KERNEL_KASAN_PORT_H
#define KERNEL_KASAN_PORT_H

#include <kernel/types.h>

/** kasan_reports_seen() - Return: reports since boot that kasan_reports_forgive() did not take
 *  back. 0 without KASAN. Any context. */
unsigned long kasan_reports_seen(void);

/** kasan_reports_forgive() - @n reports were expected, by a test: they do not count. */
void kasan_reports_forgive(unsigned long n);

/** kasan_panic_on_warn_hold(), kasan_panic_on_warn_release() - reports in between do not panic
 *  although panic_on_warn is set: a test provokes them. They nest. */
void kasan_panic_on_warn_hold(void);
void kasan_panic_on_warn_release(void);

/** kasan_line_tap_fn - sees a line of KASAN's before it is printed; one at a time, interrupts off.
 *  Return: false if the line is not to be printed. */
typedef bool (*kasan_line_tap_fn)(const char *text);

/** kasan_line_tap() - show KASAN's lines to @tap, for tests; NULL: no more. Return: the tap before. */
kasan_line_tap_fn kasan_line_tap(kasan_line_tap_fn tap);

/* Exit status of the machine, as the command on the host passes it on. */
#define EXIT_STATUS_OK	    0
#define EXIT_STATUS_KASAN   1 /* a report was printed */
#define EXIT_STATUS_CRASH   3 /* panic, or an oops without a report */
#define EXIT_STATUS_PROGRAM 4 /* the program, or a test, failed */

#endif
