/* SPDX-License-Identifier: MIT */
/* test_stack_zone.c - zones at the low ends of stacks: what shows an overflow, with shadow and without. */
#include <stdio.h>

#include <kasan/stack.h>

#include "../../runtime/base/base.h"
#include "unit.h"

#define ZONE  512U
#define STACK 2048U

/* A stack with shadow, and one that has none in the windowed layout. */
static char elsewhere[ZONE + STACK] __attribute__((aligned(16)));
static struct kasan_port_task task;
static char *low;

/* The port's, for reports. */
static bool is_overflowed;

bool kasan_port_stack_overflowed(const struct kasan_port_task *asked)
{
	CHECK(asked->stack_start && asked->stack_end > asked->stack_start);
	return is_overflowed;
}

static void set_up(char *start)
{
	low = start;
	task = (struct kasan_port_task){.id = 7, .name = "digger"};
	task.stack_start = (uintptr_t)low + ZONE;
	task.stack_end = task.stack_start + STACK;
	is_overflowed = false;
	kasan_stack_mark(low, ZONE);
}

static char *with_shadow(void)
{
	char *start = unit_watched(ZONE + STACK + 16);

	return start + (-(uintptr_t)start & 15);
}

/* Code without checks writes one word of the zone: the nearest, the farthest, and one that an array has jumped to. */
static void each_word_tells(char *start)
{
	char line[64];

	for (size_t at = 0; at < ZONE; at += at == 0 ? ZONE - 400 : 8) {
		set_up(start);
		EXPECT_NO_REPORT(CHECK(!kasan_stack_check(&task, low)));
		__memset(low + at, 0, 1);
		CHECK_EQ(kasan_stack_overflowed(low, ZONE), (uintptr_t)low + at);
		EXPECT_REPORT("stack-overflow", CHECK(kasan_stack_check(&task, low)));
		CHECK(unit_saw(
			"The stack of task digger/7 has overflowed: 2048 bytes [%016lx, %016lx)",
			(unsigned long)task.stack_start, (unsigned long)task.stack_end));
		snprintf(line, sizeof(line), "Write at addr %016lx by task ",
			 (unsigned long)low + at);
		CHECK(unit_find(0, line) > 0);
		CHECK(unit_find(0, " each_word_tells+0x") > 0);
		/* Once. */
		EXPECT_NO_REPORT(CHECK(!kasan_stack_check(&task, low)));
	}
}

static void unchecked_writes_show_in_the_pattern(void)
{
	each_word_tells(with_shadow());
	each_word_tells(elsewhere);
}

/* The stack above is not touched, and a zone that is given up is ordinary memory. */
static void checked_accesses_are_reported_at_once(void)
{
	set_up(with_shadow());
	EXPECT_REPORT("stack-out-of-bounds", kasan_check_write(low, 1));
	EXPECT_REPORT("stack-out-of-bounds", kasan_check_write(low + ZONE - 1, 1));
	EXPECT_NO_REPORT(kasan_check_write(low + ZONE, STACK));
	kasan_stack_unmark(low, ZONE);
	EXPECT_NO_REPORT(kasan_check_write(low, ZONE + STACK));
}

static void any_report_says_that_the_stack_has_overflowed(void)
{
	set_up(with_shadow());
	EXPECT_REPORT("stack-out-of-bounds", kasan_check_write(low, 1));
	CHECK(unit_find(0, "The stack of task ") < 0);
	is_overflowed = true;
	EXPECT_REPORT("stack-out-of-bounds", kasan_check_write(low + 8, 1));
	CHECK(unit_find(0, "The stack of task test_stack_zone") > 0);
	kasan_stack_unmark(low, ZONE);
}

UNIT_MAIN(unchecked_writes_show_in_the_pattern, checked_accesses_are_reported_at_once,
	  any_report_says_that_the_stack_has_overflowed)
