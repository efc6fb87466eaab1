/* SPDX-License-Identifier: MIT */
/*
 * fill.c - what a 32-bit runtime writes at the end of the address space, where the address after the last byte is 0: memory,
 * and the shadow of a layout that lies there. It boots on a riscv32 machine with 2 GiB of RAM, which end at 0xffffffff.
 *
 * There is no memory at address 0: a store that wraps around is a fault.
 */
#include "../../runtime/shadow/shadow.h"

/* --- The board --- */

int main(void);
void _start(void);

__attribute__((naked, section(".vectors"))) void _start(void)
{
	__asm__("la sp, __stack_end\n\t"
		"la t0, fault\n\t"
		"csrw mtvec, t0\n\t"
		"j main");
}

static void put(const char *text)
{
	while (*text)
		*(volatile char *)0x10000000 = *text++;
}

__attribute__((__noreturn__)) static void leave(const char *text)
{
	put(text);
	for (;;)
		*(volatile uint32_t *)0x100000 = 0x5555;
}

static __attribute__((used, aligned(4))) void fault(void)
{
	leave("fill: a fault\n");
}

/* --- What the runtime calls --- */

void kasan_port_panic(const char *why)
{
	leave(why);
}

unsigned long kasan_port_irq_save(void)
{
	return 0;
}

void kasan_port_irq_restore(unsigned long flags)
{
	(void)flags;
}

/* --- The tests --- */

#define SIZE 2048U
#define OLD  0x55

static volatile uint8_t *const top = (volatile uint8_t *)(0U - SIZE);
static uint8_t source[SIZE];
static unsigned int failures;

static void set_up(void)
{
	for (unsigned int i = 0; i < SIZE; i++)
		top[i] = OLD;
}

/* The @count bytes that end @gap bytes before the end are @value, and no others. */
static bool wrote(unsigned int count, unsigned int gap, uint8_t value)
{
	for (unsigned int i = 0; i < SIZE; i++) {
		if (top[i] != (i < SIZE - gap && i >= SIZE - gap - count ? value : OLD))
			return false;
	}
	return true;
}

static void expect(bool ok, const char *what, unsigned int count, unsigned int gap)
{
	if (ok || failures++ >= 10)
		return;
	put("fill: wrong: ");
	put(what);
	for (unsigned int i = 0; i < 12; i++)
		put((const char[]){
			i % 6 ? "0123456789abcdef"[((i < 6 ? count : gap) >> (20 - i % 6 * 4)) & 15]
			      : ' ',
			0});
	put("\n");
}

static void memory(unsigned int count, unsigned int gap)
{
	void *const at = (void *)(0U - gap - count);

	set_up();
	__memset(at, 0xa7, count);
	expect(wrote(count, gap, 0xa7), "__memset", count, gap);
	set_up();
	__memcpy(at, source, count);
	expect(wrote(count, gap, 0xa7), "__memcpy", count, gap);
	set_up();
	__memmove(at, source, count);
	expect(wrote(count, gap, 0xa7), "__memmove", count, gap);
}

/* The layout's shadow ends with the address space: @count granules that end @gap granules before the end. */
static void shadow(unsigned int count, unsigned int gap)
{
	void *const at = (void *)(0U - (gap + count) * 8);

	set_up();
	kasan_poison(at, count * 8, 0xa7);
	expect(wrote(count, gap, 0xa7), "kasan_poison", count, gap);
	kasan_unpoison(at, count * 8);
	expect(wrote(count, gap, 0), "kasan_unpoison", count, gap);
	if (count * 8 % 4096)
		return;
	set_up();
	kasan_fill_pages((uintptr_t)at, count * 8, 0xa7);
	expect(wrote(count, gap, 0xa7), "kasan_fill_pages", count, gap);
}

int main(void)
{
	kasan_set_reporting(KASAN_LIVE);
	for (unsigned int i = 0; i < SIZE; i++)
		source[i] = 0xa7;
	for (unsigned int gap = 0; gap <= 5; gap++) {
		for (unsigned int count = 0; count <= 80; count++) {
			memory(count, gap);
			shadow(count, gap);
		}
	}
	for (unsigned int gap = 0; gap <= 512; gap += 512) {
		for (unsigned int count = 512; count <= 1536; count += 512)
			shadow(count, gap);
	}
	leave(failures ? "fill: failed\n" : "fill: passed\n");
}
