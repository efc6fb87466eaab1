// SPDX-License-Identifier: MIT
/*
 * kasan_test_string.c - bugs inside library functions: strings, bit operations, atomics, explicit
 * checks.
 *
 * The objects are arranged so that each call touches exactly one bad byte: byte-wise functions
 * report each one that they touch.
 */
#include <kernel/atomic.h>
#include <kernel/bitops.h>
#include <kernel/kernel.h>
#include <kernel/slab.h>
#include <kernel/string.h>

#include "kasan_test.h"

static char *alloc(struct kunit *test, size_t size)
{
	char *ptr = kzalloc(size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	HIDE_VAR(ptr);
	return ptr;
}

/* The same for functions that write behind the end. */
static char *alloc_beside(struct kunit *test, size_t size)
{
	char *ptr = kasan_kmalloc_beside(test, size);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr);
	memset(ptr, 0, size);
	HIDE_VAR(ptr);
	return ptr;
}

/* --- Bytes ------------------------------------------------------------------------------------ */

void kasan_memchr(struct kunit *test)
{
	size_t size = KASAN_END(24);
	char *ptr = alloc(test, size);

	HIDE_VAR(size);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
			 (void)memchr(ptr, '1', size + 1));
	kfree(ptr);
}

void kasan_memcmp(struct kunit *test)
{
	size_t size = KASAN_END(24);
	char *ptr = alloc(test, size);
	/* The bytes of a report: of one behind equal bytes, and behind a difference. */
#ifdef CONFIG_KASAN_HW_TAGS
	size_t equal = 1, different = size;
#else
	size_t equal = size + 1, different = size + 1;
#endif
	char zeros[40] = {0};

	HIDE_VAR(size);
	KUNIT_EXPECT_EQ(test, memcmp(ptr, zeros, size), 0);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, equal,
			 (void)memcmp(ptr, zeros, size + 1));
	/* The first bytes say the result, and C wants the others all the same. */
	zeros[0] = 1;
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, different,
			 (void)memcmp(ptr, zeros, size + 1));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, different,
			 (void)memcmp(zeros, ptr, size + 1));
	kfree(ptr);
}

/* A string function finds a NUL in the first byte of freed memory that it reads. */
#define EXPECT_STRING_UAF(test, expression)                                   \
	KUNIT_EXPECT_KASAN_REPORT(test, "slab-use-after-free", KASAN_READ, 1, \
				  KASAN_TEST_BUG((void)(expression)))

void kasan_strings(struct kunit *test)
{
	char *ptr = alloc(test, 64);

	kfree(ptr);
	/* Behind what the runtime keeps in a freed object. */
	ptr += 48;
	HIDE_VAR(ptr);
	EXPECT_STRING_UAF(test, strchr(ptr, '1'));
	EXPECT_STRING_UAF(test, strrchr(ptr, '1'));
	EXPECT_STRING_UAF(test, strcmp(ptr, "2"));
	EXPECT_STRING_UAF(test, strncmp(ptr, "2", 1));
	EXPECT_STRING_UAF(test, strlen(ptr));
	EXPECT_STRING_UAF(test, strnlen(ptr, 1));
	EXPECT_STRING_UAF(test, strcasecmp(ptr, "2"));
}

void kasan_string_copies(struct kunit *test)
{
	char *to = alloc_beside(test, 16), *from = alloc(test, 32);

	strcpy(from, "0123456789abcdef");
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1, strcpy(to, from));
	memset(to, 0, 16);
	strcpy(to, "01234567");
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1, strcat(to, from + 8));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1, strncpy(to, from, 17));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 1, snprintf(to, 32, "%s", from));
	kfree(to);
	kfree(from);
}

/* Each text is written anew: a copy that overlaps changes its own source. */
#define EXPECT_OVERLAP(test, size, expression)                                                 \
	do {                                                                                   \
		memcpy(text, "0123456789", 11);                                                \
		KASAN_EXPECT_BUG(test, "memcpy-param-overlap", KASAN_WRITE, size, expression); \
	} while (0)

void kasan_overlap(struct kunit *test)
{
	char *text = alloc(test, 64);
	size_t size = 8;

	HIDE_VAR(size);
	EXPECT_OVERLAP(test, 8, memcpy(text, text + 1, size));
	KUNIT_EXPECT_STREQ(test, text, "1234567889");
	EXPECT_OVERLAP(test, 8, memcpy(text + 7, text, size));
	KUNIT_EXPECT_STREQ(test, text, "012345601234567");
	memset(text, 0, 64);
	EXPECT_OVERLAP(test, 4, strcpy(text, text + 3));
	KUNIT_EXPECT_STREQ(test, text, "3456789");
	EXPECT_OVERLAP(test, 4, strcpy(text + 3, text));
	KUNIT_EXPECT_STREQ(test, text, "012012");
	EXPECT_OVERLAP(test, 1, strcpy(text, text));
	EXPECT_OVERLAP(test, 3, strncpy(text + 2, text, 6));
	EXPECT_OVERLAP(test, 11, strcat(text, text));
	EXPECT_OVERLAP(test, 8, strncat(text, text + 3, 9));
	kfree(text);
}

