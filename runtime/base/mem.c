/* SPDX-License-Identifier: MIT */
/*
 * mem.c - memory primitives without checks in portable C: kasan_fill(), __memcpy(), __memmove(), __memset().
 *
 * All but the first are weak, so that a system can supply faster ones in assembly. The checked functions in abi/ call
 * these. No loop here may be compiled into a call of memcpy() or memset(), so each hides its pointers from the
 * compiler.
 */
#include "fill.h"

/* A copy moves words of any alignment; for targets that cannot load those, the compiler uses bytes. */
#define WORD sizeof(kasan_u64_any)

static inline void copy_word(uint8_t *dst, const uint8_t *src)
{
	*(kasan_u64_any *)dst = *(const kasan_u64_any *)src;
}

KASAN_WEAK void *__memcpy(void *dst, const void *src, size_t n)
{
	uint8_t *d = dst;
	const uint8_t *s = src;

	for (; n >= 4 * WORD; n -= 4 * WORD) {
		copy_word(d, s);
		copy_word(d + WORD, s + WORD);
		copy_word(d + 2 * WORD, s + 2 * WORD);
		copy_word(d + 3 * WORD, s + 3 * WORD);
		d += 4 * WORD;
		s += 4 * WORD;
		kasan_opaque(d);
	}
	for (; n >= WORD; n -= WORD) {
		copy_word(d, s);
		d += WORD;
		s += WORD;
		kasan_opaque(d);
	}
	for (; n; n--) {
		*d++ = *s++;
		kasan_opaque(d);
	}
	return dst;
}

/* All are loaded before one is stored, because the two may overlap. */
static kasan_always_inline void move_4_words(uint8_t *dst, const uint8_t *src)
{
	const uint64_t a = ((const kasan_u64_any *)src)[0], b = ((const kasan_u64_any *)src)[1];
	const uint64_t c = ((const kasan_u64_any *)src)[2], d = ((const kasan_u64_any *)src)[3];

	((kasan_u64_any *)dst)[0] = a;
	((kasan_u64_any *)dst)[1] = b;
	((kasan_u64_any *)dst)[2] = c;
	((kasan_u64_any *)dst)[3] = d;
}

KASAN_WEAK void *__memmove(void *dst, const void *src, size_t n)
{
	uint8_t *d = (uint8_t *)dst + n;
	const uint8_t *s = (const uint8_t *)src + n;

	/* Copy upwards unless the destination starts inside the source. __memcpy() does not work even then: it stores a
	 * word before it loads the next, and the port's own version may do anything. */
	if ((uintptr_t)dst - (uintptr_t)src >= n) {
		d = dst;
		s = src;
		for (; n >= 4 * WORD; n -= 4 * WORD) {
			move_4_words(d, s);
			d += 4 * WORD;
			s += 4 * WORD;
			kasan_opaque(d);
		}
		for (; n; n--) {
			*d++ = *s++;
			kasan_opaque(d);
		}
		return dst;
	}
	for (; n >= 4 * WORD; n -= 4 * WORD) {
		d -= 4 * WORD;
		s -= 4 * WORD;
		move_4_words(d, s);
		kasan_opaque(d);
	}
	for (; n; n--) {
		*--d = *--s;
		kasan_opaque(d);
	}
	return dst;
}

#if UINTPTR_MAX > UINT32_MAX
void kasan_fill(uint8_t *at, uint8_t value, size_t count)
{
	kasan_fill_inline(at, value, count);
}
#else
/* Short, to save flash. A small CPU has neither the registers nor the bandwidth for larger steps. */
void kasan_fill(uint8_t *at, uint8_t value, size_t count)
{
	const uint32_t word = value * 0x01010101U;
	uint8_t *const last = at + count - 4;

	if (count < 4) {
		while (count--)
			at[count] = value;
		return;
	}
	/* The last four bytes may be written twice, which saves the code for odd ends. @last is tested first, because
	 * address 0 may come after it. */
	while (at < last) {
		*(kasan_u32_any *)at = word;
		at += 4;
		kasan_opaque(at);
	}
	*(kasan_u32_any *)last = word;
}
#endif

KASAN_WEAK void *__memset(void *dst, int c, size_t n)
{
	kasan_fill(dst, (uint8_t)c, n);
	return dst;
}
