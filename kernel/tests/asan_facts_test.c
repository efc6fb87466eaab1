// SPDX-License-Identifier: MIT
/*
 * asan_facts_test.c - <sanitizer/asan_interface.h> in every mode: whose memory an address is, the last report, and who
 * is told of it. asan_interface_test.c has poison.
 */
#include <kernel/program.h>
#include <kernel/sched.h>
#include <kernel/string.h>

#include <sanitizer/allocator_interface.h>
#include <sanitizer/asan_interface.h>

#include "../program/heap.h"
#include "kasan_test.h"

#define SIZE 256

/* The answers of a kernel without KASAN. */
#ifndef CONFIG_KASAN
static void without_a_mode(struct kunit *test)
{
	char *p = malloc(SIZE), name[8] = "x";
	size_t size = 1;
	void *start = p;

	KUNIT_EXPECT_STREQ(test, __asan_locate_address(p, name, sizeof(name), &start, &size),
			   "unknown");
	KUNIT_EXPECT_NULL(test, start);
	KUNIT_EXPECT_EQ(test, size, 0UL);
	KUNIT_EXPECT_STREQ(test, name, "");
	KUNIT_EXPECT_EQ(test, __asan_report_present(), 0);
	KUNIT_EXPECT_EQ(test, __sanitizer_get_ownership(p), 0);
	KUNIT_EXPECT_EQ(test, __sanitizer_get_estimated_allocated_size(SIZE), (size_t)SIZE);
	__asan_describe_address(p);
	free(p);
}

static struct kunit_case asan_facts_cases[] = {KUNIT_CASE(without_a_mode), {}};

KUNIT_SUITE(asan_facts, asan_facts_cases);
#else

/* --- Objects --- */

static noinline char *allocate(size_t size)
{
	char *p = malloc(size);

	HIDE_VAR(p);
	return p;
}

static noinline void give_back(char *p)
{
	free(p);
	HIDE_VAR(p);
}

/* Is @function one of the innermost of the trace? Functions of the allocator come before it. */
static bool is_by(void *const *trace, size_t count, const void *function)
{
	for (size_t i = 0; i < count && i < 4; i++)
		if ((uintptr_t)trace[i] - (uintptr_t)function < 256)
			return true;
	return false;
}

/* Slabs, pages, and an area of vmalloc space, which knows its caller only. */
static void objects(struct kunit *test)
{
	static const size_t sizes[] = {1, 24, SIZE, 5000, 3 * PAGE_SIZE};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const size_t size = sizes[i];
		char *p = allocate(size), name[8] = "x";
		void *trace[16], *start = NULL;
		size_t found = 0, count;
		int id = -1;

		KUNIT_ASSERT_NOT_NULL(test, p);
		KUNIT_EXPECT_STREQ(
			test,
			__asan_locate_address(p + size - 1, name, sizeof(name), &start, &found),
			"heap");
		KUNIT_EXPECT_PTR_EQ(test, start, (void *)p);
		KUNIT_EXPECT_EQ(test, found, size);
		KUNIT_EXPECT_STREQ(test, name, "");
		count = __asan_get_alloc_stack(p, trace, ARRAY_SIZE(trace), &id);
		KUNIT_EXPECT_TRUE(test, is_by(trace, count, allocate));
		KUNIT_EXPECT_EQ(test, id, current->pid);
		KUNIT_EXPECT_EQ(test, __asan_get_free_stack(p, trace, ARRAY_SIZE(trace), NULL),
				0UL);
		KUNIT_EXPECT_EQ(test, __sanitizer_get_ownership(p), 1);
		KUNIT_EXPECT_EQ(test, __sanitizer_get_allocated_size(p), size);
		KUNIT_EXPECT_PTR_EQ(test, __sanitizer_get_allocated_begin(p + size - 1),
				    (const void *)p);
		if (size > 1)
			KUNIT_EXPECT_EQ(test, __sanitizer_get_ownership(p + 1), 0);
		give_back(p);
		KUNIT_EXPECT_EQ(test, __sanitizer_get_ownership(p), 0);
		KUNIT_EXPECT_EQ(test, __sanitizer_get_allocated_size(p), 0UL);
	}
}

static void freed_object(struct kunit *test)
{
	char *p = allocate(SIZE);
	void *trace[16], *start;
	size_t size, count;
	int id = -1;

	KUNIT_ASSERT_NOT_NULL(test, p);
	give_back(p);
	KUNIT_EXPECT_STREQ(test, __asan_locate_address(p + 8, NULL, 0, &start, &size), "heap");
	KUNIT_EXPECT_PTR_EQ(test, start, (void *)p);
	count = __asan_get_alloc_stack(p, trace, ARRAY_SIZE(trace), &id);
	KUNIT_EXPECT_TRUE(test, is_by(trace, count, allocate));
	id = -1;
	count = __asan_get_free_stack(p + 8, trace, ARRAY_SIZE(trace), &id);
	KUNIT_EXPECT_TRUE(test, is_by(trace, count, give_back));
	KUNIT_EXPECT_EQ(test, id, current->pid);
}

