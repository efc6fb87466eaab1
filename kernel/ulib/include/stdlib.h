/* SPDX-License-Identifier: MIT */
/*
 * stdlib.h - ordinary C's <stdlib.h> for programs that run as a kernel thread.
 *
 * There is no conversion of floating point: atof(), strtod() and the like do not exist here.
 */
#ifndef _STDLIB_H
#define _STDLIB_H

#include <stddef.h>

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX     0x7fffffff

typedef struct {
	int quot, rem;
} div_t;
typedef struct {
	long quot, rem;
} ldiv_t;
typedef struct {
	long long quot, rem;
} lldiv_t;

/**
 * malloc() - memory from the kernel's slab allocator, or from vmalloc space where it is too large
 * @size: bytes. 0 gives a unique pointer to an object without any byte: it may be passed to free()
 *	and realloc(), and every access through it is reported.
 *
 * Return: memory aligned to 16 bytes (to 8 for sizes up to 8); NULL with errno ENOMEM.
 */
void *malloc(size_t size);
void *calloc(size_t count, size_t size);

/**
 * realloc() - change an object's size
 *
 * A new size always moves the object, also when it shrinks, so that a use of the old pointer is a
 * use after free and is reported. realloc(p, 0) gives an object of no bytes, as malloc(0) does.
 */
void *realloc(void *ptr, size_t size);
void *reallocarray(void *ptr, size_t count, size_t size);
size_t malloc_usable_size(void *ptr);

/** aligned_alloc() - @align: a power of two up to 4096. Else NULL with errno EINVAL. */
void *aligned_alloc(size_t align, size_t size);
void *memalign(size_t align, size_t size);
int posix_memalign(void **out, size_t align, size_t size);

/** free() - give memory back. A pointer that is no live object is reported and left alone. */
void free(void *ptr);

/** exit() - run what atexit() registered, flush the output and end the program's thread. */
_Noreturn void exit(int status);
_Noreturn void _Exit(int status);
/** abort() - end the program with status 134 (128 + SIGABRT); atexit() functions do not run. */
_Noreturn void abort(void);
int atexit(void (*fn)(void));

int atoi(const char *text);
long atol(const char *text);
long long atoll(const char *text);
long strtol(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);

int abs(int n);
long labs(long n);
long long llabs(long long n);
div_t div(int a, int b);
ldiv_t ldiv(long a, long b);
lldiv_t lldiv(long long a, long long b);

int rand(void);
void srand(unsigned int seed);

void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
void *bsearch(const void *key, const void *base, size_t count, size_t size,
	      int (*compare)(const void *, const void *));

/** getenv() - Return: the value of the variable @name, from --env; NULL if there is none. */
char *getenv(const char *name);

#endif
