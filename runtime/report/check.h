/* SPDX-License-Identifier: MIT */
/*
 * check.h - checks that report.
 */
#ifndef KASAN_CHECK_H
#define KASAN_CHECK_H

#include "../base/base.h"

/** kasan_check_range() - check and report. Return: true if accessible (or size 0).
 *  @ip, @fp: the caller's, where the report's trace starts. A range that wraps around or whose size
 *  is negative as a signed number is reported as "out-of-bounds". */
bool kasan_check_range(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp);

/** kasan_check_operation() - kasan_check_range() for code that can leave the operation out.
 *  Return: false if it must not be carried out: its range is bad and that was reported, or its size is
 *  negative or wraps around. A bad range whose report is suppressed (before kasan_init(), between
 *  kasan_disable_current() and kasan_enable_current(), after the only report of a single shot) does not
 *  change what the program does: true. */
bool kasan_check_operation(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp);

/** kasan_report_access() - report a bad access. Return: false if it was suppressed. */
bool kasan_report_access(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp);

/** kasan_has_shadow() - may the shadow of @addr be read? */
bool kasan_has_shadow(uintptr_t addr);

#endif /* KASAN_CHECK_H */
