/* SPDX-License-Identifier: MIT */
/*
 * string.h - ordinary C's <string.h>.
 *
 * mem*() check their whole ranges first; str*() are instrumented and go byte by byte, so the report
 * names the very byte at which a string leaves its object.
 */
#ifndef _STRING_H
#define _STRING_H

#include <stddef.h>
#include <strings.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
void *memrchr(const void *s, int c, size_t n);
void *mempcpy(void *restrict dst, const void *restrict src, size_t n);
void *memmem(const void *haystack, size_t hlen, const void *needle, size_t nlen);

size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
char *strcpy(char *restrict dst, const char *restrict src);
char *strncpy(char *restrict dst, const char *restrict src, size_t n);
char *stpcpy(char *restrict dst, const char *restrict src);
char *strcat(char *restrict dst, const char *restrict src);
char *strncat(char *restrict dst, const char *restrict src, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int strcoll(const char *a, const char *b);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
char *strstr(const char *haystack, const char *needle);
size_t strspn(const char *s, const char *accept);
size_t strcspn(const char *s, const char *reject);
char *strpbrk(const char *s, const char *accept);
char *strtok(char *restrict s, const char *restrict delimiters);
char *strtok_r(char *restrict s, const char *restrict delimiters, char **restrict save);
char *strsep(char **s, const char *delimiters);

/* The copies come from malloc(). */
char *strdup(const char *s);
char *strndup(const char *s, size_t n);

char *strerror(int error);

#endif
