/* SPDX-License-Identifier: MIT */
/*
 * test_interface.c - <sanitizer/asan_interface.h>: what each function says of objects, stacks, globals and reports, and
 * when callbacks are called. In Generic mode and with software tags, where pointers with a tag are not dereferenced.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sanitizer/allocator_interface.h>
#include <sanitizer/asan_interface.h>

#include "../../runtime/base/base.h"
#include "unit.h"

#define SIZE 100

static void keep(struct kasan_heap *heap, void *raw)
{
	(void)heap;
	(void)raw;
}

static struct kasan_heap heap = {.name = "heap", .quarantine_max = 65536, .release = keep};
static char *arena;

/* Return: an object of SIZE bytes, always in the same place. */
static __attribute__((noinline)) char *allocate(void)
{
	static bool added;

	if (!added)
		kasan_heap_add(&heap);
	added = true;
	arena = unit_watched(65536);
	return kasan_heap_alloc(&heap, arena + 256, SIZE, 0);
}

static __attribute__((noinline)) void give_back(char *p)
{
	kasan_heap_free(&heap, p, 0);
}

static bool is_in(const void *pc, const void *function)
{
	return (uintptr_t)pc - (uintptr_t)function < 256;
}

static bool is_pid(int id)
{
	struct kasan_port_task task = {0};

	kasan_port_task(&task);
	return id == (int)task.id;
}

static void heap_objects(void)
{
	char *p = allocate(), name[16] = "x";
	void *trace[8], *start;
	size_t size, count;
	int id = -1;

	CHECK(strcmp(__asan_locate_address(p + 40, name, sizeof(name), &start, &size), "heap") ==
	      0);
	CHECK(start == p);
	CHECK_EQ(size, SIZE);
	CHECK(!name[0]);
	/* Just after it, in its redzone. */
	CHECK(strcmp(__asan_locate_address(p + SIZE, NULL, 0, NULL, NULL), "heap") == 0);
	count = __asan_get_alloc_stack(p + 1, trace, 8, &id);
	CHECK(count >= 2);
	CHECK(is_in(trace[0], allocate));
	CHECK(is_in(trace[1], heap_objects));
	CHECK(is_pid(id));
	CHECK_EQ(__asan_get_alloc_stack(p, trace, 1, NULL), 1);
	CHECK_EQ(__asan_get_alloc_stack(p, trace, 0, NULL), 0);
	id = -1;
	CHECK_EQ(__asan_get_free_stack(p, trace, 8, &id), 0);
	CHECK_EQ(id, -1);

	CHECK_EQ(__sanitizer_get_ownership(p), 1);
	CHECK_EQ(__sanitizer_get_ownership(p + 1), 0);
	CHECK(__sanitizer_get_allocated_begin(p + 99) == p);
	CHECK(!__sanitizer_get_allocated_begin(p + SIZE));
	CHECK_EQ(__sanitizer_get_allocated_size(p), SIZE);
	CHECK_EQ(__sanitizer_get_allocated_size_fast(p), SIZE);
	CHECK_EQ(__sanitizer_get_allocated_size(p + 1), 0);
	CHECK_EQ(__sanitizer_get_estimated_allocated_size(77), 77);

	give_back(p);
	CHECK(strcmp(__asan_locate_address(p + 40, name, sizeof(name), &start, &size), "heap") ==
	      0);
	CHECK(start == p);
	CHECK_EQ(size, SIZE);
	count = __asan_get_free_stack(p + 1, trace, 8, &id);
	CHECK(count >= 2);
	CHECK(is_in(trace[0], give_back));
	CHECK(is_pid(id));
	CHECK_EQ(__sanitizer_get_ownership(p), 0);
	CHECK_EQ(__sanitizer_get_allocated_size(p), 0);
	CHECK(!__sanitizer_get_allocated_begin(p));
	CHECK_EQ(unit_reports(), 0);
}

static __attribute__((noinline)) int take_over(char *p)
{
	int done = __asan_update_allocation_context(p);

	__asm__ volatile("" : : : "memory");
	return done;
}

static void another_owner(void)
{
	char *p = allocate();
	void *trace[8];

	CHECK_EQ(take_over(p + 16), 0);
	CHECK_EQ(take_over(p), 1);
	CHECK(__asan_get_alloc_stack(p, trace, 8, NULL) >= 2);
	CHECK(is_in(trace[0], take_over));
	CHECK_EQ(__sanitizer_get_allocated_size(p), SIZE);
	EXPECT_NO_REPORT(give_back(p));
	CHECK_EQ(take_over(p), 0);
	CHECK_EQ(take_over(NULL), 0);
	CHECK_EQ(take_over((char *)16), 0);
}

