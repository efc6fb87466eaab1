/* SPDX-License-Identifier: MIT */
/* test_handlers.c - reports of a fault handler that runs on a stack of its own: their traces are those of the interrupted
 * stack. */
#include <string.h>

#include "../../runtime/base/base.h"
#include "unit.h"

/* Only their names count, as return addresses; each needs some bytes. */
#define FUNCTION(name)                                   \
	static __attribute__((noinline)) void name(void) \
	{                                                \
		__asm__ volatile(".skip 16, 0x90");      \
	}
FUNCTION(interrupted)
FUNCTION(called)
FUNCTION(caller)
FUNCTION(outermost)

/* Frame records of a stack on which neither the handler nor this test runs. */
static uintptr_t stack[64];

static void interrupted_at(struct kasan_regs *regs)
{
	const uintptr_t next = (uintptr_t)&stack[40];

	memset(stack, 0, sizeof(stack));
	stack[8] = (uintptr_t)called + 3;
	stack[20 + KASAN_FRAME_RECORD] = next;
	stack[20 + KASAN_FRAME_RA] = (uintptr_t)caller + 2;
	stack[40 + KASAN_FRAME_RA] = (uintptr_t)outermost + 2;
	*regs = (struct kasan_regs){
		.pc = (uintptr_t)interrupted + 1,
		.sp = (uintptr_t)&stack[8],
		.fp = (uintptr_t)&stack[20],
		.stack_start = (uintptr_t)stack,
		.stack_end = (uintptr_t)(stack + 64),
	};
}

/* Are the functions of the trace these, without their sizes? */
static void expect_trace(const char *const *functions)
{
	const int at = unit_find(0, "Call trace:");
	size_t i;

	REQUIRE(at > 0);
	for (i = 0; functions[i]; i++)
		CHECKF(unit_find((size_t)at, functions[i]) == at + 1 + (int)i, "no %s at %zu",
		       functions[i], i);
	CHECK(unit_line((size_t)at + 1 + i)[0] != ' ');
}

static void the_interrupted_stack(void)
{
	static const char *const whole[] = {" interrupted+0x1/", " caller+0x2/", " outermost+0x2/",
					    NULL};
	struct kasan_regs regs;

	interrupted_at(&regs);
	EXPECT_REPORT("null-ptr-deref", kasan_report_fault_at(0x28, 4, KASAN_FAULT_READ, &regs));
	expect_trace(whole);
	/* Just below the interrupted stack: it has overflowed, and not the handler's. */
	regs.sp = regs.stack_start - 8;
	EXPECT_REPORT("stack-overflow",
		      kasan_report_fault_at(regs.sp, 8, KASAN_FAULT_WRITE, &regs));
	CHECK(unit_find(0, "The stack of task ") > 0);
	/* A large frame has moved it further. The title stays, because the port may not know this stack. */
	regs.sp = regs.stack_start - 5008;
	EXPECT_REPORT("null-ptr-deref", kasan_report_fault_at(0x28, 4, KASAN_FAULT_READ, &regs));
	CHECK(unit_find(0, "The stack pointer is 5008 bytes below the stack of task ") > 0);
	CHECK(unit_find(0, "The stack of task ") < 0);
}

/* x86-64 pushes the return address, and then finds that the called function is not code. */
static void a_call_of_what_is_not_code(void)
{
	static const char *const with_caller[] = {" called+0x3/", " caller+0x2/", " outermost+0x2/",
						  NULL};
	struct kasan_regs regs;

	if (KASAN_ARCH_HAS_LR)
		unit_skip("calls leave the return address in a register");
	interrupted_at(&regs);
	regs.pc = 0;
	EXPECT_REPORT("null-ptr-deref", kasan_report_fault_at(0, 0, KASAN_FAULT_READ, &regs));
	CHECK(unit_find(0, "BUG: KASAN: null-ptr-deref in called+0x3/") == 1);
	expect_trace(with_caller);
	/* A stack pointer that is not on the stack is not followed. */
	regs.sp = 0x41;
	EXPECT_REPORT("null-ptr-deref", kasan_report_fault_at(0, 0, KASAN_FAULT_READ, &regs));
	expect_trace(with_caller + 1);
	regs.sp = regs.stack_end - 4;
	EXPECT_REPORT("null-ptr-deref", kasan_report_fault_at(0, 0, KASAN_FAULT_READ, &regs));
	expect_trace(with_caller + 1);
}

UNIT_MAIN(the_interrupted_stack, a_call_of_what_is_not_code)
