/* SPDX-License-Identifier: MIT */
/*
 * asan_access.c - called by outline instrumentation before every access: __asan_{load,store}{1,2,4,8,16,N} and the same
 * with _noabort.
 *
 * The fixed sizes are the runtime's hottest code: the inline check of shadow.h, and a cold call.
 */
#include "../shadow/shadow.h"

#ifdef CONFIG_KASAN_GENERIC

#include "access.h"

KASAN_DEFINE_ACCESSES(__asan_, load, false, kasan_access_ok)
KASAN_DEFINE_ACCESSES(__asan_, store, true, kasan_access_ok)

/* Called with -fsanitize=pointer-compare,pointer-subtract or Clang's -asan-detect-invalid-pointer-pair. Whether both
 * pointers belong to one object is not checked, as in user space unless detect_invalid_pointer_pairs= asks for it. */
void __sanitizer_ptr_cmp(uintptr_t a, uintptr_t b);
KASAN_ABI void __sanitizer_ptr_cmp(uintptr_t a, uintptr_t b)
{
	(void)a;
	(void)b;
}

void __sanitizer_ptr_sub(uintptr_t a, uintptr_t b) __attribute__((alias("__sanitizer_ptr_cmp")));

#endif /* CONFIG_KASAN_GENERIC */
