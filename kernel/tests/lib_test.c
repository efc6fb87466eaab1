// SPDX-License-Identifier: MIT
/* lib_test.c - the kernel's library: formatting, strings, numbers, sorting, lists, parameters. */
#include <kernel/bitops.h>
#include <kernel/kernel.h>
#include <kernel/list.h>
#include <kernel/param.h>
#include <kernel/random.h>
#include <kernel/slab.h>
#include <kernel/sort.h>
#include <kernel/string.h>

#include "kasan_test.h"

/* --- Formatting ------------------------------------------------------------------------------- */

#define EXPECT_FORMAT(test, expected, ...)                               \
	do {                                                             \
		char __buf[128];                                         \
		int __len = snprintf(__buf, sizeof(__buf), __VA_ARGS__); \
                                                                         \
		KUNIT_EXPECT_STREQ(test, __buf, expected);               \
		KUNIT_EXPECT_EQ(test, __len, strlen(expected));          \
	} while (0)

static void format_integers(struct kunit *test)
{
	EXPECT_FORMAT(test, "-5 7 8 abc ABC 10", "%d %i %u %x %X %o", -5, 7, 8U, 0xabcU, 0xABCU,
		      8U);
	EXPECT_FORMAT(test, "    1|2    |00003|+4| 5", "%5d|%-5d|%05d|%+d|% d", 1, 2, 3, 4, 5);
	EXPECT_FORMAT(test, "001|     002|003     ", "%.3d|%8.3d|%-8.3d", 1, 2, 3);
	EXPECT_FORMAT(test, "0xff 0XFF 010", "%#x %#X %#o", 255U, 255U, 8U);
	EXPECT_FORMAT(test, "-9223372036854775808 18446744073709551615", "%ld %lu", LONG_MIN,
		      ULONG_MAX);
	EXPECT_FORMAT(test, "-3 -4 65535 255", "%hd %hhd %hu %hhu", (short)-3, (signed char)-4,
		      (unsigned short)65535, (unsigned char)255);
	EXPECT_FORMAT(test, "12345678901 4096 -1", "%lld %zu %td", 12345678901LL, (size_t)4096,
		      (ptrdiff_t)-1);
	EXPECT_FORMAT(test, "   42|42   ", "%*d|%*d", 5, 42, -5, 42);
}

static void format_strings(struct kunit *test)
{
	char three[3] = {'a', 'b', 'c'};

	EXPECT_FORMAT(test, "abc|  abc|abc  |ab", "%s|%5s|%-5s|%.2s", "abc", "abc", "abc", "abc");
	/* With a precision the string needs no NUL. */
	EXPECT_FORMAT(test, "abc", "%.3s", three);
	EXPECT_FORMAT(test, "abc", "%.*s", 3, three);
	EXPECT_FORMAT(test, "x|  y|100%", "%c|%3c|100%%", 'x', 'y');
	EXPECT_FORMAT(test, "ffff00001234abcd", "%p", (void *)0xffff00001234abcdUL);
}

static void format_truncation(struct kunit *test)
{
	char buf[8];

	memset(buf, '#', sizeof(buf));
	KUNIT_EXPECT_EQ(test, snprintf(buf, 5, "%s", "abcdefgh"), 8);
	KUNIT_EXPECT_MEMEQ(test, buf, "abcd\0###", 8);
	KUNIT_EXPECT_EQ(test, snprintf(NULL, 0, "%d", 12345), 5);
	KUNIT_EXPECT_EQ(test, scnprintf(buf, 5, "%s", "abcdefgh"), 4);
}

/* Characters without room take no time. If they did, this case would take hours. */
static void format_enormous(struct kunit *test)
{
	int enormous = INT_MAX, negative = INT_MIN;
	char buf[8];

	/* From the compiler, which knows what does not fit. */
	HIDE_VAR(enormous);
	HIDE_VAR(negative);
	for (int i = 0; i < 1000; i++) {
		KUNIT_ASSERT_EQ(test, snprintf(buf, sizeof(buf), "%*d", enormous, 1), INT_MAX);
		KUNIT_ASSERT_STREQ(test, buf, "       ");
		KUNIT_ASSERT_EQ(test, snprintf(buf, sizeof(buf), "%.*d", enormous, -1), INT_MAX);
		KUNIT_ASSERT_STREQ(test, buf, "-000000");
		KUNIT_ASSERT_EQ(test, snprintf(NULL, 0, "%-*s|", negative, "x"), INT_MAX);
	}
}

