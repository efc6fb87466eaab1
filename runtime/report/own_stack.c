/* SPDX-License-Identifier: MIT */
/*
 * own_stack.c - the stack that reports run on: one from the port, or the rest of the task's.
 *
 * A report takes more stack than a small task has. On the task's own stack it would destroy the memory below, and with
 * it the system, for a bug that may be harmless.
 */
#include "captured.h"

static bool in_use[CONFIG_KASAN_NR_CPUS];

/* Return: the lowest address of the port's stack; NULL if there is none or it is too small. */
static char *own_stack(size_t *size)
{
	char *low;

	*size = 0;
	low = kasan_port_report_stack(size);
	return low && *size >= KASAN_REPORT_STACK_MIN ? low : NULL;
}

enum kasan_room kasan_room_here(const struct kasan_port_task *task, size_t *left)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	size_t size;

	*left = 0;
	if (in_use[kasan_port_cpu()] || own_stack(&size))
		return KASAN_ROOM_WHOLE;
	/* On a stack that the port does not know, the port must make sure there is room. */
	if (!task->stack_start || sp >= task->stack_end ||
	    sp < task->stack_start - CONFIG_KASAN_STACK_GUARD)
		return KASAN_ROOM_WHOLE;
	if (sp > task->stack_start)
		*left = sp - task->stack_start;
	if (*left >= KASAN_REPORT_STACK_MIN)
		return KASAN_ROOM_WHOLE;
	return *left >= KASAN_REPORT_STACK_SHORT ? KASAN_ROOM_SHORT : KASAN_ROOM_NONE;
}

void kasan_on_own_stack(void (*function)(void *argument), void *argument)
{
	const unsigned int cpu = kasan_port_cpu();
	size_t size;
	char *low;

	/* If it is in use, this is a bug inside a report, or in a handler that has interrupted one. */
	low = in_use[cpu] ? NULL : own_stack(&size);
	if (!low) {
		function(argument);
		return;
	}
	in_use[cpu] = true;
	kasan_arch_call_on(((uintptr_t)low + size) & ~(uintptr_t)15, function, argument);
	in_use[cpu] = false;
}
