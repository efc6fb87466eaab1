/* SPDX-License-Identifier: MIT */
/* internal.h - what the files of this port share, and what the link line says of the memory. */
#ifndef KASAN_FREERTOS_INTERNAL_H
#define KASAN_FREERTOS_INTERNAL_H

#include <kasan/kasan.h>
#include <kasan/port.h>

#include "FreeRTOS.h"
#include "task.h"

/* From the link line that kasan_freertos.mk or .cmake makes: the memory with shadow, the shadow, and the code. */
extern char __kasan_window_start[], __kasan_window_end[], __kasan_shadow_start[];
extern char __kasan_flash_start[], __kasan_flash_end[];

/** struct freertos_stack - bounds of a stack: [@low, @high) */
struct freertos_stack {
	uintptr_t low, high;
};

/** freertos_heap_add() - heap.c: from now on allocations have redzones. */
void freertos_heap_add(void);

/** freertos_probe() - probe.c, the one file of the port that has checks. Return: NULL, or what is wrong. */
const char *freertos_probe(void);

/** freertos_isr_stack() - the stack of main() and of interrupts. */
struct freertos_stack freertos_isr_stack(void);

/** freertos_stop() - print @why and stop the system. */
_Noreturn void freertos_stop(const char *why);

/** freertos_task_fault() - where a task goes on after the report of its fault. */
_Noreturn void freertos_task_fault(void);

/** freertos_for_task - set while a handler reports on the task that it has interrupted. */
extern bool freertos_for_task;

/** freertos_saved_regs() - registers of a task that was switched out. @top: FreeRTOS's pxTopOfStack. Return: false if
 *  they cannot be read. */
bool freertos_saved_regs(uintptr_t top, struct kasan_regs *regs);

/** freertos_in_interrupt() - is the CPU in a handler, and not in one that reports the fault of a task? */
bool freertos_in_interrupt(void);

#endif /* KASAN_FREERTOS_INTERNAL_H */
