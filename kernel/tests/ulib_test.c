// SPDX-License-Identifier: MIT
/*
 * ulib_test.c - the C library that programs get: formatting, scanning, numbers, memory, strings,
 * jumps.
 *
 * It includes the library's headers, so it cannot include kernel headers that declare the same names. It
 * prints nothing, because output without a timestamp would confuse parsers of the results.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kernel/fpu.h>
#include <kernel/sched.h>

#include "kasan_test.h"

/* --- Formatting and scanning ------------------------------------------------------------------ */

#define EXPECT_FORMAT(test, expected, ...)                               \
	do {                                                             \
		char __buf[128];                                         \
		int __len = snprintf(__buf, sizeof(__buf), __VA_ARGS__); \
                                                                         \
		KUNIT_EXPECT_STREQ(test, __buf, expected);               \
		KUNIT_EXPECT_EQ(test, __len, (int)strlen(expected));     \
	} while (0)

static void formats(struct kunit *test)
{
	char buf[8];
	int n = 0;

	EXPECT_FORMAT(test, "-5 7 8 abc ABC 10", "%d %i %u %x %X %o", -5, 7, 8U, 0xabcU, 0xABCU,
		      8U);
	EXPECT_FORMAT(test, "    1|2    |00003|+4| 5", "%5d|%-5d|%05d|%+d|% d", 1, 2, 3, 4, 5);
	EXPECT_FORMAT(test, "001|     002|003     |", "%.3d|%8.3d|%-8.3d|%.0d", 1, 2, 3, 0);
	EXPECT_FORMAT(test, "0xff 0XFF 010 0", "%#x %#X %#o %#x", 255U, 255U, 8U, 0U);
	EXPECT_FORMAT(test, "-9223372036854775808 ffffffffffffffff", "%" PRId64 " %" PRIx64,
		      INT64_MIN, UINT64_MAX);
	EXPECT_FORMAT(test, "abc|  abc|abc  |ab|   ab", "%s|%5s|%-5s|%.2s|%*.*s", "abc", "abc",
		      "abc", "abc", 5, 2, "abc");
	EXPECT_FORMAT(test, "x|  y|100%|0x1234", "%c|%3c|100%%|%p", 'x', 'y', (void *)0x1234);
	KUNIT_EXPECT_EQ(test, snprintf(buf, sizeof(buf), "%s%n", "0123456789", &n), 10);
	KUNIT_EXPECT_STREQ(test, buf, "0123456");
	KUNIT_EXPECT_EQ(test, n, 10);
	KUNIT_EXPECT_EQ(test, snprintf(NULL, 0, "%d", 1234), 4);
}

static void scans(struct kunit *test)
{
	int a = 0, b = 0, n = 0;
	char word[8], rest[8];
	long wide = 0;

	KUNIT_EXPECT_EQ(test, sscanf("12 -3", "%d%d", &a, &b), 2);
	KUNIT_EXPECT_EQ(test, a, 12);
	KUNIT_EXPECT_EQ(test, b, -3);
	KUNIT_EXPECT_EQ(test, sscanf("0x1f:077", "%i:%i%n", &a, &b, &n), 2);
	KUNIT_EXPECT_EQ(test, a, 0x1f);
	KUNIT_EXPECT_EQ(test, b, 077);
	KUNIT_EXPECT_EQ(test, n, 8);
	KUNIT_EXPECT_EQ(test, sscanf("key=value", "%7[^=]=%7s", word, rest), 2);
	KUNIT_EXPECT_STREQ(test, word, "key");
	KUNIT_EXPECT_STREQ(test, rest, "value");
	KUNIT_EXPECT_EQ(test, sscanf("12345678901", "%*2d%ld", &wide), 1);
	KUNIT_EXPECT_EQ(test, wide, 345678901);
	KUNIT_EXPECT_EQ(test, sscanf("x", "%d", &a), 0);
	KUNIT_EXPECT_EQ(test, sscanf("", "%d", &a), EOF);
}

