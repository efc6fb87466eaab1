/* SPDX-License-Identifier: MIT */
/*
 * asan_interface.h - what a program may tell and ask the sanitizer: for libraries with allocators of their own.
 *
 * The names are those of LLVM's and GCC's header of the same name, so that a library which knows that one needs
 * no change. In a kernel without KASAN the functions do nothing, and nothing is poisoned. docs/use/run.md says what
 * each mode can do.
 */
#ifndef SANITIZER_ASAN_INTERFACE_H
#define SANITIZER_ASAN_INTERFACE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * __asan_poison_memory_region() - an access to [@addr, @addr + @size) is reported from now on, as "use-after-poison"
 *
 * The contents stay. The granule at the end, and in the tag modes also the one at the start, is poisoned if the
 * region has all of its bytes that belong to the object. free() takes an object whether it is poisoned or not, and
 * memory that is allocated anew is not poisoned. Any context.
 */
void __asan_poison_memory_region(void const volatile *addr, size_t size);

/** __asan_unpoison_memory_region() - it may be accessed again. Neighbours in the same granules may be too. In the
 *  tag modes @addr must have the tag of the pointer that malloc() returned. */
void __asan_unpoison_memory_region(void const volatile *addr, size_t size);

/** __asan_address_is_poisoned() - Return: 1 if an access to the byte at @addr would be reported, else 0. */
int __asan_address_is_poisoned(void const volatile *addr);

/** __asan_region_is_poisoned() - Return: the first byte of [@beg, @beg + @size) whose access would be reported;
 *  NULL if there is none. */
void *__asan_region_is_poisoned(void *beg, size_t size);

/** __asan_describe_address() - print to which object the memory at @addr belongs, and whether it may be accessed. */
void __asan_describe_address(void *addr);

/* Without a sanitizer for addresses in the compiler these need not be calls, but the CPU may check the memory. */
#define ASAN_POISON_MEMORY_REGION(addr, size)	__asan_poison_memory_region((addr), (size))
#define ASAN_UNPOISON_MEMORY_REGION(addr, size) __asan_unpoison_memory_region((addr), (size))

#ifdef __cplusplus
}
#endif

#endif /* SANITIZER_ASAN_INTERFACE_H */
