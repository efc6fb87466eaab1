/* SPDX-License-Identifier: MIT */
/* test_stack.c - the lines of a report about a stack address. Frames are laid out by hand, with the descriptions that
 * Clang and GCC write, and with garbage. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../runtime/base/base.h"
#include "abi.h"
#include "unit.h"

#define MAGIC 0x41b58ab3UL

/* 32 bytes of left redzone with the compiler's three words, a 10-byte variable, and a 4-byte variable. */
struct frame {
	uintptr_t words[4];
	char first[32];
	char second[32];
	char right[32];
} __attribute__((aligned(32)));

static void lay_out(struct frame *f, const char *descr)
{
	f->words[0] = MAGIC;
	f->words[1] = (uintptr_t)descr;
	f->words[2] = (uintptr_t)lay_out;
	f->words[3] = 0;
	kasan_poison(f->words, 32, KASAN_STACK_LEFT);
	kasan_poison_tail(f->first, 10, 32, KASAN_STACK_MID);
	kasan_poison_tail(f->second, 4, 32, KASAN_STACK_RIGHT);
	kasan_poison(f->right, 32, KASAN_STACK_RIGHT);
}

static void clean(struct frame *f)
{
	kasan_unpoison_stack(f, f + 1);
}

static void clang_description(void)
{
	struct frame f;

	lay_out(&f, "2 32 10 9 buffer:17 64 4 1 n");
	EXPECT_REPORT("stack-out-of-bounds", __asan_store1_noabort((uintptr_t)&f.first[10]));
	CHECK(unit_find(0, "The buggy address belongs to stack of task test_stack/") > 0);
	CHECK(unit_saw(" and is located at offset 42 in frame:"));
	CHECK(unit_find(0, " lay_out+0x0/0x") > 0);
	CHECK(unit_saw("This frame has 2 objects:"));
	CHECK(unit_saw(" [32, 42) 'buffer' (line 17)"));
	CHECK(unit_saw(" [64, 68) 'n'"));
	clean(&f);
}

static void gcc_description(void)
{
	struct frame f;

	lay_out(&f, "1 32 10 8 table:23");
	EXPECT_REPORT("stack-out-of-bounds", __asan_load4_noabort((uintptr_t)&f.second[4]));
	CHECK(unit_saw("This frame has 1 object:"));
	CHECK(unit_saw(" [32, 42) 'table' (line 23)"));
	clean(&f);
}

/* A name that contains a blank: its length tells where it ends, not the blank. */
static void names_with_blanks(void)
{
	struct frame f;

	lay_out(&f, "2 32 10 5 a b c 64 4 3 x:9");
	EXPECT_REPORT("stack-out-of-bounds", __asan_load1_noabort((uintptr_t)&f.first[12]));
	CHECK(unit_saw(" [32, 42) 'a b c'"));
	CHECK(unit_saw(" [64, 68) 'x' (line 9)"));
	clean(&f);
}

static void descriptions_that_are_garbage(void)
{
	static const char *const descriptions[] = {
		"",
		" ",
		"x",
		"2",
		"2 ",
		"2 32",
		"1 32 10 9999 buf",
		"99999999999999999999999 1 1 1 a",
		"2 32 10 6 buffer",
		"-1 32 10 1 a",
		"1 32 10 4 \x01\x02\x03\x04",
		"1 32 10 200 "
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaa",
	};
	struct frame f;

	for (size_t i = 0; i < sizeof(descriptions) / sizeof(descriptions[0]); i++) {
		lay_out(&f, descriptions[i]);
		EXPECT_REPORT("stack-out-of-bounds", __asan_load1_noabort((uintptr_t)&f.first[12]));
		CHECK(unit_find(0, "Memory state around the buggy address:") > 0);
		CHECK(unit_lines() < 200);
		clean(&f);
	}
	/* Pointers that lead nowhere. */
	for (int round = 0; round < 2000; round++) {
		lay_out(&f, "1 32 10 1 a");
		f.words[1 + unit_below(2)] = unit_below(2) ? unit_random() : unit_below(70000);
		f.words[0] = unit_below(8) ? MAGIC : unit_random();
		EXPECT_REPORT("stack-out-of-bounds", __asan_load1_noabort((uintptr_t)&f.first[12]));
		CHECK(unit_find(0, "Memory state around the buggy address:") > 0);
		clean(&f);
	}
}

/* An address at the low end of the stack, with no left redzone below it: the search stays inside the stack. */
static void no_frame_below(void)
{
	uintptr_t start, end;

	REQUIRE(kasan_posix_stack(&start, &end));
	/* Only the shadow is touched, because the lowest page of the stack need not be mapped. */
	kasan_poison((void *)start, 64, KASAN_STACK_MID);
	EXPECT_REPORT("stack-out-of-bounds", __asan_load1_noabort(start + 8));
	CHECK(unit_find(0, "This frame has ") < 0);
	kasan_unpoison((void *)start, 64);
}

/* Name of the task that owns all memory outside the running thread's stack; NULL: unknown. */
static const char *owner;

/* Replaces the runtime's weak function. */
bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *task)
{
	(void)addr;
	task->id = 77;
	task->name = owner;
	return owner;
}