static void numbers(struct kunit *test)
{
	char *end;

	KUNIT_EXPECT_EQ(test, strtol("  -42x", &end, 10), -42);
	KUNIT_EXPECT_STREQ(test, end, "x");
	KUNIT_EXPECT_EQ(test, strtol("0xg", &end, 16), 0);
	KUNIT_EXPECT_STREQ(test, end, "xg");
	errno = 0;
	KUNIT_EXPECT_EQ(test, strtol("99999999999999999999", NULL, 10), LONG_MAX);
	KUNIT_EXPECT_EQ(test, errno, ERANGE);
	KUNIT_EXPECT_EQ(test, strtol("-9223372036854775808", NULL, 10), LONG_MIN);
	KUNIT_EXPECT_EQ(test, strtoul("-1", NULL, 10), ULONG_MAX);
	KUNIT_EXPECT_EQ(test, strtoul("zz", NULL, 36), 35 * 36 + 35);
	KUNIT_EXPECT_EQ(test, atoi("007"), 7);
	KUNIT_EXPECT_EQ(test, abs(-5) + labs(-5L) + llabs(-5LL), 15);
	KUNIT_EXPECT_EQ(test, div(-7, 2).rem, -1);
}

/* --- Memory ----------------------------------------------------------------------------------- */

static void heap(struct kunit *test)
{
	static const size_t sizes[] = {1, 8, 13, 96, 100, 192, 5000, 100000, 6UL << 20};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned char *p = malloc(sizes[i]), *q;
		size_t bigger = sizes[i] + 10;

		KUNIT_ASSERT_NOT_NULL(test, p);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((uintptr_t)p, sizes[i] > 8 ? 16 : 8));
		memset(p, 0x5a, sizes[i]);
		/* Without KASAN the exact size is not recorded; hardware tags record granules. */
		if (kasan_on() && sizes[i] == KASAN_END(sizes[i]))
			KUNIT_EXPECT_PTR_EQ(test, realloc(p, sizes[i]), p);
		q = realloc(p, bigger);
		KUNIT_ASSERT_NOT_NULL(test, q);
		/* Never in place: the old pointer must be stale. */
		KUNIT_EXPECT_PTR_NE(test, q, p);
		KUNIT_EXPECT_EQ(test, q[0] + q[sizes[i] - 1], 2 * 0x5a);
		q[bigger - 1] = 1;
		free(q);
	}
	free(NULL);
	KUNIT_EXPECT_NULL(test, calloc(SIZE_MAX / 2, 4));
	errno = 0;
	KUNIT_EXPECT_NULL(test, malloc(SIZE_MAX / 2));
	KUNIT_EXPECT_EQ(test, errno, ENOMEM);
}

static void heap_of_nothing(struct kunit *test)
{
	size_t none = 0;
	char *p, *q;

	HIDE_VAR(none);
	p = malloc(none);
	q = malloc(none);
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_ASSERT_NOT_NULL(test, q);
	KUNIT_EXPECT_PTR_NE(test, p, q);
	free(q);
	p = realloc(p, 20);
	KUNIT_ASSERT_NOT_NULL(test, p);
	p[19] = 1;
	p = realloc(p, none);
	KUNIT_ASSERT_NOT_NULL(test, p);
	free(p);
}

static void aligned_heap(struct kunit *test)
{
	char *p, *q;

	for (size_t align = 8; align <= 4UL << 20; align *= 2)
		for (size_t size = 0; size <= 20000; size = size * 3 + 1) {
			p = aligned_alloc(align, size);
			KUNIT_ASSERT_NOT_NULL(test, p);
			KUNIT_EXPECT_TRUE(test, IS_ALIGNED((uintptr_t)p, align));
			memset(p, 1, size);
			KUNIT_EXPECT_GE(test, malloc_usable_size(p), size);
			q = NULL;
			KUNIT_EXPECT_EQ(test, posix_memalign((void **)&q, align, size), 0);
			KUNIT_EXPECT_TRUE(test, q && IS_ALIGNED((uintptr_t)q, align));
			free(p);
			p = realloc(q, size + 1);
			KUNIT_ASSERT_NOT_NULL(test, p);
			p[size] = 1;
			free(p);
		}
	KUNIT_EXPECT_NULL(test, aligned_alloc(24, 24));
	KUNIT_EXPECT_EQ(test, errno, EINVAL);
	KUNIT_EXPECT_EQ(test, posix_memalign((void **)&q, 4, 24), EINVAL);
	KUNIT_EXPECT_EQ(test, posix_memalign((void **)&q, 3UL << 20, 24), EINVAL);
	errno = 0;
	KUNIT_EXPECT_EQ(test, posix_memalign((void **)&q, 1UL << 62, 24), ENOMEM);
	KUNIT_EXPECT_EQ(test, errno, 0);
	KUNIT_EXPECT_NULL(test, aligned_alloc(1UL << 20, SIZE_MAX - 100));
	KUNIT_EXPECT_EQ(test, errno, ENOMEM);
	/* No power of two, and yet every C library takes it. */
	p = aligned_alloc(0, 24);
	KUNIT_EXPECT_NOT_NULL(test, p);
	free(p);
}

