/* SPDX-License-Identifier: MIT */
/*
 * cortexm_port.c - what the port has on Cortex-M instead of, and in addition to, the functions in port.c. Never
 * instrumented. The interrupt state is PRIMASK: on a processor without atomic instructions it also makes the runtime's
 * operations atomic, so it must mask all interrupts that allocate or run instrumented code.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "board.h"
#include "cortexm_fault.h"
#include "tasks.h"

unsigned long kasan_port_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(flags) : : "memory");
	return flags;
}

void kasan_port_irq_restore(unsigned long flags)
{
	__asm__ volatile("msr primask, %0" : : "r"(flags) : "memory");
}

static void describe(const struct task *owner, struct kasan_port_task *task)
{
	task->id = owner->id;
	task->name = owner->name;
	task->stack_start = owner->low;
	task->stack_end = owner->high;
}

void kasan_port_task(struct kasan_port_task *task)
{
	const uintptr_t sp = kasan_cortexm_sp();
	const struct task *const now = task_now();

	/* Also with a stack pointer that has left the stack: then it is this one that has overflowed. */
	if (now && (sp < (uintptr_t)__stack_start || sp >= (uintptr_t)__stack_end)) {
		describe(now, task);
		return;
	}
	task->name = "main";
	task->stack_start = (uintptr_t)__stack_start;
	task->stack_end = (uintptr_t)__stack_end;
}

bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *task)
{
	const struct task *const owner = task_of((uintptr_t)addr, CONFIG_KASAN_STACK_GUARD);

	if (owner)
		describe(owner, task);
	return owner;
}

#ifndef TEMPLATE_NO_REPORT_STACK
void *kasan_port_report_stack(size_t *size)
{
	static char stack[KASAN_REPORT_STACK_MIN] __attribute__((__aligned__(16)));

	*size = sizeof(stack);
	return stack;
}
#endif

bool kasan_port_is_code(uintptr_t pc)
{
	extern char __text_start[], __text_end[];

	return pc - (uintptr_t)__text_start < (uintptr_t)__text_end - (uintptr_t)__text_start;
}
