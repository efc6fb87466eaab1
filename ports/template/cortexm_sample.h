/* SPDX-License-Identifier: MIT */
/*
 * cortexm_sample.h - Cortex-M3 and later: sampled heap objects (<kasan/sample.h>) between closed pages of the MPU. To be
 * copied, with cortexm_sample.c and the files cortexm_fault.*, into a port or linked from here.
 *
 * A port does three things beside what cortexm_fault.h says: it calls kasan_cortexm_sample_start() after kasan_init(),
 * kasan_sample_tick() in its timer interrupt, and kasan_sample_alloc() and kasan_sample_free() in its allocator.
 */
#ifndef CORTEXM_SAMPLE_H
#define CORTEXM_SAMPLE_H

#include <kasan/kasan.h>

#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#define KASAN_CORTEXM_SAMPLE_V8 1
#else
#define KASAN_CORTEXM_SAMPLE_V8 0
#endif

/* KASAN_CORTEXM_SAMPLE_BYTES - of the pool: an object and a guard take a page each, of memory too.
 * KASAN_CORTEXM_SAMPLE_ALIGN - of its start, bytes. On Armv7-M a region has a power of two of bytes and is aligned to it, so
 * there is one page more, and CONFIG_KASAN_SAMPLE_OBJECTS must be one less than a power of two. */
#if KASAN_CORTEXM_SAMPLE_V8
#define KASAN_CORTEXM_SAMPLE_BYTES (KASAN_SAMPLE_PAGES * CONFIG_KASAN_PAGE_SIZE)
#define KASAN_CORTEXM_SAMPLE_ALIGN CONFIG_KASAN_PAGE_SIZE
#else
#define KASAN_CORTEXM_SAMPLE_BYTES ((KASAN_SAMPLE_PAGES + 1) * CONFIG_KASAN_PAGE_SIZE)
#define KASAN_CORTEXM_SAMPLE_ALIGN KASAN_CORTEXM_SAMPLE_BYTES
#endif

/**
 * kasan_cortexm_sample_start() - close the pool, and begin to sample
 * @pool: KASAN_CORTEXM_SAMPLE_BYTES, aligned to KASAN_CORTEXM_SAMPLE_ALIGN. No other region may be on in it.
 * @first: of the MPU's regions that are used from now on: all from this one to the last.
 *
 * Switches the MPU on. All other memory is then as without it, unless a region below @first says otherwise. With n regions,
 * n - 3 objects can be alive at a time. Once, at the start, privileged.
 *
 * Return: false if the processor has fewer than four regions from @first on, or @pool is not aligned: nothing is sampled.
 */
bool kasan_cortexm_sample_start(void *pool, unsigned int first);

#endif /* CORTEXM_SAMPLE_H */
