/* SPDX-License-Identifier: MIT */
/*
 * stack_use.c - instead of the example's main.c: how much stack each hook takes, and a report. The memory below the stack
 * pointer is filled, the hook is called, and what is no longer as it was filled tells. Not instrumented.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "board.h"
#include "heap.h"

#define FILL 0x5a
#ifdef __arm__
#define REACH 3072 /* of 4 KiB */
#else
#define REACH 12288 /* of 16 KiB */
#endif
#define NEAR 48 /* this function's own calls */

static void *object, *other;

static void check(void)
{
	kasan_check_read(object, 4);
}

static void do_malloc(void)
{
	object = malloc(40);
}

static void do_free(void)
{
	free(object);
}

static void do_realloc(void)
{
	object = realloc(object, 60);
}

static void do_memcpy(void)
{
	memcpy(object, other, 16);
}

static void overflow(void)
{
	kasan_check_write((char *)object + 60, 1);
}

static void after_free(void)
{
	kasan_check_read(other, 4);
}

static void double_free(void)
{
	free(other);
}

static void do_free_other(void)
{
	free(other);
}

static __attribute__((noinline)) uintptr_t here(void)
{
	return (uintptr_t)__builtin_frame_address(0);
}

static void fill(uintptr_t low, uintptr_t high)
{
	volatile unsigned char *at;

	for (at = (unsigned char *)low; at < (unsigned char *)high; at++)
		*at = FILL;
}

static uintptr_t touched(uintptr_t low, uintptr_t high)
{
	const volatile unsigned char *at = (const unsigned char *)low;

	while (at < (const unsigned char *)high && *at == FILL)
		at++;
	return high - (uintptr_t)at;
}

static void say(const char *name, uintptr_t bytes)
{
	kasan_report_line("stack-use: %s %lu", name, (unsigned long)bytes);
}

/* @own: the stack for reports was used. */
static __attribute__((noinline)) uintptr_t measure(const char *name, void (*code)(void))
{
	const uintptr_t top = here();
	size_t size = 0;
	char *own = kasan_port_report_stack(&size);
	uintptr_t used;

	fill(top - REACH, top - NEAR);
	if (own)
		fill((uintptr_t)own, (uintptr_t)own + size);
	code();
	used = touched(top - REACH, top);
	say(name, used);
	if (own && touched((uintptr_t)own + 16, (uintptr_t)own + size))
		kasan_report_line(
			"stack-use: %s-own %lu", name,
			(unsigned long)touched((uintptr_t)own + 16, (uintptr_t)own + size));
	return used;
}

int main(void)
{
	other = malloc(40);
	/* Twice: the first time blocks for traces are made, and that counts as well. */
	measure("malloc", do_malloc);
	measure("check", check);
	measure("memcpy", do_memcpy);
	measure("realloc", do_realloc);
	measure("report", overflow);
	measure("free", do_free_other);
	measure("report", after_free);
	measure("report", double_free);
	measure("free", do_free);
	measure("malloc", do_malloc);
	measure("free", do_free);
	board_puts("stack-use: done\n");
	return 0;
}
