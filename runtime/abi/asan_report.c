/* SPDX-License-Identifier: MIT */
/*
 * asan_report.c - called by inline instrumentation when its own check has failed:
 * __asan_report_{load,store}{1,2,4,8,16,_n} and the same with _noabort.
 *
 * The compiler has checked, so these functions report without another check. The exception is the windowed
 * layout, where inline code does not know the windows: for an address outside (a device register, flash) it
 * has read memory that is not shadow at all.
 *
 * The compiler also knows the plain names as functions that do not return, and puts no code behind the
 * call. So they must stop the system, whether the report was printed or suppressed.
 */
#include "../report/check.h"

#ifdef CONFIG_KASAN_GENERIC

#ifdef CONFIG_KASAN_SHADOW_WINDOWED
#define FAILED_CHECK kasan_check_range
#else
#define FAILED_CHECK kasan_report_access
#endif

#define ABORT_WHY "KASAN: bad access in code built without recovery"

#define DEFINE_REPORT(name, size, is_write)                                                      \
	void __asan_report_##name##size##_noabort(uintptr_t addr);                               \
	KASAN_ABI void __asan_report_##name##size##_noabort(uintptr_t addr)                      \
	{                                                                                        \
		FAILED_CHECK(addr, size, is_write, KASAN_CALLER_IP(), KASAN_CALLER_FP());        \
	}                                                                                        \
	_Noreturn void __asan_report_##name##size(uintptr_t addr);                               \
	_Noreturn KASAN_ABI void __asan_report_##name##size(uintptr_t addr)                      \
	{                                                                                        \
		kasan_report_access(addr, size, is_write, KASAN_CALLER_IP(), KASAN_CALLER_FP()); \
		kasan_port_panic(ABORT_WHY);                                                     \
	}

DEFINE_REPORT(load, 1, false)
DEFINE_REPORT(load, 2, false)
DEFINE_REPORT(load, 4, false)
DEFINE_REPORT(load, 8, false)
DEFINE_REPORT(load, 16, false)
DEFINE_REPORT(store, 1, true)
DEFINE_REPORT(store, 2, true)
DEFINE_REPORT(store, 4, true)
DEFINE_REPORT(store, 8, true)
DEFINE_REPORT(store, 16, true)

#define DEFINE_REPORT_N(name, is_write)                                                          \
	void __asan_report_##name##_n_noabort(uintptr_t addr, size_t size);                      \
	KASAN_ABI void __asan_report_##name##_n_noabort(uintptr_t addr, size_t size)             \
	{                                                                                        \
		FAILED_CHECK(addr, size, is_write, KASAN_CALLER_IP(), KASAN_CALLER_FP());        \
	}                                                                                        \
	_Noreturn void __asan_report_##name##_n(uintptr_t addr, size_t size);                    \
	_Noreturn KASAN_ABI void __asan_report_##name##_n(uintptr_t addr, size_t size)           \
	{                                                                                        \
		kasan_report_access(addr, size, is_write, KASAN_CALLER_IP(), KASAN_CALLER_FP()); \
		kasan_port_panic(ABORT_WHY);                                                     \
	}

DEFINE_REPORT_N(load, false)
DEFINE_REPORT_N(store, true)

#endif /* CONFIG_KASAN_GENERIC */
