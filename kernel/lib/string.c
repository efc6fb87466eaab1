/* SPDX-License-Identifier: MIT */
/*
 * string.c - strings and byte searches, see <kernel/string.h>.
 *
 * Instrumented on purpose, but for memcmp(), and byte by byte: the functions access only bytes that C allows them to
 * access, so KASAN reports exactly the first bad byte. A strlen() by words would be faster, but would
 * read beyond the string.
 */
#include <kasan/kasan.h>
#include <kernel/ctype.h>
#include <kernel/errno.h>
#include <kernel/string.h>

/* GCC would turn loops that look like memset() or strlen() into calls of these, and strlen() would
 * call itself for ever. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

/* C wants all bytes of both ranges to be there, also those after the first difference. */
__no_sanitize_address int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;
	int difference = 0;
	size_t i = 0;

#ifndef CONFIG_KASAN_HW_TAGS
	kasan_check_read(a, n);
	kasan_check_read(b, n);
#endif
	while (i < n && !difference) {
		difference = x[i] - y[i];
		i++;
	}
#ifdef CONFIG_KASAN_HW_TAGS
	/* The CPU has checked the bytes up to here. A check of all before would report a bad one of them twice. */
	kasan_check_read(x + i, n - i);
	kasan_check_read(y + i, n - i);
#endif
	return difference;
}

/* Compilers replace memcmp() == 0 by a call of this. */
int bcmp(const void *a, const void *b, size_t n)
{
	return memcmp(a, b, n);
}

void *memchr(const void *s, int c, size_t n)
{
	const u8 *p = s;

	for (; n; n--, p++) {
		if (*p == (u8)c)
			return (void *)p;
	}
	return NULL;
}

void *memrchr(const void *s, int c, size_t n)
{
	const u8 *p = s;

	while (n--) {
		if (p[n] == (u8)c)
			return (void *)(p + n);
	}
	return NULL;
}

void *memmem(const void *haystack, size_t hn, const void *needle, size_t nn)
{
	const u8 *p = haystack;

	for (; hn >= nn; hn--, p++) {
		if (memcmp(p, needle, nn) == 0)
			return (void *)p;
	}
	return NULL;
}

void *memscan(void *s, int c, size_t n)
{
	u8 *p = s;

	for (; n; n--, p++) {
		if (*p == (u8)c)
			break;
	}
	return p;
}

void *memchr_inv(const void *s, int c, size_t n)
{
	const u8 *p = s;

	for (; n; n--, p++) {
		if (*p != (u8)c)
			return (void *)p;
	}
	return NULL;
}

size_t strlen(const char *s)
{
	const char *p = s;

	while (*p)
		p++;
	return (size_t)(p - s);
}

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

/* Copy at most @n bytes of the string @src, without its NUL. Return: how many. */
static __always_inline size_t copy_text(char *dst, const char *src, size_t n)
{
	/* What overlaps reads or overwrites its own beginning after as many bytes. */
	const size_t apart = dst > src ? (size_t)(dst - src) : (size_t)(src - dst);
	size_t i = 0, end = min(n, apart);

	for (; i < end && src[i]; i++)
		dst[i] = src[i];
	if (i < apart || i == n)
		return i;
	kasan_check_overlap(dst, src, i + 1);
	/* Upwards into itself it would never end. */
	for (; dst <= src && i < n && src[i]; i++)
		dst[i] = src[i];
	return i;
}

char *stpcpy(char *dst, const char *src)
{
	dst += copy_text(dst, src, SIZE_MAX);
	*dst = '\0';
	return dst;
}

char *strcpy(char *dst, const char *src)
{
	stpcpy(dst, src);
	return dst;
}

char *strncpy(char *dst, const char *src, size_t n)
{
	/* Read nothing behind the NUL of @src, and clear the rest of @dst. */
	for (size_t i = copy_text(dst, src, n); i < n; i++)
		dst[i] = '\0';
	return dst;
}

char *strcat(char *dst, const char *src)
{
	stpcpy(dst + strlen(dst), src);
	return dst;
}

char *strncat(char *dst, const char *src, size_t n)
{
	char *p = dst + strlen(dst);

	p[copy_text(p, src, n)] = '\0';
	return dst;
}

size_t strlcpy(char *dst, const char *src, size_t size)
{
	size_t n = 0;

	if (size) {
		for (; n < size - 1 && src[n]; n++)
			dst[n] = src[n];
		dst[n] = '\0';
	}
	return n + strlen(src + n);
}

size_t strlcat(char *dst, const char *src, size_t size)
{
	size_t n = strnlen(dst, size);

	/* Without a NUL within @size there is no string to append to, and no room. */
	if (n == size)
		return n + strlen(src);
	return n + strlcpy(dst + n, src, size - n);
}

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	if (!size)
		return -E2BIG;
	for (size_t n = 0; n < size; n++) {
		dst[n] = src[n];
		if (!src[n])
			return (ssize_t)n;
	}
	dst[size - 1] = '\0';
	return -E2BIG;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++) {
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	}
	return 0;
}

