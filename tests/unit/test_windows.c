/* SPDX-License-Identifier: MIT */
/* test_windows.c - the windowed layout: windows are added, or refused with a message that names the wrong numbers.
 * Every window is checked, and everything outside is accessible. */
#include <pthread.h>
#include <string.h>

#include "../../runtime/base/base.h"
#include "abi.h"
#include "unit.h"

#define WINDOW 65536UL

static char *first, *second, *outside;

static bool refused(uintptr_t start, size_t size, void *shadow, const char *number)
{
	const char *why = kasan_window_add(start, size, shadow);

	if (!CHECKF(why, "window %lx+%zx was accepted", start, size))
		return false;
	return CHECKF(strstr(why, number), "\"%s\" does not say %s", why, number);
}

static const char *hex(uintptr_t value)
{
	static char text[32];
	char digits[20];
	int n = 0, i = 2;

	do
		digits[n++] = "0123456789abcdef"[value % 16];
	while (value /= 16);
	text[0] = '0';
	text[1] = 'x';
	while (n)
		text[i++] = digits[--n];
	text[i] = '\0';
	return text;
}

/* Before the first window nothing is checked, and nothing crashes. */
static void without_windows(void)
{
	char *p = unit_arena(4096);

	CHECK(!kasan_shadow_of(p));
	EXPECT_NO_REPORT(__asan_store8_noabort((uintptr_t)p));
	EXPECT_NO_REPORT(__asan_store16_noabort((uintptr_t)p + 3));
	EXPECT_NO_REPORT(__asan_loadN_noabort((uintptr_t)p, 4096));
	CHECK(kasan_check_read(p, 1000));
	/* Poisoning it has no effect, because there is no shadow to write to. */
	kasan_poison(p, 4096, KASAN_PAGE_FREE);
	/* Memory without shadow counts as accessible. */
	CHECK_EQ(kasan_first_bad((uintptr_t)p, 4096), 0);
}

static void windows_that_are_wrong(void)
{
	uintptr_t start;
	void *shadow = unit_arena(WINDOW / 8);

	/* Three neighbours: the memory between the two windows is outside both. */
	first = unit_arena(4 * WINDOW);
	outside = first + WINDOW;
	second = first + 2 * WINDOW;
	start = (uintptr_t)first;
	refused(start + 4, WINDOW, shadow, hex(start + 4));
	refused(start + 4, WINDOW, shadow, hex(start));
	refused(start, WINDOW + 3, shadow, hex(WINDOW + 3));
	refused(start, WINDOW + 3, shadow, hex(WINDOW));
	refused(start, 0, shadow, "0x8");
	refused((uintptr_t)-4096, 8192, shadow, hex(4096));
	refused(start, WINDOW, NULL, hex(WINDOW / 8));
	refused(start, WINDOW, first + 128, hex(start + 128));
	refused(start, WINDOW, first - 8, hex(start - 8));
	/* None of the refused windows left anything behind. */
	CHECK(!kasan_shadow_of(first));
}

static void first_window(void)
{
	uint8_t *shadow = unit_arena(WINDOW / 8);

	memset(shadow, 0xff, WINDOW / 8);
	CHECK(!kasan_window_add((uintptr_t)first, WINDOW, shadow));
	CHECK(kasan_shadow_of(first) == shadow);
	CHECK(kasan_shadow_of(first + WINDOW - 1) == shadow + WINDOW / 8 - 1);
	CHECK(!kasan_shadow_of(first - 1));
	CHECK(!kasan_shadow_of(outside));
	CHECK_EQ(kasan_first_bad((uintptr_t)first, WINDOW), 0);
	CHECK_EQ(((uintptr_t)first >> 3) + __asan_shadow_memory_dynamic_address, (uintptr_t)shadow);
}

static void windows_that_overlap(void)
{
	uint8_t *shadow = unit_arena(WINDOW);
	uintptr_t start = (uintptr_t)first;

	refused(start, WINDOW, shadow, hex(start));
	refused(start + 8, 64, shadow, hex(start + WINDOW));
	refused(start - 8, 16, shadow, hex(start));
	refused(start + WINDOW - 8, 4096, shadow, hex(start));
	refused(start, 3 * WINDOW, shadow, hex(start));
	/* The shadow of one window inside the other's shadow. */
	refused((uintptr_t)second, WINDOW, kasan_shadow_of(first) + 8, hex(start));
	CHECK(!kasan_shadow_of(second));
}