#ifdef CONFIG_KASAN
/* A large area has a byte that the program did not ask for, so with tags the first one is not outside of it. */
#ifdef CONFIG_KASAN_TAGS
#define EMPTY_AREA "invalid-access"
#else
#define EMPTY_AREA "vmalloc-out-of-bounds"
#endif

static void heap_bugs(struct kunit *test)
{
	size_t none = 0;
	char *p, *q;

	if (!kasan_enabled())
		kunit_skip(test, "KASAN is off (kasan=off)");
	HIDE_VAR(none);
	p = malloc(none);
	/* Another slot lies behind the only granule. */
	if (KASAN_TEST_BYTES)
		KUNIT_EXPECT_KASAN_REPORT(test, "slab-out-of-bounds", KASAN_WRITE, 1,
					  KASAN_TEST_BUG(WRITE_ACCESS(p[0], 1)));
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-out-of-bounds", KASAN_READ, 1,
				  KASAN_TEST_BUG(READ_ACCESS(p[KASAN_END(1)])));
	free(p);
	KUNIT_EXPECT_KASAN_REPORT(test, "double-free", KASAN_FREE, 0, KASAN_TEST_BUG(free(p)));
	KUNIT_EXPECT_KASAN_REPORT(test, "double-free", KASAN_FREE, 0,
				  KASAN_TEST_BUG(q = realloc(p, 5)));
	p = malloc(100);
	q = realloc(p, 40);
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1,
				  KASAN_TEST_BUG(READ_ACCESS(p[0])));
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-out-of-bounds", KASAN_WRITE, 1,
				  KASAN_TEST_BUG(WRITE_ACCESS(q[KASAN_END(40)], 1)));
	free(q);
	p = aligned_alloc(64, 100);
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-out-of-bounds", KASAN_READ, 1,
				  KASAN_TEST_BUG(READ_ACCESS(p[KASAN_END(100)])));
	free(p);
	p = aligned_alloc(1UL << 20, 100);
	KUNIT_EXPECT_KASAN_REPORT(test, "vmalloc-out-of-bounds", KASAN_READ, 1,
				  KASAN_TEST_BUG(READ_ACCESS(p[KASAN_END(100)])));
	free(p);
	p = aligned_alloc(1UL << 20, none);
	KUNIT_EXPECT_KASAN_REPORT(test, EMPTY_AREA, KASAN_READ, 1,
				  KASAN_TEST_BUG(READ_ACCESS(p[0])));
	free(p);
	p = malloc(6UL << 20);
	KUNIT_EXPECT_KASAN_REPORT(test, "invalid-free", KASAN_FREE, 0,
				  KASAN_TEST_BUG(free(p + 16)));
	free(p);
	/* 48 bytes, which are whole granules in each mode, in a slot of 64: the next one is not written to. */
	p = strdup("forty-seven characters and the zero behind them");
	KUNIT_EXPECT_KASAN_REPORT(
		test, "slab-out-of-bounds", KASAN_WRITE, 1,
		KASAN_TEST_BUG(
			snprintf(p, 60, "%s", "forty-eight characters and a zero for each mode.")));
	free(p);
}
#endif

/* --- Strings, sorting, files ------------------------------------------------------------------ */

static void strings(struct kunit *test)
{
	char text[] = "a,b;;c", *save, *p = strdup("copy"), *q = strndup("copies", 3);

	KUNIT_EXPECT_STREQ(test, strtok_r(text, ",;", &save), "a");
	KUNIT_EXPECT_STREQ(test, strtok_r(NULL, ",;", &save), "b");
	KUNIT_EXPECT_STREQ(test, strtok_r(NULL, ",;", &save), "c");
	KUNIT_EXPECT_NULL(test, strtok_r(NULL, ",;", &save));
	KUNIT_EXPECT_STREQ(test, p, "copy");
	KUNIT_EXPECT_STREQ(test, q, "cop");
	free(p);
	free(q);
	KUNIT_EXPECT_STREQ(test, strerror(ENOENT), "No such file or directory");
	KUNIT_EXPECT_STREQ(test, strerror(12345), "Unknown error 12345");
	KUNIT_EXPECT_TRUE(test, isalpha('x') && !isalpha('1') && isspace('\v') && !isprint(EOF));
	KUNIT_EXPECT_EQ(test, toupper('q'), 'Q');
}

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static void sorting(struct kunit *test)
{
	int array[100], key;

	srand(3);
	for (size_t i = 0; i < ARRAY_SIZE(array); i++)
		array[i] = rand() % 50;
	qsort(array, ARRAY_SIZE(array), sizeof(array[0]), compare_ints);
	for (size_t i = 1; i < ARRAY_SIZE(array); i++)
		KUNIT_EXPECT_LE(test, array[i - 1], array[i]);
	key = array[30];
	KUNIT_EXPECT_NOT_NULL(
		test, bsearch(&key, array, ARRAY_SIZE(array), sizeof(array[0]), compare_ints));
}

