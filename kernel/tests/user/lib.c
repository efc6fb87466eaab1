// SPDX-License-Identifier: MIT
/* lib.c - what every program in user mode needs: its start, and the few functions that compilers call. */
#include "user.h"

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

void *memset(void *to, int c, size_t n)
{
	volatile char *p = to;

	while (n--)
		*p++ = (char)c;
	return to;
}

void *memcpy(void *to, const void *from, size_t n)
{
	volatile char *p = to;
	const char *q = from;

	while (n--)
		*p++ = *q++;
	return to;
}

unsigned long number(const char *s)
{
	unsigned long n = 0;

	while (*s >= '0' && *s <= '9')
		n = n * 10 + (unsigned long)(*s++ - '0');
	return n;
}

/* The digits of @n at the end of @text; their first. */
char *decimal(unsigned long n, char text[24])
{
	char *at = text + 23;

	*at = '\0';
	do {
		*--at = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	return at;
}

static unsigned long random_state = 1;

void random_seed(unsigned long seed)
{
	random_state = seed * 0x9e3779b97f4a7c15 + 1;
}

unsigned long random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

void print(const char *s)
{
	syscall3(NR_write, 1, s, strlen(s));
}

void print_number(unsigned long n)
{
	char digits[24];

	print(decimal(n, digits));
}

int check_failed(const char *what, int line)
{
	print("user program: line ");
	print_number((unsigned long)line);
	print(": ");
	print(what);
	print(" is false\n");
	return line % 255 + 1;
}

void user_start(unsigned long *stack)
{
	syscall1(NR_exit, main((int)stack[0], (char **)(stack + 1)));
	__builtin_trap();
}
