/* SPDX-License-Identifier: MIT */
/*
 * machine.c - the end: leave the emulator with a status, or switch the machine off.
 *
 * Not instrumented: this is the last step of every panic.
 */
#include <kernel/arch.h>
#include <asm/barrier.h>
#include <asm/irqflags.h>
#include <drivers/uart.h>
#include "internal.h"
#include "psci.h"

/* Semihosting: end of program, with its status. */
#define SYS_EXIT_EXTENDED	    0x20
#define ADP_STOPPED_APPLICATIONEXIT 0x20026

void machine_exit(int code)
{
	u64 block[2] = {ADP_STOPPED_APPLICATIONEXIT, (u64)code & 0xff};

	arch_local_irq_disable();
	uart_flush();
	/* Returns only if no emulator answers: el1_sync_handler() then skips the instruction. */
	semihosting_call(SYS_EXIT_EXTENDED, block);
	psci_system_off();
	for (;;)
		wfi();
}
