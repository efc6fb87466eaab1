// SPDX-License-Identifier: MIT
/*
 * faults.c - a target that misbehaves as its input says, for the suite fuzz-faults.
 *
 * An input is a letter, a number and a second number. Before it does anything bad, the target sends a line about it through
 * a port of the kernel's virtio console, which the suite has connected with a file: that is the suite's own record of what
 * was executed, apart from what the fuzzer makes of it. The suite reads the letters, and how many leaves, callers and words there are, from
 * this file.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* KASAN_FUZZ_MAGIC of kasan/fuzz.h, which is no header for programs. */
#define MAGIC 0x786f42657a75464bULL

#define NOT_INLINED __attribute__((noinline))
#define NOT_CHECKED __attribute__((noinline, no_sanitize("kernel-address")))
#define NOT_COVERED __attribute__((noinline, no_sanitize("coverage")))

static volatile int sink;
static volatile unsigned int thirteen = 13;

/* --- The record --------------------------------------------------------------------------------- */

/* The kernel's, and the port. */
void virtio_console_send(unsigned int port, void *data, size_t size);
#define RECORD 3

NOT_COVERED static void record(char letter, unsigned int first, unsigned int second)
{
	/* The device reads it: it has to be in the kernel's image. */
	static char line[64];

	virtio_console_send(
		RECORD, line,
		(size_t)snprintf(line, sizeof(line), "%c %u %u\n", letter, first, second));
}

/* --- Bugs that KASAN reports: each leaf under each caller is a bug of its own --------------------- */

static char global_object[13];

NOT_INLINED static void heap_read_right(void)
{
	char *object = malloc(13);

	sink += object[thirteen];
	free(object);
}

NOT_INLINED static void heap_write_right(void)
{
	char *object = malloc(13);

	object[thirteen] = 1;
	sink += object[1];
	free(object);
}

NOT_INLINED static void heap_read_left(void)
{
	char *object = malloc(64);

	sink += *(object - thirteen);
	free(object);
}

NOT_INLINED static void freed_read(void)
{
	char *volatile object = malloc(40);

	free(object);
	sink += object[thirteen];
}

NOT_INLINED static void freed_write(void)
{
	char *volatile object = malloc(40);

	free(object);
	object[thirteen] = 1;
}

NOT_INLINED static void freed_twice(void)
{
	char *volatile object = malloc(40);

	free(object);
	free(object);
	sink++;
}

NOT_INLINED static void freed_inside(void)
{
	char *volatile object = malloc(40);

	free(object + 8);
	free(object);
	sink++;
}

NOT_INLINED static void stack_read(void)
{
	volatile char object[13] = {1};

	sink += object[thirteen] + object[1];
}

NOT_INLINED static void global_read(void)
{
	sink += *(volatile char *)&global_object[thirteen];
}

NOT_INLINED static void copied_over(void)
{
	char *object = malloc(13);

	memset(object, sink, thirteen + 1);
	sink += object[2];
	free(object);
}

static void (*const leaves[])(void) = {
	heap_read_right, heap_write_right, heap_read_left, freed_read,	freed_write,
	freed_twice,	 freed_inside,	   stack_read,	   global_read, copied_over,
};
#define LEAVES (sizeof(leaves) / sizeof(*leaves))

/* A read behind the first bug of the same input: nobody meets it alone. */
NOT_INLINED static void second_read(void)
{
	char *object = malloc(29);

	sink += object[thirteen + 16];
	free(object);
}

#define CALLER(n)                                                  \
	NOT_INLINED static void caller_##n(void (*function)(void)) \
	{                                                          \
		function();                                        \
		sink += 1##n;                                      \
	}
#define EIGHT(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define ALL(m)	    EIGHT(m, 0)
ALL(CALLER)

#define NAME(n) caller_##n,
static void (*const callers[])(void (*function)(void)) = {ALL(NAME)};
#define CALLERS (sizeof(callers) / sizeof(*callers))

/* --- The rest ----------------------------------------------------------------------------------- */

/* The compiler must not see that it never ends. */
static int deep(int n)
{
	volatile char room[4096];

	room[0] = (char)n;
	return thirteen ? deep(n + 1) + room[0] : 0;
}

/* The fuzzer's mailbox is a variable of the kernel, which begins at a page and with a magic word. */
extern char __bss_start[], __bss_stop[];

NOT_CHECKED static volatile uint32_t *mailbox(void)
{
	uintptr_t page = ((uintptr_t)__bss_start + 4095) & ~(uintptr_t)4095;

	while (page + 4096 < (uintptr_t)__bss_stop && *(volatile uint64_t *)page != MAGIC)
		page += 4096;
	return (volatile uint32_t *)page;
}

/* The first 128 bytes are the mailbox's own words, 32 bits each; number 47 stands for all of a page. */
#define WORDS 48

NOT_CHECKED static void smash(unsigned int word)
{
	volatile uint32_t *words = mailbox();

	if (word == WORDS - 1)
		for (int i = 0; i < 1024; i++)
			words[i] = 0xffffffff;
	else
		words[word] = 0xdeadbeef;
}

NOT_CHECKED static void crash(unsigned int how)
{
	if (how == 0)
		*(volatile int *)(uintptr_t)8 = 1;
	else if (how == 1)
		__asm__ volatile("udf #0");
	else
		((void (*)(void))(uintptr_t)0x1000)();
}

static void flood(void)
{
	for (;;)
		printf("The quick brown fox jumps over the lazy dog, and never gets tired of "
		       "it.\n");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int first, second;

	if (size != 3)
		return 0;
	first = data[1];
	second = data[2];
	switch (data[0]) {
	case 'r': /* a report */
		record('r', first % LEAVES, second % CALLERS);
		callers[second % CALLERS](leaves[first % LEAVES]);
		break;
	case 't': /* two reports */
		record('r', 0, first % CALLERS);
		callers[first % CALLERS](heap_read_right);
		record('s', 0, second % CALLERS);
		callers[second % CALLERS](second_read);
		break;
	case 'm': /* the mailbox */
		record('m', first % WORDS, 0);
		smash(first % WORDS);
		break;
	case 'h': /* a hang */
		record('h', 0, 0);
		for (;;)
			sink++;
	case 'c': /* a crash */
		record('c', first % 3, 0);
		crash(first % 3);
		break;
	case 'w': /* a wild write */
		record('w', 0, 0);
		*(volatile char *)(0x123456789000ULL + first) = 1;
		break;
	case 'o': /* the stack */
		record('o', 0, 0);
		sink = deep(0);
		break;
	case 'f': /* the input */
		record('f', 0, 0);
		free((void *)data);
		break;
	case 'M': /* a million reports */
		record('M', 0, 0);
		for (int i = 0; i < 1000000; i++)
			sink += data[size + i % 3];
		break;
	case 'x': /* the end of the program */
		record('x', 1 + first % 16, 0);
		exit(1 + (int)first % 16);
	case 'a':
		record('a', 0, 0);
		abort();
	case 'p': /* a console without an end */
		record('p', 0, 0);
		flood();
		break;
	default:
		break;
	}
	return 0;
}
