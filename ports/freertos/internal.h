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

/* --- heap.c, and what kernel_heap.c or libc_heap.c give it --- */

extern struct kasan_heap freertos_heap;

/** freertos_heap_add() - from now on allocations have redzones. */
void freertos_heap_add(void);

/** freertos_raw_malloc() - the allocator itself. @is_last: nothing is left in the quarantine. Return: NULL if there is no memory. */
void *freertos_raw_malloc(size_t size, bool is_last);
void freertos_raw_free(void *raw);

/* --- guard.c: Cortex-M; elsewhere nothing is refused --- */

#ifdef __arm__
struct kasan_cortexm_fault;

/** freertos_guard_start() - before the first task is made: it decides where stacks begin. */
void freertos_guard_start(void);

/** freertos_usable() - the lowest address that a task may use of its stack, which begins at @low. */
uintptr_t freertos_usable(uintptr_t low);

/** freertos_guard_task() - the task with the stack at @low runs from now on. @is_overflowed: without a guard. */
void freertos_guard_task(uintptr_t low, bool is_overflowed);

/** freertos_guard_give_way() - after the report of a fault: if it was the guard's, the guard is off. Return: may the
 *  handler return, because FreeRTOS's context switch has hit it? */
bool freertos_guard_give_way(const struct kasan_cortexm_fault *fault);

/** freertos_is_null() - is @addr in the memory at address 0 that nobody may read? */
bool freertos_is_null(uintptr_t addr);
#else
static inline void freertos_guard_start(void)
{
}

static inline uintptr_t freertos_usable(uintptr_t low)
{
	return low;
}

static inline void freertos_guard_task(uintptr_t low, bool is_overflowed)
{
	(void)low;
	(void)is_overflowed;
}

static inline bool freertos_is_null(uintptr_t addr)
{
	(void)addr;
	return false;
}
#endif

/** freertos_mark_overflowed() - tasks.c: the running task's overflow was reported. */
void freertos_mark_overflowed(void);

/** freertos_in_window() - has all of [@addr, @addr + @size) shadow? */
bool freertos_in_window(const void *addr, size_t size);

/** freertos_probe() - probe.c, the one file of the port that has checks. Return: NULL, or what is wrong. */
const char *freertos_probe(void);

/** freertos_isr_stack() - the stack of main() and of interrupts. */
struct freertos_stack freertos_isr_stack(void);

/** freertos_stop() - print @why and stop the system. */
_Noreturn void freertos_stop(const char *why);

/** freertos_stop_range() - the same, with "@what at ADDRESS to ADDRESS" in front. */
_Noreturn void freertos_stop_range(const char *what, const void *start, size_t size,
				   const char *why);

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
