/* SPDX-License-Identifier: MIT */
/* globals.h - between the ABI's constructors (abi/asan_globals.c) and the registry
 * (alloc/globals.c). */
#ifndef KASAN_GLOBALS_H
#define KASAN_GLOBALS_H

#include "../core/internal.h"

/** kasan_register_globals() - poison the redzones of @n globals and remember @globals, which must
 * stay writable and in place until it is unregistered. Registering an array twice poisons again and
 * is otherwise harmless. */
void kasan_register_globals(struct kasan_global *globals, size_t n);

/** kasan_unregister_globals() - make the memory of @n globals accessible, redzones included, and
 * forget
 *  @globals. An array that is not registered is ignored. */
void kasan_unregister_globals(struct kasan_global *globals, size_t n);

#endif /* KASAN_GLOBALS_H */
