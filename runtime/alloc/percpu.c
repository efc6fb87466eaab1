/* SPDX-License-Identifier: MIT */
/* percpu.c - redzones between the copies of a per-CPU variable, in all modes. The runtime keeps nothing of them: reports
 * ask the port which variable an address is in. */
#include "../base/base.h"

#if defined(CONFIG_KASAN_PERCPU) && defined(CONFIG_KASAN)

void kasan_percpu_open(const void *first, size_t size, size_t stride, unsigned int copies,
		       uint8_t redzone)
{
	const char *copy = first;

	for (; copies; copies--, copy += stride)
		kasan_poison_tail(copy, size, stride, redzone);
}

#endif
