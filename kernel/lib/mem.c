/* SPDX-License-Identifier: MIT */
/*
 * mem.c - __memcpy, __memmove, __memset: the memory primitives that check nothing.
 *
 * Not instrumented: the runtime's checked memcpy() calls these functions, and so does code that runs
 * before there is shadow. Large copies move 64 bytes at a time in registers (load and store pairs on
 * arm64). Stores are aligned. Loads may be unaligned, so the MMU must be on unless source and
 * destination are equally aligned. Without KASAN, memcpy() and the others are aliases of these.
 */
#include <kasan/config.h>
#include <kernel/string.h>

#undef memcpy
#undef memmove
#undef memset

/* With hardware tags the architecture's mem.S has these functions. */
#ifndef CONFIG_KASAN_HW_TAGS

/* A word in memory: at any address, and of any type that the caller has stored. */
typedef u64 __attribute__((may_alias, aligned(1))) word_any;
typedef u64 __attribute__((may_alias)) word;

#define BLOCK 64

static __always_inline void copy_block(word *d, const word_any *s)
{
	u64 a = s[0], b = s[1], c = s[2], e = s[3], f = s[4], g = s[5], h = s[6], i = s[7];

	/* All loads come first, so an overlap inside the block is harmless. */
	d[0] = a;
	d[1] = b;
	d[2] = c;
	d[3] = e;
	d[4] = f;
	d[5] = g;
	d[6] = h;
	d[7] = i;
}

static __always_inline void *copy_forward(void *dst, const void *src, size_t n)
{
	u8 *d = dst;
	const u8 *s = src;

	if (n >= 16) {
		while ((uintptr_t)d % 8) {
			*d++ = *s++;
			n--;
			OPTIMIZER_HIDE_VAR(d);
		}
		for (; n >= BLOCK; n -= BLOCK, d += BLOCK, s += BLOCK)
			copy_block((word *)d, (const word_any *)s);
		for (; n >= 8; n -= 8, d += 8, s += 8) {
			*(word *)d = *(const word_any *)s;
			OPTIMIZER_HIDE_VAR(d);
		}
	}
	for (; n; n--) {
		*d++ = *s++;
		OPTIMIZER_HIDE_VAR(d);
	}
	return dst;
}

static __always_inline void *copy_backward(void *dst, const void *src, size_t n)
{
	u8 *d = (u8 *)dst + n;
	const u8 *s = (const u8 *)src + n;

	if (n >= 16) {
		while ((uintptr_t)d % 8) {
			*--d = *--s;
			n--;
			OPTIMIZER_HIDE_VAR(d);
		}
		for (; n >= BLOCK; n -= BLOCK) {
			d -= BLOCK;
			s -= BLOCK;
			copy_block((word *)d, (const word_any *)s);
		}
		for (; n >= 8; n -= 8) {
			d -= 8;
			s -= 8;
			*(word *)d = *(const word_any *)s;
			OPTIMIZER_HIDE_VAR(d);
		}
	}
	for (; n; n--) {
		*--d = *--s;
		OPTIMIZER_HIDE_VAR(d);
	}
	return dst;
}

void *__memcpy(void *dst, const void *src, size_t n)
{
	return copy_forward(dst, src, n);
}

void *__memmove(void *dst, const void *src, size_t n)
{
	/* Copy forward if the destination starts before the source or behind its end. One unsigned
	 * comparison tests both. */
	if ((uintptr_t)dst - (uintptr_t)src >= n)
		return copy_forward(dst, src, n);
	return copy_backward(dst, src, n);
}

void *__memset(void *dst, int c, size_t n)
{
	u8 *d = dst;
	u64 pattern = (u8)c * 0x0101010101010101UL;

	if (n >= 16) {
		while ((uintptr_t)d % 8) {
			*d++ = (u8)c;
			n--;
			OPTIMIZER_HIDE_VAR(d);
		}
		for (; n >= BLOCK; n -= BLOCK, d += BLOCK) {
			word *w = (word *)d;

			w[0] = pattern;
			w[1] = pattern;
			w[2] = pattern;
			w[3] = pattern;
			w[4] = pattern;
			w[5] = pattern;
			w[6] = pattern;
			w[7] = pattern;
			OPTIMIZER_HIDE_VAR(d);
		}
		for (; n >= 8; n -= 8, d += 8) {
			*(word *)d = pattern;
			OPTIMIZER_HIDE_VAR(d);
		}
	}
	for (; n; n--) {
		*d++ = (u8)c;
		OPTIMIZER_HIDE_VAR(d);
	}
	return dst;
}

#ifndef CONFIG_KASAN
void *memcpy(void *dst, const void *src, size_t n) __attribute__((alias("__memcpy")));
void *memmove(void *dst, const void *src, size_t n) __attribute__((alias("__memmove")));
void *memset(void *dst, int c, size_t n) __attribute__((alias("__memset")));
#endif

#endif /* !CONFIG_KASAN_HW_TAGS */
