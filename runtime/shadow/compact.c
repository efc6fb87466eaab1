/* SPDX-License-Identifier: MIT */
/* compact.c - the compact shadow: poisons, checks, and translates to the bytes of the ordinary shadow. See
 * compact.h. */
#include "compact.h"
#include "../base/lock.h"
#include "../base/up.h"

#ifdef CONFIG_KASAN_SHADOW_COMPACT

static enum kasan_code code_of(uint8_t value)
{
	if (value == KASAN_SLAB_FREE || value == KASAN_PAGE_FREE)
		return KASAN_CODE_FREED;
	if (value == KASAN_HEAP_LEFT_REDZONE)
		return KASAN_CODE_LEFT;
	return value ? KASAN_CODE_REDZONE : KASAN_CODE_OPEN;
}

uint8_t kasan_code_value(enum kasan_code code)
{
	static const uint8_t values[] = {0, KASAN_SLAB_FREE, KASAN_SLAB_REDZONE,
					 KASAN_HEAP_LEFT_REDZONE};

	return values[code];
}

/* --- Writing --- */

/* Write the bits of @mask in a byte that a neighbour's granules may share, without an interruption between load and
 * store. */
static void set_bits(uint8_t *byte, uint8_t mask, uint8_t bits)
{
#ifdef KASAN_LOCK_PLAIN
	const unsigned long flags = kasan_port_irq_save();

	*byte = (uint8_t)((*byte & ~mask) | (bits & mask));
	kasan_port_irq_restore(flags);
#elif defined(__riscv)
	/* GCC 12 has no atomic operations on bytes there, only calls of libatomic, so exchange the aligned word around
	 * it. A store of another CPU to any of its bytes makes the exchange fail, and it is repeated. */
	uint32_t *const word = (uint32_t *)((uintptr_t)byte & ~(uintptr_t)3);
	const unsigned int shift = ((uintptr_t)byte & 3) * 8;
	const uint32_t kept = ~((uint32_t)mask << shift);
	const uint32_t set = (uint32_t)(bits & mask) << shift;
	uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(word, &old, (old & kept) | set, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
#else
	uint8_t old = __atomic_load_n(byte, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(byte, &old, (uint8_t)((old & ~mask) | (bits & mask)),
					    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
#endif
}

/* The granules lie in @window. */
static void fill_piece(const struct kasan_window *window, uintptr_t first, uintptr_t last,
		       enum kasan_code code)
{
	const uint8_t bits = (uint8_t)(code * 0x55U);
	const uint8_t low = (uint8_t)(0xffU << kasan_code_shift(first));
	const uint8_t high = (uint8_t)(0xffU >> (6 - kasan_code_shift(last)));
	uint8_t *byte = kasan_codes_of(window, first), *const end = kasan_codes_of(window, last);

	if (byte == end) {
		set_bits(byte, low & high, bits);
		return;
	}
	set_bits(byte, low, bits);
	kasan_fill(byte + 1, bits, (size_t)(end - byte - 1));
	set_bits(end, high, bits);
}

static void fill_granules(uintptr_t addr, size_t size, enum kasan_code code)
{
	const unsigned int count = __atomic_load_n(&kasan_window_count, __ATOMIC_ACQUIRE);
	const uintptr_t end = addr + (size - 1);
	unsigned int i;

	for (i = 0; size && i < count; i++) {
		const struct kasan_window *window = &kasan_windows[i];
		const uintptr_t window_end = window->start + (window->size - 1);

		if (end < window->start || addr > window_end)
			continue;
		fill_piece(window, addr > window->start ? addr : window->start,
			   end < window_end ? end : window_end, code);
	}
}

void kasan_compact_fill(uintptr_t addr, size_t size, uint8_t value)
{
	fill_granules(addr, size, code_of(value));
}

void kasan_poison_chunk(uintptr_t raw, uintptr_t object, size_t size, uintptr_t end)
{
	const uintptr_t whole = object + (size & ~(size_t)KASAN_GRANULE_MASK);

	fill_granules(raw, object - raw, KASAN_CODE_LEFT);
	fill_granules(object, whole - object, KASAN_CODE_OPEN);
	fill_granules(whole, end - whole, KASAN_CODE_REDZONE);
}

/* --- Reading --- */

uintptr_t kasan_closed_below(uintptr_t granule, uintptr_t limit)
{
	const struct kasan_window *window = kasan_window_of(granule);
	const uintptr_t four = 4 * KASAN_GRANULE_SIZE;
	uint8_t codes;

	if (window && limit < window->start)
		limit = window->start;
	while (window && granule >= limit) {
		/* A window starts at a byte of its shadow. */
		codes = *kasan_codes_of(window, granule);
		if (!codes) {
			granule &= ~(four - 1);
			if (granule < limit + KASAN_GRANULE_SIZE)
				return 0;
			granule -= KASAN_GRANULE_SIZE;
			continue;
		}
		if (kasan_code_in(codes, granule) != KASAN_CODE_OPEN)
			return granule;
		if (granule < limit + KASAN_GRANULE_SIZE)
			return 0;
		granule -= KASAN_GRANULE_SIZE;
	}
	return 0;
}

/* kasan_find_bad() for [@first, @last] inside @window. */
static bool find_in_window(const struct kasan_window *window, uintptr_t first, uintptr_t last,
			   uintptr_t *bad)
{
	uintptr_t granule = first & ~(uintptr_t)KASAN_GRANULE_MASK, at;
	enum kasan_code code;
	uint8_t codes;

	for (;; granule += KASAN_GRANULE_SIZE) {
		codes = *kasan_codes_of(window, granule);
		code = kasan_code_in(codes, granule);
		/* Skip four granules at a time in large ranges. */
		if (!codes)
			granule |= 3 * KASAN_GRANULE_SIZE;
		else if (code != KASAN_CODE_OPEN) {
			at = granule;
			if (code == KASAN_CODE_REDZONE)
				at += kasan_last_bytes(granule);
			if (at <= last && at - granule < KASAN_GRANULE_SIZE) {
				*bad = at > first ? at : first;
				/* The access may lie entirely below @at in this granule. */
				if (*bad <= last)
					return true;
			}
		}
		if (last - granule < KASAN_GRANULE_SIZE || granule > last)
			return false;
	}
}

/* Go window by window. Memory between windows is accessible. */
bool kasan_find_bad(uintptr_t addr, size_t size, uintptr_t *bad)
{
	const uintptr_t last = addr + size - 1;

	for (;; addr++) {
		const struct kasan_window *window = kasan_window_of(addr);
		uintptr_t end = last;

		if (window) {
			if (window->size - 1 < last - window->start)
				end = window->start + (window->size - 1);
			if (find_in_window(window, addr, end, bad))
				return true;
		} else {
			if (kasan_is_refused(addr)) {
				*bad = addr;
				return true;
			}
			end = kasan_window_gap_end(addr, last);
		}
		if (end == last)
			return false;
		addr = end;
	}
}

bool kasan_memory_state(const void *addr, uint8_t *state)
{
	const uintptr_t granule = (uintptr_t)addr & ~(uintptr_t)KASAN_GRANULE_MASK;
	enum kasan_code code;

	if (!kasan_code_at(granule, &code))
		return false;
	*state = code == KASAN_CODE_REDZONE ? (uint8_t)kasan_last_bytes(granule) : 0;
	if (!*state)
		*state = kasan_code_value(code);
	return true;
}

#endif /* CONFIG_KASAN_SHADOW_COMPACT */
