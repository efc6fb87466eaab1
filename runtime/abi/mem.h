/* SPDX-License-Identifier: MIT */
/*
 * mem.h - how memcpy(), memmove() and memset() are made from a mode's fast check, for all modes.
 *
 * A range is checked as a whole before the first byte moves. If the check fails and is reported,
 * the operation is left out: it would overwrite the very memory that the report is about to describe, and
 * the heap lives a little longer. The destination is returned all the same. If the report is suppressed
 * (kasan_disable_current(), the one report of a single shot already printed) the operation takes place, so
 * that a program behaves as it would without the sanitizer. But an operation whose size is negative or
 * wraps around is never carried out.
 *
 * Before kasan_init() nothing is checked: boot code is compiled without instrumentation but still
 * calls memcpy(), perhaps before any shadow is mapped.
 */
#ifndef KASAN_ABI_MEM_H
#define KASAN_ABI_MEM_H

#include "../report/check.h"

typedef void *(*kasan_copy_fn)(void *, const void *, size_t);

/*
 * The slow halves know the caller by @ip. The compiler should turn their call into a jump, for the sake of
 * the fast path; then their own frame is the frame of the function that they belong to.
 */
static __attribute__((__noinline__)) void *kasan_copy_slow(void *dst, const void *src, size_t n,
							   kasan_copy_fn raw, uintptr_t ip)
{
	const uintptr_t fp = kasan_abi_frame(ip, KASAN_CALLER_IP(), KASAN_CALLER_FP());

	/* Formatted output copies nothing twice for each number. */
	if (!n)
		return dst;
	if (kasan_live() && !kasan_starts_again(dst, src, n) &&
	    (!kasan_check_operation((uintptr_t)src, n, false, ip, fp) ||
	     !kasan_check_operation((uintptr_t)dst, n, true, ip, fp)))
		return dst;
	return raw(dst, src, n);
}

static __attribute__((__noinline__)) void *kasan_set_slow(void *dst, int c, size_t n, uintptr_t ip)
{
	const uintptr_t fp = kasan_abi_frame(ip, KASAN_CALLER_IP(), KASAN_CALLER_FP());

	if (kasan_live() && !kasan_starts_again(dst, NULL, n) &&
	    !kasan_check_operation((uintptr_t)dst, n, true, ip, fp))
		return dst;
	return __memset(dst, c, n);
}

/* @ok: called with (destination, source, size), inlined: true if no part of it needs a closer look. */
#define KASAN_DEFINE_COPY(name, raw, ok)                                     \
	void *name(void *dst, const void *src, size_t n);                    \
	KASAN_ABI void *name(void *dst, const void *src, size_t n)           \
	{                                                                    \
		if (kasan_likely(ok((uintptr_t)dst, (uintptr_t)src, n)))     \
			return raw(dst, src, n);                             \
		return kasan_copy_slow(dst, src, n, raw, KASAN_CALLER_IP()); \
	}

/* @ok: the same with (destination, size). */
#define KASAN_DEFINE_SET(name, ok)                                   \
	void *name(void *dst, int c, size_t n);                      \
	KASAN_ABI void *name(void *dst, int c, size_t n)             \
	{                                                            \
		if (kasan_likely(ok((uintptr_t)dst, n)))             \
			return __memset(dst, c, n);                  \
		return kasan_set_slow(dst, c, n, KASAN_CALLER_IP()); \
	}

#endif /* KASAN_ABI_MEM_H */