static void stack_of_another_task(void)
{
	struct frame *f = unit_watched(sizeof(*f));

	lay_out(f, "1 32 10 5 array");
	EXPECT_REPORT("stack-out-of-bounds", __asan_load1_noabort((uintptr_t)&f->first[10]));
	CHECK(unit_saw("The buggy address belongs to stack of another task"));
	CHECK(unit_saw(" and is located at offset 42 in frame:"));
	CHECK(unit_saw(" [32, 42) 'array'"));
	owner = "lender";
	EXPECT_REPORT("stack-out-of-bounds", __asan_load1_noabort((uintptr_t)&f->first[10]));
	CHECK(unit_saw("The buggy address belongs to stack of task lender/77"));
	CHECK(unit_saw(" [32, 42) 'array'"));
	/* The owner is named without stack poison as well, because the stack may be freed by now. */
	clean(f);
	kasan_poison(f, 32, KASAN_PAGE_FREE);
	EXPECT_REPORT("use-after-free", __asan_load1_noabort((uintptr_t)f));
	CHECK(unit_saw("The buggy address belongs to stack of task lender/77"));
	CHECK(unit_find(0, "This frame has ") < 0);
	owner = NULL;
	clean(f);
}

static void use_after_scope(void)
{
	struct frame f;

	lay_out(&f, "2 32 10 9 buffer:17 64 4 7 inner:9");
	kasan_poison(f.second, 8, KASAN_STACK_AFTER_SCOPE);
	EXPECT_REPORT("use-after-scope", __asan_load4_noabort((uintptr_t)f.second));
	CHECK(unit_saw(" [64, 68) 'inner' (line 9)"));
	CHECK(unit_saw(" and is located at offset 64 in frame:"));
	clean(&f);
}

/* longjmp() out of frames that will never be popped. */
static void unpoison_after_a_jump(void)
{
	struct frame f[8];

	for (int i = 0; i < 8; i++)
		lay_out(&f[i], "1 32 10 1 a");
	kasan_unpoison_stack(f, f + 8);
	CHECK_EQ(kasan_first_bad((uintptr_t)f, sizeof(f)), 0);
}

/* Two frames with a stretch of stack between them that no instrumented function uses. */
struct stretch {
	struct frame low;
	char between[4096];
	struct frame high;
};

/* memset() over the poison of a dead frame: the report names that frame, not one far below. */
static void first_bad_byte_of_a_long_access(void)
{
	struct stretch s;

	kasan_unpoison_stack(&s, &s + 1);
	lay_out(&s.low, "1 32 10 3 low");
	lay_out(&s.high, "1 32 10 4 high");
	EXPECT_REPORT("stack-out-of-bounds",
		      kasan_check_write(s.between + 3500, sizeof(s.between) - 3500 + 16));
	CHECK(unit_saw("The buggy address belongs to stack of task test_stack/%d", getpid()));
	CHECK(unit_saw(" [32, 42) 'high'"));
	/* The access starts below the frame, so the report shows the place of the first bad byte in it. */
	CHECK(unit_saw(" and is located at offset 0 in frame:"));
	/* The access starts in a variable of the frame, so the report shows the place of the access. */
	EXPECT_REPORT("stack-out-of-bounds", kasan_check_write(s.high.first + 2, 20));
	CHECK(unit_saw(" and is located at offset 34 in frame:"));
	clean(&s.low);
	clean(&s.high);
}

/* The poison that dead frames have left is not part of the live frame below it. */
static void beyond_the_frame(void)
{
	struct stretch s;

	kasan_unpoison_stack(&s, &s + 1);
	lay_out(&s.low, "2 32 10 3 low 64 4 1 n");
	/* Poison without a left redzone: its frame is unknown. */
	kasan_poison(s.between + 512, 32, KASAN_STACK_MID);
	EXPECT_REPORT("stack-out-of-bounds", kasan_check_write(s.between + 512, 1));
	CHECK(unit_saw("The buggy address belongs to stack of task test_stack/%d", getpid()));
	CHECK(unit_find(0, " and is located at offset ") < 0);
	CHECK(unit_find(0, "This frame has ") < 0);
	/* All of the right redzone belongs to the frame, up to its last byte. */
	EXPECT_REPORT("stack-out-of-bounds", kasan_check_write(s.low.right + 31, 1));
	CHECK(unit_saw(" and is located at offset 127 in frame:"));
	/* A later frame has taken the upper part of this one, including its right redzone. */
	kasan_unpoison_stack(s.low.second, &s.low + 1);
	EXPECT_REPORT("stack-out-of-bounds", kasan_check_write(s.between + 512, 1));
	CHECK(unit_find(0, " and is located at offset ") < 0);
	clean(&s.low);
	kasan_unpoison_stack(&s, &s + 1);
}

UNIT_MAIN(clang_description, gcc_description, names_with_blanks, descriptions_that_are_garbage,
	  no_frame_below, stack_of_another_task, use_after_scope, unpoison_after_a_jump,
	  first_bad_byte_of_a_long_access, beyond_the_frame)
