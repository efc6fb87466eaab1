/* SPDX-License-Identifier: MIT */
/*
 * bugs.c - planted bugs, instrumented: one line "bug NAME" before each and "end NAME" behind it, so that a test can tell
 * which reports belong to which. Those of the stack and of globals are not seen in the compact layout.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "board.h"

static char table[10];

static size_t runtime(size_t value)
{
	__asm__ volatile("" : "+r"(value));
	return value;
}

static void heap_overflow(void)
{
	char *text = malloc(13);

	text[runtime(13)] = 0;
	free(text);
}

static void heap_underflow(void)
{
	volatile char *text = malloc(32);

	(void)text[runtime(0) - 1];
	free((void *)text);
}

static void large_overflow(void)
{
	char *text = malloc(1003);

	text[runtime(1002)] = 1;
	text[runtime(1003)] = 1;
	free(text);
}

static void copy_overflow(void)
{
	char *to = malloc(20);

	memset(to, 1, runtime(20));
	memset(to, 1, runtime(40));
	free(to);
}

static void use_after_free(void)
{
	uint32_t *words = malloc(16);

	free(words);
	words[runtime(2)] = 7;
}

static void double_free(void)
{
	char *text = malloc(8);

	free(text);
	free((void *)runtime((size_t)text));
}

static void invalid_free(void)
{
	char *text = malloc(80);

	free(text + runtime(16));
	free(text);
}

static void global_overflow(void)
{
	((char *)runtime((size_t)table))[sizeof(table)] = 1;
}

static void stack_overread(void)
{
	char name[12] = "";

	__asm__ volatile("" : : "r"(name) : "memory");
	(void)*(volatile char *)&name[runtime(14)];
}

static void header_lost(void)
{
	char *text = malloc(21);

	/* By a device, or by code without checks. */
	__memset(text - 20, 0x41, 8);
	text[runtime(20)] = 1;
	text[runtime(24)] = 1;
	free(text);
}

static void correct_use(void)
{
	char *text;

	for (size_t size = 1; size < 200; size += 3) {
		text = malloc(size);
		memset(text, 1, runtime(size));
		for (size_t i = 0; i < size; i++)
			text[runtime(i)] = 2;
		free(text);
	}
	((char *)runtime((size_t)table))[9] = 1;
}

static const struct {
	const char *name;
	void (*run)(void);
} bugs[] = {
	{"heap_overflow", heap_overflow},     {"heap_underflow", heap_underflow},
	{"large_overflow", large_overflow},   {"copy_overflow", copy_overflow},
	{"use_after_free", use_after_free},   {"double_free", double_free},
	{"invalid_free", invalid_free},	      {"header_lost", header_lost},
	{"global_overflow", global_overflow}, {"stack_overread", stack_overread},
	{"correct_use", correct_use},
};

static void say(const char *what, const char *name)
{
	board_puts(what);
	board_puts(name);
	board_puts("\n");
}

int program(void)
{
	for (unsigned int i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++) {
		say("bug ", bugs[i].name);
		bugs[i].run();
		say("end ", bugs[i].name);
	}
	return 0;
}
