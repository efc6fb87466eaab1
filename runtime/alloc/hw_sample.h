/* SPDX-License-Identifier: MIT */
/* hw_sample.h - should a page allocation get hardware tags? See hw_sample.c. */
#ifndef KASAN_HW_SAMPLE_H
#define KASAN_HW_SAMPLE_H

#include "../base/base.h"

extern unsigned int kasan_opt_sample;	    /* kasan.page_alloc.sample= */
extern unsigned int kasan_opt_sample_order; /* kasan.page_alloc.sample.order= */

#ifdef CONFIG_KASAN_HW_TAGS

bool kasan_sample_slow(size_t size);

/** kasan_sample() - Return: should @size bytes of pages, about to be allocated, get tags? */
static inline bool kasan_sample(size_t size)
{
	/* The default, without sampling, takes one load and one branch. */
	return kasan_likely(kasan_opt_sample == 1) || kasan_sample_slow(size);
}

#else
#define kasan_sample(size) ((void)(size), true)
#endif

#endif /* KASAN_HW_SAMPLE_H */
