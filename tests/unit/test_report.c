/* SPDX-License-Identifier: MIT */
/* test_report.c - compares one report of each kind with the text contract, line by line and in order; and tests the
 * formats of kasan_report_line(). */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../runtime/base/base.h"
#include "abi.h"
#include "fake_slab.h"

#define RULER "=================================================================="

static bool matches(const char *text, const char *pattern)
{
	char anchored[512];
	regex_t re;
	bool ok;

	snprintf(anchored, sizeof(anchored), "^%s$", pattern);
	if (regcomp(&re, anchored, REG_EXTENDED | REG_NOSUB)) {
		CHECKF(false, "bad pattern %s", pattern);
		return false;
	}
	ok = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return ok;
}

/* The captured lines must match these patterns, in this order. "*" stands for any number of frames. */
static void check_lines(const char *const *patterns, const char *what)
{
	size_t at = 0;

	for (; *patterns; patterns++) {
		if (!strcmp(*patterns, "*")) {
			while (matches(unit_line(at),
				       " ([a-zA-Z_0-9.]+\\+0x[0-9a-f]+/0x[0-9a-f]+|0x[0-9a-f]+)"))
				at++;
			continue;
		}
		if (!CHECKF(matches(unit_line(at), *patterns), "%s, line %zu: \"%s\" is not \"%s\"",
			    what, at, unit_line(at), *patterns)) {
			unit_dump();
			return;
		}
		at++;
	}
	CHECKF(at == unit_lines(), "%s: %zu lines too many", what, unit_lines() - at);
}

#define HEX	    "[0-9a-f]{16}"
#define FRAME(name) " " name "\\+0x[0-9a-f]+/0x[0-9a-f]+"
#define TASK	    "test_report/[0-9]+"
#define HEADER(type, function, access)                                                   \
	RULER, "BUG: KASAN: " type " in " function "\\+0x[0-9a-f]+/0x[0-9a-f]+",         \
		access " by task " TASK, "", "CPU: [0-7] PID: [0-9]+ Comm: test_report", \
		"Call trace:"
#define TRACK(what, hook, function) what " by task [0-9]+:", FRAME(hook), FRAME(function), "*", ""
#define OBJECT(place, region)                                  \
	"The buggy address belongs to the object at " HEX,     \
		" which belongs to the cache text of size 64", \
		"The buggy address is located " place,         \
		" " region "-byte region \\[" HEX ", " HEX "\\)", ""
#define STATE                                                                          \
	"Memory state around the buggy address:", " " HEX ":( [0-9a-f]{2}){16}",       \
		" " HEX ":( [0-9a-f]{2}){16}", ">" HEX ":( [0-9a-f]{2}){16}", " +\\^", \
		" " HEX ":( [0-9a-f]{2}){16}", " " HEX ":( [0-9a-f]{2}){16}", RULER

static __attribute__((noinline)) void touch(uintptr_t addr)
{
	__asan_load4_noabort(addr);
	__asm__ volatile("");
}

static void slab_out_of_bounds(void)
{
	static const char *const want[] = {
		HEADER("slab-out-of-bounds", "touch", "Read of size 4 at addr " HEX),
		FRAME("touch"),
		FRAME("slab_out_of_bounds"),
		"*",
		"",
		TRACK("Allocated", "fake_slab_alloc", "slab_out_of_bounds"),
		OBJECT("3 bytes to the right of", "allocated 40"),
		STATE,
		NULL,
	};
	struct fake_slab *slab = fake_slab_create("text", 64, 8, 0, 4);
	char *p = fake_slab_alloc(slab, 40);

	EXPECT_REPORT("slab-out-of-bounds", touch((uintptr_t)p + 43));
	check_lines(want, "slab-out-of-bounds");
}

static void slab_use_after_free(void)
{
	static const char *const want[] = {
		HEADER("slab-use-after-free", "touch", "Read of size 4 at addr " HEX),
		FRAME("touch"),
		FRAME("slab_use_after_free"),
		"*",
		"",
		TRACK("Allocated", "fake_slab_alloc", "slab_use_after_free"),
		TRACK("Freed", "fake_slab_free", "slab_use_after_free"),
		OBJECT("8 bytes inside of", "freed 40"),
		STATE,
		NULL,
	};
	struct fake_slab *slab = fake_slab_create("text", 64, 8, 0, 4);
	char *p = fake_slab_alloc(slab, 40);

	fake_slab_free(slab, p);
	EXPECT_REPORT("slab-use-after-free", touch((uintptr_t)p + 8));
	check_lines(want, "slab-use-after-free");
}

