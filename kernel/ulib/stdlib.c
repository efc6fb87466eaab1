// SPDX-License-Identifier: MIT
/* stdlib.c - ends of the program, sorting, pseudo-random numbers, integer arithmetic. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ulib.h"

/* --- Ends of the program ---------------------------------------------------------------------- */

#define ATEXIT_MAX   32
#define ABORT_STATUS 134 /* what a shell shows for SIGABRT */

static void (*atexit_functions[ATEXIT_MAX])(void);
static unsigned int atexit_count;
static unsigned long long rand_state = 1;

int atexit(void (*fn)(void))
{
	if (atexit_count == ATEXIT_MAX)
		return -1;
	atexit_functions[atexit_count++] = fn;
	return 0;
}

void ulib_run_atexit(void)
{
	while (atexit_count)
		atexit_functions[--atexit_count]();
	ulib_run_destructors();
}

void ulib_reset(void)
{
	atexit_count = 0;
	rand_state = 1;
	ulib_use_errno(NULL);
	errno = 0;
	ulib_reset_streams();
}

void exit(int status)
{
	ulib_run_atexit();
	ulib_end_program(status);
}

void _Exit(int status)
{
	ulib_end_program(status);
}

void abort(void)
{
	fflush(stdout);
	ulib_end_program(ABORT_STATUS);
}

void __assert_fail(const char *condition, const char *file, unsigned int line, const char *function)
{
	fflush(stdout);
	fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, condition);
	abort();
}

/* --- Sorting; bsearch() is the kernel's own --------------------------------------------------- */

static void swap_bytes(char *a, char *b, size_t size)
{
	while (size--) {
		char c = *a;

		*a++ = *b;
		*b++ = c;
	}
}

/* Let the element at @root sink to its place in the heap of @count elements. */
static void sift_down(char *base, size_t root, size_t count, size_t size,
		      int (*compare)(const void *, const void *))
{
	for (;;) {
		size_t child = 2 * root + 1;

		if (child >= count)
			return;
		if (child + 1 < count &&
		    compare(base + child * size, base + (child + 1) * size) < 0)
			child++;
		if (compare(base + root * size, base + child * size) >= 0)
			return;
		swap_bytes(base + root * size, base + child * size, size);
		root = child;
	}
}

/* Heapsort: no recursion on a small stack, no memory, and no input that makes it quadratic. */
void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	size_t i;

	if (count < 2 || !size)
		return;
	for (i = count / 2; i-- > 0;)
		sift_down(base, i, count, size, compare);
	for (i = count - 1; i > 0; i--) {
		swap_bytes(base, (char *)base + i * size, size);
		sift_down(base, 0, i, size, compare);
	}
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/* A 64-bit linear congruential generator, the multiplier of Knuth's MMIX; its high bits are the
 * good ones. */
int rand(void)
{
	rand_state = rand_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)(rand_state >> 33);
}

void srand(unsigned int seed)
{
	rand_state = seed;
}

int abs(int n)
{
	return n < 0 ? -n : n;
}

long labs(long n)
{
	return n < 0 ? -n : n;
}

long long llabs(long long n)
{
	return n < 0 ? -n : n;
}

div_t div(int a, int b)
{
	return (div_t){.quot = a / b, .rem = a % b};
}

ldiv_t ldiv(long a, long b)
{
	return (ldiv_t){.quot = a / b, .rem = a % b};
}

lldiv_t lldiv(long long a, long long b)
{
	return (lldiv_t){.quot = a / b, .rem = a % b};
}

char *getenv(const char *name)
{
	size_t length = strlen(name);

	for (char **entry = ulib_environ(); *entry; entry++)
		if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
			return *entry + length + 1;
	return NULL;
}
