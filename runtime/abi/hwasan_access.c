/* SPDX-License-Identifier: MIT */
/*
 * hwasan_access.c - called by outline instrumentation of software tags before every access:
 * __hwasan_{load,store}{1,2,4,8,16,N} and the same with _noabort. Inline instrumentation traps instead, and the port's
 * handler calls kasan_report_tag_mismatch().
 *
 * The fast path is one shadow load and two compares: the tag is the memory's, and the access ends in its granule. Short
 * granules, pointers without a tag and accesses that span two granules take the slow path.
 */
#include "../shadow/shadow.h"
#include "../tags/tags.h"

#ifdef CONFIG_KASAN_SW_TAGS

#include "access.h"

static kasan_always_inline bool access_ok(uintptr_t addr, size_t size)
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

/* With tagged globals Clang appends _match_all to the names, and passes the tag that matches all memory as a last
 * argument. It is always KASAN_TAG_KERNEL here, so these are aliases. */
#define MATCH_ALL(name)                                                            \
	void __hwasan_##name##_match_all_noabort(uintptr_t addr)                   \
		__attribute__((alias("__hwasan_" #name "_noabort")));              \
	void __hwasan_##name##_match_all(uintptr_t addr) __attribute__((alias("__" \
									      "hwasan_" #name)));
#define MATCH_ALL_N(name)                                                     \
	void __hwasan_##name##_match_all_noabort(uintptr_t addr, size_t size) \
		__attribute__((alias("__hwasan_" #name "_noabort")));         \
	void __hwasan_##name##_match_all(uintptr_t addr, size_t size)         \
		__attribute__((alias("__hwasan_" #name)));

MATCH_ALL(load1)
MATCH_ALL(load2)
MATCH_ALL(load4)
MATCH_ALL(load8)
MATCH_ALL(load16)
MATCH_ALL_N(loadN)
MATCH_ALL(store1)
MATCH_ALL(store2)
MATCH_ALL(store4)
MATCH_ALL(store8)
MATCH_ALL(store16)
MATCH_ALL_N(storeN)

#endif /* CONFIG_KASAN_SW_TAGS */
