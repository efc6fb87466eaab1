/* SPDX-License-Identifier: MIT */
/*
 * cost.c - what the heap hooks cost: instructions of a pair of malloc() and free() with and without them, with and
 * without traces, and the bytes that an object takes more. One line "cost NAME NUMBER" each.
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
	return (((board_ticks() - start) & 0xffffff) * 40 + PAIRS / 2) / PAIRS;
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
	return 0;
}
