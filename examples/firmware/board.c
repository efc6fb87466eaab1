/* SPDX-License-Identifier: MIT */
/* board.c - the serial line, the start, and how the firmware stops. */
#include "firmware.h"

void put(char c)
{
	*(volatile unsigned char *)0x10000000 = (unsigned char)c;
}

void print(const char *text)
{
	while (*text)
		put(*text++);
}

_Noreturn void stop(const char *why)
{
	print(why);
	*(volatile unsigned int *)0x100000 = 0x5555;
	for (;;)
		;
}

_Noreturn void start(void)
{
	main();
	stop("firmware: end\n");
}
