/* SPDX-License-Identifier: MIT */
/* board.h - a Cortex-M under QEMU (lm3s6965evb, microbit): what small.lds says of its memory, and its console. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From the linker script. */
extern char __ram_end[], __heap_start[], __heap_end[], __stack_start[], __stack_end[];
extern char __kasan_window_start[], __kasan_window_end[], __kasan_shadow_start[],
	__kasan_shadow_size[];

/** board_puts() - write @text to the debugger's console. */
void board_puts(const char *text);

/** board_exit() - end QEMU with this exit status. */
_Noreturn void board_exit(int status);

/** board_ticks() - Return: the SysTick timer, 24 bits, counting up. board_instructions() - Return: how many instructions
 *  @ticks are under -icount shift=0. */
uint32_t board_ticks(void);
uint32_t board_instructions(uint32_t ticks);

/* heap.c. raw_: the allocator alone, as it is without KASAN. */
void *raw_malloc(size_t size);
void raw_free(void *raw);
void *malloc(size_t size);
void free(void *ptr);
void heap_watch(void);

/* The runtime's, checked. */
void *memcpy(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);

/** program() - what the image is for: bugs.c or cost.c. Return: exit status. */
int program(void);

#endif /* BOARD_H */
