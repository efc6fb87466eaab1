/* SPDX-License-Identifier: MIT */
/*
 * asan_mem.c - checked memcpy(), memmove(), memset(), under the plain names and under the __asan_
 * names that Clang's -asan-kernel-mem-intrinsic-prefix=1 calls.
 *
 * A range is checked as a whole before the first byte moves. If the check fails and is reported,
 * the operation is left out: what it would overwrite is what the report is about to describe, and
 * the heap lives a little longer. The destination is returned all the same. If the report is
 * suppressed (kasan_disable_current(), the one report of a single shot already printed) the
 * operation takes place, so that a program behaves as it would without the sanitizer; except that a
 * size which is negative or wraps around is never carried out.
 *
 * Before kasan_init() nothing is checked: boot code is compiled without instrumentation but still
 * calls memcpy(), perhaps before any shadow is mapped.
 *
 * A system's own uninstrumented code calls __memcpy() and its sisters instead.
 */
#include "../core/shadow.h"

/*
 * Where shadow loads may fault there is shadow before there is memory management: early enough for the
 * first memcpy(), so that the question is put to the slow path.
 */
#ifdef CONFIG_KASAN_SHADOW_FAULTS
#define MAY_LOOK() true
#else
#define MAY_LOOK() kasan_running()
#endif

typedef void *(*copy_fn)(void *, const void *, size_t);

/*
 * The slow halves know by @ip who called: where the compiler makes the call of them a jump, as it should
 * for the sake of the fast path, their own frame is the frame of the function they stand for.
 */
static __attribute__((__noinline__)) void *copy_slow(void *dst, const void *src, size_t n,
						     copy_fn raw, uintptr_t ip)
{
	const uintptr_t fp = kasan_abi_frame(ip, KASAN_CALLER_IP(), KASAN_CALLER_FP());

	if (kasan_running() && (!kasan_check_operation((uintptr_t)src, n, false, ip, fp) ||
				!kasan_check_operation((uintptr_t)dst, n, true, ip, fp)))
		return dst;
	return raw(dst, src, n);
}

static __attribute__((__noinline__)) void *set_slow(void *dst, int c, size_t n, uintptr_t ip)
{
	const uintptr_t fp = kasan_abi_frame(ip, KASAN_CALLER_IP(), KASAN_CALLER_FP());

	if (kasan_running() && !kasan_check_operation((uintptr_t)dst, n, true, ip, fp))
		return dst;
	return __memset(dst, c, n);
}

#define DEFINE_COPY(name, raw)                                                                    \
	void *name(void *dst, const void *src, size_t n);                                         \
	KASAN_ABI void *name(void *dst, const void *src, size_t n)                                \
	{                                                                                         \
		if (kasan_likely(MAY_LOOK() && kasan_copy_ok((uintptr_t)dst, (uintptr_t)src, n))) \
			return raw(dst, src, n);                                                  \
		return copy_slow(dst, src, n, raw, KASAN_CALLER_IP());                            \
	}

#define DEFINE_SET(name)                                                           \
	void *name(void *dst, int c, size_t n);                                    \
	KASAN_ABI void *name(void *dst, int c, size_t n)                           \
	{                                                                          \
		if (kasan_likely(MAY_LOOK() && kasan_range_ok((uintptr_t)dst, n))) \
			return __memset(dst, c, n);                                \
		return set_slow(dst, c, n, KASAN_CALLER_IP());                     \
	}

DEFINE_COPY(__asan_memcpy, __memcpy)
DEFINE_COPY(__asan_memmove, __memmove)
DEFINE_SET(__asan_memset)

DEFINE_COPY(memcpy, __memcpy)
DEFINE_COPY(memmove, __memmove)
DEFINE_SET(memset)
