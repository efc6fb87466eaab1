/* SPDX-License-Identifier: MIT */
/*
 * poison.c - writes shadow memory: poison, unpoison, and both at once for objects with a tail.
 *
 * This runs on every allocation and every free, mostly for a few dozen bytes of memory and so for a handful of shadow
 * bytes. Small fills are therefore two overlapping stores without a loop or a call; large ones store 64 bytes at a
 * time. memset() is never called, because the system's may be instrumented.
 */
#include "compact.h"

#ifdef CONFIG_KASAN_GENERIC
#ifdef CONFIG_KASAN_SHADOW_COMPACT
#define fill_granules kasan_compact_fill
#else

/* Where code may be large, the fill is inlined. */
#if UINTPTR_MAX > UINT32_MAX
#define fill kasan_fill_inline
#else
#define fill kasan_fill
#endif

/* Fill the shadow of [@addr, @addr + @size), both multiples of a granule, where there is shadow. The compilers also
 * name globals and stacks outside of every window, whose translation would hit unrelated memory. */
static void fill_granules(uintptr_t addr, size_t size, uint8_t value)
{
#ifdef CONFIG_KASAN_SHADOW_PIECES
	while (size) {
		uintptr_t last;
		uint8_t *const shadow = (uint8_t *)kasan_port_shadow(addr, &last);
		const size_t here = size - 1 < last - addr ? size : last - addr + 1;

		if (shadow)
			fill(shadow, value, here >> KASAN_SHADOW_SCALE_SHIFT);
		addr += here;
		size -= here;
	}
#elif defined(CONFIG_KASAN_SHADOW_FULL)
	uint8_t *shadow, *last;

	if (!size || !kasan_shadow_at(addr, &shadow) || !kasan_shadow_at(addr + (size - 1), &last))
		return;
	fill(shadow, value, size >> KASAN_SHADOW_SCALE_SHIFT);
#else
	unsigned int i, count;
	uint8_t *shadow;

	if (!size)
		return;
	/* Nearly always one window holds all of it. */
	if (kasan_likely(kasan_shadow_run(addr, size, &shadow))) {
		fill(shadow, value, size >> KASAN_SHADOW_SCALE_SHIFT);
		return;
	}
	count = __atomic_load_n(&kasan_window_count, __ATOMIC_ACQUIRE);
	for (i = 0; i < count; i++) {
		const struct kasan_window *window = &kasan_windows[i];
		const uintptr_t window_last = window->start + (window->size - 1);
		uintptr_t first = addr, last = addr + (size - 1);

		if (last < window->start || first > window_last)
			continue;
		if (first < window->start)
			first = window->start;
		if (last > window_last)
			last = window_last;
		fill((uint8_t *)((first >> KASAN_SHADOW_SCALE_SHIFT) + window->offset), value,
		     (last - first + 1) >> KASAN_SHADOW_SCALE_SHIFT);
		if (last - first == size - 1)
			return;
	}
#endif
}

void kasan_fill_pages(uintptr_t addr, size_t size, uint8_t value)
{
#if defined(KASAN_FULL_LINEAR) && defined(KASAN_PAGE_SHADOW)
	/* All of these pages have shadow: no range test, and no odd ends. */
	uint8_t *shadow = (uint8_t *)((addr >> KASAN_SHADOW_SCALE_SHIFT) + KASAN_FULL_OFFSET);
	size_t count = kasan_page_shadows(size);

#if !KASAN_FULL_CONSTANT
	/* But for those that are freed before the shadow has its place. */
	if (!kasan_shadow_at(addr, &shadow))
		return;
#endif
	/* The CPU clears aligned blocks. At another offset they would reach into the neighbours' shadow. */
	if (!value && KASAN_FULL_OFFSET % KASAN_ARCH_ZERO_BYTES == 0 && kasan_arch_can_zero()) {
		for (; count; count--, shadow += KASAN_PAGE_SHADOW) {
#pragma GCC unroll 16
			for (unsigned int i = 0; i < KASAN_PAGE_SHADOW; i += KASAN_ARCH_ZERO_BYTES)
				kasan_arch_zero(shadow + i);
		}
		return;
	}
	kasan_fill_page_shadows(shadow, count, value);
#else
	fill_granules(addr, (size + (CONFIG_KASAN_PAGE_SIZE - 1)) & ~(CONFIG_KASAN_PAGE_SIZE - 1),
		      value);
#endif
}

#endif /* CONFIG_KASAN_SHADOW_COMPACT */

void kasan_poison_always(const void *addr, size_t size, uint8_t value)
{
	uintptr_t start = (uintptr_t)addr;

	if (kasan_whole_granules(&start, &size))
		fill_granules(start, size, value);
}

static void unpoison(const void *addr, size_t size)
{
	uintptr_t start = (uintptr_t)addr & ~(uintptr_t)KASAN_GRANULE_MASK;
	uintptr_t end = (uintptr_t)addr + size;
#ifdef CONFIG_KASAN_SHADOW_COMPACT
	/* There is no header to ask about the last granule, so all of it becomes accessible. */
	if (size)
		fill_granules(start,
			      ((end + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK) - start,
			      0);
#else
	uintptr_t whole = end & ~(uintptr_t)KASAN_GRANULE_MASK;
	uint8_t *shadow;

	if (!size)
		return;
	fill_granules(start, whole - start, 0);
	/* The last granule is encoded as the number of its accessible bytes. */
	if (end != whole && kasan_shadow_at(whole, &shadow))
		*shadow = (uint8_t)(end & KASAN_GRANULE_MASK);
#endif
}

void kasan_poison_tail_always(const void *addr, size_t size, size_t span, uint8_t value)
{
	uintptr_t start = (uintptr_t)addr;
	uintptr_t tail = (start + size + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK;

	if (size > span)
		size = span;
	unpoison(addr, size);
	/* The granule in which the object ends says itself how much of it is accessible, so the redzone starts after
	 * it. An object of 0 bytes has no such granule. */
	if (tail - start < span)
		fill_granules(tail, start + span - tail, value);
}

#ifndef CONFIG_KASAN_SHADOW_COMPACT
void kasan_poison_chunk(uintptr_t raw, uintptr_t object, size_t size, uintptr_t end)
{
	kasan_poison_always((void *)raw, object - raw, KASAN_HEAP_LEFT_REDZONE);
	kasan_poison_tail_always((void *)object, size, end - object, KASAN_SLAB_REDZONE);
}
#endif

/* With kasan=off most shadow may be read-only for ever, and nothing needs to be written. */
void kasan_poison(const void *addr, size_t size, uint8_t value)
{
	if (kasan_on())
		kasan_poison_always(addr, size, value);
}

void kasan_unpoison(const void *addr, size_t size)
{
	if (kasan_on())
		unpoison(addr, size);
}

void kasan_poison_tail(const void *addr, size_t size, size_t span, uint8_t value)
{
	if (kasan_on())
		kasan_poison_tail_always(addr, size, span, value);
}

void kasan_clear_granules(uintptr_t low, uintptr_t high)
{
	const uintptr_t start = low & ~(uintptr_t)KASAN_GRANULE_MASK;

	if (low < high)
		fill_granules(start,
			      (high - start + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK,
			      0);
}

#endif /* CONFIG_KASAN_GENERIC */
