/* SPDX-License-Identifier: MIT */
/*
 * kasan_port.h - what the kernel remembers about KASAN's reports: the machine's exit status depends on it.
 */
#ifndef KERNEL_KASAN_PORT_H
#define KERNEL_KASAN_PORT_H

#include <kasan/config.h>
#include <kernel/types.h>

/** kasan_reports_total() - Return: number of all reports since boot. 0 without KASAN. Any context. */
unsigned long kasan_reports_total(void);

/** kasan_reports_seen() - Return: number of reports since boot, without those of kasan_reports_forgive(). 0
 *  without KASAN. Any context. */
unsigned long kasan_reports_seen(void);

/** kasan_reports_forgive() - a test expected @n reports: do not count them. */
void kasan_reports_forgive(unsigned long n);

#ifdef CONFIG_KASAN_TAGS
/** kasan_choose_seed() - choose where this boot's tags start, and say it. Boot CPU, after parameters are parsed, before
 *  arch_kasan_enable(). */
void kasan_choose_seed(void);
#else
static inline void kasan_choose_seed(void)
{
}
#endif

/** kasan_line_tap_fn - gets each line of KASAN before it is printed; one call at a time, interrupts off.
 *  Return: false if the line is not to be printed. */
typedef bool (*kasan_line_tap_fn)(const char *text);

/** kasan_line_tap() - pass KASAN's lines to @tap, for tests; NULL: stop. Return: the tap before. */
kasan_line_tap_fn kasan_line_tap(kasan_line_tap_fn tap);

#endif