static void double_free(void)
{
	static const char *const want[] = {
		HEADER("double-free", "double_free", "Free of addr " HEX),
		FRAME("double_free"),
		"*",
		"",
		TRACK("Allocated", "fake_slab_alloc", "double_free"),
		TRACK("Freed", "fake_slab_free", "double_free"),
		OBJECT("0 bytes inside of", "64"),
		STATE,
		NULL,
	};
	struct fake_slab *slab = fake_slab_create("text", 64, 8, 0, 4);
	char *p = fake_slab_alloc(slab, 64);

	fake_slab_free(slab, p);
	EXPECT_REPORT("double-free", fake_slab_free(slab, p));
	check_lines(want, "double-free");
}

/* An address without shadow has neither an owner nor a memory state. */
static void null_pointer(void)
{
	static const char *const want[] = {
		HEADER("null-ptr-deref", "touch", "Read of size 4 at addr 0000000000000018"),
		FRAME("touch"),
		FRAME("null_pointer"),
		"*",
		RULER,
		NULL,
	};

	EXPECT_REPORT("null-ptr-deref", touch(0x18));
	check_lines(want, "null-ptr-deref");
}

static bool low_half(uintptr_t addr)
{
	return addr >= 0x800000000000 && addr < 0x900000000000;
}

/* Every shadow value has its type. */
static void types(void)
{
	static const struct {
		uint8_t value;
		const char *type;
	} expected[] = {
		{KASAN_PAGE_FREE, "use-after-free"},
		{KASAN_PAGE_REDZONE, "slab-out-of-bounds"},
		{KASAN_SLAB_REDZONE, "slab-out-of-bounds"},
		{KASAN_SLAB_FREE, "slab-use-after-free"},
		{KASAN_SLAB_FREE_META, "slab-use-after-free"},
		{KASAN_GLOBAL_REDZONE, "global-out-of-bounds"},
		{KASAN_STACK_AFTER_SCOPE, "use-after-scope"},
		{KASAN_VMALLOC_INVALID, "vmalloc-out-of-bounds"},
		{KASAN_USER_POISON, "use-after-poison"},
		{KASAN_STACK_LEFT, "stack-out-of-bounds"},
		{KASAN_STACK_MID, "stack-out-of-bounds"},
		{KASAN_STACK_RIGHT, "stack-out-of-bounds"},
		{KASAN_ALLOCA_LEFT, "alloca-out-of-bounds"},
		{KASAN_ALLOCA_RIGHT, "alloca-out-of-bounds"},
	};
	uintptr_t p = (uintptr_t)unit_watched(4096);

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		kasan_poison((void *)(p + 1024), 64, expected[i].value);
		EXPECT_REPORT(expected[i].type, __asan_load1_noabort(p + 1024));
		/* The first bytes of a granule are good: the type comes from the next granule. */
		kasan_unpoison((void *)(p + 1024), 3);
		EXPECT_REPORT(expected[i].type, __asan_store1_noabort(p + 1024 + 3));
		EXPECT_REPORT(expected[i].type, __asan_load8_noabort(p + 1024));
		kasan_unpoison((void *)(p + 1024), 64);
	}
	EXPECT_REPORT("null-ptr-deref", __asan_load8_noabort(0));
	EXPECT_REPORT("null-ptr-deref", __asan_store8_noabort(CONFIG_KASAN_NULL_LIMIT - 8));
	EXPECT_REPORT("wild-memory-access", __asan_load8_noabort(0x800000000000));
	EXPECT_REPORT("wild-memory-access", __asan_load8_noabort((uintptr_t)0xdeadbeefdeadbee8));
	kasan_posix_hooks.is_user = low_half;
	EXPECT_REPORT("user-memory-access", __asan_load8_noabort(0x800000000000));
	EXPECT_REPORT("wild-memory-access", __asan_load8_noabort((uintptr_t)0xdeadbeefdeadbee8));
	kasan_posix_hooks.is_user = NULL;
}