static void description(void)
{
	char *p = allocate(), *plain = kasan_reset_tag(p);

	unit_clear();
	__asan_describe_address(p + 40);
	CHECK(unit_saw("%016lx is 40 bytes inside of an allocated 100-byte region [%016lx, %016lx)",
		       (long)plain + 40, (long)plain, (long)plain + SIZE));
	CHECK(unit_saw("%016lx belongs to the cache heap", (long)plain + 40));
	CHECK(unit_find(0, "Allocated by task ") > 0);
	CHECK(unit_find(0, " allocate+0x") > 0);
	CHECK(unit_find(0, "Freed by task ") < 0);
	give_back(p);
	unit_clear();
	__asan_describe_address(p + 40);
	CHECK(unit_saw("%016lx is 40 bytes inside of a freed 100-byte region [%016lx, %016lx)",
		       (long)plain + 40, (long)plain, (long)plain + SIZE));
	CHECK(unit_find(0, "Freed by task ") > 0);
	CHECK(unit_find(0, " give_back+0x") > 0);
	unit_clear();
	__asan_describe_address((void *)8);
	CHECK(unit_saw("0000000000000008 belongs to: unknown"));
	CHECK_EQ(unit_reports(), 0);
}

static void unknown_and_shadow(void)
{
	void *start = &start;
	size_t size = 5;
	char name[4] = "x";

	CHECK(strcmp(__asan_locate_address((void *)8, name, 4, &start, &size), "unknown") == 0);
	CHECK(!start && !size && !name[0]);
	CHECK_EQ(__sanitizer_get_ownership(NULL), 0);
	CHECK_EQ(__sanitizer_get_ownership((void *)-1L), 0);
	CHECK(strcmp(__asan_locate_address(kasan_shadow_of(unit_watched(64)), NULL, 0, NULL, NULL),
		     "high shadow") == 0);
	size = 0;
	__asan_get_shadow_mapping(&size, (size_t *)&start);
	CHECK(((uintptr_t)unit_watched(64) >> size) + (uintptr_t)start ==
	      (uintptr_t)kasan_shadow_of(unit_watched(64)));
	CHECK(!__asan_get_current_fake_stack());
	CHECK(!__asan_addr_is_in_fake_stack(NULL, &size, NULL, NULL));
	unit_clear();
	__asan_print_accumulated_stats();
	CHECK(unit_find(0, "kasan: ") == 0);
}

#ifdef CONFIG_KASAN_GENERIC
static void stack_variables(void)
{
	struct {
		uintptr_t words[4];
		char first[32];
		char second[32];
		char right[32];
	} __attribute__((aligned(32))) f;
	char name[8];
	void *start;
	size_t size;

	f.words[0] = 0x41b58ab3UL;
	f.words[1] = (uintptr_t)"2 32 10 9 buffer:17 64 4 1 n";
	f.words[2] = (uintptr_t)stack_variables;
	kasan_poison(f.words, 32, KASAN_STACK_LEFT);
	kasan_poison_tail(f.first, 10, 32, KASAN_STACK_MID);
	kasan_poison_tail(f.second, 4, 32, KASAN_STACK_RIGHT);
	kasan_poison(f.right, 32, KASAN_STACK_RIGHT);
	CHECK(strcmp(__asan_locate_address(f.first + 3, name, sizeof(name), &start, &size),
		     "stack") == 0);
	CHECK(strcmp(name, "buffer") == 0);
	CHECK(start == f.first);
	CHECK_EQ(size, 10);
	__asan_locate_address(f.second + 1, name, 2, &start, &size);
	CHECK(strcmp(name, "n") == 0);
	CHECK(start == f.second);
	/* After the last variable. */
	__asan_locate_address(f.right + 1, name, sizeof(name), &start, &size);
	CHECK(!name[0] && !start);
	kasan_unpoison_stack(&f, &f + 1);
	/* A frame without a description. */
	CHECK(strcmp(__asan_locate_address(&f, NULL, 0, NULL, NULL), "stack") == 0);
}
#else
static void stack_variables(void)
{
	char local[16];

	CHECK(strcmp(__asan_locate_address(local, NULL, 0, NULL, NULL), "stack") == 0);
}
#endif

/* --- Reports -------------------------------------------------------------------------------- */

static unsigned int errors, texts, deaths;
static char error_type[32], error_kind[16], text_start[128];
static size_t text_size, lines_at_error;

/* The runtime's own is weak. */
void __asan_on_error(void)
{
	void *p = __asan_get_report_address();

	errors++;
	lines_at_error = unit_lines();
	snprintf(error_type, sizeof(error_type), "%s", __asan_get_report_description());
	/* Its owner can be asked for inside of the report. */
	snprintf(error_kind, sizeof(error_kind), "%s",
		 __asan_locate_address(p, NULL, 0, NULL, NULL));
}

static void get_text(const char *text)
{
	texts++;
	text_size = strlen(text);
	snprintf(text_start, sizeof(text_start), "%s", text);
}

static void die(void)
{
	deaths++;
}

