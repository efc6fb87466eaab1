/* SPDX-License-Identifier: MIT */
/* check.h - checks that print a report. */
#ifndef KASAN_CHECK_H
#define KASAN_CHECK_H

#include "../shadow/shadow.h"

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

#ifdef CONFIG_KASAN_SW_TAGS
/* As in Generic mode: certainly accessible, the operand of an atomic operation above all. */
static kasan_always_inline bool kasan_word_ok(uintptr_t addr, size_t size)
{
	const uint8_t tag = kasan_addr_tag(addr);
	const uintptr_t last = addr + size - 1;
	uint8_t *shadow, *end;

	if (kasan_unlikely(size - 1 >= KASAN_GRANULE_SIZE || last < addr))
		return false;
	if (tag == KASAN_TAG_KERNEL)
		return true;
	if (kasan_unlikely(!kasan_shadow_at(addr, &shadow) || !kasan_shadow_at(last, &end)))
		return false;
	return kasan_likely(*shadow == tag && *end == tag);
}
#elif !(defined(CONFIG_KASAN_GENERIC) && defined(KASAN_FULL_LINEAR))
#define kasan_word_ok(addr, size) ((void)(addr), (void)(size), false)
#endif

#ifdef CONFIG_KASAN_OVERLAP
extern unsigned int kasan_opt_overlap;

/** kasan_ranges_apart() - Return: do two ranges of @size bytes not overlap? Also false if both are the same, or empty. */
static kasan_always_inline bool kasan_ranges_apart(uintptr_t dst, uintptr_t src, size_t size)
{
	/* One comparison for both directions: the distance must not be in (-size, size). */
	return dst - src + (size - 1) >= 2 * size - 1;
}

/** kasan_report_overlap() - report a copy of @size bytes between ranges that overlap. Return: false if it was
 *  suppressed. */
bool kasan_report_overlap(uintptr_t dst, uintptr_t src, size_t size, uintptr_t ip, uintptr_t fp);
#else
#define kasan_ranges_apart(dst, src, size)	     true
#define kasan_report_overlap(dst, src, size, ip, fp) ((void)0)
#endif

/** kasan_has_shadow() - can the shadow of @addr be read? */
bool kasan_has_shadow(uintptr_t addr);

#endif /* KASAN_CHECK_H */
