/* SPDX-License-Identifier: MIT */
/*
 * board.c - serial line, exit, and the order of the start. Not instrumented: all of it runs before there
 * is shadow, or inside a report.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "board.h"
#include "heap.h"
#include "tasks.h"
#include "x86_64.h"
#ifdef CONFIG_KASAN_SAMPLE
#include "cortexm_sample.h"
#endif

#ifdef __x86_64__
static void out_byte(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}
#endif

void board_puts(const char *text)
{
#ifdef __x86_64__
	for (; *text; text++) {
		if (*text == '\n')
			out_byte(BOARD_COM1, '\r');
		out_byte(BOARD_COM1, (uint8_t)*text);
	}
#else
#if defined(__aarch64__) || defined(__arm__)
	volatile uint32_t *data = (volatile uint32_t *)BOARD_UART;
#else
	volatile uint8_t *data = (volatile uint8_t *)BOARD_UART;
#endif

#ifdef __arm__
	data[4] = 16; /* baud rate divider */
	data[2] = 1;  /* transmitter on */
#endif

	for (; *text; text++) {
		if (*text == '\n')
			*data = '\r';
		*data = (unsigned char)*text;
	}
#endif
}

_Noreturn void board_exit(int status)
{
#ifdef __aarch64__
	/* Semihosting: SYS_EXIT_EXTENDED with ADP_Stopped_ApplicationExit. */
	const uint64_t block[2] = {0x20026, (uint64_t)status};
	register uint64_t operation __asm__("x0") = 0x20;
	register const uint64_t *argument __asm__("x1") = block;

	__asm__ volatile("hlt #0xf000" : : "r"(operation), "r"(argument) : "memory");
#elif defined(__arm__)
	const uint32_t block[2] = {0x20026, (uint32_t)status};
	register uint32_t operation __asm__("r0") = 0x20;
	register const uint32_t *argument __asm__("r1") = block;

	__asm__ volatile("bkpt 0xab" : : "r"(operation), "r"(argument) : "memory");
#elif defined(__x86_64__)
	/* QEMU's device for this makes 2 * status + 1 of it, so success is ACPI's power button. */
	if (!status)
		__asm__ volatile("outw %0, %1" : : "a"((uint16_t)0x2000), "Nd"((uint16_t)0x604));
	else
		out_byte(0xf4, (uint8_t)status);
#else
	/* The board's test device: 0x5555 is success, 0x3333 a failure with a status above. */
	*(volatile uint32_t *)BOARD_TEST = status ? (uint32_t)status << 16 | 0x3333 : 0x5555;
#endif
	for (;;)
		;
}

#ifndef CONFIG_KASAN
void *memcpy(void *dst, const void *src, size_t n)
{
	return __memcpy(dst, src, n);
}

void *memset(void *dst, int c, size_t n)
{
	return __memset(dst, c, n);
}
#endif

#ifndef TEMPLATE_HARTS /* whose start is in riscv_port.c */
static void or_stop(const char *wrong)
{
	if (!wrong)
		return;
	board_puts("kasan: ");
	board_puts(wrong);
	board_puts("\n");
	board_exit(4);
}

#ifdef CONFIG_KASAN_SAMPLE
static void sampling_start(void)
{
	static char pool[KASAN_CORTEXM_SAMPLE_BYTES]
		__attribute__((__aligned__(KASAN_CORTEXM_SAMPLE_ALIGN)));

	if (!kasan_cortexm_sample_start(pool, TASKS_REGIONS))
		or_stop("the MPU has too few regions for sampling");
	/* SysTick: the processor's clock, and an interrupt each 10 ms. */
	*(volatile uint32_t *)0xe000e014 = BOARD_CLOCK / 100 - 1;
	*(volatile uint32_t *)0xe000e018 = 0;
	*(volatile uint32_t *)0xe000e010 = 7;
}

void board_systick(void)
{
	static unsigned long ms;

	ms += 10;
	kasan_sample_tick(ms);
}
#endif

/* Constructors register the globals of instrumented files. */
static void run_constructors(void)
{
	typedef void (*constructor)(void);
	extern const constructor __init_array_start[], __init_array_end[];
	const constructor *at;

	for (at = __init_array_start; at < __init_array_end; at++)
		(*at)();
}

_Noreturn void board_start(void)
{
	const uintptr_t start = (uintptr_t)__kasan_window_start;
	const size_t size = (uintptr_t)__kasan_window_end - start;

	/* Firmware allocates early; such a chunk is adopted when it comes back. */
	early_chunk = malloc(40);

#ifdef CONFIG_KASAN_TAGS
	or_stop(tags_start());
	/* 64 KiB; the default is 1 MiB. */
	kasan_option("kasan.stack_ring_size", "2048");
#elif defined(__x86_64__)
	or_stop(paging_add_windows());
#elif defined(CONFIG_KASAN)
	or_stop(kasan_window_add(start, size, __kasan_shadow_start));
#endif
	heap_watch();
	kasan_option("kasan_multi_shot", "on");
#if defined(__arm__) || defined(__x86_64__)
	tasks_start();
#endif
	/* Before the constructors: those of C++ programs run code that has bugs as well. */
	kasan_init(size);
	run_constructors();
#ifdef CONFIG_KASAN_SAMPLE
	sampling_start();
#endif
#ifdef __x86_64__
	cpu_start_second();
	cpu_timer_on();
#endif
	board_exit(main());
}
#endif
