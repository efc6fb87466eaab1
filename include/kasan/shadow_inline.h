/* SPDX-License-Identifier: MIT */
/*
 * shadow_inline.h - where the full layout keeps the shadow of an address, and how a few bytes of shadow are filled.
 *
 * <kasan/slab_inline.h> is made of this, and so is the runtime. Other callers use kasan_shadow_of() and kasan_poison().
 */
#ifndef KASAN_SHADOW_INLINE_H
#define KASAN_SHADOW_INLINE_H

#include <kasan/hook.h>
#include <kasan/tag.h>
#ifdef CONFIG_KASAN_SHADOW_PIECES
#include <kasan/port.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define KASAN_UINTPTR_BITS ((unsigned int)sizeof(uintptr_t) * 8)

/* --- Filling --- */

/* Words at any address, in memory that has another declared type. */
typedef uint16_t __attribute__((aligned(1), may_alias)) kasan_u16_any;
typedef uint32_t __attribute__((aligned(1), may_alias)) kasan_u32_any;
typedef uint64_t __attribute__((aligned(1), may_alias)) kasan_u64_any;

/* Hides a loop's pointer so that no compiler turns the loop into a call of memset(). */
#define kasan_opaque(pointer) __asm__("" : "+r"(pointer))

/**
 * kasan_fill_inline() - kasan_fill() for hooks of slab objects, which call nothing else and so have no registers to
 * save. The counts of small objects come first. Two stores that may overlap cover every count from one to two times
 * their width.
 */
static kasan_always_inline void kasan_fill_inline(uint8_t *at, uint8_t value, size_t count)
{
	const uint64_t word = value * 0x0101010101010101ULL;
	uint8_t *const end = at + count;
	unsigned int i;

	if (kasan_likely(count - 8 <= 8)) {
		*(kasan_u64_any *)at = word;
		*(kasan_u64_any *)(end - 8) = word;
	} else if (count > 16) {
		/* Ends with the last full 64 bytes. If nothing is left over, the code below writes some bytes twice. */
		/* Compares distances, because memory may lie at address 0 or at the top: @last may wrap below 0, and
		 * @at past the top. */
		for (uint8_t *const last = end - 64;
		     (intptr_t)((uintptr_t)last - (uintptr_t)at) >= 0; at += 64) {
#pragma GCC unroll 8
			for (i = 0; i < 8; i++)
				((kasan_u64_any *)at)[i] = word;
			kasan_opaque(at);
		}
		if (end - at > 32) {
			((kasan_u64_any *)at)[0] = ((kasan_u64_any *)at)[1] = word;
			((kasan_u64_any *)at)[2] = ((kasan_u64_any *)at)[3] = word;
			((kasan_u64_any *)end)[-4] = ((kasan_u64_any *)end)[-3] = word;
		} else if (end - at > 16) {
			((kasan_u64_any *)at)[0] = ((kasan_u64_any *)at)[1] = word;
		}
		/* At most 16 bytes are left, and there were more than 16 to begin with. */
		((kasan_u64_any *)end)[-2] = ((kasan_u64_any *)end)[-1] = word;
	} else if (count >= 4) {
		*(kasan_u32_any *)at = (uint32_t)word;
		*(kasan_u32_any *)(end - 4) = (uint32_t)word;
	} else if (count) {
		at[0] = at[count / 2] = end[-1] = value;
	}
}

/* --- Translation in the full layout --- */

#ifdef CONFIG_KASAN_SHADOW_FULL

#ifdef CONFIG_KASAN_SHADOW_PIECES

static inline bool kasan_shadow_at(uintptr_t addr, uint8_t **shadow)
{
	uintptr_t last;
	const uintptr_t at = kasan_port_shadow(addr, &last);

	*shadow = (uint8_t *)at;
	return at != 0;
}

#else

/* KASAN_FULL_CONSTANT: compilers compute with the bounds. Otherwise they are loaded in each check, and formulas that are
 * chosen by their values would cost more than they save. */
#ifdef CONFIG_KASAN_SHADOW_DYNAMIC
/* The lowest address with shadow, and the distance from it to the last one: see kasan_shadow_place(). Before that call only
 * the last two granules of all have shadow, which no code accesses: no check computes with less. */
extern uintptr_t kasan_full_low, kasan_full_span;
#define KASAN_FULL_NOWHERE  (UINTPTR_MAX - 2 * KASAN_GRANULE_SIZE + 1)
/* The compilers' name for it (-asan-force-dynamic-shadow). */
extern uintptr_t __asan_shadow_memory_dynamic_address;
#define KASAN_FULL_CONSTANT 0
#define KASAN_FULL_LOW	    kasan_full_low
#define KASAN_FULL_SPAN	    kasan_full_span
#define KASAN_FULL_HIGH	    (KASAN_FULL_LOW + KASAN_FULL_SPAN)
#else
#define KASAN_FULL_CONSTANT 1
#define KASAN_FULL_LOW	    ((uintptr_t)(CONFIG_KASAN_SHADOW_LOW))
#define KASAN_FULL_HIGH	    ((uintptr_t)(CONFIG_KASAN_SHADOW_HIGH))
#define KASAN_FULL_SPAN	    (KASAN_FULL_HIGH - KASAN_FULL_LOW)
#endif
#ifdef CONFIG_KASAN_SHADOW_OFFSET
#define KASAN_FULL_OFFSET ((uintptr_t)(CONFIG_KASAN_SHADOW_OFFSET))
#else
#define KASAN_FULL_OFFSET __asan_shadow_memory_dynamic_address
#endif

/* The shadow address of @addr if it has one, otherwise any value. An arithmetic shift keeps addresses at the top of the
 * address space there. Where the shadow lies one power of two below, as on most 64-bit kernels, clearing that bit then
 * takes one instruction with an immediate operand. */
static kasan_always_inline uintptr_t kasan_shadow_blind(uintptr_t addr)
{
	const uintptr_t granule =
		(uintptr_t)((intptr_t)kasan_untag_addr(addr) >> KASAN_SHADOW_SCALE_SHIFT);
	const uintptr_t sign = ~(UINTPTR_MAX >> KASAN_SHADOW_SCALE_SHIFT);
	const uintptr_t first = (KASAN_FULL_LOW >> KASAN_SHADOW_SCALE_SHIFT) | sign;
	const uintptr_t below = sign - KASAN_FULL_OFFSET;

	if (!KASAN_FULL_CONSTANT || !(KASAN_FULL_LOW >> (KASAN_UINTPTR_BITS - 1)))
		return (kasan_untag_addr(addr) >> KASAN_SHADOW_SCALE_SHIFT) + KASAN_FULL_OFFSET;
	if (!(below & (below - 1)) && (first & below) != 0 &&
	    below > KASAN_FULL_SPAN >> KASAN_SHADOW_SCALE_SHIFT)
		return granule & ~below;
	return granule - below;
}

static inline bool kasan_shadow_at(uintptr_t addr, uint8_t **shadow)
{
	addr = kasan_untag_addr(addr);
	if (addr - KASAN_FULL_LOW > KASAN_FULL_SPAN)
		return false;
	*shadow = (uint8_t *)kasan_shadow_blind(addr);
	return true;
}

#endif

#endif /* CONFIG_KASAN_SHADOW_FULL */

#ifdef __cplusplus
}
#endif

#endif /* KASAN_SHADOW_INLINE_H */
