/* SPDX-License-Identifier: MIT */
/*
 * mem.h - makes memcpy(), memmove() and memset() from a mode's fast check.
 *
 * A range is checked as a whole before the first byte moves. If the check fails and is reported, the operation is left
 * out, because it would overwrite the memory that the report describes; the destination is still returned. If the
 * report is suppressed (kasan_disable_current(), or the one report of a single shot was printed), the operation takes
 * place, so that the program behaves as it does without the sanitizer. An operation whose size is negative or wraps
 * around is never carried out.
 *
 * Before kasan_init() nothing is checked: boot code is not instrumented, but calls memcpy(), perhaps before shadow is
 * mapped.
 */
#ifndef KASAN_ABI_MEM_H
#define KASAN_ABI_MEM_H

#include "../report/check.h"

/* The slow halves know their caller by @ip. Compilers should turn the call of a slow half into a jump, for the sake of
 * the fast path; then its frame is that of the function it belongs to. */
static kasan_noinline void *kasan_copy_slow(void *dst, const void *src, size_t n, bool may_overlap,
					    uintptr_t ip)
{
	const uintptr_t fp = kasan_abi_frame(ip, KASAN_CALLER_IP(), KASAN_CALLER_FP());
	bool checked;

	/* So that formatted output, which copies nothing twice for each number, stays fast. */
	if (!n)
		return dst;
	checked = kasan_live() && !kasan_starts_again(dst, src, n);
	if (checked && (!kasan_check_operation((uintptr_t)src, n, false, ip, fp) ||
			!kasan_check_operation((uintptr_t)dst, n, true, ip, fp)))
		return dst;
	/* Compilers copy a structure to itself by memcpy(). */
	if (!may_overlap && dst != src && !kasan_ranges_apart((uintptr_t)dst, (uintptr_t)src, n)) {
		if (checked)
			kasan_report_overlap((uintptr_t)dst, (uintptr_t)src, n, ip, fp);
		may_overlap = true;
	}
	return may_overlap ? __memmove(dst, src, n) : __memcpy(dst, src, n);
}

static kasan_noinline void *kasan_set_slow(void *dst, int c, size_t n, uintptr_t ip)
{
	const uintptr_t fp = kasan_abi_frame(ip, KASAN_CALLER_IP(), KASAN_CALLER_FP());

	if (kasan_live() && !kasan_starts_again(dst, NULL, n) &&
	    !kasan_check_operation((uintptr_t)dst, n, true, ip, fp))
		return dst;
	return __memset(dst, c, n);
}

/* @ok: called with (destination, source, size) and inlined; true if nothing needs a closer look. @may_overlap: of
 * memmove(). */
#define KASAN_DEFINE_COPY(name, may_overlap, ok)                                               \
	void *name(void *dst, const void *src, size_t n);                                      \
	KASAN_ABI void *name(void *dst, const void *src, size_t n)                             \
	{                                                                                      \
		if (kasan_likely(ok((uintptr_t)dst, (uintptr_t)src, n) &&                      \
				 ((may_overlap) ||                                             \
				  kasan_ranges_apart((uintptr_t)dst, (uintptr_t)src, n))))     \
			return (may_overlap) ? __memmove(dst, src, n) : __memcpy(dst, src, n); \
		return kasan_copy_slow(dst, src, n, may_overlap, KASAN_CALLER_IP());           \
	}

#define KASAN_DEFINE_SET(name, ok)                                   \
	void *name(void *dst, int c, size_t n);                      \
	KASAN_ABI void *name(void *dst, int c, size_t n)             \
	{                                                            \
		if (kasan_likely(ok((uintptr_t)dst, n)))             \
			return __memset(dst, c, n);                  \
		return kasan_set_slow(dst, c, n, KASAN_CALLER_IP()); \
	}

#endif /* KASAN_ABI_MEM_H */
