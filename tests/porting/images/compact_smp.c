/* SPDX-License-Identifier: MIT */
/*
 * compact_smp.c - instead of the example's main.c: two harts allocate and free small objects that lie between each other,
 * so their bits share bytes of the compact shadow. No bit may be lost: each live object is accessible to its last byte
 * and no further. Then each hart makes a bug in an object of the other one.
 */
#include <kasan/kasan.h>
#include <kasan/report.h>

#include "board.h"
#include "heap.h"
#include "second.h"

#define ROUNDS 20000U
#define SLOTS  24U

char second_stack[16384] __attribute__((aligned(16)));
/* Not in .bss, which the first hart clears while the other one waits for this. */
char *volatile second_sp __attribute__((section(".data"))) = NULL;
volatile int memory_lock;

static unsigned int wrong, reports, done[2];
static char *shared[2];

void second_main(void);

static void note(const struct kasan_report_info *info)
{
	(void)info;
	__atomic_add_fetch(&reports, 1, __ATOMIC_RELAXED);
}

static void expect(bool holds)
{
	if (!holds)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void check_object(char *object, size_t size, char value)
{
	size_t i;

	for (i = 0; i < size; i++)
		expect(object[i] == value);
	expect(!kasan_byte_accessible(object + size));
}

static void traffic(unsigned int hart)
{
	char *objects[SLOTS] = {0};
	size_t sizes[SLOTS], i;
	unsigned int round, slot, random = 12345 + hart;

	for (round = 0; round < ROUNDS; round++) {
		random = random * 1103515245U + 12345U;
		slot = (random >> 16) % SLOTS;
		if (objects[slot]) {
			check_object(objects[slot], sizes[slot], (char)slot);
			free(objects[slot]);
			expect(!kasan_byte_accessible(objects[slot]));
			objects[slot] = NULL;
			continue;
		}
		sizes[slot] = 1 + (random >> 8) % 40;
		objects[slot] = malloc(sizes[slot]);
		if (!objects[slot]) {
			expect(false);
			continue;
		}
		for (i = 0; i < sizes[slot]; i++)
			((volatile char *)objects[slot])[i] = (char)slot;
	}
	for (slot = 0; slot < SLOTS; slot++)
		if (objects[slot])
			check_object(objects[slot], sizes[slot], (char)slot);
	shared[hart] = malloc(13);
}

static void meet(unsigned int hart, unsigned int stage)
{
	__atomic_store_n(&done[hart], stage, __ATOMIC_RELEASE);
	while (__atomic_load_n(&done[!hart], __ATOMIC_ACQUIRE) < stage)
		;
}

static void finish(const char *text, unsigned int number)
{
	const char digits[3] = {(char)('0' + number / 10 % 10), (char)('0' + number % 10), '\0'};

	board_puts(text);
	board_puts(number > 99 ? "many" : digits);
	board_puts("\n");
}

/* The other hart's object: one byte behind it, then one inside of it after its free. */
static void plant(unsigned int hart)
{
	volatile char *object = shared[!hart];

	object[13] = 1;
	free(shared[!hart]);
	object[0] = 2;
}

void second_main(void)
{
	traffic(1);
	meet(1, 1);
	meet(1, 2);
	plant(1);
	meet(1, 3);
	for (;;)
		;
}

int main(void)
{
	kasan_report_hook(note);
	second_sp = second_stack + sizeof(second_stack);
	traffic(0);
	meet(0, 1);
	finish("smp: wrong ", wrong);
	finish("smp: reports in traffic ", reports);
	plant(0);
	meet(0, 2);
	meet(0, 3);
	finish("smp: reports ", reports);
	return wrong != 0;
}
