/* SPDX-License-Identifier: MIT */
/*
 * stale_poison.c - instead of the example's main.c: hooks and a report on a stack whose free part is poisoned, as dead frames
 * leave it that were not returned from. Not instrumented.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "board.h"
#include "heap.h"

#define REACH 12288 /* of 16 KiB */

static void *object;

static void do_malloc(void)
{
	object = malloc(40);
}

static void do_realloc(void)
{
	object = realloc(object, 60);
}

static void do_free(void)
{
	free(object);
}

static void use_after_free(void)
{
	kasan_check_read(object, 4);
}

static void double_free(void)
{
	free(object);
}

static __attribute__((noinline)) void on_poison(void (*function)(void))
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)15;

	kasan_poison((void *)(here - REACH), REACH - 256, KASAN_STACK_MID);
	function();
	kasan_unpoison_stack((void *)(here - REACH), (void *)here);
}

int main(void)
{
	static void (*const steps[])(void) = {do_malloc, do_realloc, do_free, use_after_free,
					      double_free};
	unsigned int i;

	kasan_save_multi_shot();
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		on_poison(steps[i]);
	kasan_report_line("stale-poison: done, %lu reports", kasan_report_count());
	return 0;
}
