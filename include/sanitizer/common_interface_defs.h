/* SPDX-License-Identifier: MIT */
/*
 * common_interface_defs.h - accesses at addresses that are a multiple of nothing, with a check of all their bytes, and
 * the callback of <kasan/asan_interface.h> that the compilers' headers declare here.
 *
 * Libraries that read words out of bytes call these when __has_feature(address_sanitizer) says that there is one, most
 * of them without this header. The names are those of LLVM's and GCC's header of the same name. The accesses are defined
 * for programs of the reference kernel, because such code is compiled with checks: kernel/sanitizer/unaligned.c.
 */
#ifndef SANITIZER_COMMON_INTERFACE_DEFS_H
#define SANITIZER_COMMON_INTERFACE_DEFS_H

#include <stdint.h>

#include <kasan/asan_interface.h>

#ifdef __cplusplus
extern "C" {
#endif

/** __sanitizer_unaligned_load16() - Return: the 2 bytes at @p as a number. */
uint16_t __sanitizer_unaligned_load16(const void *p);

/** __sanitizer_unaligned_load32() - Return: the 4 bytes at @p as a number. */
uint32_t __sanitizer_unaligned_load32(const void *p);

/** __sanitizer_unaligned_load64() - Return: the 8 bytes at @p as a number. */
uint64_t __sanitizer_unaligned_load64(const void *p);

/** __sanitizer_unaligned_store16() - write @x to the 2 bytes at @p. */
void __sanitizer_unaligned_store16(void *p, uint16_t x);

/** __sanitizer_unaligned_store32() - write @x to the 4 bytes at @p. */
void __sanitizer_unaligned_store32(void *p, uint32_t x);

/** __sanitizer_unaligned_store64() - write @x to the 8 bytes at @p. */
void __sanitizer_unaligned_store64(void *p, uint64_t x);

#ifdef __cplusplus
}
#endif

#endif /* SANITIZER_COMMON_INTERFACE_DEFS_H */