static noinline int take_over(char *p)
{
	int done = __asan_update_allocation_context(p);

	barrier();
	return done;
}

static void another_owner(struct kunit *test)
{
	static const size_t sizes[] = {24, SIZE, 3 * PAGE_SIZE};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *p = allocate(sizes[i]);
		void *trace[16];
		size_t count;

		KUNIT_ASSERT_NOT_NULL(test, p);
		KUNIT_EXPECT_EQ(test, take_over(p + 8), 0);
		KUNIT_EXPECT_EQ(test, take_over(p), 1);
		count = __asan_get_alloc_stack(p, trace, ARRAY_SIZE(trace), NULL);
		KUNIT_EXPECT_TRUE(test, is_by(trace, count, take_over));
		KUNIT_EXPECT_EQ(test, __sanitizer_get_allocated_size(p), sizes[i]);
		give_back(p);
		KUNIT_EXPECT_EQ(test, take_over(p), 0);
	}
	KUNIT_EXPECT_EQ(test, take_over(NULL), 0);
}

#ifndef CONFIG_KASAN_HW_TAGS
static char variable[64];
#endif

static void other_memory(struct kunit *test)
{
	char local[64], name[16] = "x", *p = local;
	size_t size = 0;
	void *start = NULL;

	HIDE_VAR(p);
	memset(p, 0, sizeof(local));
	KUNIT_EXPECT_STREQ(test, __asan_locate_address(p + 3, name, sizeof(name), &start, &size),
			   "stack");
#ifdef CONFIG_KASAN_GENERIC
	KUNIT_EXPECT_STREQ(test, name, "local");
	KUNIT_EXPECT_PTR_EQ(test, start, (void *)p);
	KUNIT_EXPECT_EQ(test, size, sizeof(local));
	p = variable;
	HIDE_VAR(p);
	KUNIT_EXPECT_STREQ(test, __asan_locate_address(p + 3, name, sizeof(name), &start, &size),
			   "global");
	KUNIT_EXPECT_STREQ(test, name, "variable");
	KUNIT_EXPECT_PTR_EQ(test, start, (void *)p);
	KUNIT_EXPECT_EQ(test, size, sizeof(variable));
#endif
#ifndef CONFIG_KASAN_HW_TAGS
	KUNIT_EXPECT_STREQ(test,
			   __asan_locate_address(kasan_shadow_of(variable), NULL, 0, NULL, NULL),
			   "high shadow");
	__asan_get_shadow_mapping(&size, (size_t *)&start);
	KUNIT_EXPECT_EQ(test, ((uintptr_t)kasan_reset_tag(variable) >> size) + (uintptr_t)start,
			(uintptr_t)kasan_shadow_of(variable));
#endif
	KUNIT_EXPECT_STREQ(test, __asan_locate_address((void *)8, NULL, 0, NULL, NULL), "unknown");
	KUNIT_EXPECT_STREQ(test,
			   __asan_locate_address((void *)0x123456789abcd, NULL, 0, NULL, NULL),
			   "unknown");
	KUNIT_EXPECT_EQ(test, __sanitizer_get_ownership((void *)8), 0);
	KUNIT_EXPECT_EQ(test, __asan_update_allocation_context((void *)0x123456789abcd), 0);
}

/* --- Reports --- */

static int errors, texts, deaths;
static char error_type[32], error_kind[16], text_start[400];
static void *error_start;

static void on_error(void)
{
	errors++;
	strscpy(error_type, __asan_get_report_description(), sizeof(error_type));
	strscpy(error_kind,
		__asan_locate_address(__asan_get_report_address(), NULL, 0, &error_start, NULL),
		sizeof(error_kind));
}

static void on_text(const char *text)
{
	texts++;
	strscpy(text_start, text, sizeof(text_start));
}

static void on_death(void)
{
	deaths++;
}

static void callbacks_exit(struct kunit *test)
{
	program_on_error = NULL;
	__asan_set_error_report_callback(NULL);
	__sanitizer_set_death_callback(NULL);
	kasan_test_exit(test);
}

