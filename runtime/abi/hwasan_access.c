/* SPDX-License-Identifier: MIT */
/*
 * hwasan_access.c - called by outline instrumentation of the software tag-based mode before every access:
 * __hwasan_{load,store}{1,2,4,8,16,N} and the same with _noabort.
 *
 * Inline instrumentation traps instead, and the port's handler calls kasan_report_tag_mismatch().
 *
 * The fast path is one shadow load and two compares: the tag is the memory's, and the access ends in its
 * granule. Short granules, pointers without a tag and accesses of two granules go to the slow path.
 */
#include "../core/shadow.h"
#include "../core/tags.h"

#ifdef CONFIG_KASAN_SW_TAGS

#include "access.h"

static inline __attribute__((always_inline)) bool access_ok(uintptr_t addr, size_t size)
{
#ifdef CONFIG_KASAN_SHADOW_FAULTS
	const uint8_t *shadow = (const uint8_t *)kasan_shadow_blind(addr);
#else
	uint8_t *shadow;

	if (kasan_unlikely(!kasan_shadow_at(addr, &shadow)))
		return false;
#endif
	return kasan_likely(*shadow == kasan_addr_tag(addr)) &&
	       (size == 1 ||
		kasan_likely((addr & KASAN_GRANULE_MASK) <= KASAN_GRANULE_SIZE - size));
}

KASAN_DEFINE_ACCESSES(__hwasan_, load, false, access_ok)
KASAN_DEFINE_ACCESSES(__hwasan_, store, true, access_ok)

#endif /* CONFIG_KASAN_SW_TAGS */
