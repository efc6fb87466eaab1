// SPDX-License-Identifier: MIT
/* off.c - <kasan/asan_interface.h> in a kernel without KASAN: programs are linked with the functions all the same, and
 * each gives the answer that the header has for a system without a mode. */
#define KASAN_INTERFACE_LINKED
#define KASAN_ASK
#define KASAN_NO_ANSWER(...) \
	{                    \
		__VA_ARGS__; \
	}                    \
	struct off_ends

/* The header defines them here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include <kasan/asan_interface.h>