static void second_window(void)
{
	CHECK(!kasan_window_add((uintptr_t)second, WINDOW, unit_arena(WINDOW / 8)));
	for (int w = 0; w < 2; w++) {
		char *p = w ? second : first;

		kasan_poison(p + 64, 64, KASAN_SLAB_REDZONE);
		CHECK_EQ(kasan_first_bad((uintptr_t)p, WINDOW), (uintptr_t)p + 64);
		for (const struct access_fn *fn = access_fns; fn->name; fn++) {
			EXPECT_REPORT("slab-out-of-bounds", fn->call((uintptr_t)p + 64));
			EXPECT_REPORT("slab-out-of-bounds", fn->call((uintptr_t)p + 127));
			EXPECT_NO_REPORT(fn->call((uintptr_t)p + 128));
			EXPECT_NO_REPORT(fn->call((uintptr_t)p));
		}
		kasan_unpoison(p + 64, 64);
	}
}

/* The last granule of a window and the first one after it: no byte outside the shadow is read. */
static void edges(void)
{
	for (int w = 0; w < 2; w++) {
		char *end = (w ? second : first) + WINDOW;

		for (const struct access_fn *fn = access_fns; fn->name; fn++)
			for (int at = -24; at <= 8; at++)
				EXPECT_NO_REPORT(fn->call((uintptr_t)end + (uintptr_t)at));
		kasan_poison(end - 8, 8, KASAN_SLAB_FREE);
		for (const struct access_fn *fn = access_fns; fn->name; fn++)
			for (int at = -24; at <= 8; at++) {
				bool bad = at < 0 && at + (int)fn->size > -8;

				unit_clear();
				fn->call((uintptr_t)end + (uintptr_t)at);
				CHECKF(unit_reports() == bad, "%s at end%+d", fn->name, at);
			}
		kasan_unpoison(end - 8, 8);
		/* An access that starts before a window and runs into it. */
		kasan_poison(end - WINDOW, 8, KASAN_SLAB_FREE);
		for (const struct access_fn *fn = access_fns; fn->name; fn++)
			for (int at = -16; at < 0; at++) {
				bool bad = at + (int)fn->size > 0;

				unit_clear();
				fn->call((uintptr_t)end - WINDOW + (uintptr_t)at);
				CHECKF(unit_reports() == bad, "%s at start%+d", fn->name, at);
			}
		kasan_unpoison(end - WINDOW, 8);
	}
}

static void outside_is_accessible(void)
{
	EXPECT_NO_REPORT(__asan_loadN_noabort((uintptr_t)outside, WINDOW));
	EXPECT_NO_REPORT(__asan_store8_noabort(0x10));
	EXPECT_NO_REPORT(__asan_store8_noabort(UINTPTR_MAX - 7));
	CHECK(kasan_byte_accessible(outside));
	/* A range over both windows and the memory between them. */
	CHECK_EQ(kasan_first_bad((uintptr_t)first, 4 * WINDOW), 0);
	kasan_poison(second + WINDOW - 8, 8, KASAN_SLAB_FREE);
	CHECK_EQ(kasan_first_bad((uintptr_t)first, 4 * WINDOW), (uintptr_t)second + WINDOW - 8);
	CHECK_EQ(kasan_first_bad((uintptr_t)first, 3 * WINDOW - 8), 0);
	kasan_unpoison(second + WINDOW - 8, 8);
}

/* A report at the edge of a window does not read beyond the window's shadow. */
static void report_at_an_edge(void)
{
	kasan_poison(first, 8, KASAN_SLAB_REDZONE);
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort((uintptr_t)first));
	CHECK(unit_find(0, "Memory state around the buggy address:") > 0);
	kasan_unpoison(first, 8);
	kasan_poison(second + WINDOW - 8, 8, KASAN_SLAB_REDZONE);
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort((uintptr_t)second + WINDOW - 1));
	CHECK(unit_find(0, "Memory state around the buggy address:") > 0);
	kasan_unpoison(second + WINDOW - 8, 8);
}

