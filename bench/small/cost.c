/* SPDX-License-Identifier: MIT */
/*
 * cost.c - what KASAN costs: instructions of a pair of malloc() and free() with and without hooks, with and without
 * traces; instructions of an outline check; the bytes that an object takes more. One line "cost NAME NUMBER" each.
 *
 * 16 blocks are live all the time, as in a system at work, and the quarantine is full. The calls come from six functions
 * deep, so a trace has eight frames.
 */
#include <kasan/kasan.h>
#include <kasan/stats.h>

#include "board.h"

#define PAIRS 2000U

static void *(*take)(size_t);
static void (*give)(void *);
static void *kept[16];

static void put_number(uint32_t number)
{
	char text[12], *at = text + sizeof(text);

	*--at = 0;
	*--at = '\n';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	board_puts(at);
}

static void say(const char *name, uint32_t number)
{
	board_puts("cost ");
	board_puts(name);
	board_puts(" ");
	put_number(number);
}

__attribute__((noinline)) static void one_pair(void)
{
	void *block = take(40);

	__asm__ volatile("" : "+r"(block));
	give(block);
}

__attribute__((noinline)) static void pairs(unsigned int count)
{
	while (count--)
		one_pair();
}

__attribute__((noinline)) static void deep(unsigned int depth, unsigned int count)
{
	if (depth)
		deep(depth - 1, count);
	else
		pairs(count);
	__asm__ volatile("");
}

/* Return: instructions of one pair. */
__attribute__((noinline)) static uint32_t measure(unsigned int depth)
{
	uint32_t start;

	deep(depth, 200);
	start = board_ticks();
	deep(depth, PAIRS);
	return (board_instructions(board_ticks() - start) + PAIRS / 2) / PAIRS;
}

/* --- Checks --- */

typedef void check(uintptr_t addr, size_t size);

/* What compiled code calls before an access of 4 bytes, and before one of another size. */
void __asan_load4_noabort(uintptr_t addr);
check __asan_loadN_noabort;

__attribute__((noinline)) static void no_check(uintptr_t addr, size_t size)
{
	(void)addr;
	(void)size;
	__asm__ volatile("");
}

/* Return: ticks of PAIRS calls. */
__attribute__((noinline)) static uint32_t calls(check *one, uintptr_t addr, size_t size)
{
	const uint32_t start = board_ticks();

	for (unsigned int i = 0; i < PAIRS; i++)
		one(addr, size);
	return (board_ticks() - start) & 0xffffff;
}

/* The instructions of a check, from its first one to its return. */
static void say_check(const char *name, check *one, uintptr_t addr, size_t size)
{
	const uint32_t more = calls(one, addr, size) - calls(no_check, addr, size);

	/* The function that does nothing returns. */
	say(name, (board_instructions(more) + PAIRS / 2) / PAIRS + 1);
}

static void checks(void)
{
	check *const load4 = (check *)(void (*)(void))__asan_load4_noabort;
	const uintptr_t object = ((uintptr_t)malloc(256) + 31) & ~(uintptr_t)31;
	const uintptr_t small = (uintptr_t)malloc(16);
	uintptr_t edge = (uintptr_t)malloc(72);

	/* One end shares its 32 bytes with a redzone, wherever the object lies. */
	edge += edge % 32 ? 0 : 8;
	say_check("check_4", load4, object + 64, 4);
	say_check("check_4_edge", load4, small, 4);
	say_check("check_64", __asan_loadN_noabort, object + 64, 64);
	say_check("check_64_edge", __asan_loadN_noabort, edge, 64);
}

static uint32_t room(void *(*from)(size_t), size_t size)
{
	char *a = from(size), *b = from(size);

	return (uint32_t)(b > a ? b - a : a - b);
}

int program(void)
{
	struct kasan_depot_stats stats = {0};
	unsigned int i;

	/* Fresh memory from the end of the heap, so that two blocks are neighbours. */
	say("room_raw_40", room(raw_malloc, 40));
	say("room_40", room(malloc, 40));
	say("room_raw_13", room(raw_malloc, 13));
	say("room_13", room(malloc, 13));
	say("heap", (uint32_t)(__heap_end - __heap_start));
	say("shadow", (uint32_t)(uintptr_t)__kasan_shadow_size);
	for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		kept[i] = malloc(24);
	take = raw_malloc;
	give = raw_free;
	say("pair_raw", measure(5));
	take = malloc;
	give = free;
	say("pair_traces", measure(5));
	say("pair_traces_shallow", measure(1));
	kasan_depot_stats(&stats);
	say("trace_bytes", (uint32_t)(stats.bytes / stats.traces));
	say("traces", (uint32_t)stats.traces);
	kasan_option("kasan.stacktrace", "off");
	say("pair_no_traces", measure(5));
	/* Last, because its objects stay. */
	checks();
	return 0;
}
