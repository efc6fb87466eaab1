/* SPDX-License-Identifier: MIT */
/* asan_globals.c - called by the constructors and destructors of instrumented files. The system has to run those
 * constructors (.init_array, .init_array.*, .ctors); until then globals have no redzones. */
#include "../alloc/globals.h"

#if defined(CONFIG_KASAN_GENERIC) && CONFIG_KASAN_GLOBALS

void __asan_register_globals(struct kasan_global *globals, size_t n);
KASAN_ABI void __asan_register_globals(struct kasan_global *globals, size_t n)
{
	kasan_register_globals(globals, n);
}

void __asan_unregister_globals(struct kasan_global *globals, size_t n);
KASAN_ABI void __asan_unregister_globals(struct kasan_global *globals, size_t n)
{
	kasan_unregister_globals(globals, n);
}

/* Clang calls these around the constructors of a C++ file's globals, so that user space can find uses of globals that
 * are not constructed yet. A kernel runs constructors in its linker script's order, so there is nothing to find. */
void __asan_before_dynamic_init(const char *module);
KASAN_ABI void __asan_before_dynamic_init(const char *module)
{
	(void)module;
}

void __asan_after_dynamic_init(void);
KASAN_ABI void __asan_after_dynamic_init(void)
{
}

#endif /* CONFIG_KASAN_GENERIC */
