/* SPDX-License-Identifier: MIT */
/*
 * strlen.h - strlen() that reads nothing in the granule after the string, for little-endian CPUs of 64 bits. It includes no
 * header of Linux, because a test compiles it for the host.
 */
#ifndef MM_KASAN_STRLEN_H
#define MM_KASAN_STRLEN_H

#define KASAN_EACH_BYTE(byte) ((~0UL / 0xff) * (byte))

/* Not 0 if a byte of @word is 0 or above 0x80 (Mycroft's test). */
static inline unsigned long kasan_may_end(unsigned long word)
{
	return (word - KASAN_EACH_BYTE(0x01)) & KASAN_EACH_BYTE(0x80);
}

/* Not 0 if a byte of @word is 0. The lowest bit that is set is in the first such byte. */
static inline unsigned long kasan_ends(unsigned long word)
{
	return (word - KASAN_EACH_BYTE(0x01)) & ~word & KASAN_EACH_BYTE(0x80);
}

/* Does the string end in the granule at *@at? Then *@at is left at the word, and @end tells where in it. */
static inline bool kasan_ends_in(const unsigned long **at, unsigned long *end)
{
	const unsigned long low = (*at)[0], high = (*at)[1];

	if (__builtin_expect(!(kasan_may_end(low) | kasan_may_end(high)), 1))
		return false;
	*end = kasan_ends(low);
	if (*end)
		return true;
	*end = kasan_ends(high);
	*at += *end ? 1 : 0;
	return *end;
}

/** kasan_strlen_by_granules() - strlen(). Reads words of 8 bytes, and none after the granule of 16 bytes in which @string ends. */
static inline size_t kasan_strlen_by_granules(const char *string)
{
	const unsigned long start = (unsigned long)string;
	const unsigned long *at = (const unsigned long *)(start & ~(sizeof(*at) - 1));
	/* Sets all bits of the bytes that precede the string in its first word, so that none of them is 0. */
	unsigned long end = kasan_ends(*at | ~(~0UL << start % sizeof(*at) * 8));

	if (end)
		goto found;
	/* The second half of a granule. */
	if ((unsigned long)++at & 15) {
		end = kasan_ends(*at);
		if (end)
			goto found;
		at++;
	}
	while (!kasan_ends_in(&at, &end)) {
		at += 2;
		if (kasan_ends_in(&at, &end))
			break;
		at += 2;
	}
found:
	return (unsigned long)at - start + (unsigned int)__builtin_ctzl(end) / 8;
}

#endif