static void format_symbols(struct kunit *test)
{
	char buf[128];

	snprintf(buf, sizeof(buf), "%ps", (void *)kunit_run_all);
	KUNIT_EXPECT_STREQ(test, buf, "kunit_run_all");
	snprintf(buf, sizeof(buf), "%pS", (void *)kunit_run_all);
	KUNIT_EXPECT_EQ_MSG(test, strncmp(buf, "kunit_run_all+0x0/0x", 20), 0, "%s", buf);
}

/* --- Strings ---------------------------------------------------------------------------------- */

static void string_searches(struct kunit *test)
{
	const char *s = "hello, world";

	KUNIT_EXPECT_EQ(test, strlen(s), 12);
	KUNIT_EXPECT_EQ(test, strnlen(s, 5), 5);
	KUNIT_EXPECT_PTR_EQ(test, strchr(s, 'o'), s + 4);
	KUNIT_EXPECT_PTR_EQ(test, strrchr(s, 'o'), s + 8);
	KUNIT_EXPECT_PTR_EQ(test, strchr(s, 0), s + 12);
	KUNIT_EXPECT_NULL(test, strchr(s, 'z'));
	KUNIT_EXPECT_PTR_EQ(test, strstr(s, "wor"), s + 7);
	KUNIT_EXPECT_PTR_EQ(test, strstr(s, ""), s);
	KUNIT_EXPECT_NULL(test, strstr(s, "worm"));
	KUNIT_EXPECT_EQ(test, strspn(s, "helo"), 5);
	KUNIT_EXPECT_EQ(test, strcspn(s, ", "), 5);
	KUNIT_EXPECT_PTR_EQ(test, strpbrk(s, "xyzw"), s + 7);
	KUNIT_EXPECT_PTR_EQ(test, memchr(s, 'w', 12), s + 7);
	KUNIT_EXPECT_NULL(test, memchr(s, 'w', 7));
}

static void string_comparisons(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, strcmp("abc", "abc"), 0);
	KUNIT_EXPECT_LT(test, strcmp("abc", "abd"), 0);
	KUNIT_EXPECT_GT(test, strcmp("abc", "ab"), 0);
	/* Characters compare as unsigned. */
	KUNIT_EXPECT_GT(test, strcmp("\xff", "a"), 0);
	KUNIT_EXPECT_EQ(test, strncmp("abcx", "abcy", 3), 0);
	KUNIT_EXPECT_EQ(test, strcasecmp("HeLLo", "hEllO"), 0);
	KUNIT_EXPECT_GT(test, memcmp("\xff", "\x01", 1), 0);
	KUNIT_EXPECT_EQ(test, memcmp("abc", "xyz", 0), 0);
}

static void string_copies(struct kunit *test)
{
	char buf[8];

	KUNIT_EXPECT_EQ(test, strscpy(buf, "0123456789", sizeof(buf)), -E2BIG);
	KUNIT_EXPECT_STREQ(test, buf, "0123456");
	KUNIT_EXPECT_EQ(test, strscpy(buf, "012", sizeof(buf)), 3);
	KUNIT_EXPECT_EQ(test, strlcpy(buf, "0123456789", sizeof(buf)), 10);
	KUNIT_EXPECT_STREQ(test, buf, "0123456");
	memset(buf, '#', sizeof(buf));
	strncpy(buf, "ab", 4);
	KUNIT_EXPECT_MEMEQ(test, buf, "ab\0\0####", 8);
	strcpy(buf, "ab");
	strcat(buf, "cd");
	strncat(buf, "efgh", 2);
	KUNIT_EXPECT_STREQ(test, buf, "abcdef");
}

/* Fill @n bytes with values of which no two neighbours are alike. */
static void number_bytes(u8 *buf, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf[i] = (u8)(i * 7 + i / 32);
}

/* A byte at a time, which no compiler makes a call of. */
static void copy_bytes(u8 *dst, const u8 *src, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		dst[i] = src[i];
		HIDE_VAR(dst);
	}
}

static void memory_moves(struct kunit *test)
{
	u8 *buf = kmalloc(512, GFP_KERNEL), *expected = kmalloc(512, GFP_KERNEL);
	u8 *copy = kmalloc(256, GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, buf && expected && copy);
	/* Near and far overlaps, in both directions, against a copy by way of a second buffer. */
	for (size_t from = 100; from <= 108; from += 3)
		for (size_t to = 0; to <= 220; to += to > 80 && to < 130 ? 1 : 13)
			for (size_t n = 0; n <= 220; n += n < 70 ? 5 : 29) {
				number_bytes(buf, 512);
				number_bytes(expected, 512);
				copy_bytes(copy, buf + from, n);
				copy_bytes(expected + to, copy, n);
				KUNIT_EXPECT_PTR_EQ(test, memmove(buf + to, buf + from, n),
						    buf + to);
				KUNIT_ASSERT_MEMEQ(test, buf, expected, 512);
			}
	kfree(copy);
	kfree(expected);
	kfree(buf);
}

