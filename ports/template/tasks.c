/* SPDX-License-Identifier: MIT */
/*
 * tasks.c - Cortex-M: main() runs on the main stack (MSP), tasks on stacks of their own (PSP). Never instrumented.
 *
 * An overflow of a task's stack is seen in three ways: by the MPU (Armv7-M, the lowest 128 bytes cannot be touched), by the
 * limit register (Armv8-M), and everywhere by a zone between that and the stack, when the task has ended.
 */
#include "tasks.h"

#include <kasan/kasan.h>
#include <kasan/port.h>
#include <kasan/stack.h>

#include "board.h"
#include "cortexm_fault.h"

#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
#define HAS_LIMIT 1
#else
#define HAS_LIMIT 0
#endif
#if defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__)
#define HAS_MPU 1
#else
#define HAS_MPU 0
#endif

#define GUARD 128U /* bytes, a region of the MPU: 32 are jumped over by a frame with redzones */
#define ZONE  128U /* bytes, above the guard: see <kasan/stack.h> */

static char stacks[2][GUARD + ZONE + TASK_STACK] __attribute__((__aligned__(GUARD)));
static struct task tasks[2] = {{.name = "worker", .id = 1}, {.name = "recursor", .id = 2}};
static struct task *now;
static bool faulted;

/* Where main() goes on when a task has ended: its stack pointer, with r4 to r11 and the return address on top. */
static uintptr_t main_sp __attribute__((used));

const struct task *task_now(void)
{
	return now;
}

const struct task *task_of(uintptr_t addr, size_t below)
{
	const struct task *task, *above = NULL;

	for (task = tasks; task < tasks + 2; task++) {
		if (addr >= task->low && addr < task->high)
			return task;
		if (addr < task->low && addr >= task->low - below)
			above = task;
	}
	return above;
}

bool kasan_port_stack_overflowed(const struct kasan_port_task *task)
{
	return now && task->stack_start == now->low &&
	       kasan_stack_overflowed((const void *)(now->low - ZONE), ZONE);
}

/* --- Guards --- */

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define MPU_CTRL	  REGISTER(0xe000ed94)
#define MPU_RBAR	  REGISTER(0xe000ed9c)
#define MPU_RASR	  REGISTER(0xe000eda0)

#if HAS_MPU
/* No access for anybody, to 2 to the power of @log2 bytes, 32 or more. Fetches of vectors are not checked. */
static void forbid(unsigned int region, uintptr_t start, unsigned int log2)
{
	MPU_RBAR = start | 1U << 4 | region;
	MPU_RASR = 1U << 28 | (log2 - 1) << 1 | 1;
	__asm__ volatile("dsb\n\tisb" ::: "memory");
}
#endif

static void guard(const struct task *task)
{
#if HAS_MPU
	forbid(1, task->low - ZONE - GUARD, 7);
#elif HAS_LIMIT
	__asm__ volatile("msr psplim, %0" : : "r"(task->low));
#else
	(void)task;
#endif
}

void tasks_start(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		kasan_stack_mark(stacks[i] + GUARD, ZONE);
		tasks[i].low = (uintptr_t)stacks[i] + GUARD + ZONE;
		tasks[i].high = tasks[i].low + TASK_STACK;
	}
	kasan_cortexm_enable_faults();
#if HAS_MPU
	/* Null pointers of code that is not instrumented. The vectors are there, and no code: see cortexm.lds. */
	if (!BOARD_CODE)
		forbid(0, 0, 10);
	MPU_CTRL = 5; /* on; all other memory as without it */
	__asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
}

/* --- Switching --- */

/* r0: code, r1: top of the task's stack. */
__attribute__((naked, noinline)) static void run_on(void (*code)(void), uintptr_t top)
{
	__asm__ volatile(".syntax unified\n\t"
			 "push {r4-r7, lr}\n\t"
			 "mov r4, r8\n\t"
			 "mov r5, r9\n\t"
			 "mov r6, r10\n\t"
			 "mov r7, r11\n\t"
			 "push {r3-r7}\n\t" /* r3 keeps the stack aligned */
			 "ldr r2, =main_sp\n\t"
			 "mov r3, sp\n\t"
			 "str r3, [r2]\n\t"
			 "msr psp, r1\n\t"
			 "movs r3, #2\n\t" /* SPSEL: thread mode uses psp */
			 "msr control, r3\n\t"
			 "isb\n\t"
			 "movs r7, #0\n\t" /* no frame before the task's first */
			 "mov r11, r7\n\t"
			 "blx r0\n\t"
			 "movs r3, #0\n\t"
			 "msr control, r3\n\t"
			 "isb\n\t"
			 ".globl task_ended\n\t"
			 ".thumb_func\n"
			 "task_ended:\n\t"
			 "pop {r3-r7}\n\t"
			 "mov r8, r4\n\t"
			 "mov r9, r5\n\t"
			 "mov r10, r6\n\t"
			 "mov r11, r7\n\t"
			 "pop {r4-r7, pc}\n\t"
			 ".ltorg");
}

/* In a handler: leave it, and what it has on the main stack, and go on where a task that has ended goes on. */
__attribute__((naked, noinline)) static _Noreturn void end_task(void)
{
	__asm__ volatile(".syntax unified\n\t"
			 "ldr r1, =main_sp\n\t"
			 "ldr r1, [r1]\n\t"
			 "subs r1, #32\n\t" /* a frame for the return: pc and xPSR count */
			 "ldr r0, =task_ended\n\t"
			 "str r0, [r1, #24]\n\t"
			 "ldr r0, =0x01000000\n\t"
			 "str r0, [r1, #28]\n\t"
			 "msr msp, r1\n\t"
			 "ldr r0, =0xfffffff9\n\t" /* to thread mode, main stack */
			 "bx r0\n\t"
			 ".ltorg");
}

void kasan_cortexm_after_fault(const struct kasan_cortexm_fault *fault)
{
	if (!fault->has_address && !kasan_report_count())
		kasan_port_panic(kasan_cortexm_name(fault));
	if (!now)
		kasan_port_panic(kasan_cortexm_name(fault));
	faulted = true;
	end_task();
}

void task_run(unsigned int id, void (*code)(void))
{
	struct task *const task = &tasks[id - 1];
	struct kasan_port_task owner = {.id = task->id,
					.name = task->name,
					.stack_start = task->low,
					.stack_end = task->high};
	char *const zone = (char *)task->low - ZONE;

	now = task;
	faulted = false;
	guard(task);
	run_on(code, task->high);
	now = NULL;
	/* What the task left poisoned on its stack is nobody's. */
	kasan_unpoison_stack((const void *)task->low, (const void *)task->high);
	/* A fault has ended it, and was reported. */
	if (faulted)
		kasan_stack_mark(zone, ZONE);
	else
		kasan_stack_check(&owner, zone);
}
