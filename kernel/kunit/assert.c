// SPDX-License-Identifier: MIT
/* assert.c - failed expectations and assertions, told as Linux's KUnit tells them. */
#include <kernel/kernel.h>
#include <kernel/string.h>

#include "kunit.h"

/* As much of two memory ranges as a failure shows. */
#define DUMP_MAX 64
#define DUMP_ROW 16

static void print_header(struct kunit *test, enum kunit_assert_type type,
			 const struct kunit_loc *loc)
{
	test->status = KUNIT_FAILURE;
	kunit_info(test, "%s FAILED at %s:%d",
		   type == KUNIT_ASSERTION ? "ASSERTION" : "EXPECTATION", loc->file, loc->line);
}

/* The test's own message, and the end of the case after an assertion. */
static void __printf(3, 0)
	finish(struct kunit *test, enum kunit_assert_type type, const char *fmt, va_list args)
{
	char text[512];

	if (fmt) {
		vsnprintf(text, sizeof(text), fmt, args);
		printk("    %s\n", text);
	}
	if (type == KUNIT_ASSERTION)
		kunit_abort(test);
}

#define FINISH(test, type, fmt)                  \
	do {                                     \
		va_list __args;                  \
                                                 \
		va_start(__args, fmt);           \
		finish(test, type, fmt, __args); \
		va_end(__args);                  \
	} while (0)

void kunit_fail(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		const char *fmt, ...)
{
	print_header(test, type, loc);
	FINISH(test, type, fmt);
}

void kunit_fail_unary(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		      const char *condition, bool expected, const char *fmt, ...)
{
	print_header(test, type, loc);
	printk("    Expected %s to be %s, but is %s\n", condition, expected ? "true" : "false",
	       expected ? "false" : "true");
	FINISH(test, type, fmt);
}

void kunit_fail_not_err(struct kunit *test, enum kunit_assert_type type,
			const struct kunit_loc *loc, const char *text, const void *value,
			const char *fmt, ...)
{
	print_header(test, type, loc);
	if (!value)
		printk("    Expected %s is not null, but is\n", text);
	else
		printk("    Expected %s is not error, but is: %ld\n", text, PTR_ERR(value));
	FINISH(test, type, fmt);
}

/* A literal's value is its text: no need to print both. */
static bool is_literal(const char *text, long long value)
{
	long long parsed;

	return !kstrtoll(text, 0, &parsed) && parsed == value;
}

void kunit_fail_binary(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		       const char *left_text, const char *op, const char *right_text,
		       long long left, long long right, const char *fmt, ...)
{
	print_header(test, type, loc);
	printk("    Expected %s %s %s, but\n", left_text, op, right_text);
	if (!is_literal(left_text, left))
		printk("        %s == %lld (0x%llx)\n", left_text, left, left);
	if (!is_literal(right_text, right))
		printk("        %s == %lld (0x%llx)\n", right_text, right, right);
	FINISH(test, type, fmt);
}

void kunit_fail_ptr(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		    const char *left_text, const char *op, const char *right_text, const void *left,
		    const void *right, const char *fmt, ...)
{
	print_header(test, type, loc);
	printk("    Expected %s %s %s, but\n", left_text, op, right_text);
	printk("        %s == %p\n", left_text, left);
	printk("        %s == %p\n", right_text, right);
	FINISH(test, type, fmt);
}

void kunit_fail_str(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		    const char *left_text, const char *op, const char *right_text, const char *left,
		    const char *right, const char *fmt, ...)
{
	print_header(test, type, loc);
	printk("    Expected %s %s %s, but\n", left_text, op, right_text);
	/* A string literal shows its value already, in quotes. */
	if (left_text[0] != '"')
		printk("        %s == \"%s\"\n", left_text, left);
	if (right_text[0] != '"')
		printk("        %s == \"%s\"\n", right_text, right);
	FINISH(test, type, fmt);
}

/* Bytes that differ from @other stand in angle brackets. */
static void dump_bytes(const char *text, const u8 *bytes, const u8 *other, size_t size)
{
	char row[DUMP_ROW * 4 + 1];

	printk("        %s ==\n", text);
	if (!bytes) {
		printk("         (null)\n");
		return;
	}
	for (size_t start = 0; start < min(size, (size_t)DUMP_MAX); start += DUMP_ROW) {
		size_t len = 0;

		for (size_t i = start; i < min(size, start + DUMP_ROW); i++)
			len += (size_t)scnprintf(
				row + len, sizeof(row) - len,
				other && bytes[i] != other[i] ? "<%02x>" : " %02x ", bytes[i]);
		printk("        %s\n", row);
	}
	if (size > DUMP_MAX)
		printk("         ... %zu bytes in all\n", size);
}

void kunit_fail_mem(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		    const char *left_text, const char *op, const char *right_text, const void *left,
		    const void *right, size_t size, const char *fmt, ...)
{
	print_header(test, type, loc);
	printk("    Expected %s %s %s, but\n", left_text, op, right_text);
	dump_bytes(left_text, left, right, size);
	dump_bytes(right_text, right, left, size);
	FINISH(test, type, fmt);
}

bool kunit_str_equal(const char *left, const char *right)
{
	return left && right && strcmp(left, right) == 0;
}

bool kunit_mem_equal(const void *left, const void *right, size_t size)
{
	return left && right && memcmp(left, right, size) == 0;
}