/* The address that Clang passes to __asan_set_shadow_xx(): shadow at the only offset that compiled code has. */
static uintptr_t compiled_shadow(const char *p)
{
	return ((uintptr_t)p >> 3) + __asan_shadow_memory_dynamic_address;
}

/* Stacks may be in any window, and the second window has another offset. */
static void stack_hooks_in_every_window(void)
{
	for (int w = 0; w < 2; w++) {
		char *p = w ? second : first, *end = p + WINDOW;
		const uintptr_t at = (uintptr_t)p;

		__asan_set_shadow_f8(compiled_shadow(p + 256), 8);
		CHECK_EQ(kasan_first_bad(at, WINDOW), at + 256);
		EXPECT_REPORT("use-after-scope", __asan_load8_noabort(at + 312));
		EXPECT_NO_REPORT(__asan_load8_noabort(at + 320));
		__asan_set_shadow_00(compiled_shadow(p + 256), 8);
		CHECK_EQ(kasan_first_bad(at, WINDOW), 0);
		__asan_set_shadow_05(compiled_shadow(p + 256), 1);
		CHECK_EQ(kasan_first_bad(at, WINDOW), at + 256 + 5);
		kasan_unpoison_stack(p, end);
		CHECK_EQ(kasan_first_bad(at, WINDOW), 0);

		/* Over an edge: no byte outside the window's shadow is written. */
		__asan_set_shadow_f1(compiled_shadow(end - 16), 4);
		__asan_set_shadow_f1(compiled_shadow(p - 16), 3);
		CHECK_EQ(kasan_first_bad(at, WINDOW), at);
		CHECK_EQ(kasan_first_bad(at + 8, WINDOW - 8), at + WINDOW - 16);
		__asan_set_shadow_00(compiled_shadow(end - 16), 4);
		__asan_set_shadow_00(compiled_shadow(p - 16), 3);
		CHECK_EQ(kasan_first_bad(at, WINDOW), 0);

		__asan_alloca_poison(at + 512, 40);
		EXPECT_REPORT("alloca-out-of-bounds", __asan_load1_noabort(at + 511));
		EXPECT_REPORT("alloca-out-of-bounds", __asan_load1_noabort(at + 552));
		__asan_allocas_unpoison(at + 480, at + 640);
		CHECK_EQ(kasan_first_bad(at, WINDOW), 0);

		__asan_poison_stack_memory(at + 1024, 16);
		EXPECT_REPORT("use-after-scope", __asan_load4_noabort(at + 1036));
		__asan_unpoison_stack_memory(at + 1024, 13);
		CHECK_EQ(kasan_first_bad(at, WINDOW), at + 1037);
		__asan_unpoison_stack_memory(at + 1024, 16);
		CHECK_EQ(kasan_first_bad(at, WINDOW), 0);
	}
	/* Addresses between the windows, and addresses that are not the shadow of any memory. */
	__asan_set_shadow_f8(compiled_shadow(outside), 100);
	__asan_set_shadow_f8(compiled_shadow(NULL) - 8, 100);
	__asan_set_shadow_f8(compiled_shadow(NULL) - 8, SIZE_MAX);
	__asan_set_shadow_f8(compiled_shadow(second), SIZE_MAX);
	__asan_set_shadow_f8(0, 8);
	CHECK_EQ(kasan_first_bad((uintptr_t)first, 4 * WINDOW), 0);
}

static __attribute__((noinline)) void will_not_return(void)
{
	__asan_handle_no_return();
	__asm__ volatile("");
}

/* Called on a stack in the second window. */
static void *clear_own_stack(void *unused)
{
	char frame[64] __attribute__((aligned(8))) = {0};

	kasan_poison(frame, sizeof(frame), KASAN_STACK_MID);
	CHECK(!kasan_byte_accessible(frame));
	will_not_return();
	CHECK_EQ(kasan_first_bad((uintptr_t)frame, sizeof(frame)), 0);
	return unused;
}

static void noreturn_in_the_second_window(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	REQUIRE(!pthread_attr_init(&attr));
	REQUIRE(!pthread_attr_setstack(&attr, second, WINDOW));
	REQUIRE(!pthread_create(&thread, &attr, clear_own_stack, NULL));
	pthread_join(thread, NULL);
}

