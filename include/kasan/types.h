/* SPDX-License-Identifier: MIT */
/*
 * types.h - the types that the public headers and the runtime use: uint8_t to uint64_t, uintptr_t, size_t, bool and so on.
 *
 * They come from the first of these that there is:
 *
 *  1. A header of the system, named with -DKASAN_PORT_TYPES_H='"my/types.h"'. For kernels that define uint64_t, size_t
 *     or bool themselves, differently from the compiler: `unsigned long long` where the compiler has `unsigned long`, an
 *     enum with true and false. It has to define the types of the list below, with these sizes; bool may have any type
 *     of one byte whose values are 0 and 1. Limits that it lacks are added here.
 *  2. <stdint.h>, <stddef.h> and <stdbool.h>, if the compiler finds all three.
 *  3. With -nostdinc, the compiler's own macros. A typedef may be repeated in C11, so this agrees with a system's own
 *     typedefs of the same types, before or after the #include.
 *
 * The runtime and the files that include its headers may use different ones of these: sizes are the same in all.
 */
#ifndef KASAN_TYPES_H
#define KASAN_TYPES_H

#ifdef __cplusplus
#define KASAN_STATIC_ASSERT static_assert
#else
#define KASAN_STATIC_ASSERT _Static_assert
#endif

#if !defined(KASAN_PORT_TYPES_H) && __has_include(<stdbool.h>) && __has_include(<stddef.h>) && \
	__has_include(<stdint.h>)
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#else
#ifdef KASAN_PORT_TYPES_H
#include KASAN_PORT_TYPES_H

/* The runtime's own files have the compiler's types: a function must find its arguments where the caller puts them. */
#define KASAN_TYPE_IS(type, size, is_signed) \
	KASAN_STATIC_ASSERT(sizeof(type) == (size) && ((type) - 1 < (type)1) == (is_signed), #type)
KASAN_TYPE_IS(int32_t, 4, 1);
KASAN_TYPE_IS(uint8_t, 1, 0);
KASAN_TYPE_IS(uint16_t, 2, 0);
KASAN_TYPE_IS(uint32_t, 4, 0);
KASAN_TYPE_IS(uint64_t, 8, 0);
KASAN_TYPE_IS(intptr_t, sizeof(void *), 1);
KASAN_TYPE_IS(uintptr_t, sizeof(void *), 0);
KASAN_TYPE_IS(size_t, sizeof(void *), 0);
KASAN_TYPE_IS(bool, 1, 0);
#else
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __SIZE_TYPE__ size_t;
/* In C23 and C++ these are words of the language. A typedef, because a macro would break a system's own typedef. */
#if !defined(__cplusplus) && !(defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#ifndef bool
typedef _Bool bool;
#endif
#ifndef true
#define true 1
#endif
#ifndef false
#define false 0
#endif
#endif
#endif

#ifndef NULL
#ifdef __cplusplus
#define NULL __null
#else
#define NULL ((void *)0)
#endif
#endif
#ifndef INT32_MAX
#define INT32_MAX __INT32_MAX__
#endif
#ifndef UINT8_MAX
#define UINT8_MAX __UINT8_MAX__
#endif
#ifndef UINT16_MAX
#define UINT16_MAX __UINT16_MAX__
#endif
#ifndef UINT32_MAX
#define UINT32_MAX __UINT32_MAX__
#endif
#ifndef UINT64_MAX
#define UINT64_MAX __UINT64_MAX__
#endif
#ifndef UINTPTR_MAX
#define UINTPTR_MAX __UINTPTR_MAX__
#endif
#ifndef PTRDIFF_MAX
#define PTRDIFF_MAX __PTRDIFF_MAX__
#endif
#ifndef SIZE_MAX
#define SIZE_MAX __SIZE_MAX__
#endif
#endif

#endif /* KASAN_TYPES_H */