static void files(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, fopen("there/is/no/such/file", "r"));
	KUNIT_EXPECT_EQ(test, errno, ENOENT);
	KUNIT_EXPECT_NULL(test, fopen("output", "w"));
	KUNIT_EXPECT_EQ(test, errno, EROFS);
	KUNIT_EXPECT_EQ(test, getchar(), EOF);
	KUNIT_EXPECT_TRUE(test, feof(stdin));
	clearerr(stdin);
}

/* --- Jumps and ends --------------------------------------------------------------------------- */

static jmp_buf target;

static noinline int jump_from(volatile int depth)
{
	volatile char array[40];

	array[depth % 40] = 1;
	if (depth == 0)
		longjmp(target, 7);
	if (depth < 0)
		return array[2];
	return jump_from(depth - 1) + array[1];
}

static noinline int use_stack(int depth)
{
	volatile char array[100];

	for (size_t i = 0; i < sizeof(array); i++)
		array[i] = 1;
	return depth ? use_stack(depth - 1) + array[0] : 0;
}

static void jumps(struct kunit *test)
{
	volatile int rounds = 0;
	int value = setjmp(target);

	if (value)
		KUNIT_EXPECT_EQ(test, value, 7);
	/* The frames that were jumped over must leave no poison for those that come after them. */
	KUNIT_EXPECT_EQ(test, stale_stack(), 0);
	KUNIT_EXPECT_EQ(test, use_stack(20), 20);
	if (rounds++ < 3)
		jump_from(20);
	KUNIT_EXPECT_EQ(test, rounds, 4);
}

static volatile int at_exit;

static void note_exit(void)
{
	at_exit++;
}

static int exit_thread(void *arg)
{
	atexit(note_exit);
	exit(5);
}

static int abort_thread(void *arg)
{
	atexit(note_exit);
	abort();
}

/* Return: a thread that may run the library's code, which is compiled with floating point. */
static struct task *run_library_thread(int (*fn)(void *), const char *name)
{
	struct task *task = kthread_create(fn, NULL, "%s", name);

	if (!IS_ERR(task)) {
		fpu_attach(task);
		wake_up_process(task);
	}
	return task;
}

static void ends(struct kunit *test)
{
	struct task *task;

	at_exit = 0;
	task = run_library_thread(exit_thread, "exit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 5);
	KUNIT_EXPECT_EQ(test, at_exit, 1);
	task = run_library_thread(abort_thread, "abort");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 134);
	KUNIT_EXPECT_EQ(test, at_exit, 1);
}

static int ulib_test_init(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, fpu_attach(current), 0);
#ifdef CONFIG_KASAN
	return kasan_test_init(test);
#else
	return 0;
#endif
}

static struct kunit_case ulib_test_cases[] = {
	KUNIT_CASE(formats),
	KUNIT_CASE(scans),
	KUNIT_CASE(numbers),
	KUNIT_CASE(heap),
	KUNIT_CASE(heap_of_nothing),
	KUNIT_CASE(aligned_heap),
#ifdef CONFIG_KASAN
	KUNIT_CASE(heap_bugs),
#endif
	KUNIT_CASE(strings),
	KUNIT_CASE(sorting),
	KUNIT_CASE(files),
	KUNIT_CASE(jumps),
	KUNIT_CASE(ends),
	{},
};

static struct kunit_suite ulib_test_suite = {
	.name = "ulib",
	.suite_init = kasan_test_suite_init,
	.suite_exit = kasan_test_suite_exit,
	.init = ulib_test_init,
	.exit = kasan_test_exit,
	.test_cases = ulib_test_cases,
};

kunit_test_suite(ulib_test_suite);
