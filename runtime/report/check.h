/* SPDX-License-Identifier: MIT */
/* check.h - checks that print a report. */
#ifndef KASAN_CHECK_H
#define KASAN_CHECK_H

#include "../base/base.h"

#define KASAN_ABORT_WHY "KASAN: bad access in code built without recovery"

/** kasan_check_range() - check and report. Return: true if accessible, or if @size is 0. @ip, @fp: where the report's
 *  trace starts. A range that wraps around or has a negative size is reported as "out-of-bounds". */
bool kasan_check_range(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp);

/** kasan_check_operation() - kasan_check_range() for code that can leave the operation out. Return: false if it must
 *  not be carried out: the range is bad and that was reported, or its size is negative or wraps around. A bad range
 *  whose report is suppressed (before kasan_init(), by kasan_disable_current(), after the report of a single shot) does
 *  not change what the program does. */
bool kasan_check_operation(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp);

/** kasan_report_access() - report a bad access. Return: false if it was suppressed. */
bool kasan_report_access(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp);

/** kasan_has_shadow() - can the shadow of @addr be read? */
bool kasan_has_shadow(uintptr_t addr);

#endif /* KASAN_CHECK_H */
