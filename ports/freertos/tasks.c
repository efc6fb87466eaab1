/* SPDX-License-Identifier: MIT */
/*
 * tasks.c - which tasks there are, and which memory is whose stack: the trace macros of kasan_freertos.h lead here.
 *
 * The running task is read from FreeRTOS's own pointer, so a context switch costs only the look at the lowest words
 * of its stack. The table is for reports about the stack of another task. Never instrumented: stacks are poisoned.
 */
#include "internal.h"

/* Tasks whose stacks reports can name. A task that finds no place is named in reports of its own, but reports about
 * its stack that another task causes do not know whose it is. */
#ifndef KASAN_FREERTOS_TASKS
#define KASAN_FREERTOS_TASKS 32
#endif

/* As FreeRTOS fills the stack (tskSTACK_FILL_BYTE), so that its measure of a stack's use stays right. */
#define FILL	   0xa5a5a5a5UL
#define FILL_WORDS 8U

#define REPORT_STACK (KASAN_REPORT_STACK_MIN + 1024)

static const struct kasan_freertos_tcb *layout;
static const char *tasks[KASAN_FREERTOS_TASKS];
static bool is_running; /* the scheduler */
/* The task whose overflow was reported, so that each task is reported once. */
static const void *overflowed[4];
static unsigned int overflow_count;

bool freertos_for_task;
/* The lowest address in use of the stack that has overflowed, while that is reported. */
static uintptr_t lowest;

/* FreeRTOS's own, in its tasks.c: its assembly files read it as well. */
extern const char *volatile pxCurrentTCB;

static uintptr_t field(const char *task, uint16_t offset)
{
	return *(const uintptr_t *)(task + offset);
}

static uint32_t number(const char *task)
{
	return (uint32_t)*(const UBaseType_t *)(task + layout->number);
}

static struct freertos_stack stack_of(const char *task)
{
	return (struct freertos_stack){field(task, layout->stack),
				       field(task, layout->stack_end) + sizeof(StackType_t)};
}

static bool is_filled(uintptr_t low)
{
	const volatile uint32_t *word = (const volatile uint32_t *)low;
	unsigned int i;

	for (i = 0; i < FILL_WORDS; i++)
		if (word[i] != FILL)
			return false;
	return true;
}

static void describe(const char *task, struct kasan_port_task *out)
{
	const struct freertos_stack stack = stack_of(task);

	out->id = number(task);
	out->name = task + layout->name;
	out->stack_start = freertos_usable(stack.low);
	out->stack_end = stack.high;
	out->overflowed = !is_filled(stack.low);
}

static bool was_overflowed(const void *task)
{
	unsigned int i;

	for (i = 0; i < sizeof(overflowed) / sizeof(*overflowed); i++)
		if (overflowed[i] == task)
			return true;
	return false;
}

static void mark(const void *task)
{
	overflowed[overflow_count++ % (sizeof(overflowed) / sizeof(*overflowed))] = task;
}

void freertos_mark_overflowed(void)
{
	if (!was_overflowed(pxCurrentTCB))
		mark(pxCurrentTCB);
}

/* --- FreeRTOS calls ---------------------------------------------------------------------------------------- */

void kasan_freertos_created(const void *task, const struct kasan_freertos_tcb *where)
{
	struct freertos_stack stack;
	unsigned int i;
	uintptr_t low;

	layout = where;
	if (!kasan_enabled())
		freertos_stop(
			"KASAN is not started: call kasan_freertos_init() in the reset handler, or "
			"__libc_init_array() with .preinit_array in the linker script");
	stack = stack_of(task);
	low = stack.low;
	if (!freertos_in_window((const void *)low, stack.high - low))
		freertos_stop_range("the stack of a task", (const void *)low, stack.high - low,
				    "a task's stack must lie in the RAM that has shadow: "
				    "KASAN_RAM_START and KASAN_RAM_SIZE, less a ninth");
	for (i = 0; i < FILL_WORDS; i++)
		((volatile uint32_t *)low)[i] = FILL;
	/* A critical section of FreeRTOS's: nobody else changes the table. */
	for (i = 0; i < KASAN_FREERTOS_TASKS; i++) {
		if (!tasks[i]) {
			tasks[i] = task;
			return;
		}
	}
}

