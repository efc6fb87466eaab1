/* SPDX-License-Identifier: MIT */
/* globals.h - between the ABI's constructors (abi/asan_globals.c) and the registry
 * (alloc/globals.c). */
#ifndef KASAN_GLOBALS_H
#define KASAN_GLOBALS_H

#include "../base/base.h"

/** kasan_find_global() - descriptor of the registered global that holds @addr, else of the nearest one, at
 *  most the size of its redzone away. */
struct kasan_global {
	/* The compilers' descriptor: 8 words, see docs. Clang leaves location 0. */
	uintptr_t beg, size, size_with_redzone;
	const char *name, *module;
	uintptr_t has_dynamic_init;
	const struct kasan_source_location {
		const char *file;
		uint32_t line, column;
	} *location;
	uintptr_t odr_indicator;
};
const struct kasan_global *kasan_find_global(uintptr_t addr);

/** kasan_register_globals() - poison the redzones of @n globals and remember @globals, which must
 * stay writable and in place until it is unregistered. Registering an array twice poisons again and
 * is otherwise harmless. */
void kasan_register_globals(struct kasan_global *globals, size_t n);

/** kasan_unregister_globals() - make the memory of @n globals accessible, redzones included, and
 * forget
 *  @globals. An array that is not registered is ignored. */
void kasan_unregister_globals(struct kasan_global *globals, size_t n);

/** kasan_find_tagged_global() - software tags: the nearest global whose pointers have @tag; if there is none, the one
 *  that holds @addr. @is_pointers: filled with whether its pointers have the tag. Return: valid until the next call;
 *  NULL if there is none. Reports only. */
const struct kasan_global *kasan_find_tagged_global(uintptr_t addr, uint8_t tag, bool *is_pointers);

#endif /* KASAN_GLOBALS_H */
