/* SPDX-License-Identifier: MIT */
/* shadow_check.c - Generic mode: finds the first inaccessible byte of a range. The inline check of a small access is in
 * shadow.h; this is its slow path. */
#include "shadow.h"

#if defined(CONFIG_KASAN_GENERIC) && !defined(CONFIG_KASAN_SHADOW_COMPACT)

/* --- Scanning shadow --- */

/* The byte-by-byte end of a scan that saw a bad byte. It may not find it again: another CPU may have made the memory
 * accessible in between. */
static kasan_cold const uint8_t *first_nonzero(const uint8_t *shadow, const uint8_t *end)
{
	for (; shadow < end; shadow++) {
		if (__atomic_load_n(shadow, __ATOMIC_RELAXED))
			return shadow;
	}
	return NULL;
}

/* Return: the first of @count shadow bytes that is not 0, or NULL. */
static inline const uint8_t *scan_shadow(const uint8_t *shadow, size_t count)
{
	if (kasan_likely(kasan_shadow_clear(shadow, count)))
		return NULL;
	return first_nonzero(shadow, shadow + count);
}

/* The first bad byte from @addr on, given the first granule at or after @addr's that has a bad byte, and its shadow
 * @value. */
static uintptr_t first_bad_in(uintptr_t addr, uintptr_t granule, uint8_t value)
{
	uintptr_t bad = granule + (value < KASAN_GRANULE_SIZE ? value : 0);

	return bad > addr ? bad : addr;
}

/* Check [@first, @last], whose shadow is contiguous and starts at @shadow. Inclusive, so that the last byte of the
 * address space is not a special case. True: some byte is bad, and *@bad is the first. */
static inline bool scan_piece(uintptr_t first, uintptr_t last, const uint8_t *shadow,
			      uintptr_t *bad)
{
	const uintptr_t granule = first & ~(uintptr_t)KASAN_GRANULE_MASK;
	const size_t whole =
		(last >> KASAN_SHADOW_SCALE_SHIFT) - (first >> KASAN_SHADOW_SCALE_SHIFT);
	/* All granules but the last are accessed to their end, so only 0 is good. */
	const uint8_t *found = scan_shadow(shadow, whole);

	if (kasan_unlikely(found)) {
		uintptr_t where =
			granule + ((uintptr_t)(found - shadow) << KASAN_SHADOW_SCALE_SHIFT);

		*bad = first_bad_in(first, where, *found);
		return true;
	}
	if (kasan_likely(kasan_granule_allows(shadow[whole], last & KASAN_GRANULE_MASK)))
		return false;
	*bad = first_bad_in(first, last & ~(uintptr_t)KASAN_GRANULE_MASK, shadow[whole]);
	return true;
}

#ifdef CONFIG_KASAN_SHADOW_FULL
/* Is memory without shadow bad? Not before kasan_init(): checked code also runs before the shadow has its place. No report
 * would be printed then, and to find that out for every access takes long. */
static inline bool reports_come(void)
{
	return __atomic_load_n(&kasan_reporting, __ATOMIC_RELAXED) != KASAN_NOT_YET;
}
#endif

static inline bool find_bad(uintptr_t first, uintptr_t last, uintptr_t *bad)
{
#ifdef CONFIG_KASAN_SHADOW_PIECES
	for (;;) {
		uintptr_t end;
		const uint8_t *const shadow = (const uint8_t *)kasan_port_shadow(first, &end);

		if (kasan_unlikely(!shadow)) {
			*bad = first;
			return reports_come();
		}
		if (kasan_likely(end > last))
			end = last;
		if (kasan_unlikely(scan_piece(first, end, shadow, bad)))
			return true;
		if (kasan_likely(end == last))
			return false;
		first = end + 1;
	}
#elif defined(CONFIG_KASAN_SHADOW_FULL)
	uintptr_t end = last;
	uint8_t *shadow;

	if (kasan_unlikely(!kasan_shadow_at(first, &shadow))) {
		*bad = first;
		return reports_come();
	}
	if (kasan_unlikely(last > KASAN_FULL_HIGH))
		end = KASAN_FULL_HIGH;
	if (kasan_unlikely(scan_piece(first, end, shadow, bad)))
		return true;
	if (kasan_unlikely(end != last)) {
		*bad = end + 1;
		return true;
	}
	return false;
#else
	/* Go window by window. Memory between windows is accessible. */
	for (;;) {
		const struct kasan_window *window = kasan_window_of(first);
		uintptr_t end = last;

		if (kasan_likely(window)) {
			uintptr_t offset = window->offset;

			if (window->size - 1 < last - window->start)
				end = window->start + (window->size - 1);
			if (kasan_unlikely(scan_piece(
				    first, end,
				    (const uint8_t *)((first >> KASAN_SHADOW_SCALE_SHIFT) + offset),
				    bad)))
				return true;
		} else {
			if (kasan_unlikely(kasan_is_refused(first))) {
				*bad = first;
				return true;
			}
			end = kasan_window_gap_end(first, last);
		}
		if (kasan_likely(end == last))
			return false;
		first = end + 1;
	}
#endif
}

bool kasan_find_bad(uintptr_t addr, size_t size, uintptr_t *bad)
{
	return find_bad(addr, addr + size - 1, bad);
}

bool kasan_memory_state(const void *addr, uint8_t *state)
{
	const uint8_t *shadow = kasan_shadow_of(addr);

	if (!shadow)
		return false;
	*state = __atomic_load_n(shadow, __ATOMIC_RELAXED);
	return true;
}

#endif /* CONFIG_KASAN_GENERIC */