static void faults(void)
{
	uintptr_t pc = (uintptr_t)faults + 5;

	unit_clear();
	CHECK(kasan_report_fault(0x40, 0, true, pc, 0));
	CHECK(unit_saw("Write at addr 0000000000000040 by task test_report/%d", getpid()));
	CHECK(unit_find(0, "BUG: KASAN: null-ptr-deref in faults+0x5/0x") == 1);
	CHECK(unit_find(0, " faults+0x5/0x") == unit_find(0, "Call trace:") + 1);
	unit_clear();
	CHECK(kasan_report_fault((uintptr_t)-22, 8, false, pc, 0));
	CHECK(unit_saw("Read of size 8 at addr ffffffffffffffea by task test_report/%d", getpid()));
	CHECK(!strcmp(unit_last()->bug_type, "wild-memory-access"));
}

/* The row in the middle is that of the first bad byte, and the caret is under its granule. */
static void caret(void)
{
	uintptr_t p = (uintptr_t)unit_watched(65536);

	for (size_t at = 2048; at < 2048 + 256; at += 8) {
		uintptr_t row = (p + at) & ~127UL;
		const char *line;
		int middle;

		kasan_poison((void *)(p + at), 8, KASAN_SLAB_FREE);
		EXPECT_REPORT("slab-use-after-free", __asan_loadN_noabort(p + at - 100, 200));
		middle = unit_find(0, ">");
		REQUIRE(middle > 0);
		line = unit_line((size_t)middle);
		CHECK_EQ(strtoul(line + 1, NULL, 16), row);
		CHECK_EQ(strtoul(unit_line((size_t)middle - 1), NULL, 16), row - 128);
		CHECK_EQ(strtoul(unit_line((size_t)middle - 2), NULL, 16), row - 256);
		CHECK_EQ(strtoul(unit_line((size_t)middle + 2), NULL, 16), row + 128);
		CHECK_EQ(strtoul(unit_line((size_t)middle + 3), NULL, 16), row + 256);
		CHECK_EQ(strspn(unit_line((size_t)middle + 1), " "), 19 + (at / 8 % 16) * 3);
		CHECK(!strncmp(line + 19 + (at / 8 % 16) * 3, "fb", 2));
		kasan_unpoison((void *)(p + at), 8);
	}
}

static void print_page(const void *addr)
{
	kasan_report_line("page: refcount:%d index:%x flags=%p", 1, 255, addr);
}

static void page_lines(void)
{
	uintptr_t p = (uintptr_t)unit_watched(4096);
	int at;

	kasan_poison((void *)p, 64, KASAN_PAGE_FREE);
	kasan_posix_hooks.print_page = print_page;
	EXPECT_REPORT("use-after-free", __asan_load1_noabort(p + 9));
	kasan_posix_hooks.print_page = NULL;
	CHECK(unit_saw("page: refcount:1 index:ff flags=%016lx", p + 9));
	at = unit_find(0, "page: ");
	CHECK(!strcmp(unit_line((size_t)at + 1), ""));
	CHECK(unit_find(0, "Memory state around the buggy address:") == at + 2);
}

static void hooked(const struct kasan_report_info *info)
{
	CHECK(!strcmp(info->bug_type, "slab-out-of-bounds"));
	CHECK_EQ(kasan_posix_locks_held(), 0);
	kasan_posix_hooks.print("hook");
}

static void the_report_hook(void)
{
	uintptr_t p = (uintptr_t)unit_watched(4096);
	unsigned long count = kasan_report_count();

	kasan_poison((void *)p, 8, KASAN_SLAB_REDZONE);
	CHECK(!kasan_report_hook(hooked));
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(p));
	CHECK(!strcmp(unit_line(unit_lines() - 1), "hook"));
	CHECK(kasan_report_hook(NULL) == hooked);
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(p));
	CHECK(!strcmp(unit_line(unit_lines() - 1), RULER));
	CHECK_EQ(kasan_report_count(), count + 2);
}

static bool odd_only(const struct kasan_report_info *info)
{
	CHECK(!info->bug_type);
	CHECK_EQ(kasan_posix_locks_held(), 0);
	CHECK_EQ(info->size, 1);
	return info->addr & 1;
}

