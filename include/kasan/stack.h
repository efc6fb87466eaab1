/* SPDX-License-Identifier: MIT */
/*
 * stack.h - a zone at the low end of a stack, which shows that the stack has overflowed.
 *
 * For stacks without a guard page, a region of an MPU or a limit register below them. One word is not enough: a function
 * with an array of 400 bytes moves the stack pointer over it and may never write to it. So the zone has a size that the
 * port chooses; a quarter of a KiB up to the largest frame of the system is useful.
 *
 *	[low, low + size)	the zone: nothing may ever be here
 *	[low + size, high)	the stack: what kasan_port_task() gives as @stack_start and @stack_end
 *
 * The zone holds a pattern, which kasan_stack_check() compares at each switch, and which reports compare if
 * kasan_port_stack_overflowed() does so. In Generic mode it is poisoned too, where it has shadow, so that stray accesses
 * of checked code are reported at once. That alone would not do: a frame that lies in the zone makes its own variables
 * accessible. While the stack pointer is up to CONFIG_KASAN_STACK_GUARD bytes below @stack_start, any bug that a check or
 * a free finds is a stack-overflow: set this option to the size of the largest zone if that is more.
 */
#ifndef KASAN_STACK_H
#define KASAN_STACK_H

#include <kasan/port.h>
#include <kasan/report.h>

#ifdef __cplusplus
extern "C" {
#endif

/** kasan_stack_mark() - make [@low, @low + @size) such a zone, before the stack is used or while no frame is in it.
 *  @low, @size: multiples of 16. Costs @size bytes of stores. */
KASAN_HOOK void kasan_stack_mark(void *low, size_t size) KASAN_OFF();

/** kasan_stack_unmark() - the zone is ordinary memory again: before the stack goes back to its allocator. */
KASAN_HOOK void kasan_stack_unmark(void *low, size_t size) KASAN_OFF();

/** kasan_stack_overflowed() - @low: of a marked zone. Return: the lowest address in it that was overwritten; 0: none.
 *  Reads up to @size bytes. May be called in reports, from functions of the port. */
KASAN_HOOK uintptr_t kasan_stack_overflowed(const void *low, size_t size) KASAN_OFF(return 0);

/**
 * kasan_stack_check() - for a context switch, a tick, or the end of a task: report an overflow once, and mark the zone anew
 * @task: whose stack it is: @id, @name, @stack_start (the end of the zone), @stack_end.
 * @low: of its zone.
 *
 * Inline, so that the report's trace starts at the caller. A report needs stack: see kasan_port_report_stack().
 *
 * Return: true if the stack has overflowed since it was marked. The task should then be stopped: the overflow may have
 * destroyed what lies below the zone.
 */
static inline bool kasan_stack_check(const struct kasan_port_task *task, void *low)
{
	const size_t size = task->stack_start - (uintptr_t)low;
	const uintptr_t at = kasan_stack_overflowed(low, size);

	if (kasan_likely(!at))
		return false;
	kasan_report_stack_overflow(task, at, NULL);
	kasan_stack_mark(low, size);
	return true;
}

#ifdef __cplusplus
}
#endif

#endif /* KASAN_STACK_H */
