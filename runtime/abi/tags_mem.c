/* SPDX-License-Identifier: MIT */
/*
 * tags_mem.c - checked memcpy(), memmove(), memset() of the tag modes, under their plain names and under the __hwasan_
 * names that Clang's -hwasan-kernel-mem-intrinsic-prefix=1 calls. mem.h has the rules.
 *
 * With hardware tags the CPU checks every access of the operation. Only a negative size is left to check, because such
 * an operation would run until it faults.
 */
#include "../shadow/shadow.h"
#include "../tags/tags.h"

#ifdef CONFIG_KASAN_TAGS

#include "mem.h"

/* Nearly always both pointers have no tag. */
static kasan_always_inline bool certainly_ok(uintptr_t a, uintptr_t b, size_t n)
{
#ifdef CONFIG_KASAN_HW_TAGS
	(void)a;
	(void)b;
	return kasan_likely(n <= (size_t)PTRDIFF_MAX);
#else
	return kasan_addr_tag(a & b) == KASAN_TAG_KERNEL && n <= (size_t)PTRDIFF_MAX;
#endif
}

#define COPY_OK(dst, src, n) certainly_ok(dst, src, n)
#define SET_OK(dst, n)	     certainly_ok(dst, dst, n)

#ifdef CONFIG_KASAN_SW_TAGS
KASAN_DEFINE_COPY(__hwasan_memcpy, false, COPY_OK)
KASAN_DEFINE_COPY(__hwasan_memmove, true, COPY_OK)
KASAN_DEFINE_SET(__hwasan_memset, SET_OK)

/* For tagged globals, see hwasan_access.c. */
void *__hwasan_memcpy_match_all(void *dst, const void *src, size_t n)
	__attribute__((alias("__hwasan_memcpy")));
void *__hwasan_memmove_match_all(void *dst, const void *src, size_t n)
	__attribute__((alias("__hwasan_memmove")));
void *__hwasan_memset_match_all(void *dst, int c, size_t n)
	__attribute__((alias("__hwasan_memset")));
#endif

KASAN_DEFINE_COPY(memcpy, false, COPY_OK)
KASAN_DEFINE_COPY(memmove, true, COPY_OK)
KASAN_DEFINE_SET(memset, SET_OK)

#endif /* CONFIG_KASAN_TAGS */
