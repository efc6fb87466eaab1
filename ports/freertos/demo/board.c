/* SPDX-License-Identifier: MIT */
/*
 * board.c - the machines: serial line, reset, vectors, the end. Not checked: it runs before there is shadow.
 */
#include <stddef.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "task.h"

#include "board.h"

extern char __data_load[], __data_start[], __data_end[], __bss_start[], __bss_end[];
extern void (*__preinit_array_start[])(void);
extern void (*__init_array_end[])(void);

/* As a C library's start file does it: memory, then constructors, then main(). The linker script puts .preinit_array
 * in front of .init_array. */
static __attribute__((used, noreturn)) void start(void)
{
	void (**call)(void);
	volatile char *to;
	const char *from = __data_load;

	for (to = __data_start; from != to && to < __data_end; to++)
		*to = *from++;
	for (to = __bss_start; to < __bss_end; to++)
		*to = 0;
	for (call = __preinit_array_start; call < __init_array_end; call++)
		(*call)();
	main();
	board_exit(1);
}

#ifdef __arm__

/* CMSDK UART. The second machine's is the secure alias. */
#if defined(__ARM_ARCH_8M_MAIN__)
#define UART 0x50200000
#else
#define UART 0x40004000
#endif
#define UART_DATA  (*(volatile uint32_t *)(UART + 0))
#define UART_STATE (*(volatile uint32_t *)(UART + 4))
#define UART_CTRL  (*(volatile uint32_t *)(UART + 8))
#define UART_BAUD  (*(volatile uint32_t *)(UART + 16))

/* An interrupt that no device of these machines raises. */
#define IRQ	  31
#define NVIC_ISER (*(volatile uint32_t *)0xe000e100)
#define NVIC_ISPR (*(volatile uint32_t *)0xe000e200)
#define NVIC_IPR  ((volatile uint8_t *)0xe000e400)

extern char __stack_end[];
void SVC_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);
void Reset_Handler(void);

void Reset_Handler(void)
{
	start();
}

static void no_handler(void)
{
	board_puts("unexpected interrupt\n");
	board_exit(3);
}

__attribute__((used, section(".vectors"))) static void (*const vectors[16 + 32])(void) = {
	[0] = (void (*)(void))__stack_end,
	[1] = Reset_Handler,
	[2] = no_handler,
	[3] = kasan_cortexm_fault_entry,
	[4] = kasan_cortexm_fault_entry,
	[5] = kasan_cortexm_fault_entry,
	[6] = kasan_cortexm_fault_entry,
	[11] = SVC_Handler,
	[14] = PendSV_Handler,
	[15] = SysTick_Handler,
	[16 + IRQ] = demo_interrupt,
};

void kasan_freertos_putc(char c)
{
	UART_BAUD = 16;
	UART_CTRL = 1;
	while (UART_STATE & 1)
		;
	UART_DATA = (uint32_t)c;
}

void board_interrupt(void)
{
	/* Below the priority of FreeRTOS's critical sections, so that it may call functions "FromISR". */
	NVIC_IPR[IRQ] = 0xe0;
	NVIC_ISER = 1U << IRQ;
	NVIC_ISPR = 1U << IRQ;
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}

_Noreturn void board_exit(int status)
{
	/* Semihosting: SYS_EXIT_EXTENDED, ADP_Stopped_ApplicationExit. */
	uint32_t block[2] = {0x20026, (uint32_t)status};
	register uint32_t op __asm__("r0") = 0x20;
	register uint32_t *argument __asm__("r1") = block;

	for (;;)
		__asm__ volatile("bkpt 0xab" : "+r"(op) : "r"(argument) : "memory");
}

#else

#define UART   ((volatile uint8_t *)0x10000000)
#define FINISH (*(volatile uint32_t *)0x00100000)
#define MSIP   (*(volatile uint32_t *)0x02000000)

__attribute__((naked, used, section(".vectors"))) void _start(void)
{
	__asm__ volatile(".option push\n"
			 ".option norelax\n"
			 "	la	gp, __global_pointer$\n"
			 ".option pop\n"
			 "	la	sp, __stack_end\n"
			 "	li	s0, 0\n"
			 "	la	t0, freertos_risc_v_trap_handler\n"
			 "	csrw	mtvec, t0\n"
			 "	j	start\n");
}

void kasan_freertos_putc(char c)
{
	while (!(UART[5] & 0x20))
		;
	UART[0] = (uint8_t)c;
}

void freertos_risc_v_application_interrupt_handler(void);

void freertos_risc_v_application_interrupt_handler(void)
{
	MSIP = 0;
	demo_interrupt();
}

void board_interrupt(void)
{
	MSIP = 1;
	__asm__ volatile("csrs mie, %0\n\tfence" : : "r"(8) : "memory");
	/* It comes a moment later. */
	while (*(volatile uint32_t *)&MSIP)
		;
}

_Noreturn void board_exit(int status)
{
	FINISH = status ? (uint32_t)status << 16 | 0x3333 : 0x5555;
	for (;;)
		;
}

#endif

void board_puts(const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			kasan_freertos_putc('\r');
		kasan_freertos_putc(*text);
	}
}

void board_putu(unsigned long value)
{
	char text[21];
	unsigned int n = sizeof(text) - 1;

	text[n] = '\0';
	do {
		text[--n] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	board_puts(text + n);
}

#if DEMO_HEAP == 3

/* The C library asks for memory: newlib by the first name, picolibc by the second. */
void *_sbrk(ptrdiff_t size);
void *sbrk(ptrdiff_t size);

void *_sbrk(ptrdiff_t size)
{
	static char pool[configTOTAL_HEAP_SIZE] __attribute__((aligned(16)));
	static size_t used;
	void *old = pool + used;

	if (used + (size_t)size > sizeof(pool))
		return (void *)-1;
	used += (size_t)size;
	return old;
}

void *sbrk(ptrdiff_t size)
{
	return _sbrk(size);
}

#endif

void demo_assert(const char *file, int line)
{
	taskDISABLE_INTERRUPTS();
	board_puts("assertion failed: ");
	board_puts(file);
	board_puts(":");
	board_putu((unsigned long)line);
	board_puts("\n");
	board_exit(3);
}

void kasan_freertos_panic(const char *why)
{
	(void)why;
	board_exit(3);
}