static void memory_copies(struct kunit *test)
{
	u8 *buf = kmalloc(256, GFP_KERNEL), *expected = kmalloc(256, GFP_KERNEL);
	u8 *from = kmalloc(256, GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, buf && expected && from);
	number_bytes(from, 256);
	for (size_t n = 0; n <= 200; n++)
		for (size_t to = n % 3; to < 24; to += 3) {
			const size_t at = (to * 5 + n) % 17;

			memset(buf, 0xee, 256);
			memset(expected, 0xee, 256);
			copy_bytes(expected + to, from + at, n);
			KUNIT_EXPECT_PTR_EQ(test, memcpy(buf + to, from + at, n), buf + to);
			KUNIT_ASSERT_MEMEQ(test, buf, expected, 256);
		}
	kfree(from);
	kfree(expected);
	kfree(buf);
}

static void memory_fills(struct kunit *test)
{
	u8 *buf = kmalloc(256, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (size_t start = 0; start < 16; start++)
		for (size_t n = 0; n < 230; n += n < 140 ? 1 : 17) {
			memset(buf, 0, 256);
			KUNIT_EXPECT_PTR_EQ(test, memset(buf + start, 0x7ab, n), buf + start);
			for (size_t i = 0; i < 256; i++)
				KUNIT_ASSERT_EQ(test, buf[i],
						i >= start && i < start + n ? 0xab : 0);
		}
	memset(buf, 0, 256);
	memset(buf + 15, 1, 40);
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(buf, 0, 256), buf + 15);
	kfree(buf);
}

static void globs(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, glob_match("kasan*", "kasan_runtime"));
	KUNIT_EXPECT_TRUE(test, glob_match("*_oob_*", "kmalloc_oob_right"));
	KUNIT_EXPECT_TRUE(test, glob_match("a?c", "abc"));
	KUNIT_EXPECT_TRUE(test, glob_match("[a-c]x", "bx"));
	KUNIT_EXPECT_FALSE(test, glob_match("[!a-c]x", "bx"));
	KUNIT_EXPECT_FALSE(test, glob_match("kasan", "kasan_runtime"));
	KUNIT_EXPECT_TRUE(test, glob_match("", ""));
	KUNIT_EXPECT_TRUE(test, glob_match("*a*a*b", "aaaaaaab"));
}

/* --- Numbers ---------------------------------------------------------------------------------- */

static void number_parsing(struct kunit *test)
{
	unsigned long u = 99;
	long n = 99;
	bool b = false;
	char *rest;

	KUNIT_EXPECT_EQ(test, kstrtoul("0x1f", 0, &u), 0);
	KUNIT_EXPECT_EQ(test, u, 0x1f);
	KUNIT_EXPECT_EQ(test, kstrtoul("12x", 10, &u), -EINVAL);
	KUNIT_EXPECT_EQ(test, kstrtoul("", 10, &u), -EINVAL);
	KUNIT_EXPECT_EQ(test, kstrtoul("99999999999999999999", 10, &u), -ERANGE);
	KUNIT_EXPECT_EQ(test, u, 0x1f);
	KUNIT_EXPECT_EQ(test, kstrtol("-42\n", 10, &n), 0);
	KUNIT_EXPECT_EQ(test, n, -42);
	KUNIT_EXPECT_EQ(test, kstrtobool("on", &b), 0);
	KUNIT_EXPECT_TRUE(test, b);
	KUNIT_EXPECT_EQ(test, kstrtobool("maybe", &b), -EINVAL);
	KUNIT_EXPECT_EQ(test, memparse("64K", &rest), 65536);
	KUNIT_EXPECT_EQ(test, *rest, 0);
}

static void bit_functions(struct kunit *test)
{
	DECLARE_BITMAP(map, 200);
	unsigned long bit, sum = 0;

	bitmap_zero(map, 200);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(map, 200));
	set_bit(3, map);
	set_bit(64, map);
	set_bit(199, map);
	KUNIT_EXPECT_TRUE(test, test_and_set_bit(64, map));
	for_each_set_bit(bit, map, 200) sum += bit;
	KUNIT_EXPECT_EQ(test, sum, 3 + 64 + 199);
	KUNIT_EXPECT_EQ(test, find_next_zero_bit(map, 200, 64), 65);
	clear_bit(64, map);
	KUNIT_EXPECT_FALSE(test, test_bit(64, map));
	KUNIT_EXPECT_EQ(test, fls(0), 0);
	KUNIT_EXPECT_EQ(test, fls(0x80000000U), 32);
	KUNIT_EXPECT_EQ(test, ffs(8), 4);
	KUNIT_EXPECT_EQ(test, ilog2(4096), 12);
	KUNIT_EXPECT_EQ(test, roundup_pow_of_two(65), 128);
	KUNIT_EXPECT_EQ(test, hweight64(0xff00ff00ff00ff00UL), 32);
}

