/* SPDX-License-Identifier: MIT */
/*
 * shadow_check.c - Generic mode: finds the first byte of a range that is not accessible. The inline check
 * of one small access is in shadow.h; this file is its slow path.
 */
#include "shadow.h"

#if defined(CONFIG_KASAN_GENERIC) && !defined(CONFIG_KASAN_SHADOW_COMPACT)

/* --- Scanning shadow --- */

/*
 * The byte-by-byte end of a scan that saw a bad byte. It must not rely on finding one again: another
 * CPU may have made the memory accessible in between.
 */
static __attribute__((cold, __noinline__)) const uint8_t *first_nonzero(const uint8_t *shadow,
									const uint8_t *end)
{
	for (; shadow < end; shadow++) {
		if (__atomic_load_n(shadow, __ATOMIC_RELAXED))
			return shadow;
	}
	return NULL;
}

/* Return: the first of @count shadow bytes that is not 0, NULL if there is none. */
static inline const uint8_t *scan_shadow(const uint8_t *shadow, size_t count)
{
	if (kasan_likely(kasan_shadow_clear(shadow, count)))
		return NULL;
	return first_nonzero(shadow, shadow + count);
}

/* The first byte from @addr on that is bad, given that the one in @addr's granule or a later one in
 * the granule at @granule with shadow @value is. */
static uintptr_t first_bad_in(uintptr_t addr, uintptr_t granule, uint8_t value)
{
	uintptr_t bad = granule + (value < KASAN_GRANULE_SIZE ? value : 0);

	return bad > addr ? bad : addr;
}

/*
 * Check [first, last] (inclusive, so that the last byte of the address space is not a special case),
 * all of it in one piece of memory whose shadow starts at @shadow. True: some byte is bad, and *bad
 * is the first.
 */
static inline bool scan_piece(uintptr_t first, uintptr_t last, const uint8_t *shadow,
			      uintptr_t *bad)
{
	const uintptr_t granule = first & ~(uintptr_t)KASAN_GRANULE_MASK;
	const size_t whole =
		(last >> KASAN_SHADOW_SCALE_SHIFT) - (first >> KASAN_SHADOW_SCALE_SHIFT);
	/* All granules but the last are touched up to their end, so only 0 is good. */
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

/* True: some byte of [first, last] is bad, and *bad is the first such. */
static inline bool find_bad(uintptr_t first, uintptr_t last, uintptr_t *bad)
{
#ifdef CONFIG_KASAN_SHADOW_FULL
	uintptr_t end = last;
	uint8_t *shadow;

	if (kasan_unlikely(!kasan_shadow_at(first, &shadow))) {
		*bad = first;
		return true;
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
	/* Walk through the range window by window; memory between windows is accessible. */
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
			if (kasan_unlikely(kasan_is_null(first))) {
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

/* --- Translation for others --- */

uint8_t *kasan_shadow_of(const void *addr)
{
	uint8_t *shadow;

	return kasan_shadow_at((uintptr_t)addr, &shadow) ? shadow : NULL;
}

bool kasan_shadow_fault_to_access(uintptr_t shadow, uintptr_t *addr)
{
#ifdef CONFIG_KASAN_SHADOW_FULL
	uintptr_t granule = shadow - KASAN_FULL_OFFSET;

	/* Below the shadow of address 0 the difference wraps; both ends fail the same test. */
	if (granule > UINTPTR_MAX >> KASAN_SHADOW_SCALE_SHIFT)
		return false;
	*addr = granule << KASAN_SHADOW_SCALE_SHIFT;
	return true;
#else
	(void)shadow;
	(void)addr;
	return false;
#endif
}

bool kasan_memory_state(const void *addr, uint8_t *state)
{
	uint8_t *shadow;

	if (!kasan_shadow_at((uintptr_t)addr, &shadow))
		return false;
	*state = __atomic_load_n(shadow, __ATOMIC_RELAXED);
	return true;
}

#endif /* CONFIG_KASAN_GENERIC */
