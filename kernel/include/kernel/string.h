/* SPDX-License-Identifier: MIT */
/*
 * string.h - strings and memory.
 *
 * str*, memchr, memscan are instrumented byte loops: they report exactly the first bad byte
 * and read no byte that C does not allow them to read. memcmp checks both whole ranges, memcpy, memmove,
 * memset check the whole range first (the runtime defines these three when KASAN is on). The __mem* forms
 * check nothing: they are for code that runs before there is shadow or inside a report.
 */
#ifndef KERNEL_STRING_H
#define KERNEL_STRING_H

#include <kernel/types.h>

void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
void *__memcpy(void *dst, const void *src, size_t n);
void *__memmove(void *dst, const void *src, size_t n);
void *__memset(void *dst, int c, size_t n);

/* In files that are compiled without instrumentation these are the forms that check nothing. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(hwaddress_sanitizer)
#define KERNEL_STRING_CHECKED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_HWADDRESS__)
#define KERNEL_STRING_CHECKED 1
#endif
/* With hardware tags no file is instrumented, and the runtime checks only for a negative size. */
#ifdef CONFIG_KASAN_HW_TAGS
#define KERNEL_STRING_CHECKED 1
#endif
#ifndef KERNEL_STRING_CHECKED
#define memcpy(dst, src, n)  __memcpy(dst, src, n)
#define memmove(dst, src, n) __memmove(dst, src, n)
#define memset(dst, c, n)    __memset(dst, c, n)
#endif

int memcmp(const void *a, const void *b, size_t n);
int bcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
void *memrchr(const void *s, int c, size_t n);
void *memmem(const void *haystack, size_t hn, const void *needle, size_t nn);

/** memscan() - Return: address of the first byte equal to @c, or the end of the range. */
void *memscan(void *s, int c, size_t n);

/** memchr_inv() - Return: address of the first byte different from @c, NULL if there is none. */
void *memchr_inv(const void *s, int c, size_t n);

size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
char *strcpy(char *dst, const char *src);
char *stpcpy(char *dst, const char *src);
char *strncpy(char *dst, const char *src, size_t n);
char *strcat(char *dst, const char *src);
char *strncat(char *dst, const char *src, size_t n);

/** strlcpy(), strlcat() - copy or append, NUL-terminated if @size > 0. Return: length of the whole result. */
size_t strlcpy(char *dst, const char *src, size_t size);
size_t strlcat(char *dst, const char *src, size_t size);

/** strscpy() - copy as much as fits, always NUL-terminated. Does not read @src beyond the copied characters.
 *  Return: characters copied, -E2BIG if @src was cut or @size is 0. */
ssize_t strscpy(char *dst, const char *src, size_t size);

int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int strcasecmp(const char *a, const char *b);
int strncasecmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strchrnul(const char *s, int c);
char *strrchr(const char *s, int c);
char *strnchr(const char *s, size_t n, int c);
char *strstr(const char *haystack, const char *needle);
char *strnstr(const char *haystack, const char *needle, size_t n);
size_t strspn(const char *s, const char *accept);
size_t strcspn(const char *s, const char *reject);
char *strpbrk(const char *s, const char *accept);
char *strsep(char **s, const char *delim);

/** skip_spaces() - Return: first character that is not white space. strim() also cuts white space off the end. */
char *skip_spaces(const char *s);
char *strim(char *s);

/** str_has_prefix() - Return: length of @prefix if @s starts with it, else 0. */
size_t str_has_prefix(const char *s, const char *prefix);

/** glob_match() - shell pattern: * ? [a-z] [!a-z] backslash. Return: true if all of @s matches. */
bool glob_match(const char *pattern, const char *s);

#endif
