/* SPDX-License-Identifier: MIT */
/*
 * string.h - makes a program's small copies fast, with either C library: its own <string.h> comes first.
 *
 * Programs are compiled without the compiler's ideas of what library functions do, so that a call that is written is
 * a call that is checked. But decompressors, hashes and parsers read their words by memcpy(&word, p, 4): as calls these
 * took three quarters of their instructions. So a copy of 1, 2, 4, 8 or 16 bytes, a size that the compiler must see, becomes what
 * an assignment is: a checked load and a checked store. All other sizes stay calls.
 *
 * Not with GCC: it refuses to compile a function without checks that calls an inline one with checks.
 */
#include_next <string.h>

#if defined(__clang__) && !defined(REDZONE_STRING_H)
#define REDZONE_STRING_H

#define REDZONE_INLINE \
	extern __inline__ __attribute__((__gnu_inline__, __always_inline__, __nodebug__))

/* The functions themselves: under their own names Clang would take them for the inline ones below. */
extern void *__redzone_call_memcpy(void *, const void *, __SIZE_TYPE__) __asm__("\001memcpy");
extern void *__redzone_call_memmove(void *, const void *, __SIZE_TYPE__) __asm__("\001memmove");
extern void *__redzone_call_memset(void *, int, __SIZE_TYPE__) __asm__("\001memset");

struct __redzone_word2 {
	__UINT16_TYPE__ value;
} __attribute__((__packed__, __may_alias__));

struct __redzone_word4 {
	__UINT32_TYPE__ value;
} __attribute__((__packed__, __may_alias__));

struct __redzone_word8 {
	__UINT64_TYPE__ value;
} __attribute__((__packed__, __may_alias__));

struct __redzone_word16 {
	unsigned __int128 value;
} __attribute__((__packed__, __may_alias__));

#define REDZONE_COPY(dst, src, n, otherwise)                                     \
	do {                                                                     \
		if (!__builtin_constant_p(n))                                    \
			return otherwise(dst, src, n);                           \
		switch (n) {                                                     \
		case 1:                                                          \
			*(unsigned char *)(dst) = *(const unsigned char *)(src); \
			return dst;                                              \
		case 2:                                                          \
			((struct __redzone_word2 *)(dst))->value =               \
				((const struct __redzone_word2 *)(src))->value;  \
			return dst;                                              \
		case 4:                                                          \
			((struct __redzone_word4 *)(dst))->value =               \
				((const struct __redzone_word4 *)(src))->value;  \
			return dst;                                              \
		case 8:                                                          \
			((struct __redzone_word8 *)(dst))->value =               \
				((const struct __redzone_word8 *)(src))->value;  \
			return dst;                                              \
		case 16:                                                         \
			((struct __redzone_word16 *)(dst))->value =              \
				((const struct __redzone_word16 *)(src))->value; \
			return dst;                                              \
		}                                                                \
		return otherwise(dst, src, n);                                   \
	} while (0)

REDZONE_INLINE void *memcpy(void *__restrict__ dst, const void *__restrict__ src, __SIZE_TYPE__ n)
{
	REDZONE_COPY(dst, src, n, __redzone_call_memcpy);
}

REDZONE_INLINE void *memmove(void *dst, const void *src, __SIZE_TYPE__ n)
{
	REDZONE_COPY(dst, src, n, __redzone_call_memmove);
}

REDZONE_INLINE void *memset(void *dst, int c, __SIZE_TYPE__ n)
{
	const __UINT64_TYPE__ word = (unsigned char)c * 0x0101010101010101ULL;

	if (!__builtin_constant_p(n))
		return __redzone_call_memset(dst, c, n);
	switch (n) {
	case 1:
		*(unsigned char *)dst = (unsigned char)c;
		return dst;
	case 2:
		((struct __redzone_word2 *)dst)->value = (__UINT16_TYPE__)word;
		return dst;
	case 4:
		((struct __redzone_word4 *)dst)->value = (__UINT32_TYPE__)word;
		return dst;
	case 8:
		((struct __redzone_word8 *)dst)->value = word;
		return dst;
	case 16:
		((struct __redzone_word16 *)dst)->value = (unsigned __int128)word << 64 | word;
		return dst;
	}
	return __redzone_call_memset(dst, c, n);
}

#undef REDZONE_COPY
#undef REDZONE_INLINE
#endif
