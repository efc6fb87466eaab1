/* SPDX-License-Identifier: MIT */
/* record.c - the main program of test_record.py: bugs, a reset, and at the next boots the crash record as hex digits. */
#include <kasan/kasan.h>

#include "board.h"
#include "heap.h"

/* Outside of the window and its shadow. QEMU starts with zeroes, and a reset keeps what the image does not load. */
#ifdef __arm__
#define RECORD (__kasan_window_start + 0x3f0000UL)
#else
#define RECORD (__kasan_window_start + (32UL << 20))
#endif
#define SIZE  512
#define SEEN  ((volatile unsigned int *)(RECORD + SIZE))
#define START ((volatile unsigned int *)(RECORD + SIZE + 64))

static char table[10];

static size_t runtime(size_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

__attribute__((noinline)) static void overflow(char *text)
{
	text[runtime(16)] = 0;
}

static void heap_overflow(void)
{
	char *text = malloc(16);

	overflow(text);
	free(text);
	runtime(1);
}

static void use_after_free(void)
{
	char *text = malloc(24);

	free(text);
	text[runtime(3)] = 1;
}

static void double_free(void)
{
	char *text = malloc(8);

	free(text);
	free((void *)runtime((size_t)text));
	runtime(1);
}

static void global_overflow(void)
{
	((char *)runtime((size_t)table))[sizeof(table)] = 1;
	runtime(1);
}

static void reset(void)
{
#ifdef __aarch64__
	register unsigned long function __asm__("x0") = 0x84000009; /* PSCI: SYSTEM_RESET */

	__asm__ volatile("hvc #0" : "+r"(function) : : "memory");
#else
	*(volatile unsigned int *)0xe000ed0c = 0x05fa0004; /* AIRCR: SYSRESETREQ */
#endif
	for (;;)
		;
}

static void show(void)
{
	static unsigned char copy[SIZE];
	const size_t length = kasan_record_read(copy, SIZE);
	char digits[3] = "";
	size_t i;

	board_puts("record ");
	for (i = 0; i < length; i++) {
		digits[0] = "0123456789abcdef"[copy[i] >> 4];
		digits[1] = "0123456789abcdef"[copy[i] & 15];
		board_puts(digits);
	}
	board_puts("\n");
}

int main(void)
{
	const size_t length = kasan_record_start(RECORD, SIZE);

	*START += 1;
	if (*START > 4)
		return 5;
	if (!length) {
		heap_overflow();
		use_after_free();
		global_overflow();
		reset();
	}
	show();
	if (!*SEEN) {
		*SEEN = 1;
		double_free();
		reset();
	}
	if (!kasan_record_clear())
		return 6;
	show();
	return 0;
}
