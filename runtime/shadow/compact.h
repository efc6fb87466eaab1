/* SPDX-License-Identifier: MIT */
/*
 * compact.h - the compact shadow (CONFIG_KASAN_SHADOW_COMPACT): two bits for 8 bytes, 1/32 of the window.
 *
 * Two bits distinguish accessible memory, freed memory, redzones, and the left redzone, which holds an object's header.
 * They cannot say how many bytes of an object's last granule are accessible: that granule is marked as redzone, and a
 * check that finds it asks the object's header. So only heaps with headers can have such a shadow, and only outline
 * checks can read it.
 */
#ifndef KASAN_COMPACT_H
#define KASAN_COMPACT_H

#include "shadow.h"

#ifdef CONFIG_KASAN_SHADOW_COMPACT

enum kasan_code {
	KASAN_CODE_OPEN, /* all 8 bytes are accessible */
	KASAN_CODE_FREED,
	KASAN_CODE_REDZONE, /* or the last granule of an object, in part */
	KASAN_CODE_LEFT,
};

static inline uint8_t *kasan_codes_of(const struct kasan_window *window, uintptr_t addr)
{
	return (uint8_t *)((addr >> KASAN_WINDOW_SHIFT) + window->offset);
}

static inline unsigned int kasan_code_shift(uintptr_t addr)
{
	return (addr >> KASAN_SHADOW_SCALE_SHIFT & 3) * 2;
}

/** kasan_code_in() - Return: the code of @addr's granule, in @codes, the byte of shadow that it shares. */
static inline enum kasan_code kasan_code_in(uint8_t codes, uintptr_t addr)
{
	return codes >> kasan_code_shift(addr) & 3;
}

/** kasan_code_at() - @code: filled with the code of @addr's granule. Return: false if there is none. */
static inline bool kasan_code_at(uintptr_t addr, enum kasan_code *code)
{
	const struct kasan_window *window = kasan_window_of(addr);

	if (!window)
		return false;
	*code = kasan_code_in(__atomic_load_n(kasan_codes_of(window, addr), __ATOMIC_RELAXED),
			      addr);
	return true;
}

/** kasan_code_value() - Return: the shadow byte that stands for @code in reports and comparisons. */
uint8_t kasan_code_value(enum kasan_code code);

/** kasan_compact_fill() - write the code for @value to the part of [@addr, @addr + @size), whole granules, that has
 *  shadow. */
void kasan_compact_fill(uintptr_t addr, size_t size, uint8_t value);

/** kasan_closed_below() - Return: the nearest granule from @granule down to @limit that is not accessible as a whole; 0
 *  if there is none, or the window ends. */
uintptr_t kasan_closed_below(uintptr_t granule, uintptr_t limit);

#endif
#endif /* KASAN_COMPACT_H */
