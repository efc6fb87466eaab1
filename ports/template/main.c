/* SPDX-License-Identifier: MIT */
/*
 * main.c - the program: instrumented. It does what firmware does wrong, one bug at a time, and says at
 * the end whether each was reported correctly. Exit status: 0 all were, 1 some were not.
 */
#include <kasan/kasan.h>
#include <kasan/port.h>

#include "board.h"
#include "bugs.h"
#include "heap.h"
#include "log.h"
#include "tasks.h"
#include "x86_64.h"

/*
 * Hardware tags see whole granules of 16 bytes: an overflow shows when it leaves the last one.
 */
#ifdef CONFIG_KASAN_HW_TAGS
#define END_OF_13 16
#else
#define END_OF_13 13
#endif

static const char *seen;
static unsigned int count;
static char table[10];

static void note(const struct kasan_report_info *info)
{
	seen = info->bug_type;
	count++;
}

static void heap_overflow(void)
{
	char *text = malloc(13);

	text[runtime(END_OF_13)] = 0;
	free(text);
}

static void heap_underflow(void)
{
	char *text = memalign(64, 13);
	volatile char byte = text[runtime(0) - 1];

	(void)byte;
	free(text);
}

static void copy_overflow(void)
{
	char *to = malloc(20);

	memcpy(to, "more than twenty characters, and thirty-two", runtime(40));
	free(to);
}

static void use_after_free(void)
{
	uint32_t *words = malloc(4 * sizeof(*words));

	free(words);
	words[runtime(2)] = 7;
}

static void use_after_realloc(void)
{
	char *old = malloc(100), *moved = realloc(old, 50);

	old[runtime(10)] = 1;
	free(moved);
}

static void double_free(void)
{
	char *text = malloc(8);

	free(text);
	free((void *)runtime((size_t)text));
}

static void invalid_free(void)
{
	char *text = malloc(80);

	free(text + runtime(16));
	free(text);
}

/* By code that is not instrumented, or a device: the check comes too late, the report does not. */
static void overwritten_header(void)
{
	char *text = malloc(40);

	__memset((char *)kasan_reset_tag(text) - runtime(56), 0x41, 56);
	free(text);
}

static void early_double_free(void)
{
	free(early_chunk);
	free((void *)runtime((size_t)early_chunk));
}

#ifdef CONFIG_KASAN_GENERIC
static void global_overflow(void)
{
	char *entry = (char *)runtime((size_t)table);

	entry[sizeof(table)] = 1;
}
#endif

#ifndef CONFIG_KASAN_HW_TAGS
/* Not all checks of stack tags know less than a granule, so it is one that is left. */
static void stack_overread(void)
{
	char name[12] = "";

	__asm__ volatile("" : : "r"(name) : "memory");
	(void)*(volatile char *)&name[runtime(16)];
}
#endif

#if defined(__arm__) || defined(__x86_64__)
/* Each bug runs in a task, and a fault ends the task: see tasks.c, x86_64_port.c. */

/* Nothing is there. On x86_64 it is not even an address (not canonical): the fault does not say which it was. */
#ifdef __x86_64__
#define WILD 0x4141414141414140
#else
#define WILD 0x5fff0000
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

static void wild_write(void)
{
	*(volatile uint32_t *)runtime(WILD) = 1;
	runtime(1);
}

#ifdef __x86_64__
static void wild_call(void)
{
	((void (*)(void))runtime(WILD))();
	runtime(1);
}

/* By a function without checks. */
static void wild_fill(void)
{
	__memset((void *)runtime(WILD), 0, 24);
}

static void heap_overread(void)
{
	char *text = malloc(30);

	(void)*(volatile char *)(text + runtime(30));
	free(text);
}

static void other_cpu(void)
{
	cpu_call(heap_overread);
	cpu_wait();
}

static char *freed;
static bool wanted;
static volatile bool done;

static void use_freed(void)
{
	if (__atomic_exchange_n(&wanted, false, __ATOMIC_ACQ_REL)) {
		(void)*(volatile char *)freed;
		done = true;
	}
}

/* The handlers have stacks of their own. */
static void in_handler(void (*volatile *handler)(void))
{
	void (*const usual)(void) = *handler;

	freed = malloc(24);
	free(freed);
	done = false;
	*handler = use_freed;
	__atomic_store_n(&wanted, true, __ATOMIC_RELEASE);
	if (handler == &board_nmi)
		cpu_nmi();
	while (!done)
		;
	*handler = usual;
}

static void in_interrupt(void)
{
	in_handler(&board_tick);
}