static void last_report(struct kunit *test)
{
	char *p = kasan_kmalloc_beside(test, SIZE);

	KUNIT_ASSERT_NOT_NULL(test, p);
	HIDE_VAR(p);
	errors = 0;
	program_on_error = on_error;
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_WRITE, 1, WRITE_ACCESS(p[SIZE], 0));
	KUNIT_EXPECT_EQ(test, __asan_report_present(), 1);
	KUNIT_EXPECT_PTR_EQ(test, __asan_get_report_address(), (void *)(p + SIZE));
	KUNIT_EXPECT_EQ(test, __asan_get_report_access_type(), 1);
	KUNIT_EXPECT_EQ(test, __asan_get_report_access_size(), 1UL);
	KUNIT_EXPECT_STREQ(test, __asan_get_report_description(), error_type);
	/* GCC's inline checks make this function longer than a page. */
	KUNIT_EXPECT_LT(test, (uintptr_t)__asan_get_report_pc() - (uintptr_t)last_report, 0x4000UL);
	KUNIT_EXPECT_LT(test, (uintptr_t)__asan_get_report_bp() - (uintptr_t)current->stack,
			current->stack_size);
	KUNIT_EXPECT_LT(test, (uintptr_t)__asan_get_report_sp() - (uintptr_t)current->stack,
			current->stack_size);
	KUNIT_EXPECT_EQ(test, errors, 1);
#ifdef CONFIG_KASAN_GENERIC
	KUNIT_EXPECT_STREQ(test, error_type, KASAN_TYPE_BESIDE);
#endif
	KUNIT_EXPECT_STREQ(test, error_kind, "heap");
	KUNIT_EXPECT_PTR_EQ(test, error_start, (void *)p);
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 2,
			 __asan_report_error((void *)on_error, NULL, NULL, p + SIZE, 0, 2));
	KUNIT_EXPECT_PTR_EQ(test, __asan_get_report_pc(), (void *)on_error);
	KUNIT_EXPECT_EQ(test, __asan_get_report_access_type(), 0);
	KUNIT_EXPECT_EQ(test, errors, 2);
}

static void report_of_a_freed_object(struct kunit *test)
{
	char *p = allocate(SIZE);

	KUNIT_ASSERT_NOT_NULL(test, p);
	give_back(p);
	program_on_error = on_error;
	KASAN_EXPECT_BUG(test, "slab-use-after-free", KASAN_READ, 1, READ_ACCESS(p[9]));
	KUNIT_EXPECT_PTR_EQ(test, __asan_get_report_address(), (void *)(p + 9));
	KUNIT_EXPECT_STREQ(test, error_type, "slab-use-after-free");
	KUNIT_EXPECT_STREQ(test, error_kind, "heap");
	KUNIT_EXPECT_PTR_EQ(test, error_start, (void *)p);
	KASAN_EXPECT_BUG(test, "double-free", KASAN_FREE, 0, give_back(p));
	KUNIT_EXPECT_STREQ(test, __asan_get_report_description(), "double-free");
	KUNIT_EXPECT_EQ(test, __asan_get_report_access_size(), 0UL);
}

static void text_of_a_report(struct kunit *test)
{
	char *p = kasan_kmalloc_beside(test, SIZE);

	KUNIT_ASSERT_NOT_NULL(test, p);
	HIDE_VAR(p);
	texts = 0;
	__asan_set_error_report_callback(on_text);
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 1, READ_ACCESS(p[SIZE]));
	KUNIT_EXPECT_EQ(test, texts, 1);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text_start, "\nBUG: KASAN: "));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text_start, " in text_of_a_report+0x"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text_start, "\nCall trace:\n"));
	__asan_set_error_report_callback(NULL);
	KASAN_EXPECT_BUG(test, KASAN_TYPE_BESIDE, KASAN_READ, 1, READ_ACCESS(p[SIZE]));
	KUNIT_EXPECT_EQ(test, texts, 1);
}

static void death(struct kunit *test)
{
	deaths = 0;
	__sanitizer_set_death_callback(on_death);
	kasan_call_death_callback();
	kasan_call_death_callback();
	KUNIT_EXPECT_EQ(test, deaths, 1);
}

static struct kunit_case asan_facts_cases[] = {
	KUNIT_CASE(objects),
	KUNIT_CASE(freed_object),
	KUNIT_CASE(another_owner),
	KUNIT_CASE(other_memory),
	KUNIT_CASE(last_report),
	KUNIT_CASE(report_of_a_freed_object),
	KUNIT_CASE(text_of_a_report),
	KUNIT_CASE(death),
	{},
};

KUNIT_SUITE(asan_facts, asan_facts_cases, .suite_init = kasan_test_suite_init,
	    .suite_exit = kasan_test_suite_exit, .init = kasan_bug_test_init,
	    .exit = callbacks_exit);

#endif /* CONFIG_KASAN */
