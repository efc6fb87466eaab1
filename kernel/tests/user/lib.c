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

void print(const char *s)
{
	syscall3(NR_write, 1, s, strlen(s));
}

void print_number(unsigned long n)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	print(digits + at);
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