void kasan_freertos_deleted(const void *task)
{
	const struct freertos_stack stack = stack_of(task);
	const unsigned long flags = kasan_port_irq_save();
	unsigned int i;

	for (i = 0; i < KASAN_FREERTOS_TASKS; i++)
		if (tasks[i] == task)
			tasks[i] = NULL;
	for (i = 0; i < sizeof(overflowed) / sizeof(*overflowed); i++)
		if (overflowed[i] == task)
			overflowed[i] = NULL;
	kasan_port_irq_restore(flags);
	/* The task left its functions without returning from them, so their stack poison is still there. */
	kasan_unpoison_stack((void *)stack.low, (void *)stack.high);
}

void kasan_freertos_starting(void)
{
	const struct freertos_stack stack = freertos_isr_stack();
	const char *wrong = freertos_probe();

	if (wrong)
		freertos_stop(wrong);
	/* main() never returns, and interrupts take over its stack from the top. */
	kasan_unpoison_stack((void *)stack.low, (void *)stack.high);
	is_running = true;
}

void kasan_freertos_switched_out(const void *task)
{
	struct kasan_port_task described = {0};
	const uintptr_t top = *(const uintptr_t *)task;
	struct kasan_regs regs = {0};
	bool has_regs;

	if (top >= stack_of(task).low && is_filled(stack_of(task).low))
		return;
	if (was_overflowed(task))
		return;
	mark(task);
	describe(task, &described);
	has_regs = freertos_saved_regs(top, &regs);
	lowest = top;
	freertos_for_task = true;
	kasan_report_stack_overflow(&described,
				    top < described.stack_start ? top : described.stack_start,
				    has_regs ? &regs : NULL);
	freertos_for_task = false;
	lowest = 0;
}

void kasan_freertos_switched_in(const void *task)
{
	/* FreeRTOS calls it once before there is anything to run. */
	if (is_running)
		freertos_guard_task(stack_of(task).low, was_overflowed(task));
}

/* --- The runtime asks -------------------------------------------------------------------------------------- */

void kasan_port_task(struct kasan_port_task *out)
{
	const char *task = pxCurrentTCB;

	if (is_running && task && (freertos_for_task || !freertos_in_interrupt())) {
		describe(task, out);
		/* The frames of a stack that has overflowed begin below it. */
		if (freertos_for_task && lowest && lowest < out->stack_start)
			out->stack_start = lowest;
	} else {
		const struct freertos_stack stack = freertos_isr_stack();

		out->name = is_running ? "interrupt" : "main";
		out->stack_start = stack.low;
		out->stack_end = stack.high;
	}
}

bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *out)
{
	const uintptr_t wanted = (uintptr_t)addr;
	const char *below = NULL;
	struct freertos_stack stack;
	unsigned int i;

	for (i = 0; i < KASAN_FREERTOS_TASKS; i++) {
		if (!tasks[i])
			continue;
		stack = stack_of(tasks[i]);
		if (wanted >= stack.low && wanted < stack.high) {
			describe(tasks[i], out);
			return true;
		}
		if (wanted < stack.low && stack.low - wanted <= CONFIG_KASAN_STACK_GUARD)
			below = tasks[i];
	}
	if (below) {
		describe(below, out);
		return true;
	}
	stack = freertos_isr_stack();
	if (wanted < stack.low || wanted >= stack.high)
		return false;
	out->name = is_running ? "interrupt" : "main";
	out->stack_start = stack.low;
	out->stack_end = stack.high;
	return true;
}

void *kasan_port_report_stack(size_t *size)
{
	static char stack[REPORT_STACK] __attribute__((__aligned__(16)));

	*size = sizeof(stack);
	return stack;
}
