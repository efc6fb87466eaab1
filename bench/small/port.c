/* SPDX-License-Identifier: MIT */
/*
 * port.c - start, console, and the functions that the runtime needs. Never instrumented: the start runs before there
 * is shadow.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "board.h"

#define SYSTICK ((volatile uint32_t *)0xe000e010) /* control, reload, current */

/* Semihosting: 4 writes a text, 0x20 ends with a status. */
static void semihost(uint32_t operation, const void *argument)
{
	register uint32_t r0 __asm__("r0") = operation;
	register const void *r1 __asm__("r1") = argument;

	__asm__ volatile("bkpt #0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void board_puts(const char *text)
{
	semihost(4, text);
}

_Noreturn void board_exit(int status)
{
	const uint32_t block[2] = {0x20026, (uint32_t)status};

	semihost(0x20, block);
	for (;;)
		;
}

uint32_t board_ticks(void)
{
	return 0xffffff - SYSTICK[2];
}

/* A loop of two instructions in each turn is the measure: boards clock the timer differently. */
uint32_t board_instructions(uint32_t ticks)
{
	enum { TURNS = 200000 };
	static uint32_t measure;
	uint32_t turns = TURNS, start;

	if (!measure) {
		start = board_ticks();
		__asm__ volatile(".syntax unified\n1:\tsubs	%0, %0, #1\n\tbne	1b"
				 : "+l"(turns)
				 :
				 : "cc");
		measure = (board_ticks() - start) & 0xffffff;
	}
	return (uint32_t)(((uint64_t)(ticks & 0xffffff) * 2 * TURNS + measure / 2) / measure);
}

/* --- Start --- */

static void or_stop(const char *wrong)
{
	if (!wrong)
		return;
	board_puts("small: ");
	board_puts(wrong);
	board_puts("\n");
	board_exit(4);
}

_Noreturn static void fault(void)
{
	board_puts("small: fault\n");
	board_exit(3);
}

_Noreturn void reset(void)
{
	extern char __data_start[], __data_end[], __data_from[], __bss_start[], __bss_end[];
	typedef void (*constructor)(void);
	extern const constructor __init_array_start[], __init_array_end[];
	const constructor *at;
	volatile uint32_t *word;
	const uint32_t *from = (const uint32_t *)__data_from;

	/* Words, and volatile: no compiler makes a call of memset() of it, which would be the checked one. */
	for (word = (uint32_t *)__data_start; word < (uint32_t *)__data_end;)
		*word++ = *from++;
	for (word = (uint32_t *)__bss_start; word < (uint32_t *)__bss_end;)
		*word++ = 0;
	SYSTICK[1] = 0xffffff;
	SYSTICK[2] = 0;
	SYSTICK[0] = 5;

	or_stop(kasan_window_add((uintptr_t)__kasan_window_start,
				 (uintptr_t)(__kasan_window_end - __kasan_window_start) & ~7UL,
				 __kasan_shadow_start));
	heap_watch();
	for (at = __init_array_start; at < __init_array_end; at++)
		(*at)();
#if !CONFIG_KASAN_MULTI_SHOT
	kasan_option("kasan_multi_shot", "on");
#endif
	kasan_init((size_t)(__heap_end - __heap_start));
	board_exit(program());
}

__attribute__((section(".vectors"), used)) static const struct {
	char *stack;
	void (*vector[15])(void);
} vectors = {__stack_end, {reset, fault, fault, fault, fault, fault}};

/* --- The runtime's --- */

void kasan_port_task(struct kasan_port_task *task)
{
	task->id = 1;
	task->name = "main";
	task->stack_start = (uintptr_t)__stack_start;
	task->stack_end = (uintptr_t)__stack_end;
}

void *kasan_port_alloc(size_t size)
{
	static char pool[POOL_BYTES] __attribute__((__aligned__(16)));
	static size_t used;
	void *block = pool + used;

	if (size > POOL_BYTES - used)
		return NULL;
	used += size;
	return block;
}

void kasan_port_print(const char *text)
{
	board_puts(text);
	board_puts("\n");
}

_Noreturn void kasan_port_panic(const char *why)
{
	kasan_port_print(why);
	board_exit(3);
}
