/* SPDX-License-Identifier: MIT */
/* stdint.h - the compiler's own. Here because a program is hosted C, and GCC's <stdint.h> then goes
 * on to look for a C library's. */
#ifndef _STDINT_H
#define _STDINT_H

#ifdef __clang__
#include_next <stdint.h>
#else
#include <stdint-gcc.h>
#endif

#endif
