/* SPDX-License-Identifier: MIT */
/*
 * riscv_main.c - HARTS=n: the program, instrumented. What firmware on several harts does wrong, and whether each was
 * reported correctly. Exit status: 0 all were, 1 some were not.
 */
#include <kasan/kasan.h>

#include "board.h"
#include "bugs.h"
#include "heap.h"
#include "riscv.h"

static const char *volatile seen;
static unsigned int count;
static unsigned int failed;
static char table[10];

static void expect(bool good, const char *wrong)
{
	if (good)
		return;
	board_print(wrong);
	__atomic_fetch_add(&failed, 1, __ATOMIC_RELAXED);
}

static void note(const struct kasan_report_info *info)
{
	seen = info->bug_type;
	__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
}

static void heap_overflow(void)
{
	char *text = malloc(13);

	text[runtime(13)] = 0;
	free(text);
}

static void use_after_free(void)
{
	uint32_t *words = malloc(16);

	free(words);
	words[runtime(2)] = 7;
}

static void double_free(void)
{
	char *text = malloc(8);

	free(text);
	free((void *)runtime((size_t)text));
}

static void global_overflow(void)
{
	((char *)runtime((size_t)table))[sizeof(table)] = 1;
}

#if CONFIG_KASAN_STACK
static void stack_overread(void)
{
	char name[12] = "";

	__asm__ volatile("" : : "r"(name) : "memory");
	(void)*(volatile char *)&name[runtime(16)];
}
#endif

static void null_read(void)
{
	(void)*(volatile uint32_t *)runtime(16);
}

static void null_call(void)
{
	((void (*)(void))runtime(0))();
	runtime(1);
}

/* Between devices. */
static void wild_write(void)
{
	*(volatile uint32_t *)runtime(0x1f000000) = 1;
}

static __attribute__((noinline)) unsigned int recurse(unsigned int levels)
{
	volatile unsigned int words[4] = {levels};

	if (runtime(levels))
		words[1] = recurse(levels - 1);
	return words[0] + words[1];
}

/* No check sees it: the guard below the stack does. */
static void recursion(void)
{
	recurse(10000);
}

/* --- In user mode: not firmware's bugs -------------------------------------------------------------- */

#define IN_USER_MODE __attribute__((no_sanitize("kernel-address"), noinline)) static void

IN_USER_MODE user_null_read(void)
{
	__asm__ volatile("lw zero, 16(zero)");
}

IN_USER_MODE user_shadow_read(void)
{
	(void)*(volatile char *)__kasan_shadow_start;
}

IN_USER_MODE user_shadow_end_read(void)
{
	(void)*(volatile char *)(__kasan_shadow_start +
				 (__kasan_window_end - __kasan_window_start) / 8 - 1);
}

IN_USER_MODE user_allowed_read(void)
{
	(void)*(volatile char *)((uintptr_t)__kasan_window_end - 1);
	__asm__ volatile("ecall");
}

static void in_user_mode(void)
{
	/* 5: load access fault. 8: the call, after a read that is allowed. */
	expect(hart_run_user(user_null_read) == 5,
	       "template: user mode may read what there is not");
	expect(hart_run_user(user_shadow_read) == 5, "template: user mode may read the shadow");
	expect(hart_run_user(user_shadow_end_read) == 5,
	       "template: user mode may read the shadow's end");
	expect(hart_run_user(user_allowed_read) == 8,
	       "template: user mode may not read its own memory");
}

/* --- No bug ------------------------------------------------------------------------------------------ */

static void work(void)
{
	size_t i;

	for (i = 1; i <= 200; i++) {
		char *text = malloc(runtime(i));

		memset(text, 'w', runtime(i));
		text = realloc(text, runtime(2 * i));
		text[runtime(2 * i) - 1] = 'x';
		free(text);
	}
}

static void device_tree(void)
{
	/* Its first word, with the most significant byte first: d00dfeed. */
	expect(early_tree && *(const volatile uint32_t *)early_tree == 0xedfe0dd0U,
	       "template: the device tree's address is lost");
}

static const struct bug bugs[] = {
	{"heap_overflow", "slab-out-of-bounds", heap_overflow},
	{"use_after_free", "slab-use-after-free", use_after_free},
	{"double_free", "double-free", double_free},
	{"global_overflow", "global-out-of-bounds", global_overflow},
#if CONFIG_KASAN_STACK
	{"stack_overread", "stack-out-of-bounds", stack_overread},
#endif
	{"null_read", "null-ptr-deref", null_read},
	{"null_call", "invalid-call", null_call},
	{"wild_write", "wild-memory-access", wild_write},
	{"recursion", "stack-overflow", recursion},
	{"in_user_mode", NULL, in_user_mode},
	{"device_tree", NULL, device_tree},
	{"work", NULL, work},
};

/* @what, then @name as a line. */
static void say(const char *what, const char *name)
{
	char line[64];
	size_t n = 0;

	for (; *what; what++)
		line[n++] = *what;
	for (; *name && n < sizeof(line) - 1; name++)
		line[n++] = *name;
	line[n] = 0;
	board_print(line);
}

static bool check(const struct bug *bug, unsigned int expected)
{
	const bool good = count == (bug->type ? expected : 0) && (!count || same(seen, bug->type));

	say(good ? "template: ok " : "template: NOT OK ", bug->name);
	count = 0;
	return good;
}

/* Each hart's own bug, and its output between the reports of others. */
static void at_once(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		board_print("a whole line of a hart");
		use_after_free();
	}
}

int main(void)
{
	static const struct bug together = {"at_once", "slab-use-after-free", at_once};
	const char *wrong = kasan_check_offset();
	unsigned int i, others;

	if (wrong) {
		say("kasan: ", wrong);
		return 4;
	}
	board_print("template: start");
	kasan_report_hook(note);
	for (i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++) {
		hart_run(bugs[i].run);
		failed += !check(&bugs[i], 1);
	}
	/* The same on all other harts, one bug after another. Places that are known are reported in one line. */
	for (i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++) {
		others = harts_go(bugs[i].run);
		harts_wait();
		failed += !check(&bugs[i], others);
	}
	others = harts_go(at_once);
	hart_run(at_once);
	harts_wait();
	failed += !check(&together, 4 * (others + 1));
	board_print(failed ? "template: done, some failed" : "template: done, all as expected");
	return failed ? 1 : 0;
}
