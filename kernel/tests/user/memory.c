// SPDX-License-Identifier: MIT
/* memory.c - a program's own memory: it is cleared at first, keeps its contents, and is private. */
#include "user.h"

static long brk(unsigned long at)
{
	return syscall1(NR_brk, at);
}

static int is_zero(const volatile char *p, size_t n)
{
	while (n--) {
		if (*p++)
			return 0;
	}
	return 1;
}

static void heap(void)
{
	long start = brk(0);
	volatile char *p = (char *)start;

	CHECK(start > 0 && !(start & 4095));
	/* The end moves by single bytes, memory by pages. */
	CHECK(brk((unsigned long)start + 1) == start + 1);
	CHECK(is_zero(p, PAGE_SIZE));
	p[0] = 1;
	for (unsigned long i = 1; i <= 300; i++)
		CHECK(brk((unsigned long)start + i * PAGE_SIZE) ==
		      (long)(start + (long)(i * PAGE_SIZE)));
	CHECK(p[0] == 1 && is_zero(p + 1, 300 * PAGE_SIZE - 1));
	p[299 * PAGE_SIZE] = 2;
	/* Shrink, then grow: the new memory is cleared. */
	CHECK(brk((unsigned long)start + 10) == start + 10);
	CHECK(brk((unsigned long)start + 300 * PAGE_SIZE) ==
	      (long)(start + (long)(300 * PAGE_SIZE)));
	CHECK(p[0] == 1 && p[299 * PAGE_SIZE] == 0);
	/* An impossible size changes nothing. */
	CHECK(brk((unsigned long)start - 1) == (long)(start + (long)(300 * PAGE_SIZE)));
	CHECK(brk(1UL << 46) == (long)(start + (long)(300 * PAGE_SIZE)));
	CHECK(brk(1UL << 43) == (long)(start + (long)(300 * PAGE_SIZE)));
	CHECK(brk((unsigned long)start) == start);
}

static void mappings(void)
{
	long a = map(3 * PAGE_SIZE, 3), b, c;
	volatile char *p = (char *)a;

	CHECK(a > 0 && !(a & 4095));
	CHECK(is_zero(p, 3 * PAGE_SIZE));
	memset((char *)a, 7, 3 * PAGE_SIZE);
	b = map(1, 1);
	CHECK(b > 0 && is_zero((char *)b, PAGE_SIZE));
	/* A hole in the middle: the lowest free address is there now. */
	CHECK(syscall2(NR_munmap, a + (long)PAGE_SIZE, PAGE_SIZE) == 0);
	CHECK(p[0] == 7 && p[2 * PAGE_SIZE] == 7);
	c = map(PAGE_SIZE, 3);
	CHECK(c == a + (long)PAGE_SIZE);
	CHECK(is_zero((char *)c, PAGE_SIZE));
	CHECK(p[PAGE_SIZE - 1] == 7 && p[2 * PAGE_SIZE] == 7);
	/* Over everything at once, holes included; and twice. */
	CHECK(syscall2(NR_munmap, a, 5 * PAGE_SIZE) == 0);
	CHECK(syscall2(NR_munmap, a, 5 * PAGE_SIZE) == 0);

	CHECK(map(0, 3) == -EINVAL);
	CHECK(map(PAGE_SIZE, 8) == -EINVAL);
	CHECK(map(1UL << 40, 3) == -ENOMEM);
	CHECK(map(-1UL, 3) == -ENOMEM);
	CHECK(syscall2(NR_munmap, a + 1, PAGE_SIZE) == -EINVAL);
	CHECK(syscall2(NR_munmap, a, 0) == -EINVAL);
	CHECK(syscall2(NR_munmap, a, -1UL) == -EINVAL);
	CHECK(syscall2(NR_munmap, -PAGE_SIZE, PAGE_SIZE) == -EINVAL);
	CHECK(syscall2(NR_munmap, 0, PAGE_SIZE) == -EINVAL);
	/* Address space without memory may be large. */
	a = map(1UL << 45, 0);
	CHECK(a > 0);
	CHECK(syscall2(NR_munmap, a, 1UL << 45) == 0);
}

/* So many areas that mapping fails at some point; all of them can be given back. */
static void many_areas(void)
{
	long start = map(PAGE_SIZE, 0), at = start;
	unsigned long n = 1;

	for (; n < 5000; n++) {
		/* Neighbours of different rights stay areas of their own. */
		at = map(PAGE_SIZE, n & 1);
		if (at < 0)
			break;
	}
	CHECK(at == -ENOMEM && n > 500);
	CHECK(syscall2(NR_munmap, start, 5000 * PAGE_SIZE) == 0);
	at = map(PAGE_SIZE, 3);
	CHECK(at == start);
}

int case_memory(int argc, char **argv)
{
	for (int i = 0; i < 3; i++) {
		heap();
		mappings();
	}
	many_areas();
	return 0;
}

/* hog: take all memory in pieces of 4 MiB and check that they keep their contents. Prints their number. */
int case_hog(int argc, char **argv)
{
	const unsigned long piece = 4UL << 20;
	unsigned long n = 0;
	long last = 0, at;

	while ((at = map(piece, 3)) > 0) {
		volatile unsigned long *p = (unsigned long *)at;

		CHECK(p[0] == 0 && p[piece / sizeof(*p) - 1] == 0);
		p[0] = ++n;
		p[1] = (unsigned long)last;
		last = at;
	}
	CHECK(at == -ENOMEM);
	print_number(n);
	for (; n; n--) {
		CHECK(*(volatile unsigned long *)last == n);
		last = ((volatile long *)last)[1];
	}
	return 0;
}

/* All processes have these at the same addresses. */
static volatile unsigned long mine[3 * PAGE_SIZE / sizeof(unsigned long)];
static volatile unsigned long initialised[] = {1, 2, 3};

int case_isolation(int argc, char **argv)
{
	unsigned long self = (unsigned long)syscall0(NR_getpid),
		      rounds = argc > 2 ? number(argv[2]) : 10;
	volatile unsigned long *heap = (unsigned long *)map(PAGE_SIZE, 3);

	CHECK(initialised[1] == 2 && mine[0] == 0 && heap[0] == 0);
	initialised[1] = self;
	for (unsigned long round = 0; round < rounds; round++) {
		unsigned long value = self << 32 | round;

		for (unsigned long i = 0; i < sizeof(mine) / sizeof(mine[0]); i++)
			mine[i] = value + i;
		heap[5] = value;
		syscall0(NR_sched_yield);
		for (unsigned long i = 0; i < sizeof(mine) / sizeof(mine[0]); i++)
			CHECK(mine[i] == value + i);
		CHECK(heap[5] == value && initialised[1] == self);
		CHECK(syscall0(NR_getpid) == (long)self);
	}
	return 0;
}
