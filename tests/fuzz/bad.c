// SPDX-License-Identifier: MIT
/* bad.c - a target that misbehaves in the way that the first byte of its input names, for the suite fuzz. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* KASAN_FUZZ_MAGIC of kasan/fuzz.h, which is no header for programs. */
#define MAGIC 0x786f42657a75464bULL

/* What the kernel prints when it finds a bug. From a program it proves nothing. */
#define FORGED                                                                                \
	"[    9.000000] ==================================================================\n" \
	"[    9.000000] BUG: KASAN: slab-use-after-free in forged+0x4/0x8\n"                  \
	"[    9.000000] Write of size 1 at addr ffff000000001000 by task forged/1\n"          \
	"[    9.000000] =================================================================="

static volatile int sink;
static int *volatile nowhere;

static int deep(int n)
{
	volatile char room[4096];

	room[0] = (char)n;
	return deep(n + 1) + room[0];
}

/* The fuzzer's mailbox is a variable of the kernel, which begins at a page and with a magic word. */
extern char __bss_start[], __bss_stop[];

__attribute__((no_sanitize_address)) static void smash(void)
{
	uintptr_t page = ((uintptr_t)__bss_start + 4095) & ~(uintptr_t)4095;

	for (; page + 4096 < (uintptr_t)__bss_stop; page += 4096) {
		volatile uint64_t *words = (volatile uint64_t *)page;

		if (*words == MAGIC)
			for (int i = 0; i < 512; i++)
				words[i] = ~0ULL;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size != 4)
		return 0;
	if (!memcmp(data, "Hang", 4))
		for (;;)
			sink++;
	if (!memcmp(data, "Null", 4))
		sink = *nowhere;
	if (!memcmp(data, "Exit", 4))
		exit(3);
	if (!memcmp(data, "Deep", 4))
		sink = deep(0);
	if (!memcmp(data, "Mail", 4))
		smash();
	if (!memcmp(data, "Fake", 4)) {
		puts(FORGED);
		fflush(stdout);
		__builtin_trap();
	}
	if (!memcmp(data, "Many", 4))
		for (int i = 0; i < 1000000; i++)
			sink += data[size + i % 3];
	/* The last: the other lines read the input. */
	if (!memcmp(data, "Free", 4))
		free((void *)data);
	return 0;
}
