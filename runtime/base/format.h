/* SPDX-License-Identifier: MIT */
/* format.h - builds lines of text. */
#ifndef KASAN_FORMAT_H
#define KASAN_FORMAT_H

#if __has_include(<stdarg.h>)
#include <stdarg.h>
#else /* -nostdinc */
typedef __builtin_va_list va_list;
#define va_start(args, last) __builtin_va_start(args, last)
#define va_arg(args, type)   __builtin_va_arg(args, type)
#define va_end(args)	     __builtin_va_end(args)
#endif

#include "base.h"

/** struct kasan_line - a line; too long a one is cut. All zero: empty. */
struct kasan_line {
	size_t length;
	char text[256];
};

/** kasan_line_add() - append; format.c lists the conversions. kasan_line_add_list() takes @args by address, because GCC
 *  on arm64 calls memcpy() to copy a va_list. */
void kasan_line_add(struct kasan_line *line, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void kasan_line_add_list(struct kasan_line *line, const char *fmt, va_list *args);

#endif /* KASAN_FORMAT_H */
