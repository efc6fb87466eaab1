/* SPDX-License-Identifier: MIT */
/*
 * log.c - LOG=1: reports go into a buffer, and a task prints it later, so that interrupts are off for the time of copying
 * and not of the serial line. Never instrumented.
 */
#include "log.h"

#include "board.h"

#define SIZE 8192U /* bytes, a power of two */

/* Written by reports, of which there is one at a time; read by one task. */
static char buffer[SIZE];
static volatile unsigned int written, taken, lost;

static void put(char c)
{
	buffer[written % SIZE] = c;
	__atomic_store_n(&written, written + 1, __ATOMIC_RELEASE);
}

void log_line(const char *text)
{
	unsigned int length = 0;

	while (text[length])
		length++;
	/* A whole line or nothing: half a line could not be parsed. */
	if (length + 1 > SIZE - (written - taken)) {
		lost = lost + 1;
		return;
	}
	while (*text)
		put(*text++);
	put('\n');
}

unsigned int log_drain(void)
{
	const unsigned int lines = lost;
	char piece[2] = "";

	while (taken != __atomic_load_n(&written, __ATOMIC_ACQUIRE)) {
		piece[0] = buffer[taken % SIZE];
		taken = taken + 1;
		board_puts(piece);
	}
	lost = lost - lines;
	return lines;
}
