/* SPDX-License-Identifier: MIT */
/*
 * asan_mem.c - checked memcpy(), memmove(), memset() of Generic mode, under their plain names and under the __asan_
 * names that Clang's -asan-kernel-mem-intrinsic-prefix=1 calls. mem.h has the rules.
 *
 * A system's own uninstrumented code calls __memcpy() and its relatives instead.
 */
#include "../shadow/shadow.h"

/* UBSan alone leaves these functions to the system. */
#if defined(CONFIG_KASAN_GENERIC) && !defined(KASAN_ALONE)

#include "mem.h"

/* Where shadow is mapped before the first memcpy(), only the slow path asks whether checks are on. */
#ifdef CONFIG_KASAN_SHADOW_EARLY
#define MAY_LOOK() true
#else
#define MAY_LOOK() kasan_live()
#endif

#define COPY_OK(dst, src, n) (MAY_LOOK() && kasan_copy_ok(dst, src, n))
#define SET_OK(dst, n)	     (MAY_LOOK() && kasan_range_ok(dst, n))

KASAN_DEFINE_COPY(__asan_memcpy, false, COPY_OK)
KASAN_DEFINE_COPY(__asan_memmove, true, COPY_OK)
KASAN_DEFINE_SET(__asan_memset, SET_OK)

/* Aliases, which halve the code and its room in a cache. */
void *memcpy(void *dst, const void *src, size_t n) __attribute__((alias("__asan_memcpy")));
void *memmove(void *dst, const void *src, size_t n) __attribute__((alias("__asan_memmove")));
void *memset(void *dst, int c, size_t n) __attribute__((alias("__asan_memset")));

#endif /* CONFIG_KASAN_GENERIC */
