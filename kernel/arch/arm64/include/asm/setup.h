/* SPDX-License-Identifier: MIT */
/*
 * setup.h - how the architecture brings the machine up.
 *
 * The order in start_kernel(): setup_arch(), constructors, parameters, kasan_shadow_init(), memory management,
 * scheduler, init_IRQ(), time_init(), and later smp_boot_secondaries() in a thread.
 */
#ifndef ASM_SETUP_H
#define ASM_SETUP_H

#include <kernel/types.h>

/* Boot stack of the boot CPU: init_task's stack. [boot_stack, boot_stack + BOOT_STACK_SIZE). */
extern char boot_stack[], boot_stack_top[];

/**
 * setup_arch() - read the device tree, give RAM to memblock, build the linear map
 * @cmdline: filled: /chosen/bootargs, "" if there are none; lives for ever.
 */
void setup_arch(const char **cmdline);

/* Addresses in the linear map; both 0 if there is no initial RAM disk. */
extern unsigned long initrd_start, initrd_end;

/**
 * machine_exit() - leave the machine with a status
 * @code: exit status of the emulator, 0-255, by semihosting; without it the machine powers off.
 */
_Noreturn void machine_exit(int code);

/** early_printk() - print straight to the UART, no locks, no prefix: for the time before printk
 *  works and for when it no longer does. Formats: %s %c %d %u %x %lx %lu %p. */
void early_printk(const char *fmt, ...) __printf(1, 2);

/** early_panic() - early_printk() a message, then leave with status 3. */
_Noreturn void early_panic(const char *fmt, ...) __printf(1, 2);

_Noreturn void start_kernel(void);

#endif
