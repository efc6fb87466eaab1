/* SPDX-License-Identifier: MIT */
/*
 * x86_64_port.c - the port on x86_64, in the place of port.c; the three hot functions are <kasan/inline_x86_64.h>. And the
 * tasks: one for each CPU, whose stacks have a guard below. Never instrumented.
 */
#include <kasan/port_kit.h>

#include "board.h"
#include "log.h"
#include "tasks.h"
#include "x86_64.h"
#include "x86_64_trap.h"

#define STACK 8192
#define POOL  (128UL << 10)
#define PAGE  4096

/* The guard is the first page. */
struct stack {
	char guard[PAGE];
	char bytes[STACK];
};

static struct stack stacks[2] __attribute__((__aligned__(PAGE)));
static struct task tasks[2] = {{.name = "worker", .id = 1}, {.name = "second", .id = 2}};
static const struct task *now[CONFIG_KASAN_NR_CPUS];

/* Where the code that called task_run() goes on: see run_on(). */
static uintptr_t caller_sp[CONFIG_KASAN_NR_CPUS];

static char pool[POOL] __attribute__((__aligned__(16)));
KASAN_PORT_POOL(pool, POOL);
KASAN_PORT_REPORT_STACKS(8192);

/* --- Tasks --- */

const struct task *task_now(void)
{
	return now[kasan_port_cpu()];
}

void tasks_start(void)
{
	unsigned int i;

#ifdef TEMPLATE_PIE
	/* The firmware has not ended its last line. */
	board_puts("\n");
	kasan_print_load_offset(__image_start, X86_64_IMAGE_PHYSICAL);
#endif
	for (i = 0; i < 2; i++) {
		paging_forbid(stacks[i].guard);
		tasks[i].low = (uintptr_t)stacks[i].bytes;
		tasks[i].high = tasks[i].low + STACK;
	}
}

void kasan_x86_64_task(uintptr_t sp, struct kasan_port_task *task)
{
	const struct task *const mine = task_now();

	task->name = mine ? mine->name : "main";
	task->id = mine ? mine->id : 0;
	if (cpu_stack(sp, &task->stack_start, &task->stack_end)) {
		/* Traces of allocations end before the entry's frame record, which has the interrupted address. */
		task->trace_end = task->stack_end - sizeof(struct kasan_x86_64_frame) - 16;
		return;
	}
	if (mine && sp - (mine->low - PAGE) < PAGE + STACK) {
		task->stack_start = mine->low;
		task->stack_end = mine->high;
	} else if (sp - (uintptr_t)__stack_start < (uintptr_t)(__stack_end - __stack_start)) {
		task->stack_start = (uintptr_t)__stack_start;
		task->stack_end = (uintptr_t)__stack_end;
	}
}

/* void run_on(void (*code)(void), uintptr_t top, uintptr_t *caller_sp): calls @code on the stack that ends at @top. It
 * returns when @code does, or when something goes on at task_ended with rsp from @caller_sp. */
void run_on(void (*code)(void), uintptr_t top, uintptr_t *sp);
__asm__(".pushsection .text\n"
	".globl run_on\n"
	".type run_on, @function\n"
	"run_on:\n"
	"	pushq %rbx\n	pushq %rbp\n	pushq %r12\n	pushq %r13\n	pushq %r14\n	"
	"pushq %r15\n"
	"	movq %rsp, (%rdx)\n"
	"	movq %rdx, %rbx\n"
	"	movq %rsi, %rsp\n"
	"	xorl %ebp, %ebp\n" /* no frame before the task's first */
	"	call *%rdi\n"
	"	movq (%rbx), %rsp\n"
	".globl task_ended\n"
	"task_ended:\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n	popq %r12\n	popq %rbp\n	"
	"popq %rbx\n"
	"	ret\n"
	".size run_on, . - run_on\n"
	".popsection\n");

void task_run(unsigned int id, void (*code)(void))
{
	const struct task *const task = &tasks[id - 1];
	const unsigned int cpu = kasan_port_cpu();

	now[cpu] = task;
	run_on(code, task->high, &caller_sp[cpu]);
	now[cpu] = NULL;
	/* What a fault has left poisoned on the stack is nobody's. */
	kasan_unpoison_stack((const void *)task->low, (const void *)task->high);
}

/* A fault ends the task. */
void kasan_x86_64_after_fault(struct kasan_x86_64_frame *frame, bool reported)
{
	extern const char task_ended[];

	if (!reported || !task_now())
		kasan_port_panic(kasan_x86_64_name(frame));
	frame->rip = (uintptr_t)task_ended;
	frame->rsp = caller_sp[kasan_port_cpu()];
}

/* --- The heap's lock --- */

static unsigned int locked;

unsigned long board_lock(void)
{
	const unsigned long flags = kasan_port_irq_save();

	while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
		__asm__ volatile("pause");
	return flags;
}

void board_unlock(unsigned long flags)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
	kasan_port_irq_restore(flags);
}

/* --- The port --- */

void kasan_port_task(struct kasan_port_task *task)
{
	kasan_x86_64_task((uintptr_t)__builtin_frame_address(0), task);
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

bool kasan_port_is_code(uintptr_t pc)
{
	extern const char __text_start[], __text_end[];

	return pc - (uintptr_t)__text_start < (uintptr_t)(__text_end - __text_start);
}

bool kasan_port_readable(const void *addr, size_t size)
{
	const uintptr_t first = (uintptr_t)addr, last = first + size - 1;
	uintptr_t page;

	if (!size)
		return true;
	if (last < first || size > 1UL << 30)
		return false;
	for (page = first & -(uintptr_t)PAGE; page < last && last - page >= PAGE; page += PAGE) {
		if (!paging_maps(page))
			return false;
	}
	return paging_maps(last);
}
