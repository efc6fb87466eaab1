/* SPDX-License-Identifier: MIT */
/*
 * hook.h - how a hook is declared together with the empty function that replaces it without a mode.
 *
 *	KASAN_HOOK bool kasan_check_byte(const void *addr) KASAN_OFF(return true);
 *
 * With a mode selected this declares a function of the runtime. Without one it defines a static inline function with
 * the body that KASAN_OFF() gives, so callers need no #ifdef and pay nothing. A body gives the answer of a system in
 * which no byte is poisoned: checks pass, a free goes ahead at once.
 */
#ifndef KASAN_HOOK_H
#define KASAN_HOOK_H

#include <kasan/config.h>
#include <kasan/types.h>

/* For functions that headers of this folder inline. */
#define kasan_likely(x)	    __builtin_expect(!!(x), 1)
#define kasan_unlikely(x)   __builtin_expect(!!(x), 0)
#define kasan_always_inline inline __attribute__((__always_inline__))

#ifdef CONFIG_KASAN
#define KASAN_HOOK
#define KASAN_OFF(...)
#else
#define KASAN_HOOK                     \
	_Pragma("GCC diagnostic push") \
		_Pragma("GCC diagnostic ignored \"-Wunused-parameter\"") static inline
/* The struct takes the semicolon after the hook: a semicolon must not follow a function body. */
#define KASAN_OFF(...)       \
	{                    \
		__VA_ARGS__; \
	}                    \
	_Pragma("GCC diagnostic pop") struct kasan_hook_ends
#endif

/* The same for hooks that UBSan or sampling alone has too. */
#if defined(CONFIG_KASAN_UBSAN) || defined(CONFIG_KASAN_SAMPLE)
#define KASAN_REPORT_HOOK
#define KASAN_REPORT_OFF(...)
#else
#define KASAN_REPORT_HOOK     KASAN_HOOK
#define KASAN_REPORT_OFF(...) KASAN_OFF(__VA_ARGS__)
#endif

/* For a hook whose first argument may point to memory without a value: GCC takes a pointer to const for a read. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define KASAN_READS_NOTHING __attribute__((__access__(__none__, 1)))
#else
#define KASAN_READS_NOTHING
#endif

#endif /* KASAN_HOOK_H */