void kasan_no_overlap(struct kunit *test)
{
	char *text = alloc(test, 64), *none = text + 40;
	size_t size = 8;

	HIDE_VAR(size);
	memcpy(text, "0123456789", 11);
	memcpy(text + 8, text, size);
	memcpy(text, text + 8, size);
	memcpy(text, text, size);
	memcpy(text, text + 1, size - 8);
	memmove(text + 1, text, size);
	strcpy(text, text + 16);
	strcpy(text, "0123");
	strcpy(text + 5, text);
	strncpy(text + 2, text, 2);
	strncat(none, text, 40);
	KUNIT_EXPECT_STREQ(test, text, "0101");
	KUNIT_EXPECT_STREQ(test, none, "0101");
	memcpy(text, "0123456789", 11);
	KUNIT_EXPECT_EQ(test, kasan_option("kasan.overlap", "off"), 0);
	memcpy(text, text + 1, size);
	strcpy(text, text + 1);
	KUNIT_EXPECT_EQ(test, kasan_option("kasan.overlap", "on"), 0);
	KUNIT_EXPECT_STREQ(test, text, "234567889");
	kfree(text);
}

/* --- Bits and atomics ------------------------------------------------------------------------- */

/* Nine bytes: the word of bit 64 begins inside the object and ends outside. Where whole granules are compared
 * it is the next one that is bad. */
#define BAD_BIT (KASAN_TEST_BYTES ? BITS_PER_LONG : 2UL * BITS_PER_LONG)

static unsigned long *alloc_bits(struct kunit *test)
{
	return (unsigned long *)alloc_beside(test, sizeof(unsigned long) + 1);
}

#define EXPECT_BITOP(test, access, expression) \
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", access, 8, expression)

void kasan_bitops_modify(struct kunit *test)
{
	unsigned long *bits = alloc_bits(test), bit = BAD_BIT;

	HIDE_VAR(bit);
	set_bit(0, bits);
	clear_bit(63, bits);
	EXPECT_BITOP(test, KASAN_WRITE, set_bit(bit, bits));
	EXPECT_BITOP(test, KASAN_WRITE, clear_bit(bit, bits));
	EXPECT_BITOP(test, KASAN_WRITE, change_bit(bit, bits));
	kfree(bits);
}

void kasan_bitops_test_and_modify(struct kunit *test)
{
	unsigned long *bits = alloc_bits(test), bit = BAD_BIT;

	HIDE_VAR(bit);
	KUNIT_EXPECT_FALSE(test, test_and_set_bit(1, bits));
	EXPECT_BITOP(test, KASAN_WRITE, (void)test_and_set_bit(bit, bits));
	EXPECT_BITOP(test, KASAN_WRITE, (void)test_and_clear_bit(bit, bits));
	EXPECT_BITOP(test, KASAN_WRITE, (void)test_and_change_bit(bit, bits));
	EXPECT_BITOP(test, KASAN_READ, (void)test_bit(bit, bits));
	kfree(bits);
}

void kasan_atomics(struct kunit *test)
{
	/* Four bytes too few for an atomic64_t, and none for an atomic_t behind them. */
	char *object = alloc(test, 44);
	atomic64_t *wide = (atomic64_t *)(object + ALIGN_DOWN(KASAN_END(44), 8));
	atomic_t *narrow = (atomic_t *)(object + KASAN_END(44));

	HIDE_VAR(wide);
	HIDE_VAR(narrow);
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_ANY, 8, (void)atomic64_read(wide));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 8, atomic64_set(wide, 1));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 8, atomic64_add(1, wide));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 8, (void)atomic64_xchg(wide, 1));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_ANY, 4, (void)atomic_read(narrow));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 4, atomic_inc(narrow));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 4,
			 (void)atomic_cmpxchg(narrow, 0, 1));
	kfree(object);
}

/* --- Explicit checks -------------------------------------------------------------------------- */

void kasan_explicit_checks(struct kunit *test)
{
	const size_t end = KASAN_END(20);
	char *ptr = alloc(test, 20);

	KUNIT_EXPECT_TRUE(test, kasan_check_read(ptr, 20));
	KUNIT_EXPECT_TRUE(test, kasan_check_write(ptr, 20));
	KUNIT_EXPECT_TRUE(test, kasan_check_read(ptr + 20, 0));
	KUNIT_EXPECT_TRUE(test, kasan_check_byte(ptr + 19));
	KUNIT_EXPECT_TRUE(test, kasan_byte_accessible(ptr + 19));
	KUNIT_EXPECT_FALSE(test, kasan_byte_accessible(ptr + end));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, end + 1,
			 (void)kasan_check_read(ptr, end + 1));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_WRITE, 4,
			 (void)kasan_check_write(ptr + end - 3, 4));
	KASAN_EXPECT_BUG(test, "slab-out-of-bounds", KASAN_READ, 1,
			 (void)kasan_check_byte(ptr + end));
	kfree(ptr);
}

/* A hand-written bit operation, as assembly would have it: the check is a call. */
static void uninstrumented_set_bit(unsigned long nr, unsigned long *addr)
{
	if (kasan_check_write(&addr[BIT_WORD(nr)], sizeof(*addr)))
		__atomic_fetch_or(&addr[BIT_WORD(nr)], BIT_MASK(nr), __ATOMIC_RELAXED);
}

void kasan_bitops_explicit(struct kunit *test)
{
	unsigned long *bits = alloc_bits(test), bit = BAD_BIT;

	HIDE_VAR(bit);
	uninstrumented_set_bit(5, bits);
	KUNIT_EXPECT_EQ(test, bits[0], 1UL << 5);
	EXPECT_BITOP(test, KASAN_WRITE, uninstrumented_set_bit(bit, bits));
	kfree(bits);
}
