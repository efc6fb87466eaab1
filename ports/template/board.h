/* SPDX-License-Identifier: MIT */
/*
 * board.h - the machine of this example, and what the linker script says of its RAM: QEMU's "virt" board, for x86_64 the
 * PC "q35", or for Cortex-M the boards MPS2 AN385 (M3), AN500 (M7) and AN505 (M33).
 */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

#include <kasan/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From the linker script. */
extern char __image_start[], __image_end[];
extern char __stack_start[], __stack_end[];
#ifdef __x86_64__
/* 7 MiB from 16 MiB on, far from the image: see x86_64.h. */
#define __heap_start ((char *)0xffff800001000000)
#define __heap_end   ((char *)0xffff800001700000)
#else
extern char __heap_start[], __heap_end[];
#endif
extern char __kasan_window_start[], __kasan_window_end[], __kasan_shadow_start[];

/** BOARD_UART - the serial line's registers, outside every window. */
#ifdef CONFIG_KASAN_TAGS
#define BOARD_UART 0xffffffffc8000000 /* mapped there by tags.S, tags_riscv.S */
#elif defined(__x86_64__)
#define BOARD_COM1 0x3f8 /* a port, not an address */
#elif defined(__aarch64__)
#define BOARD_UART 0x09000000
#elif defined(BOARD_AN505)
#define BOARD_UART 0x50200000
#elif defined(__arm__)
#define BOARD_UART 0x40004000
#else
#define BOARD_UART 0x10000000
#endif

/** BOARD_TEST - RISC-V: the device that ends QEMU. */
#ifdef CONFIG_KASAN_TAGS
#define BOARD_TEST 0xffffffffc8300000
#else
#define BOARD_TEST 0x100000
#endif

/** BOARD_UART_STATUS - one of them, or of another device, that may be read at any time. */
#ifdef __x86_64__
#define BOARD_UART_STATUS \
	((const volatile uint32_t *)0xffff8000fee00030) /* the local APIC's version */
#elif defined(__aarch64__)
#define BOARD_UART_STATUS ((const volatile uint8_t *)(BOARD_UART + 0x18))
#elif defined(__arm__)
#define BOARD_UART_STATUS ((const volatile uint8_t *)(BOARD_UART + 4))
#else
#define BOARD_UART_STATUS ((const volatile uint8_t *)(BOARD_UART + 5))
#endif

/** BOARD_CODE - Cortex-M: where flash begins. At 0, reads by null pointers do not fault by themselves. */
#ifdef BOARD_AN505
#define BOARD_CODE 0x10000000
#else
#define BOARD_CODE 0
#endif

#ifdef CONFIG_KASAN_TAGS
/** tags_start() - tags.c: make tags work, before any allocation. Return: NULL, or why they cannot. */
const char *tags_start(void);
#endif

/** board_lock(), board_unlock() - keep the other CPU, if there can be one, and interrupts that allocate out of the
 *  heap. */
#if defined(__x86_64__) || defined(TEMPLATE_HARTS)
unsigned long board_lock(void);
void board_unlock(unsigned long flags);
#else
static inline unsigned long board_lock(void)
{
	return 0;
}

static inline void board_unlock(unsigned long flags)
{
	(void)flags;
}
#endif

/** board_puts() - write @text to the serial line, polled. */
void board_puts(const char *text);

/** board_exit() - end QEMU with this exit status. */
__attribute__((__noreturn__)) void board_exit(int status);

/** board_start() - called by the assembly entry on the boot stack, .bss cleared. */
__attribute__((__noreturn__)) void board_start(void);

#ifdef CONFIG_KASAN_SAMPLE
/** BOARD_CLOCK - Hz, of the processor. */
#ifdef BOARD_AN505
#define BOARD_CLOCK 20000000
#else
#define BOARD_CLOCK 25000000
#endif

/** board_systick() - the handler: time for kasan.sample=. */
void board_systick(void);
#endif

/** main() - the program. */
int main(void);

/* The runtime's, checked. Without a mode of KASAN they are board.c's. */
void *memcpy(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);

#ifdef __cplusplus
}
#endif

#endif /* BOARD_H */
