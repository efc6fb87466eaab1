/* SPDX-License-Identifier: MIT */
/*
 * asan_access.c - called by outline instrumentation before every access:
 * __asan_{load,store}{1,2,4,8,16,N} and the same with _noabort.
 *
 * The fixed sizes are the hottest code of the runtime. Each is the inline check of core/shadow.h
 * and a cold call, so that the fast path needs no stack frame.
 */
#include "../core/shadow.h"

#ifdef CONFIG_KASAN_GENERIC

#include "access.h"

KASAN_DEFINE_ACCESSES(__asan_, load, false, kasan_access_ok)
KASAN_DEFINE_ACCESSES(__asan_, store, true, kasan_access_ok)

#endif /* CONFIG_KASAN_GENERIC */
