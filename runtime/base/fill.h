/* SPDX-License-Identifier: MIT */
/* fill.h - fills shadow and memory word by word. */
#ifndef KASAN_FILL_H
#define KASAN_FILL_H

#include "base.h"

#include <kasan/shadow_inline.h>

/** kasan_fill() - write @count bytes at @at, and no others: another CPU may be changing a neighbouring granule's
 *  shadow. */
void kasan_fill(uint8_t *at, uint8_t value, size_t count);

#endif /* KASAN_FILL_H */
