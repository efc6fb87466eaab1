/* SPDX-License-Identifier: MIT */
/*
 * format.h - lines of text, put together from pieces.
 */
#ifndef KASAN_FORMAT_H
#define KASAN_FORMAT_H

#include <stdarg.h>

#include "base.h"

/** struct kasan_line - zeroed: empty. A line that is too long is cut. */
struct kasan_line {
	size_t length;
	char text[256];
};

/** kasan_line_add() - append; format.c says what @fmt may have. kasan_line_add_list(): @args by its address. On arm64 a
 *  va_list is 32 bytes, for whose copy GCC calls memcpy(). */
void kasan_line_add(struct kasan_line *line, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void kasan_line_add_list(struct kasan_line *line, const char *fmt, va_list *args);

#endif /* KASAN_FORMAT_H */
