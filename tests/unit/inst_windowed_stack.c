/* SPDX-License-Identifier: MIT */
/*
 * inst_windowed_stack.c - instrumented code on a stack in the second of two windows.
 *
 * The shadow of both windows is where the compiler's offset says. With SECOND_ELSEWHERE the second window's shadow is
 * in another place; then the compiler must leave all stack poison to the runtime.
 *
 * The main thread's stack has no shadow: no memory is mapped where it would be. So functions with watched variables run
 * only on the stack in the second window.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unit.h"

#define NOINLINE __attribute__((noinline))
#define WINDOW	 (1UL << 20)

static char *first, *second;
static volatile char sink;

/* Map memory where the compiler expects the shadow of [@start, @start + WINDOW). */
static void *shadow_where_compiled(const char *start)
{
	void *want = (void *)(((uintptr_t)start >> 3) + COMPILED_OFFSET);
	void *got = mmap(want, WINDOW / 8, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (got != want) {
		printf("Bail out! no memory at %p for shadow\n", want);
		exit(1);
	}
	return got;
}

static void two_windows(void)
{
	first = unit_arena(4 * WINDOW);
	second = first + 2 * WINDOW;
	REQUIRE(!kasan_window_add((uintptr_t)first, WINDOW, shadow_where_compiled(first)));
#ifdef SECOND_ELSEWHERE
	REQUIRE(!kasan_window_add((uintptr_t)second, WINDOW, unit_arena(WINDOW / 8)));
#else
	REQUIRE(!kasan_window_add((uintptr_t)second, WINDOW, shadow_where_compiled(second)));
#endif
}

/* Run @test on a stack that fills the second window. */
static void on_second_window(void *(*test)(void *))
{
	static pthread_attr_t attr;
	static pthread_t thread;

	REQUIRE(!pthread_attr_init(&attr));
	REQUIRE(!pthread_attr_setstack(&attr, second, WINDOW));
	kasan_unpoison(second, WINDOW);
	REQUIRE(!pthread_create(&thread, &attr, test, NULL));
	pthread_join(thread, NULL);
}

/* Compilers poison small frames inline, and call the runtime for large ones: test both. */
static NOINLINE void large_frame(size_t at)
{
	volatile char large[4096];

	large[at] = 1;
	sink = large[at];
}

static NOINLINE void small_frame(size_t at)
{
	volatile char small[24];

	small[at] = 1;
	sink = small[0];
}

static NOINLINE void deep_frames(int levels)
{
	volatile char large[1000], small[40];

	large[levels] = small[levels] = 1;
	if (levels)
		deep_frames(levels - 1);
	sink = large[levels] + small[levels];
}

static NOINLINE void after_scope(size_t at)
{
	volatile char *kept;

	{
		volatile char large[2048];

		large[at] = 1;
		kept = large;
		__asm__ volatile("" : "+r"(kept));
	}
	sink = kept[at];
}

static NOINLINE void variable_length(size_t size, size_t at)
{
	volatile char array[size];

	array[at] = 1;
	sink = array[at];
}

static void *leave_nothing(void *unused)
{
	for (int round = 0; round < 3; round++) {
		EXPECT_NO_REPORT(large_frame(4095));
		CHECK_EQ(unit_poison_below(16384), 0);
		EXPECT_NO_REPORT(small_frame(23));
		CHECK_EQ(unit_poison_below(16384), 0);
		EXPECT_NO_REPORT(deep_frames(30));
		CHECK_EQ(unit_poison_below(65536), 0);
		EXPECT_NO_REPORT(variable_length(1000, 999));
		CHECK_EQ(unit_poison_below(16384), 0);
	}
	return unused;
}

static void frames_leave_nothing(void)
{
	two_windows();
	on_second_window(leave_nothing);
}

static void *find_bugs(void *unused)
{
	EXPECT_REPORT("stack-out-of-bounds", small_frame(24));
	EXPECT_REPORT("use-after-scope", after_scope(100));
	CHECK_EQ(unit_poison_below(16384), 0);
	return unused;
}

static void bugs_are_found(void)
{
	on_second_window(find_bugs);
}

static void *check_the_offset(void *unused)
{
	const char *wrong = kasan_check_offset();

	CHECKF(!wrong, "%s", wrong);
	return unused;
}

static void the_offset_is_right(void)
{
	on_second_window(check_the_offset);
}

UNIT_MAIN(frames_leave_nothing, bugs_are_found, the_offset_is_right)
