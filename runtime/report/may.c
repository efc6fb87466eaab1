/* SPDX-License-Identifier: MIT */
/* may.c - checks for the wrappers of <kasan/wrap.h>. A file of its own: systems without such wrappers do not link it. */
#include "check.h"

#include <kasan/wrap.h>

#include "../shadow/shadow.h"

/* @fp: of the frame that returns into the wrapper. */
static bool may(uintptr_t addr, size_t size, bool is_write, uintptr_t ip, uintptr_t fp)
{
	return !kasan_live() || kasan_check_operation(addr, size, is_write, ip, fp);
}

kasan_noinline bool kasan_may_read(const volatile void *addr, size_t size, uintptr_t ip)
{
	return may((uintptr_t)addr, size, false, ip, KASAN_CALLER_FP());
}

kasan_noinline bool kasan_may_write(const volatile void *addr, size_t size, uintptr_t ip)
{
	return may((uintptr_t)addr, size, true, ip, KASAN_CALLER_FP());
}