static void the_report_filter(void)
{
	uintptr_t p = (uintptr_t)unit_watched(4096);
	unsigned long count = kasan_report_count();

	kasan_poison((void *)p, 8, KASAN_SLAB_REDZONE);
	CHECK(!kasan_report_filter(odd_only));
	EXPECT_NO_REPORT(__asan_load1_noabort(p));
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(p + 1));
	CHECK_EQ(kasan_report_count(), count + 1);
	CHECK(kasan_report_filter(NULL) == odd_only);
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(p));
}

static const char *formatted(void)
{
	return unit_line(unit_lines() - 1);
}

#define FORMATS(want, ...)                                                                     \
	({                                                                                     \
		kasan_report_line(__VA_ARGS__);                                                \
		CHECKF(!strcmp(formatted(), want), "\"%s\" is not \"%s\"", formatted(), want); \
	})

static void line_formats(void)
{
	char longest[400];

	FORMATS("a b c%", "%s %c c%%", "a", 'b');
	FORMATS("-5 4294967295 ff", "%d %u %x", -5, 0xffffffffU, 0xff);
	FORMATS("18446744073709551615 ffffffffffffffff", "%lu %lx", ~0UL, ~0UL);
	FORMATS("42 0", "%zu %zu", (size_t)42, (size_t)0);
	FORMATS("0000000000001234", "%p", (void *)0x1234);
	FORMATS("[00ab]", "[%04x]", 0xab);
	FORMATS("[  7]", "[%3u]", 7U);
	FORMATS("[ -7] [-007]", "[%3d] [%04d]", -7, -7);
	FORMATS("-2147483648", "%d", -2147483647 - 1);
	FORMATS("0000000000000000", "%p", (void *)0);
	kasan_report_line("%s", "");
	CHECK(!strcmp(formatted(), ""));
	/* A line has at most 255 characters, whatever the arguments, because the port's buffer ends there. */
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	kasan_report_line("%s", longest);
	CHECK(strlen(formatted()) <= 255 && strlen(formatted()) > 200);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
	kasan_report_line("%pS", (void *)((uintptr_t)line_formats + 3));
	CHECK(matches(formatted(), "line_formats\\+0x3/0x[0-9a-f]+"));
	kasan_report_line("%pS", (void *)0x10);
	CHECK(matches(formatted(), "0x0*10|0*10"));
#pragma GCC diagnostic pop
}

static uintptr_t caller;

/* As krealloc() does: the report names its caller. */
static __attribute__((__noinline__)) bool check_for_caller(const void *addr)
{
	bool good;

	caller = (uintptr_t)__builtin_return_address(0);
	good = kasan_check_byte_for(addr, caller);
	__asm__ volatile("" ::: "memory");
	return good;
}

/* As Linux's __kasan_check_write() does. */
static __attribute__((__noinline__)) bool check_access_for_caller(const void *addr, bool is_write)
{
	bool good;

	caller = (uintptr_t)__builtin_return_address(0);
	good = kasan_check_access_for(addr, 8, is_write, caller);
	__asm__ volatile("" ::: "memory");
	return good;
}

static void checks_for_a_caller(void)
{
	char *const p = unit_watched(4096);

	kasan_poison(p, 64, KASAN_SLAB_REDZONE);
	EXPECT_NO_REPORT(CHECK(check_for_caller(p + 64)));
	EXPECT_REPORT("slab-out-of-bounds", CHECK(!check_for_caller(p)));
	CHECK_EQ(unit_last()->ip, caller);
	EXPECT_REPORT("slab-out-of-bounds", CHECK(!kasan_check_byte(p)));
	CHECK(unit_last()->ip != caller);
	for (int is_write = 0; is_write < 2; is_write++) {
		EXPECT_NO_REPORT(CHECK(check_access_for_caller(p + 64, is_write)));
		EXPECT_REPORT("slab-out-of-bounds",
			      CHECK(!check_access_for_caller(p + 56, is_write)));
		CHECK_EQ(unit_last()->ip, caller);
		CHECK_EQ(unit_last()->is_write, is_write);
		CHECK_EQ(unit_last()->size, 8);
	}
}

UNIT_MAIN(slab_out_of_bounds, slab_use_after_free, double_free, null_pointer, types, faults, caret,
	  page_lines, the_report_hook, the_report_filter, line_formats, checks_for_a_caller)