/* --- Containers ------------------------------------------------------------------------------- */

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

static void sorting(struct kunit *test)
{
	struct rnd_state rnd;
	int array[200], key, *found;

	prandom_seed_state(&rnd, 7);
	for (size_t n = 0; n <= ARRAY_SIZE(array); n += 20) {
		for (size_t i = 0; i < n; i++)
			array[i] = (int)(prandom_u32_state(&rnd) % 100);
		sort(array, n, sizeof(array[0]), compare_ints, NULL);
		for (size_t i = 1; i < n; i++)
			KUNIT_EXPECT_LE(test, array[i - 1], array[i]);
	}
	key = array[77];
	found = bsearch(&key, array, ARRAY_SIZE(array), sizeof(array[0]), compare_ints);
	KUNIT_ASSERT_NOT_NULL(test, found);
	KUNIT_EXPECT_EQ(test, *found, key);
	key = 1000;
	KUNIT_EXPECT_NULL(test,
			  bsearch(&key, array, ARRAY_SIZE(array), sizeof(array[0]), compare_ints));
}

struct entry {
	int value;
	struct list_head link;
};

static void lists(struct kunit *test)
{
	struct entry entries[10], *pos, *next;
	LIST_HEAD(head);
	int expected = 0;

	KUNIT_EXPECT_TRUE(test, list_empty(&head));
	for (int i = 0; i < 10; i++) {
		entries[i].value = i;
		list_add_tail(&entries[i].link, &head);
	}
	list_for_each_entry (pos, &head, link)
		KUNIT_EXPECT_EQ(test, pos->value, expected++);
	KUNIT_EXPECT_EQ(test, expected, 10);
	list_for_each_entry_safe (pos, next, &head, link)
		if (pos->value % 2)
			list_del(&pos->link);
	list_move(&entries[8].link, &head);
	KUNIT_EXPECT_EQ(test, list_first_entry(&head, struct entry, link)->value, 8);
	KUNIT_EXPECT_EQ(test, list_last_entry(&head, struct entry, link)->value, 6);
}

static void arguments(struct kunit *test)
{
	char text[] = "one \"two three\"  four \\\"x\\\"";
	char *argv[4];

	KUNIT_EXPECT_EQ(test, split_args(NULL, argv, 4), 0);
	KUNIT_ASSERT_GE(test, split_args(text, argv, 4), 3);
	KUNIT_EXPECT_STREQ(test, argv[0], "one");
	KUNIT_EXPECT_STREQ(test, argv[1], "two three");
	KUNIT_EXPECT_STREQ(test, argv[2], "four");
}

static void random_numbers(struct kunit *test)
{
	struct rnd_state a, b;
	unsigned int buckets[8] = {0};

	prandom_seed_state(&a, 1);
	prandom_seed_state(&b, 1);
	for (int i = 0; i < 8000; i++) {
		u32 x = prandom_u32_state(&a);

		KUNIT_ASSERT_EQ(test, x, prandom_u32_state(&b));
		buckets[x >> 29]++;
	}
	for (int i = 0; i < 8; i++) {
		KUNIT_EXPECT_GT(test, buckets[i], 800);
		KUNIT_EXPECT_LT(test, buckets[i], 1200);
	}
	for (int i = 0; i < 100; i++)
		KUNIT_EXPECT_LT(test, get_random_u32_below(10), 10);
}

KASAN_SUITE(lib, KUNIT_CASE(format_integers), KUNIT_CASE(format_strings),
	    KUNIT_CASE(format_truncation), KUNIT_CASE(format_enormous), KUNIT_CASE(format_symbols),
	    KUNIT_CASE(string_searches), KUNIT_CASE(string_comparisons), KUNIT_CASE(string_copies),
	    KUNIT_CASE(memory_moves), KUNIT_CASE(memory_copies), KUNIT_CASE(memory_fills),
	    KUNIT_CASE(globs), KUNIT_CASE(number_parsing), KUNIT_CASE(bit_functions),
	    KUNIT_CASE(sorting), KUNIT_CASE(lists), KUNIT_CASE(arguments),
	    KUNIT_CASE(random_numbers));