static void in_nmi(void)
{
	in_handler(&board_nmi);
}

/* What all ticks do: nothing wrong, in the middle of everything else. */
static void tick(void)
{
	char *text = malloc(runtime(24));

	memset(text, 't', runtime(24));
	free(text);
}

static void work(void)
{
	size_t i;

	for (i = 1; i <= 500; i++) {
		char *text = malloc(runtime(i));

		memset(text, 'w', runtime(i));
		text = realloc(text, runtime(2 * i));
		text[runtime(2 * i) - 1] = 'x';
		free(text);
	}
}

static void two_cpus(void)
{
	cpu_call(work);
	work();
	cpu_wait();
}
#endif

/* 8 levels need about half a task's stack on Cortex-M, 1000 fit nowhere. */
static __attribute__((noinline)) unsigned int recurse(unsigned int levels)
{
	volatile unsigned int words[4] = {levels};

	if (runtime(levels))
		words[1] = recurse(levels - 1);
	return words[0] + words[1];
}

static void recursion(void)
{
	recurse(1000);
}
#endif

#ifdef __arm__
/* Leaves no trace but in memory: what is overwritten is seen when the task has ended. */
static void silent_overflow(void)
{
	__memset((void *)(task_now()->low - 100), 0, 8);
}
#endif

static void device_register(void)
{
	(void)*BOARD_UART_STATUS;
}

static void correct_use(void)
{
	char *text = malloc(13);

	memset(text, 'x', runtime(13));
	text = realloc(text, 100);
	memset(text, 'y', runtime(100));
	*(char *)runtime((size_t)&table[9]) = text[runtime(99)];
	free(text);
}

static const struct bug bugs[] = {
	{"heap_overflow", "slab-out-of-bounds", heap_overflow},
	{"heap_underflow", "slab-out-of-bounds", heap_underflow},
	{"copy_overflow", "slab-out-of-bounds", copy_overflow},
	{"use_after_free", "slab-use-after-free", use_after_free},
	{"use_after_realloc", "slab-use-after-free", use_after_realloc},
	{"double_free", "double-free", double_free},
	{"invalid_free", "invalid-free", invalid_free},
	{"overwritten_header", "invalid-free", overwritten_header},
	{"early_double_free", "double-free", early_double_free},
#ifdef CONFIG_KASAN_GENERIC
	{"global_overflow", "global-out-of-bounds", global_overflow},
#endif
#ifndef CONFIG_KASAN_HW_TAGS
	{"stack_overread", "stack-out-of-bounds", stack_overread},
#endif
#if defined(__arm__) || defined(__x86_64__)
	{"null_read", "null-ptr-deref", null_read},
	{"null_call", "invalid-call", null_call},
	{"wild_write", "wild-memory-access", wild_write},
#endif
#ifdef __x86_64__
	{"wild_call", "invalid-call", wild_call},
	{"wild_fill", "wild-memory-access", wild_fill},
	{"other_cpu", "slab-out-of-bounds", other_cpu},
	{"in_interrupt", "slab-use-after-free", in_interrupt},
	{"in_nmi", "slab-use-after-free", in_nmi},
	{"two_cpus", NULL, two_cpus},
#endif
#if defined(__arm__) || defined(__x86_64__)
	{"recursion", "stack-overflow", recursion},
#endif
#ifdef __arm__
	{"silent_overflow", "stack-overflow", silent_overflow},
#endif
	{"device_register", NULL, device_register},
	{"correct_use", NULL, correct_use},
};

static bool as_expected(const struct bug *bug)
{
	if (bug->type == NULL)
		return count == 0;
	return count == 1 && same(seen, bug->type);
}

int main(void)
{
	const char *wrong = kasan_check_offset();
	unsigned int i, failed = 0;

	if (wrong) {
		board_puts("kasan: ");
		board_puts(wrong);
		board_puts("\n");
		return 4;
	}
	board_puts("template: start\n");
	kasan_report_hook(note);
#ifdef __x86_64__
	board_tick = tick;
#endif
	for (i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++) {
		count = 0;
#if defined(__arm__) || defined(__x86_64__)
		task_run(1, bugs[i].run);
#else
		bugs[i].run();
#endif
#ifdef TEMPLATE_LOG
		log_drain();
#endif
		if (!as_expected(&bugs[i]))
			failed++;
		board_puts(as_expected(&bugs[i]) ? "template: ok " : "template: NOT OK ");
		board_puts(bugs[i].name);
		board_puts("\n");
	}
	board_puts(failed ? "template: done, some failed\n" : "template: done, all as expected\n");
	return failed ? 1 : 0;
}
