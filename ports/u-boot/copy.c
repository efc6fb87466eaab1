/* SPDX-License-Identifier: MIT */
/*
 * copy.c - copies and fills without checks, in place of the runtime's own.
 *
 * U-Boot copies before the MMU is on, when no access may be unaligned. The runtime's functions work on words
 * of any alignment, which without such accesses is byte by byte; these use words where both sides are aligned,
 * which is nearly always.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

typedef uint64_t word __attribute__((__may_alias__));
#define WORD sizeof(word)

/* Keeps the compiler from making a loop a call of memcpy() or memset(). */
#define opaque(pointer) __asm__("" : "+r"(pointer))

static inline bool aligned(const void *one, const void *other)
{
	return !(((uintptr_t)one | (uintptr_t)other) & (WORD - 1));
}

void *__memcpy(void *dst, const void *src, size_t n)
{
	uint8_t *d = dst;
	const uint8_t *s = src;

	if (aligned(d, s)) {
		for (; n >= 4 * WORD; n -= 4 * WORD, d += 4 * WORD, s += 4 * WORD) {
			((word *)d)[0] = ((const word *)s)[0];
			((word *)d)[1] = ((const word *)s)[1];
			((word *)d)[2] = ((const word *)s)[2];
			((word *)d)[3] = ((const word *)s)[3];
			opaque(d);
		}
		for (; n >= WORD; n -= WORD, d += WORD, s += WORD) {
			*(word *)d = *(const word *)s;
			opaque(d);
		}
	}
	for (; n; n--) {
		*d++ = *s++;
		opaque(d);
	}
	return dst;
}

void *__memmove(void *dst, const void *src, size_t n)
{
	uint8_t *d = (uint8_t *)dst + n;
	const uint8_t *s = (const uint8_t *)src + n;

	/* Upwards is right unless the destination starts inside the source. Words are loaded one at a time
	 * there, so a source that starts inside the destination is read before it is written. */
	if ((uintptr_t)dst - (uintptr_t)src >= n) {
		d = dst;
		s = src;
		for (; aligned(d, s) && n >= WORD; n -= WORD, d += WORD, s += WORD) {
			*(word *)d = *(const word *)s;
			opaque(d);
		}
		for (; n; n--) {
			*d++ = *s++;
			opaque(d);
		}
		return dst;
	}
	for (; n && !aligned(d, d); n--) {
		*--d = *--s;
		opaque(d);
	}
	for (; aligned(d, s) && n >= WORD; n -= WORD) {
		d -= WORD;
		s -= WORD;
		*(word *)d = *(const word *)s;
		opaque(d);
	}
	for (; n; n--) {
		*--d = *--s;
		opaque(d);
	}
	return dst;
}

void *__memset(void *dst, int c, size_t n)
{
	const uint64_t pattern = (uint8_t)c * 0x0101010101010101ULL;
	uint8_t *d = dst;

	for (; n && !aligned(d, d); n--) {
		*d++ = (uint8_t)c;
		opaque(d);
	}
	for (; n >= WORD; n -= WORD, d += WORD) {
		*(word *)d = pattern;
		opaque(d);
	}
	for (; n; n--) {
		*d++ = (uint8_t)c;
		opaque(d);
	}
	return dst;
}