/* A stack is good where compiled code finds its shadow, and else refused with the right place: no bug on it would be seen. */
static void stacks_at_another_mapping(void)
{
	const char *why;

	CHECK(kasan_window_shadow((uintptr_t)first) == kasan_shadow_of(first));
	CHECK(!kasan_check_stack(first, first + WINDOW));
	why = kasan_check_stack(outside, outside + 4096);
	REQUIRE(why);
	CHECKF(strstr(why, hex((uintptr_t)outside)), "%s", why);
	why = kasan_check_stack(first + WINDOW - 4096, first + WINDOW + 8);
	CHECKF(why && strstr(why, "no shadow"), "%s", why ? why : "accepted");
	/* second_window() put its shadow anywhere. */
	why = kasan_check_stack(second, second + 4096);
	REQUIRE(why);
	CHECKF(strstr(why, hex((uintptr_t)kasan_window_shadow((uintptr_t)second))), "%s", why);
}

/* While checks run on another CPU, and after kasan_init(). */
static void *check_all_the_time(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED)) {
		kasan_check_read(first, 1000);
		kasan_check_read(outside, 8);
	}
	return NULL;
}

static void a_window_after_the_start(void)
{
	char *late = unit_arena(WINDOW);
	bool stop = false;
	pthread_t thread;

	CHECK(kasan_enabled());
	unit_clear();
	REQUIRE(!pthread_create(&thread, NULL, check_all_the_time, &stop));
	CHECK(!kasan_shadow_of(late));
	CHECK(!kasan_window_add((uintptr_t)late, WINDOW, unit_arena(WINDOW / 8)));
	kasan_poison(late + 64, 64, KASAN_PAGE_FREE);
	CHECK_EQ(kasan_first_bad((uintptr_t)late, WINDOW), (uintptr_t)late + 64);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK_EQ(unit_reports(), 0);
	EXPECT_REPORT("use-after-free", kasan_check_write(late + 64, 1));
}

static void no_more_than_the_table_holds(void)
{
	char *more = unit_arena(4096 * 32);
	unsigned int added = 3;

	for (; added < CONFIG_KASAN_MAX_WINDOWS; added++)
		CHECK(!kasan_window_add((uintptr_t)more + added * 8192, 4096, unit_arena(512)));
	refused((uintptr_t)more + 60000, 4096, unit_arena(512), hex(CONFIG_KASAN_MAX_WINDOWS));
	kasan_poison(more + (added - 1) * 8192, 8, KASAN_SLAB_FREE);
	EXPECT_REPORT("slab-use-after-free",
		      __asan_load4_noabort((uintptr_t)more + (added - 1) * 8192));
}

#ifdef __x86_64__
/* A wild pointer that is not canonical: the access would fault without an address, so the check refuses it. */
static void what_is_not_an_address(void)
{
	static const uintptr_t wild[] = {0x4141414141414141UL, 0xdead000000000100UL,
					 0x0100000000000000UL, 0xfeffffffffffffffUL};
	uintptr_t addr = 0;

	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		EXPECT_REPORT("wild-memory-access", __asan_load8_noabort(wild[i]));
		CHECK_EQ(unit_last()->addr, wild[i]);
		EXPECT_REPORT("wild-memory-access", __asan_storeN_noabort(wild[i], 40));
		CHECK(!kasan_port_readable((const void *)wild[i], 1));
	}
	/* With 5-level tables these are addresses. */
	EXPECT_NO_REPORT(__asan_load8_noabort(0x00fffffffffffff0UL));
	EXPECT_NO_REPORT(__asan_load8_noabort(0xff00000000000000UL));
	/* These windows have no offset that was compiled in. */
	CHECK(!kasan_shadow_fault_to_access(0xe000000000000000UL, &addr));
}
#else
static void what_is_not_an_address(void)
{
	unit_skip("every number is an address here");
}
#endif

UNIT_MAIN(without_windows, windows_that_are_wrong, first_window, windows_that_overlap,
	  second_window, edges, outside_is_accessible, report_at_an_edge,
	  stack_hooks_in_every_window, noreturn_in_the_second_window, stacks_at_another_mapping,
	  a_window_after_the_start, no_more_than_the_table_holds, what_is_not_an_address)
