/* SPDX-License-Identifier: MIT */
/* globals.h - between the ABI's constructors (abi/asan_globals.c) and the registry (globals.c). */
#ifndef KASAN_GLOBALS_H
#define KASAN_GLOBALS_H

#include "../base/base.h"

/** kasan_find_global() - Return: the registered global that holds @addr, or else the nearest whose redzone does. */
struct kasan_global {
	/* The compilers' descriptor: 8 words. Clang leaves location 0. */
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

/** kasan_register_globals() - poison the redzones of @n globals and remember @globals, which must stay writable and in
 *  place until unregistered. Registering an array again only poisons again. */
void kasan_register_globals(struct kasan_global *globals, size_t n);

/** kasan_unregister_globals() - make @n globals accessible with their redzones, and forget @globals. An array that is
 *  not registered is ignored. */
void kasan_unregister_globals(struct kasan_global *globals, size_t n);

/** kasan_find_tagged_global() - software tags: find the nearest global whose pointers have @tag, or else the one that
 *  holds @addr. @is_pointers: filled with true in the first case. Return: valid until the next call; NULL if there is
 *  none. Only for reports. */
const struct kasan_global *kasan_find_tagged_global(uintptr_t addr, uint8_t tag, bool *is_pointers);

#endif /* KASAN_GLOBALS_H */