int strcasecmp(const char *a, const char *b)
{
	for (; *a && tolower((u8)*a) == tolower((u8)*b); a++, b++)
		;
	return tolower((u8)*a) - tolower((u8)*b);
}

int strncasecmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++) {
		if (tolower((u8)*a) != tolower((u8)*b) || !*a)
			return tolower((u8)*a) - tolower((u8)*b);
	}
	return 0;
}

char *strchrnul(const char *s, int c)
{
	while (*s && *s != (char)c)
		s++;
	return (char *)s;
}

char *strchr(const char *s, int c)
{
	s = strchrnul(s, c);
	return *s == (char)c ? (char *)s : NULL;
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	do {
		if (*s == (char)c)
			last = s;
	} while (*s++);
	return (char *)last;
}

char *strnchr(const char *s, size_t n, int c)
{
	for (; n; n--, s++) {
		if (*s == (char)c)
			return (char *)s;
		if (!*s)
			break;
	}
	return NULL;
}

/* Return: true if @s starts with the @n bytes at @prefix. It reads @s up to the NUL or the first
 * difference. */
static bool starts_with(const char *s, const char *prefix, size_t n)
{
	for (; n; n--, s++, prefix++) {
		if (*s != *prefix)
			return false;
	}
	return true;
}

char *strstr(const char *haystack, const char *needle)
{
	size_t n = strlen(needle);

	if (!n)
		return (char *)haystack;
	for (; *haystack; haystack++) {
		if (starts_with(haystack, needle, n))
			return (char *)haystack;
	}
	return NULL;
}

char *strnstr(const char *haystack, const char *needle, size_t n)
{
	size_t nn = strlen(needle);

	for (size_t left = strnlen(haystack, n); left >= nn; left--, haystack++) {
		if (starts_with(haystack, needle, nn))
			return (char *)haystack;
	}
	return NULL;
}

/* Return: true if @c is one of @set. NUL never is. */
static bool is_one_of(char c, const char *set)
{
	for (; *set; set++) {
		if (*set == c)
			return true;
	}
	return false;
}

size_t strspn(const char *s, const char *accept)
{
	const char *p = s;

	while (*p && is_one_of(*p, accept))
		p++;
	return (size_t)(p - s);
}

size_t strcspn(const char *s, const char *reject)
{
	const char *p = s;

	while (*p && !is_one_of(*p, reject))
		p++;
	return (size_t)(p - s);
}

char *strpbrk(const char *s, const char *accept)
{
	s += strcspn(s, accept);
	return *s ? (char *)s : NULL;
}

char *strsep(char **s, const char *delim)
{
	char *start = *s, *end;

	if (!start)
		return NULL;
	end = start + strcspn(start, delim);
	if (*end)
		*end++ = '\0';
	else
		end = NULL;
	*s = end;
	return start;
}

char *skip_spaces(const char *s)
{
	while (isspace((u8)*s))
		s++;
	return (char *)s;
}

char *strim(char *s)
{
	size_t n = strlen(s);

	while (n && isspace((u8)s[n - 1]))
		n--;
	s[n] = '\0';
	return skip_spaces(s);
}

size_t str_has_prefix(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return starts_with(s, prefix, n) ? n : 0;
}

/* Match @c against the class after '[' at @p. @end: after the ']'; NULL if there is no ']'. */
static bool class_match(const char *p, char c, const char **end)
{
	bool invert = *p == '!' || *p == '^', found = false;

	if (invert)
		p++;
	*end = NULL;
	for (const char *first = p; *p && (*p != ']' || p == first); p++) {
		char low = *p, high = *p;

		if (p[1] == '-' && p[2] && p[2] != ']') {
			high = p[2];
			p += 2;
		}
		if (c >= low && c <= high)
			found = true;
	}
	if (*p)
		*end = p + 1;
	return found != invert;
}

bool glob_match(const char *pattern, const char *s)
{
	/* Only the last star ever needs another try: the text that an earlier star has matched stays
	 * valid. */
	const char *star = NULL, *retry = NULL;

	for (;;) {
		const char *next = pattern + 1;
		bool ok = false;

		if (*pattern == '*') {
			star = next;
			retry = s;
			pattern = next;
			continue;
		}
		if (!*pattern && !*s)
			return true;
		if (*s) {
			const char *end;
			bool in;

			switch (*pattern) {
			case '\0':
				break;
			case '?':
				ok = true;
				break;
			case '[':
				in = class_match(next, *s, &end);
				/* A '[' without its ']' is an ordinary character. */
				ok = end ? in : *s == '[';
				if (end)
					next = end;
				break;
			case '\\':
				if (*next) {
					ok = *s == *next++;
					break;
				}
				ok = *s == '\\';
				break;
			default:
				ok = *s == *pattern;
			}
		}
		if (ok) {
			pattern = next;
			s++;
		} else {
			if (!star || !*retry)
				return false;
			pattern = star;
			s = ++retry;
		}
	}
}