static void last_report(void)
{
	char *p = allocate();

	errors = 0;
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + SIZE, 2));
	CHECK_EQ(__asan_report_present(), 1);
	CHECK(is_in(__asan_get_report_pc(), last_report) ||
	      (uintptr_t)__asan_get_report_pc() == unit_last()->ip);
	CHECK_EQ((uintptr_t)__asan_get_report_pc(), unit_last()->ip);
	CHECK((uintptr_t)__asan_get_report_bp() - (uintptr_t)__builtin_frame_address(0) + 1024 <
	      2048);
	CHECK((uintptr_t)__asan_get_report_sp() - (uintptr_t)__builtin_frame_address(0) + 4096 <
	      4096);
	CHECK(__asan_get_report_address() == p + SIZE);
	CHECK_EQ(__asan_get_report_access_type(), 1);
	CHECK_EQ(__asan_get_report_access_size(), 2);
	CHECK(strcmp(__asan_get_report_description(), "slab-out-of-bounds") == 0);
	CHECK_EQ(errors, 1);
	CHECK_EQ(lines_at_error, 0);
	CHECK(strcmp(error_type, "slab-out-of-bounds") == 0);
	CHECK(strcmp(error_kind, "heap") == 0);
	EXPECT_REPORT("slab-out-of-bounds",
		      __asan_report_error(last_report, NULL, NULL, p + SIZE, 0, 1));
	CHECK_EQ(__asan_get_report_access_type(), 0);
	CHECK_EQ(__asan_get_report_access_size(), 1);
	CHECK(__asan_get_report_pc() == last_report);
	give_back(p);
	EXPECT_REPORT("double-free", give_back(p));
	CHECK_EQ(__asan_get_report_access_type(), 0);
	CHECK_EQ(__asan_get_report_access_size(), 0);
	CHECK(strcmp(__asan_get_report_description(), "double-free") == 0);
	CHECK_EQ(errors, 3);
}

static void text_of_a_report(void)
{
	char *p = allocate();
	size_t whole = 0;

	CHECK_EQ(kasan_option("kasan.repeat", "full"), 0);
	texts = 0;
	__asan_set_error_report_callback(get_text);
	for (unsigned int i = 1; i <= 3; i++) {
		EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + SIZE, 1));
		CHECK_EQ(texts, i);
		for (size_t line = whole = 0; line < unit_lines(); line++)
			whole += strlen(unit_line(line)) + 1;
		CHECK_EQ(text_size, whole);
		CHECK(strncmp(text_start, unit_line(0), strlen(unit_line(0))) == 0);
	}
	/* A report that is only counted has no text, so the callback gets its type. */
	CHECK_EQ(kasan_option("kasan.repeat", "brief"), 0);
	errors = 0;
	for (volatile unsigned int i = 1; i <= 3; i++) {
		EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + SIZE, 1));
		CHECK_EQ(texts, 3 + i);
		CHECK_EQ(errors, i);
	}
	CHECK_EQ(unit_lines(), 0);
	CHECK_EQ(strcmp(text_start, "slab-out-of-bounds"), 0);
	__asan_set_error_report_callback(NULL);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + SIZE, 1));
	CHECK_EQ(texts, 6);
	give_back(p);
}

/* A report inside of the callback finds the text taken, and has only its type. */
static void report_again(const char *text)
{
	static bool inside;

	get_text(text);
	if (inside)
		return;
	inside = true;
	kasan_check_write(kasan_reset_tag(arena) + 1, 0);
	kasan_check_write((void *)16, 1);
	inside = false;
}

static void report_in_a_callback(void)
{
	char *p = allocate();

	texts = 0;
	__asan_set_error_report_callback(report_again);
	unit_clear();
	kasan_check_write(p + SIZE, 4);
	CHECK_EQ(unit_reports(), 2);
	CHECK_EQ(texts, 2);
	CHECK(strcmp(text_start, "null-ptr-deref") == 0);
	__asan_set_error_report_callback(NULL);
	give_back(p);
}

static void death(void)
{
	char *p = allocate();

	deaths = 0;
	__sanitizer_set_death_callback(die);
	EXPECT_REPORT("slab-out-of-bounds", kasan_check_write(p + SIZE, 1));
	CHECK_EQ(deaths, 0);
	CHECK_EQ(kasan_option("kasan.fault", "panic"), 0);
	EXPECT_PANIC(kasan_check_write(p + SIZE, 1));
	CHECK_EQ(deaths, 1);
	/* Once. */
	EXPECT_PANIC(kasan_check_write(p + SIZE, 1));
	CHECK_EQ(deaths, 1);
	CHECK_EQ(kasan_option("kasan.fault", "report"), 0);
	__asan_set_death_callback(die);
	kasan_call_death_callback();
	CHECK_EQ(deaths, 2);
	give_back(p);
}

UNIT_MAIN(heap_objects, another_owner, description, unknown_and_shadow, stack_variables,
	  last_report, text_of_a_report, report_in_a_callback, death)
