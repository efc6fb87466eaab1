/* SPDX-License-Identifier: MIT */
/*
 * mem.c - __memcpy, __memmove, __memset: the memory primitives that check nothing.
 *
 * Not instrumented: the runtime's checked memcpy() calls these functions, and so does code that runs
 * before there is shadow. Large copies move 64 bytes at a time in registers (load and store pairs on
 * arm64). Accesses may be unaligned, so the MMU must be on. Without KASAN, memcpy() and the others are aliases of these.
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

/* A few bytes in memory, likewise. */
typedef u32 __attribute__((may_alias, aligned(1))) u32_any;

#define BLOCK 64

/*
 * Up to 64 bytes, without a loop: two runs of loads, and then two of stores, overlap as far as they must. All loads come
 * first, so the ranges may overlap in any way. Most copies are small, and each branch costs more than a store.
 */
static __always_inline void *copy_few(void *dst, const void *src, size_t n)
{
	word_any *d = dst, *d_end = (word_any *)((u8 *)dst + n);
	const word_any *s = src, *s_end = (const word_any *)((const u8 *)src + n);

	if (n >= 16) {
		u64 a = s[0], b = s[1], c = s_end[-2], e = s_end[-1];

		if (n > 32) {
			u64 f = s[2], g = s[3], h = s_end[-4], i = s_end[-3];

			d[2] = f;
			d[3] = g;
			d_end[-4] = h;
			d_end[-3] = i;
		}
		d[0] = a;
		d[1] = b;
		d_end[-2] = c;
		d_end[-1] = e;
	} else if (n >= 8) {
		u64 a = s[0], b = s_end[-1];

		d[0] = a;
		d_end[-1] = b;
	} else if (n >= 4) {
		u32 a = *(const u32_any *)s, b = ((const u32_any *)s_end)[-1];

		*(u32_any *)d = a;
		((u32_any *)d_end)[-1] = b;
	} else if (n) {
		u8 a = *(const u8 *)s, b = ((const u8 *)s)[n / 2], c = ((const u8 *)s_end)[-1];

		*(u8 *)d = a;
		((u8 *)d)[n / 2] = b;
		((u8 *)d_end)[-1] = c;
	}
	return dst;
}

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

	while ((uintptr_t)d % 8) {
		*d++ = *s++;
		n--;
		OPTIMIZER_HIDE_VAR(d);
	}
	for (; n >= BLOCK; n -= BLOCK, d += BLOCK, s += BLOCK)
		copy_block((word *)d, (const word_any *)s);
	copy_few(d, s, n);
	return dst;
}

static __always_inline void *copy_backward(void *dst, const void *src, size_t n)
{
	u8 *d = (u8 *)dst + n;
	const u8 *s = (const u8 *)src + n;

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
	copy_few(dst, src, n);
	return dst;
}

void *__memcpy(void *dst, const void *src, size_t n)
{
	return n <= BLOCK ? copy_few(dst, src, n) : copy_forward(dst, src, n);
}

void *__memmove(void *dst, const void *src, size_t n)
{
	if (n <= BLOCK)
		return copy_few(dst, src, n);
	/* Copy forward if the destination starts before the source or past its end. One unsigned
	 * comparison tests both. */
	if ((uintptr_t)dst - (uintptr_t)src >= n)
		return copy_forward(dst, src, n);
	return copy_backward(dst, src, n);
}

void *__memset(void *dst, int c, size_t n)
{
	const u64 pattern = (u8)c * 0x0101010101010101UL;
	word_any *d = dst, *const end = (word_any *)((u8 *)dst + n);

	if (n >= 16) {
		if (n > BLOCK) {
			word *w = (word *)(((uintptr_t)dst + 8) & ~7UL);

			/* The odd bytes before the first whole word. It may be written twice, as the last block may be. */
			d[0] = pattern;
			for (; (u8 *)w + BLOCK < (u8 *)end; w += BLOCK / 8) {
				w[0] = pattern;
				w[1] = pattern;
				w[2] = pattern;
				w[3] = pattern;
				w[4] = pattern;
				w[5] = pattern;
				w[6] = pattern;
				w[7] = pattern;
				OPTIMIZER_HIDE_VAR(w);
			}
			d = end - 8;
		}
		d[0] = pattern;
		d[1] = pattern;
		if (n > 32) {
			d[2] = pattern;
			d[3] = pattern;
			end[-4] = pattern;
			end[-3] = pattern;
		}
		end[-2] = pattern;
		end[-1] = pattern;
	} else if (n >= 8) {
		d[0] = pattern;
		end[-1] = pattern;
	} else if (n >= 4) {
		*(u32_any *)d = (u32)pattern;
		((u32_any *)end)[-1] = (u32)pattern;
	} else if (n) {
		*(u8 *)d = (u8)c;
		((u8 *)d)[n / 2] = (u8)c;
		((u8 *)end)[-1] = (u8)c;
	}
	return dst;
}

#ifndef CONFIG_KASAN
void *memcpy(void *dst, const void *src, size_t n) __attribute__((alias("__memcpy")));
void *memmove(void *dst, const void *src, size_t n) __attribute__((alias("__memmove")));
void *memset(void *dst, int c, size_t n) __attribute__((alias("__memset")));
#endif

#endif /* !CONFIG_KASAN_HW_TAGS */
