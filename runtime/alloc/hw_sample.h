/* SPDX-License-Identifier: MIT */
/* hw_sample.h - shall a page allocation get hardware tags? See hw_sample.c. */
#ifndef KASAN_HW_SAMPLE_H
#define KASAN_HW_SAMPLE_H

#include "../base/base.h"

extern unsigned int kasan_opt_sample;	    /* kasan.page_alloc.sample= */
extern unsigned int kasan_opt_sample_order; /* kasan.page_alloc.sample.order= */

#ifdef CONFIG_KASAN_HW_TAGS

bool kasan_sample_slow(size_t size);

/** kasan_sample() - Return: true if @size bytes of pages, about to be allocated, are to be tagged. */
static inline bool kasan_sample(size_t size)
{
	/* Without sampling, the default: one load and one branch. */
	return kasan_likely(kasan_opt_sample == 1) || kasan_sample_slow(size);
}

#else
static inline bool kasan_sample(size_t size)
{
	(void)size;
	return true;
}
#endif

#endif /* KASAN_HW_SAMPLE_H */
