// SPDX-License-Identifier: MIT
/* kasan_test_stack.c - bugs with local and global variables. */
#include <kernel/string.h>

#include "kasan_test.h"

/* --- Local variables -------------------------------------------------------------------------- */

void kasan_stack_oob(struct kunit *test)
{
	char array[10];
	char *p = array;
	size_t size = sizeof(array);

	kasan_needs_stack(test);
	HIDE_VAR(p);
	HIDE_VAR(size);
	WRITE_ACCESS(p[size - 1], 0);
	KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_READ, 1,
			 READ_ACCESS(p[KASAN_STACK_END(size)]));
	KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(p[KASAN_STACK_END(size) + 7],
				      KASAN_KEPT(p[KASAN_STACK_END(size) + 7])));
}

void kasan_stack_oob_left(struct kunit *test)
{
	char array[10];
	char *p = array;

	kasan_needs_stack(test);
	HIDE_VAR(p);
	KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[-1]));
}

void kasan_stack_oob_memset(struct kunit *test)
{
	char array[24];
	char *p = array;
	size_t size = KASAN_STACK_END(sizeof(array)) + 1;

	kasan_needs_stack(test);
	HIDE_VAR(p);
	HIDE_VAR(size);
	KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_WRITE, size, memset(p, 0, size));
}

static noinline void write_index(u32 *array, size_t index, u32 value)
{
	WRITE_ACCESS(array[index], value);
}

void kasan_stack_oob_callee(struct kunit *test)
{
	u32 array[6];
	u32 *p = array;
	size_t end = KASAN_STACK_END(sizeof(array)) / sizeof(u32);

	kasan_needs_stack(test);
	HIDE_VAR(p);
	HIDE_VAR(end);
	write_index(p, 5, 1);
	/* The frame with the variable is the caller's. */
	KASAN_EXPECT_BUG(test, "stack-out-of-bounds", KASAN_WRITE, 4,
			 write_index(p, end, KASAN_KEPT(p[end])));
}

void kasan_alloca_oob_left(struct kunit *test)
{
	volatile size_t size = 10;
	char *array = __builtin_alloca(size);

	kasan_needs_generic(test);
	HIDE_VAR(array);
	WRITE_ACCESS(array[0], 0);
	KASAN_EXPECT_BUG(test, "alloca-out-of-bounds", KASAN_READ, 1, READ_ACCESS(array[-1]));
}

void kasan_alloca_oob_right(struct kunit *test)
{
	volatile size_t size = 10;
	char *array = __builtin_alloca(size);

	kasan_needs_generic(test);
	HIDE_VAR(array);
	WRITE_ACCESS(array[size - 1], 0);
	KASAN_EXPECT_BUG(test, "alloca-out-of-bounds", KASAN_READ, 1, READ_ACCESS(array[size]));
	KASAN_EXPECT_BUG(test, "alloca-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(array[ALIGN(size, 8)], 0));
}

void kasan_use_after_scope(struct kunit *test)
{
	volatile int *stale = NULL;

	/* With software tags the compiler may keep the tag to the end of the frame. */
	kasan_needs_stack(test);
	kunit_needs(test, KASAN_TEST_GENERIC || KASAN_TEST_HW,
		    "CONFIG_KASAN_GENERIC=y or CONFIG_KASAN_HW_TAGS=y");
	for (int i = 0; i < 2; i++) {
		volatile int local[4];
		volatile int *p = local;

		if (i)
			break;
		HIDE_VAR(p);
		p[2] = i;
		stale = p;
	}
	HIDE_VAR(stale);
	KASAN_EXPECT_BUG(test, "use-after-scope", KASAN_READ, 4, (void)stale[2]);
}

void kasan_use_after_scope_large(struct kunit *test)
{
	volatile char *stale;

	kasan_needs_stack(test);
	/* GCC keeps a variable's tag as long as its frame. */
	kunit_needs(test, KASAN_TEST_GENERIC || KASAN_TEST_CLANG, "CONFIG_CC_IS_CLANG=y");
	{
		/* Large variables are poisoned by a call instead of inline stores. */
		volatile char local[2000];
		volatile char *p = local;

		HIDE_VAR(p);
		p[1999] = 1;
		stale = p;
	}
	HIDE_VAR(stale);
	KASAN_EXPECT_BUG(test, KASAN_TYPE_SCOPE, KASAN_WRITE, 1, stale[1999] = 1);
}

/* --- Global variables ------------------------------------------------------------------------- */

static char global_array[10];

void kasan_global_oob_right(struct kunit *test)
{
	char *p = global_array;
	size_t size = sizeof(global_array);

	kasan_needs_globals(test);
	HIDE_VAR(p);
	HIDE_VAR(size);
	WRITE_ACCESS(p[size - 1], 0);
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[size]));
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_WRITE, 1,
			 WRITE_ACCESS(p[size + 7], 0));
}

/* The redzone on the left of a global is that of its neighbour, so there has to be one. */
static char neighbour_a[40], neighbour_b[40], neighbour_c[40];

void kasan_global_oob_left(struct kunit *test)
{
	char *vars[3] = {neighbour_a, neighbour_b, neighbour_c}, *p = NULL;

	kasan_needs_globals(test);
	/* The linker orders them as it likes; of two that adjoin take the higher. */
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			if (kasan_reset_tag(vars[i]) > kasan_reset_tag(vars[j]) &&
			    kasan_reset_tag(vars[i]) - kasan_reset_tag(vars[j]) <= 128)
				p = vars[i];
	if (!p)
		kunit_skip(test, "the linker put no two of three globals side by side");
	HIDE_VAR(p);
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[-3]));
}

static const char const_array[11] = "0123456789";

void kasan_global_const_oob(struct kunit *test)
{
	const char *p = const_array;
	size_t size = sizeof(const_array);

	kasan_needs_globals(test);
	HIDE_VAR(p);
	HIDE_VAR(size);
	KUNIT_EXPECT_EQ(test, p[9], '9');
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 1, READ_ACCESS(p[size]));
}

void kasan_global_string_oob(struct kunit *test)
{
	const char *text = "twelve bytes";
	size_t size = 13;

	kasan_needs_globals(test);
	HIDE_VAR(text);
	HIDE_VAR(size);
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 1, READ_ACCESS(text[size]));
}

void kasan_global_static_local_oob(struct kunit *test)
{
	static u64 table[5];
	u64 *p = table;
	size_t n = ARRAY_SIZE(table);

	kasan_needs_globals(test);
	HIDE_VAR(p);
	HIDE_VAR(n);
	WRITE_ACCESS(p[n - 1], 1);
	KASAN_EXPECT_BUG(test, "global-out-of-bounds", KASAN_READ, 8, READ_ACCESS(p[n]));
}
