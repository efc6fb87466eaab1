/* SPDX-License-Identifier: MIT */
/*
 * shadow.h - where the shadow byte of an address lies, and the check that runs on every access.
 *
 * Two layouts (see <kasan/config.h>). In the full one translation is an addition and an address
 * outside [CONFIG_KASAN_SHADOW_LOW, CONFIG_KASAN_SHADOW_HIGH] is inaccessible. In the windowed one
 * an address outside every window is accessible, and the first window is looked at without a loop.
 *
 * Addresses are uintptr_t throughout: an int or a 32-bit mask would lose the upper half on 64-bit.
 */
#ifndef KASAN_SHADOW_H
#define KASAN_SHADOW_H

#include "internal.h"

/* Shadow is read and written in units that are neither aligned nor of their declared type. */
typedef uint16_t __attribute__((aligned(1), may_alias)) kasan_u16_any;
typedef uint32_t __attribute__((aligned(1), may_alias)) kasan_u32_any;
typedef uint64_t __attribute__((aligned(1), may_alias)) kasan_u64_any;

#define KASAN_UINTPTR_BITS ((unsigned int)sizeof(uintptr_t) * 8)

/* --- Translation -------------------------------------------------------------------------------
 */

/**
 * struct kasan_window - a range of memory with shadow (windowed layout)
 * @start: first address.
 * @size: bytes; 0: no such window, so that the hot path needs no separate test.
 * @offset: shadow address of a is (a >> 3) + @offset.
 */
struct kasan_window {
	uintptr_t start;
	uintptr_t size;
	uintptr_t offset;
};

#ifdef CONFIG_KASAN_SHADOW_FULL

#define KASAN_FULL_LOW	  ((uintptr_t)(CONFIG_KASAN_SHADOW_LOW))
#define KASAN_FULL_HIGH	  ((uintptr_t)(CONFIG_KASAN_SHADOW_HIGH))
#define KASAN_FULL_OFFSET ((uintptr_t)(CONFIG_KASAN_SHADOW_OFFSET))
/* Distance of the last address from the first. */
#define KASAN_FULL_SPAN (KASAN_FULL_HIGH - KASAN_FULL_LOW)

static inline bool kasan_shadow_at(uintptr_t addr, uint8_t **shadow)
{
	if (addr - KASAN_FULL_LOW > KASAN_FULL_SPAN)
		return false;
	*shadow = (uint8_t *)((addr >> KASAN_SHADOW_SCALE_SHIFT) + KASAN_FULL_OFFSET);
	return true;
}

#else /* CONFIG_KASAN_SHADOW_WINDOWED */

extern struct kasan_window kasan_windows[CONFIG_KASAN_MAX_WINDOWS];
extern unsigned int kasan_window_count;

/* Return: the window that holds @addr, or NULL. */
static inline const struct kasan_window *kasan_window_of(uintptr_t addr)
{
	unsigned int i, count;

	if (kasan_likely(addr - kasan_windows[0].start < kasan_windows[0].size))
		return &kasan_windows[0];
	/* Pairs with the release in kasan_window_add(): a counted window is a filled one. */
	count = __atomic_load_n(&kasan_window_count, __ATOMIC_ACQUIRE);
	for (i = 1; i < count; i++) {
		if (addr - kasan_windows[i].start < kasan_windows[i].size)
			return &kasan_windows[i];
	}
	return NULL;
}

static inline bool kasan_shadow_at(uintptr_t addr, uint8_t **shadow)
{
	const struct kasan_window *window = kasan_window_of(addr);

	if (!window)
		return false;
	*shadow = (uint8_t *)((addr >> KASAN_SHADOW_SCALE_SHIFT) + window->offset);
	return true;
}

#endif

/* --- Writing shadow (core/poison.c)
 * ---------------------------------------------------------------- */

/** kasan_shadow_fill() - write @count shadow bytes at @shadow, and no other byte: a neighbouring
 *  granule may be changing on another CPU. */
void kasan_shadow_fill(uint8_t *shadow, uint8_t value, size_t count);

/** kasan_clear_granules() - make every granule of [@low, @high) accessible as a whole, where it has
 *  shadow. @low is rounded down, @high up. Unlike kasan_unpoison() it leaves no partial granule. */
void kasan_clear_granules(uintptr_t low, uintptr_t high);

