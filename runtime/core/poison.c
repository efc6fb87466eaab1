/* SPDX-License-Identifier: MIT */
/*
 * poison.c - writes shadow memory: poison, unpoison, and both in one for objects with a tail.
 *
 * This runs on every allocation and every free, mostly for a few dozen bytes of memory and so for a
 * handful of shadow bytes. Small fills are therefore two overlapping stores, with no loop and no
 * call; large ones store 8 bytes at a time. memset() is never called: the system's may be
 * instrumented.
 */
#include "shadow.h"

/* Hides a loop's pointer, so that no compiler takes the loop for a memset() and calls that. */
#define kasan_opaque(pointer) __asm__("" : "+r"(pointer))

void kasan_shadow_fill(uint8_t *shadow, uint8_t value, size_t count)
{
	const uint64_t word = value * 0x0101010101010101ULL;
	uint8_t *end = shadow + count;

	/*
	 * Two stores that may overlap cover every count between one and two times their width, and
	 * touch nothing outside: the next granule may belong to an object that another CPU is
	 * freeing.
	 */
	if (count < 4) {
		if (!count)
			return;
		shadow[0] = value;
		shadow[count / 2] = value;
		end[-1] = value;
		return;
	}
	if (count < 8) {
		*(kasan_u32_any *)shadow = (uint32_t)word;
		*(kasan_u32_any *)(end - 4) = (uint32_t)word;
		return;
	}
	*(kasan_u64_any *)shadow = word;
	*(kasan_u64_any *)(end - 8) = word;
	if (count <= 16)
		return;

	/* Both ends are written; what remains is whole aligned words. */
	shadow = (uint8_t *)(((uintptr_t)shadow + 8) & ~(uintptr_t)7);
	for (; end - shadow >= 64; shadow += 64) {
		for (unsigned int i = 0; i < 8; i++)
			((kasan_u64_any *)shadow)[i] = word;
		kasan_opaque(shadow);
	}
	while (end - shadow >= 8) {
		*(kasan_u64_any *)shadow = word;
		shadow += 8;
		kasan_opaque(shadow);
	}
}

/*
 * Fill the shadow of [addr, addr + size), both multiples of a granule. Memory without shadow is
 * left alone: the compilers also name globals and stacks that lie outside every window, and a write
 * through a translation that does not exist would hit something innocent.
 */
static void fill_granules(uintptr_t addr, size_t size, uint8_t value)
{
#ifdef CONFIG_KASAN_SHADOW_FULL
	uint8_t *shadow, *last;

	if (!size || !kasan_shadow_at(addr, &shadow) || !kasan_shadow_at(addr + (size - 1), &last))
		return;
	kasan_shadow_fill(shadow, value, size >> KASAN_SHADOW_SCALE_SHIFT);
#else
	const unsigned int count = __atomic_load_n(&kasan_window_count, __ATOMIC_ACQUIRE);
	unsigned int i;

	if (!size)
		return;
	/* Nearly always all of it is in the first window, and the loop ends at once. */
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
		kasan_shadow_fill((uint8_t *)((first >> KASAN_SHADOW_SCALE_SHIFT) + window->offset),
				  value, (last - first + 1) >> KASAN_SHADOW_SCALE_SHIFT);
		if (last - first == size - 1)
			return;
	}
#endif
}

void kasan_fill_pages(uintptr_t addr, size_t size, uint8_t value)
{
#if defined(CONFIG_KASAN_SHADOW_FULL) && (CONFIG_KASAN_PAGE_SIZE & 1023) == 0
	/* Whole pages of a system that has shadow for all of them: no range test, and no odd ends. */
	uint8_t *shadow = (uint8_t *)((addr >> KASAN_SHADOW_SCALE_SHIFT) + KASAN_FULL_OFFSET);
	uint8_t *const end = shadow + (size >> KASAN_SHADOW_SCALE_SHIFT);
	const uint64_t word = value * 0x0101010101010101ULL;

	while (shadow != end) {
#pragma GCC unroll 16
		for (unsigned int i = 0; i < 16; i++)
			((kasan_u64_alias *)shadow)[i] = word;
		shadow += 128;
		kasan_opaque(shadow);
	}
#else
	fill_granules(addr, size, value);
#endif
}

void kasan_poison(const void *addr, size_t size, uint8_t value)
{
	/* The contract asks for whole granules. Of others, poison only those that lie inside. */
	uintptr_t start = ((uintptr_t)addr + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK;
	uintptr_t end = ((uintptr_t)addr + size) & ~(uintptr_t)KASAN_GRANULE_MASK;

	if (start < end)
		fill_granules(start, end - start, value);
}

void kasan_unpoison(const void *addr, size_t size)
{
	uintptr_t start = (uintptr_t)addr & ~(uintptr_t)KASAN_GRANULE_MASK;
	uintptr_t end = (uintptr_t)addr + size;
	uintptr_t whole = end & ~(uintptr_t)KASAN_GRANULE_MASK;
	uint8_t *shadow;

	if (!size)
		return;
	fill_granules(start, whole - start, 0);
	/* The number of accessible bytes is the encoding of the last granule. */
	if (end != whole && kasan_shadow_at(whole, &shadow))
		*shadow = (uint8_t)(end & KASAN_GRANULE_MASK);
}

void kasan_poison_tail(const void *addr, size_t size, size_t span, uint8_t value)
{
	uintptr_t start = (uintptr_t)addr;
	uintptr_t tail = (start + size + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK;

	if (size > span)
		size = span;
	kasan_unpoison(addr, size);
	/*
	 * The granule in which the object ends already says how much of it is accessible; the
	 * redzone's value starts behind it. An object of no bytes has no such granule: all of its
	 * span is redzone.
	 */
	if (tail - start < span)
		fill_granules(tail, start + span - tail, value);
}

void kasan_clear_granules(uintptr_t low, uintptr_t high)
{
	low &= ~(uintptr_t)KASAN_GRANULE_MASK;
	high = (high + KASAN_GRANULE_MASK) & ~(uintptr_t)KASAN_GRANULE_MASK;
	if (low < high)
		fill_granules(low, high - low, 0);
}
