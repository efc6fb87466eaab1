// SPDX-License-Identifier: MIT
/*
 * unaligned.c - <sanitizer/common_interface_defs.h>: accesses at any address. This file is compiled with the mode's
 * checks, and a packed member tells the compiler that the first and the last byte may be in different granules.
 */
#include <sanitizer/common_interface_defs.h>

#define UNALIGNED(bits)                                                   \
	struct unaligned##bits {                                          \
		uint##bits##_t x;                                         \
	} __attribute__((packed, may_alias));                             \
                                                                          \
	uint##bits##_t __sanitizer_unaligned_load##bits(const void *p)    \
	{                                                                 \
		return ((const struct unaligned##bits *)p)->x;            \
	}                                                                 \
                                                                          \
	void __sanitizer_unaligned_store##bits(void *p, uint##bits##_t x) \
	{                                                                 \
		((struct unaligned##bits *)p)->x = x;                     \
	}

UNALIGNED(16)
UNALIGNED(32)
UNALIGNED(64)
