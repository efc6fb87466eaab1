/* SPDX-License-Identifier: MIT */
/*
 * asan_access.c - called by outline instrumentation before every access:
 * __asan_{load,store}{1,2,4,8,16,N} and the same with _noabort.
 *
 * The fixed sizes are the hottest code of the runtime. Each is the inline check of shadow/shadow.h
 * and a cold call, so that the fast path needs no stack frame.
 */
#include "../shadow/shadow.h"

#ifdef CONFIG_KASAN_GENERIC

#include "access.h"

KASAN_DEFINE_ACCESSES(__asan_, load, false, kasan_access_ok)
KASAN_DEFINE_ACCESSES(__asan_, store, true, kasan_access_ok)

/*
 * Comparisons and differences of pointers, with -fsanitize=pointer-compare,pointer-subtract or Clang's
 * -asan-detect-invalid-pointer-pair. Whether both pointers belong to one object is not looked up: as in user space, where
 * that is off unless detect_invalid_pointer_pairs= asks for it, code that is compiled so runs.
 */
void __sanitizer_ptr_cmp(uintptr_t a, uintptr_t b);
KASAN_ABI void __sanitizer_ptr_cmp(uintptr_t a, uintptr_t b)
{
	(void)a;
	(void)b;
}

void __sanitizer_ptr_sub(uintptr_t a, uintptr_t b) __attribute__((alias("__sanitizer_ptr_cmp")));

#endif /* CONFIG_KASAN_GENERIC */
