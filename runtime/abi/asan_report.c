/* SPDX-License-Identifier: MIT */
/*
 * asan_report.c - called by inline instrumentation when its own check has failed:
 * __asan_report_{load,store}{1,2,4,8,16,_n} and the same with _noabort.
 *
 * The compiler has checked, so these functions report without another check. The exception is the windowed layout:
 * inline code does not know the windows, and for an address outside of them (a device register, flash) has read memory
 * that is not shadow.
 *
 * The compiler takes the plain names for functions that do not return, and puts no code after the call. So they must
 * stop the system even if the report was suppressed.
 */
#include "../base/up.h"
#include "../report/check.h"

#ifdef CONFIG_KASAN_GENERIC

#ifdef CONFIG_KASAN_SHADOW_WINDOWED
#define FAILED_CHECK kasan_check_range
#else
#define FAILED_CHECK kasan_report_access
#endif

/* @name: with the size, as in load4. ...: the size's parameter, where the name has none. */
#define DEFINE_REPORT(name, bytes, is_write, ...)                                                 \
	void __asan_report_##name##_noabort(uintptr_t addr __VA_ARGS__);                          \
	KASAN_ABI void __asan_report_##name##_noabort(uintptr_t addr __VA_ARGS__)                 \
	{                                                                                         \
		FAILED_CHECK(addr, bytes, is_write, KASAN_CALLER_IP(), KASAN_CALLER_FP());        \
	}                                                                                         \
	_Noreturn void __asan_report_##name(uintptr_t addr __VA_ARGS__);                          \
	_Noreturn KASAN_ABI void __asan_report_##name(uintptr_t addr __VA_ARGS__)                 \
	{                                                                                         \
		kasan_report_access(addr, bytes, is_write, KASAN_CALLER_IP(), KASAN_CALLER_FP()); \
		kasan_end_system(KASAN_ABORT_WHY);                                                \
	}
#define DEFINE_REPORTS(name, is_write)          \
	DEFINE_REPORT(name##1, 1, is_write, )   \
	DEFINE_REPORT(name##2, 2, is_write, )   \
	DEFINE_REPORT(name##4, 4, is_write, )   \
	DEFINE_REPORT(name##8, 8, is_write, )   \
	DEFINE_REPORT(name##16, 16, is_write, ) \
	DEFINE_REPORT(name##_n, size, is_write, , size_t size)

DEFINE_REPORTS(load, false)
DEFINE_REPORTS(store, true)

#endif /* CONFIG_KASAN_GENERIC */
