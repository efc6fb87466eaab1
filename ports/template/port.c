/* SPDX-License-Identifier: MIT */
/*
 * port.c - the port: the functions that the runtime needs, for a machine with one CPU, one stack and no
 * tasks. Seven required functions, and one that lets the start be checked. Never instrumented.
 */
#include <kasan/port.h>

#include "board.h"
#include "log.h"

/* Tables of the runtime: one block of the stack depot (64 KiB), and some pages of the quarantine's queue, or in
 * the tag-based modes one block of the stack ring. */
#define POOL_SIZE (128UL << 10)

/* Cortex-M: see cortexm_port.c. */
#ifndef __arm__
#ifdef CONFIG_KASAN_TAGS
/* RISC-V: supervisor mode, see tags_riscv.S. */
#define STATUS	   "sstatus"
#define INTERRUPTS 2
#else
#define STATUS	   "mstatus"
#define INTERRUPTS 8
#endif

unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

#ifdef __aarch64__
	__asm__ volatile("mrs %0, daif\n\tmsr daifset, #3" : "=r"(flags) : : "memory");
#else
	__asm__ volatile("csrrci %0, " STATUS ", %1" : "=r"(flags) : "i"(INTERRUPTS) : "memory");
#endif
	return flags;
}

void kasan_port_irq_restore(unsigned long flags)
{
#ifdef __aarch64__
	__asm__ volatile("msr daif, %0" : : "r"(flags) : "memory");
#else
	__asm__ volatile("csrs " STATUS ", %0" : : "r"(flags & INTERRUPTS) : "memory");
#endif
}

void kasan_port_task(struct kasan_port_task *task)
{
	task->name = "main";
	task->stack_start = (uintptr_t)__stack_start;
	task->stack_end = (uintptr_t)__stack_end;
}
#endif

unsigned int kasan_port_cpu(void)
{
	return 0;
}

void *kasan_port_alloc(size_t size)
{
	static char pool[POOL_SIZE] __attribute__((__aligned__(16)));
	static size_t used;
	void *block = pool + used;

	if (size > POOL_SIZE - used)
		return NULL;
	used += size;
	return block;
}

void kasan_port_print(const char *text)
{
#ifdef TEMPLATE_LOG
	log_line(text);
#else
	board_puts(text);
	board_puts("\n");
#endif
}

_Noreturn void kasan_port_panic(const char *why)
{
	board_puts("panic: ");
	kasan_port_print(why);
	board_exit(3);
}

bool kasan_port_image(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)__image_start;
	*end = (uintptr_t)__image_end;
	return true;
}