/* --- Checks (core/check.c)
 * ------------------------------------------------------------------------- */

/** kasan_access_slow(), kasan_access_slow_abort() - all that the inline check below could not
 * decide. Report a bad access; _abort stops the system after the report. @ip: the access's return
 * address, as the ABI function sees it. */
void kasan_access_slow(uintptr_t addr, size_t size, bool is_write, uintptr_t ip);
void kasan_access_slow_abort(uintptr_t addr, size_t size, bool is_write, uintptr_t ip);

/*
 * Keeps an intermediate result as it is written. The compilers would join operations with immediate
 * operands into one whose constant arm64 must first move into a register, piece by piece.
 */
#ifdef __aarch64__
#define kasan_keep(value) __asm__("" : "+r"(value))
#else
#define kasan_keep(value) ((void)0)
#endif

/**
 * kasan_access_ok() - is an access of constant @size (1, 2, 4, 8 or 16) certainly accessible?
 *
 * One shadow load and one compare. It answers false, and leaves the answer to kasan_access_slow(),
 * for an access that is not aligned to min(@size, 8), because that one may cross into a granule
 * that was not looked at, and for one in a partly accessible granule.
 */
static inline __attribute__((always_inline)) bool kasan_access_ok(uintptr_t addr, size_t size)
{
	/*
	 * The range test and the alignment test are one: rotating the address right by 3 gives the
	 * granule's number, with the address's low bits, which must be 0, on top, where they make
	 * it too large.
	 */
	const uintptr_t rotated = (addr >> KASAN_SHADOW_SCALE_SHIFT) |
				  (addr << (KASAN_UINTPTR_BITS - KASAN_SHADOW_SCALE_SHIFT));
	/* Of those low bits the ones that an aligned access smaller than a granule may have set. */
	const uintptr_t loose = (KASAN_GRANULE_MASK & ~(uintptr_t)(size - 1))
				<< (KASAN_UINTPTR_BITS - KASAN_SHADOW_SCALE_SHIFT);
	uintptr_t shadow;

#ifdef CONFIG_KASAN_SHADOW_FULL
	const uintptr_t first = KASAN_FULL_LOW >> KASAN_SHADOW_SCALE_SHIFT;
	const uintptr_t last = KASAN_FULL_SPAN >> KASAN_SHADOW_SCALE_SHIFT;
	const uintptr_t base = first + KASAN_FULL_OFFSET;

	if (!(last & (last + 1)) && !((first | base) & last) && !(loose & ~base)) {
		/*
		 * Memory and shadow are aligned powers of two, as on most 64-bit kernels:
		 * differences are XOR, sums are OR, and the loose bits drown in the ones of the
		 * shadow's address. The conditions are constants; on arm64 every mask below is an
		 * immediate operand.
		 */
		const uintptr_t split = ~(uintptr_t)0 << (KASAN_UINTPTR_BITS - 16);
		const uintptr_t granule = rotated ^ first;
		uintptr_t outside = granule & ~(last | loose);

		kasan_keep(outside);
		/* Two granules need two shadow bytes, so the last granule alone will not do. */
		if (kasan_unlikely(size == 16 ? granule >= last : outside))
			return false;
		shadow = granule | (base & split);
		kasan_keep(shadow);
		shadow |= base & ~split;
	} else {
		const uintptr_t granule = (rotated & ~loose) - first;

		if (kasan_unlikely(size == 16 ? granule >= last : granule > last))
			return false;
		shadow = granule + base;
	}
#else
	const uintptr_t distance = addr - kasan_windows[0].start;

	if (kasan_unlikely(rotated & ~(UINTPTR_MAX >> KASAN_SHADOW_SCALE_SHIFT) & ~loose))
		return false;
	if (distance >= kasan_windows[0].size) {
		/* Windows start and end at granules: an access within one granule is in or out. */
		return size <= KASAN_GRANULE_SIZE && kasan_window_count <= 1;
	}
	if (size == 16 && kasan_unlikely(kasan_windows[0].size - distance < 16))
		return false;
	shadow = (addr >> KASAN_SHADOW_SCALE_SHIFT) + kasan_windows[0].offset;
#endif
	if (size == 16)
		return kasan_likely(*(const kasan_u16_any *)shadow == 0);
	return kasan_likely(*(const uint8_t *)shadow == 0);
}

#endif /* KASAN_SHADOW_H */
