/* SPDX-License-Identifier: MIT */
/*
 * mem.c - kasan_fill(), and __memcpy(), __memmove(), __memset(): memory primitives without checks, in portable C.
 *
 * Weak, but for the first: a system that has faster ones in assembly gives them the same names. The functions in
 * abi/asan_mem.c check and then come here, so nothing here may be compiled into a call of memcpy()
 * or memset(): each loop hides its pointers from the compiler's idiom recognition.
 */
#include "fill.h"

/* One step of a copy is a word of any alignment: the compiler knows whether the target can do that in one
 * load, and uses byte loads if not. */
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

KASAN_WEAK void *__memmove(void *dst, const void *src, size_t n)
{
	uint8_t *d = (uint8_t *)dst + n;
	const uint8_t *s = (const uint8_t *)src + n;
	uint64_t a, b, c, e;

	/*
	 * Going up is right unless the destination starts inside the source. Even then __memcpy()
	 * cannot be used for it: it stores a word before it has loaded the next, which an overlap
	 * of less than the four words of one step would spoil, and the port's own version may do anything.
	 */
	if ((uintptr_t)dst - (uintptr_t)src >= n) {
		d = dst;
		s = src;
		for (; n >= 4 * WORD; n -= 4 * WORD) {
			a = ((const kasan_u64_any *)s)[0];
			b = ((const kasan_u64_any *)s)[1];
			c = ((const kasan_u64_any *)s)[2];
			e = ((const kasan_u64_any *)s)[3];
			((kasan_u64_any *)d)[0] = a;
			((kasan_u64_any *)d)[1] = b;
			((kasan_u64_any *)d)[2] = c;
			((kasan_u64_any *)d)[3] = e;
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
		a = ((const kasan_u64_any *)s)[0];
		b = ((const kasan_u64_any *)s)[1];
		c = ((const kasan_u64_any *)s)[2];
		e = ((const kasan_u64_any *)s)[3];
		((kasan_u64_any *)d)[0] = a;
		((kasan_u64_any *)d)[1] = b;
		((kasan_u64_any *)d)[2] = c;
		((kasan_u64_any *)d)[3] = e;
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
/* Short, because flash is, and a small CPU has neither the registers nor the bandwidth for more at a time. */
void kasan_fill(uint8_t *at, uint8_t value, size_t count)
{
	const uint32_t word = value * 0x01010101U;
	uint8_t *const last = at + count - 4;

	if (count < 4) {
		while (count--)
			at[count] = value;
		return;
	}
	/* The last four bytes twice, if need be: no odd ends. @last is asked first, because what comes after it may be address 0. */
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
	/* It stores words, overlapping at the ends. */
	kasan_fill(dst, (uint8_t)c, n);
	return dst;
}
