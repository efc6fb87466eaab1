/* SPDX-License-Identifier: MIT */
/*
 * claim.c - if several CPUs free the same allocation at the same time, exactly one of them gets it.
 *
 * Slab objects of Generic mode have a word of their own for that (alloc/slab.c); slab objects of the
 * software tag-based mode use their first shadow byte. The locks here serve the other cases: memory tags of
 * the CPU, because no instruction exchanges them; short granules, because their owner is not in the shadow;
 * and whole pages.
 */
#include "claim.h"

struct kasan_claim_lock kasan_claim_locks[KASAN_CLAIM_LOCKS];
