/* SPDX-License-Identifier: MIT */
/*
 * cortexm_start.c - Cortex-M: the vector table, and the entry: .data, an empty .bss, then board_start(). Never
 * instrumented; it calls nothing before .bss is empty.
 */
#include "board.h"
#include "cortexm_fault.h"

extern char __data_start[], __data_end[], __data_load[], __bss_start[], __bss_end[];

void _start(void);

_Noreturn static void unexpected(void)
{
	board_puts("unexpected exception\n");
	board_exit(5);
}

#ifdef CONFIG_KASAN_SAMPLE
#define SYSTICK board_systick
#else
#define SYSTICK unexpected
#endif

__attribute__((section(".vectors"), used)) static const struct {
	void *stack;
	void (*handler[15])(void);
} vectors = {
	__stack_end,
	{
		_start, unexpected,					    /* NMI */
		kasan_cortexm_fault_entry,				    /* HardFault */
		kasan_cortexm_fault_entry,				    /* MemManage */
		kasan_cortexm_fault_entry,				    /* BusFault */
		kasan_cortexm_fault_entry,				    /* UsageFault */
		unexpected, unexpected, unexpected, unexpected, unexpected, /* SVCall */
		unexpected, unexpected, unexpected,			    /* PendSV */
		SYSTICK,						    /* SysTick */
	},
};

_Noreturn void _start(void)
{
	volatile uint32_t *to = (volatile uint32_t *)__data_start;
	const volatile uint32_t *from = (const volatile uint32_t *)__data_load;

	while (to < (volatile uint32_t *)__data_end)
		*to++ = *from++;
	for (to = (volatile uint32_t *)__bss_start; to < (volatile uint32_t *)__bss_end; to++)
		*to = 0;
	board_start();
}
