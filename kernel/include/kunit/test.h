/* SPDX-License-Identifier: MIT */
/*
 * test.h - KUnit-compatible tests: cases, suites, expectations and assertions.
 *
 * Names and output follow Linux's KUnit, so a test reads the same in both, and kunit.py parses the console.
 * Each case runs in its own kernel thread, named kunit_try_catch: a failed assertion or an oops ends that
 * thread, and thus only the case.
 *
 * A failed EXPECT marks the case and continues; a failed ASSERT ends it.
 */
#ifndef KUNIT_TEST_H
#define KUNIT_TEST_H

#include <kernel/types.h>

#define KUNIT_PARAM_DESC_SIZE	  128
#define KUNIT_STATUS_COMMENT_SIZE 256

/* Indentation of a line that belongs to a case. Only Linux's own KASAN suite uses it. */
#define KUNIT_SUBTEST_INDENT "    "

/* A case that takes longer than this has hung; its thread is abandoned. */
#define KUNIT_TIMEOUT_MS      60000U
#define KUNIT_TIMEOUT_SLOW_MS 300000U

enum kunit_status {
	KUNIT_SUCCESS,
	KUNIT_FAILURE,
	KUNIT_SKIPPED,
};

enum kunit_speed {
	KUNIT_SPEED_NORMAL,
	KUNIT_SPEED_SLOW,
};

struct kunit_suite;
struct kunit_action;

/**
 * struct kunit - one run of one case (or of one of its parameters)
 * @name: of the case.
 * @priv: for data that the suite's init() passes to the cases.
 * @param_value: current parameter, NULL without parameters. @param_index: its number, from 0.
 */
struct kunit {
	const char *name;
	void *priv;
	const void *param_value;
	int param_index;
	/* private to the framework from here on */
	const struct kunit_suite *suite;
	enum kunit_status status;
	bool ended;
	const char *last_seen_file;
	int last_seen_line;
	struct kunit_action *actions;
	char status_comment[KUNIT_STATUS_COMMENT_SIZE];
};

/**
 * struct kunit_case - one test case; fill it with KUNIT_CASE() or a similar macro
 * @run_case: the test. @name: of the case.
 * @generate_params: returns the next parameter after @prev (NULL: the first) and writes its description;
 *	returns NULL at the end.
 */
struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
	enum kunit_speed speed;
	/* private to the framework from here on */
	enum kunit_status status;
	bool filtered_out;
	bool filtered_skip;
};

/**
 * struct kunit_suite - cases that belong together
 * @init, @exit: called before and after each case, in its thread; a non-zero init() fails the case.
 * @suite_init, @suite_exit: called before and after all cases; a non-zero suite_init() fails the suite.
 * @test_cases: ends with an empty entry ({}).
 */
struct kunit_suite {
	const char *name;
	int (*suite_init)(struct kunit_suite *suite);
	void (*suite_exit)(struct kunit_suite *suite);
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(test_name) {.run_case = test_name, .name = #test_name}
#define KUNIT_CASE_SLOW(test_name) \
	{.run_case = test_name, .name = #test_name, .speed = KUNIT_SPEED_SLOW}
#define KUNIT_CASE_PARAM(test_name, gen_params) \
	{.run_case = test_name, .name = #test_name, .generate_params = gen_params}

/** KUNIT_ARRAY_PARAM() - define name_gen_params() over @array; @get_desc(element, desc) writes the
 *  description; NULL: no description. */
#define KUNIT_ARRAY_PARAM(name, array, get_desc)                                                \
	static const void *name##_gen_params(const void *prev, char *desc)                      \
	{                                                                                       \
		__typeof__((array)[0]) *__next = prev ? (__typeof__(__next))prev + 1 : (array); \
		void (*__get_desc)(__typeof__(__next), char *) = get_desc;                      \
                                                                                                \
		if (__next - (array) >= (ptrdiff_t)ARRAY_SIZE(array))                           \
			return NULL;                                                            \
		if (__get_desc)                                                                 \
			__get_desc(__next, desc);                                               \
		return __next;                                                                  \
	}

/* The linker collects pointers to the suites. In kernel mode neither compiler puts a redzone after a
 * global in a named section, so the array has no gaps. */
#define __kunit_concat2(a, b) a##b
#define __kunit_concat(a, b)  __kunit_concat2(a, b)
#define kunit_test_suites(...)                                                      \
	static struct kunit_suite *const __kunit_concat(                            \
		__kunit_suites_, __LINE__)[] __used __section(".kunit_test_suites") \
		__aligned(8) = {__VA_ARGS__}
#define kunit_test_suite(suite) kunit_test_suites(&(suite))

/** KUNIT_CASES() - define the array @name of the cases that follow it. */
#define KUNIT_CASES(name, ...) static struct kunit_case name[] = {__VA_ARGS__, {}}

/** KUNIT_SUITE() - define and register the suite @suite of @cases. Further arguments: its other members, as in ".init = init". */
#define KUNIT_SUITE(suite, cases, ...)                               \
	static struct kunit_suite suite##_suite = {                  \
		.name = #suite, .test_cases = (cases), __VA_ARGS__}; \
	kunit_test_suite(suite##_suite)

/* Start and end of that array; the linker script defines them. */
extern struct kunit_suite *const __kunit_suites_start[];
extern struct kunit_suite *const __kunit_suites_end[];

/**
 * kunit_run_all() - run every suite that passes the filters, and print KTAP
 *
 * Must run in a thread that may sleep. Return: false if a case failed, or if kunit.filter_glob= matches nothing.
 */
bool kunit_run_all(void);

/** kunit_enabled() - Return: value of kunit.enable= (default true). */
bool kunit_enabled(void);

/* --- Inside a case ---------------------------------------------------------------------------- */

/** kunit_mark_skipped() - mark the case as skipped, and continue. */
#define kunit_mark_skipped(test, fmt, ...) __kunit_mark_skipped(test, fmt, ##__VA_ARGS__)
void __kunit_mark_skipped(struct kunit *test, const char *fmt, ...) __printf(2, 3);

/** kunit_skip() - mark the case as skipped, and end it. */
#define kunit_skip(test, fmt, ...)                              \
	do {                                                    \
		__kunit_mark_skipped(test, fmt, ##__VA_ARGS__); \
		kunit_abort(test);                              \
	} while (0)

/** kunit_needs() - skip the case if @condition is false. @what: which is then missing, as in "two CPUs". */
#define kunit_needs(test, condition, what)                          \
	do {                                                        \
		if (!(condition))                                   \
			kunit_skip(test, "Test requires %s", what); \
	} while (0)

/** kunit_abort() - end the case's thread now. */
_Noreturn void kunit_abort(struct kunit *test);

/** kunit_info(), kunit_warn(), kunit_err() - print "    # case: ..." as a KTAP diagnostic. */
void kunit_info(struct kunit *test, const char *fmt, ...) __printf(2, 3);
#define kunit_warn(test, fmt, ...) kunit_info(test, fmt, ##__VA_ARGS__)
#define kunit_err(test, fmt, ...)  kunit_info(test, fmt, ##__VA_ARGS__)

/** kunit_kmalloc(), kunit_kzalloc() - allocate memory that is freed when the case ends. */
void *kunit_kmalloc(struct kunit *test, size_t size, gfp_t gfp);
void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp);
/** kunit_kfree() - free such memory earlier. */
void kunit_kfree(struct kunit *test, const void *ptr);

/** kunit_attach_mm() - give the case's thread, which has none, an address space. It goes with the thread. Return:
 *  0 or a negative error. */
int kunit_attach_mm(void);

/** kunit_vm_mmap() - vm_mmap() in the address space of the case, which gets one if it has none. The memory
 *  is unmapped when the case ends. Return: the user address, 0 on failure. */
unsigned long kunit_vm_mmap(struct kunit *test, void *file, unsigned long addr, size_t size,
			    unsigned long prot, unsigned long flags, unsigned long offset);

typedef void kunit_action_t(void *ctx);
/** kunit_add_action() - call @action(@ctx) when the case ends in any way; the last one added is called
 *  first. Return: 0, or -ENOMEM with the action not registered. */
int kunit_add_action(struct kunit *test, kunit_action_t *action, void *ctx);
/** kunit_add_action_or_reset() - the same, but if there is no memory the action runs at once. */
int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *action, void *ctx);
/** kunit_remove_action() - forget it; kunit_release_action() - run it now and forget it. */
void kunit_remove_action(struct kunit *test, kunit_action_t *action, void *ctx);
void kunit_release_action(struct kunit *test, kunit_action_t *action, void *ctx);

/* --- Expectations ------------------------------------------------------------------------------
 */

enum kunit_assert_type {
	KUNIT_EXPECTATION,
	KUNIT_ASSERTION,
};

/* Place of a check in the source. */
struct kunit_loc {
	const char *file;
	int line;
};
#define KUNIT_CURRENT_LOC (&(const struct kunit_loc){.file = __FILE__, .line = __LINE__})

/* One function for each kind of failure; they return only for an EXPECT. @fmt: the _MSG text; NULL: none. */
void kunit_fail(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		const char *fmt, ...) __printf(4, 5);
void kunit_fail_unary(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		      const char *condition, bool expected, const char *fmt, ...) __printf(6, 7);
void kunit_fail_not_err(struct kunit *test, enum kunit_assert_type type,
			const struct kunit_loc *loc, const char *text, const void *value,
			const char *fmt, ...) __printf(6, 7);
void kunit_fail_binary(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		       const char *left_text, const char *op, const char *right_text,
		       long long left, long long right, const char *fmt, ...) __printf(9, 10);
void kunit_fail_ptr(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		    const char *left_text, const char *op, const char *right_text, const void *left,
		    const void *right, const char *fmt, ...) __printf(9, 10);
void kunit_fail_str(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		    const char *left_text, const char *op, const char *right_text, const char *left,
		    const char *right, const char *fmt, ...) __printf(9, 10);
void kunit_fail_mem(struct kunit *test, enum kunit_assert_type type, const struct kunit_loc *loc,
		    const char *left_text, const char *op, const char *right_text, const void *left,
		    const void *right, size_t size, const char *fmt, ...) __printf(10, 11);

/* Comparisons, so that a test file need not include <kernel/string.h>. A NULL does not equal anything. */
bool kunit_str_equal(const char *left, const char *right);
bool kunit_mem_equal(const void *left, const void *right, size_t size);

#define _KUNIT_SAVE_LOC(test)                                 \
	do {                                                  \
		WRITE_ONCE((test)->last_seen_file, __FILE__); \
		WRITE_ONCE((test)->last_seen_line, __LINE__); \
	} while (0)

#define _KUNIT_UNARY(test, type, condition, expected, fmt, ...)                                    \
	do {                                                                                       \
		_KUNIT_SAVE_LOC(test);                                                             \
		if (unlikely((bool)(condition) != (expected)))                                     \
			kunit_fail_unary(test, type, KUNIT_CURRENT_LOC, #condition, expected, fmt, \
					 ##__VA_ARGS__);                                           \
	} while (0)

/* Tests compare plain numbers with a size_t or an int, so -Wsign-compare is off. */
#define _KUNIT_BINARY(test, type, left, op, right, fmt, ...)                                      \
	do {                                                                                      \
		__typeof__(left) __kunit_left = (left);                                           \
		__typeof__(right) __kunit_right = (right);                                        \
		bool __kunit_ok;                                                                  \
                                                                                                  \
		_KUNIT_SAVE_LOC(test);                                                            \
		_Pragma("GCC diagnostic push");                                                   \
		_Pragma("GCC diagnostic ignored \"-Wsign-compare\"");                             \
		__kunit_ok = __kunit_left op __kunit_right;                                       \
		_Pragma("GCC diagnostic pop");                                                    \
		if (unlikely(!__kunit_ok))                                                        \
			kunit_fail_binary(test, type, KUNIT_CURRENT_LOC, #left, #op, #right,      \
					  (long long)__kunit_left, (long long)__kunit_right, fmt, \
					  ##__VA_ARGS__);                                         \
	} while (0)

#define _KUNIT_PTR(test, type, left, op, right, fmt, ...)                                 \
	do {                                                                              \
		const void *__kunit_left = (const void *)(left);                          \
		const void *__kunit_right = (const void *)(right);                        \
		_KUNIT_SAVE_LOC(test);                                                    \
		if (unlikely(!(__kunit_left op __kunit_right)))                           \
			kunit_fail_ptr(test, type, KUNIT_CURRENT_LOC, #left, #op, #right, \
				       __kunit_left, __kunit_right, fmt, ##__VA_ARGS__);  \
	} while (0)

#define _KUNIT_STR(test, type, left, op, right, fmt, ...)                                 \
	do {                                                                              \
		const char *__kunit_left = (left);                                        \
		const char *__kunit_right = (right);                                      \
		_KUNIT_SAVE_LOC(test);                                                    \
		if (unlikely(!(kunit_str_equal(__kunit_left, __kunit_right) op true)))    \
			kunit_fail_str(test, type, KUNIT_CURRENT_LOC, #left, #op, #right, \
				       __kunit_left, __kunit_right, fmt, ##__VA_ARGS__);  \
	} while (0)

#define _KUNIT_MEM(test, type, left, op, right, size, fmt, ...)                           \
	do {                                                                              \
		const void *__kunit_left = (left);                                        \
		const void *__kunit_right = (right);                                      \
		const size_t __kunit_size = (size);                                       \
		_KUNIT_SAVE_LOC(test);                                                    \
		if (unlikely(!(kunit_mem_equal(__kunit_left, __kunit_right, __kunit_size) \
				       op true)))                                         \
			kunit_fail_mem(test, type, KUNIT_CURRENT_LOC, #left, #op, #right, \
				       __kunit_left, __kunit_right, __kunit_size, fmt,    \
				       ##__VA_ARGS__);                                    \
	} while (0)

#define _KUNIT_NOT_ERR_OR_NULL(test, type, ptr, fmt, ...)                                         \
	do {                                                                                      \
		const void *__kunit_ptr = (ptr);                                                  \
		_KUNIT_SAVE_LOC(test);                                                            \
		if (unlikely(!__kunit_ptr || IS_ERR(__kunit_ptr)))                                \
			kunit_fail_not_err(test, type, KUNIT_CURRENT_LOC, #ptr, __kunit_ptr, fmt, \
					   ##__VA_ARGS__);                                        \
	} while (0)

#define KUNIT_SUCCEED(test) _KUNIT_SAVE_LOC(test)
#define KUNIT_FAIL(test, fmt, ...)                                                          \
	do {                                                                                \
		_KUNIT_SAVE_LOC(test);                                                      \
		kunit_fail(test, KUNIT_EXPECTATION, KUNIT_CURRENT_LOC, fmt, ##__VA_ARGS__); \
	} while (0)
#define KUNIT_FAIL_AND_ABORT(test, fmt, ...)                                              \
	do {                                                                              \
		_KUNIT_SAVE_LOC(test);                                                    \
		kunit_fail(test, KUNIT_ASSERTION, KUNIT_CURRENT_LOC, fmt, ##__VA_ARGS__); \
	} while (0)

#define KUNIT_EXPECT_TRUE(test, condition) \
	_KUNIT_UNARY(test, KUNIT_EXPECTATION, condition, true, NULL)
#define KUNIT_EXPECT_TRUE_MSG(test, condition, fmt, ...) \
	_KUNIT_UNARY(test, KUNIT_EXPECTATION, condition, true, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_FALSE(test, condition) \
	_KUNIT_UNARY(test, KUNIT_EXPECTATION, condition, false, NULL)
#define KUNIT_EXPECT_FALSE_MSG(test, condition, fmt, ...) \
	_KUNIT_UNARY(test, KUNIT_EXPECTATION, condition, false, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_EQ(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, ==, right, NULL)
#define KUNIT_EXPECT_EQ_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, ==, right, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_NE(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, !=, right, NULL)
#define KUNIT_EXPECT_NE_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, !=, right, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_LT(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, <, right, NULL)
#define KUNIT_EXPECT_LT_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, <, right, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_LE(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, <=, right, NULL)
#define KUNIT_EXPECT_LE_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, <=, right, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_GT(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, >, right, NULL)
#define KUNIT_EXPECT_GT_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, >, right, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_GE(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, >=, right, NULL)
#define KUNIT_EXPECT_GE_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_EXPECTATION, left, >=, right, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_PTR_EQ(test, left, right) \
	_KUNIT_PTR(test, KUNIT_EXPECTATION, left, ==, right, NULL)
#define KUNIT_EXPECT_PTR_EQ_MSG(test, left, right, fmt, ...) \
	_KUNIT_PTR(test, KUNIT_EXPECTATION, left, ==, right, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_PTR_NE(test, left, right) \
	_KUNIT_PTR(test, KUNIT_EXPECTATION, left, !=, right, NULL)
#define KUNIT_EXPECT_PTR_NE_MSG(test, left, right, fmt, ...) \
	_KUNIT_PTR(test, KUNIT_EXPECTATION, left, !=, right, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_STREQ(test, left, right) \
	_KUNIT_STR(test, KUNIT_EXPECTATION, left, ==, right, NULL)
#define KUNIT_EXPECT_STREQ_MSG(test, left, right, fmt, ...) \
	_KUNIT_STR(test, KUNIT_EXPECTATION, left, ==, right, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_STRNEQ(test, left, right) \
	_KUNIT_STR(test, KUNIT_EXPECTATION, left, !=, right, NULL)
#define KUNIT_EXPECT_STRNEQ_MSG(test, left, right, fmt, ...) \
	_KUNIT_STR(test, KUNIT_EXPECTATION, left, !=, right, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_MEMEQ(test, left, right, size) \
	_KUNIT_MEM(test, KUNIT_EXPECTATION, left, ==, right, size, NULL)
#define KUNIT_EXPECT_MEMEQ_MSG(test, left, right, size, fmt, ...) \
	_KUNIT_MEM(test, KUNIT_EXPECTATION, left, ==, right, size, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_MEMNEQ(test, left, right, size) \
	_KUNIT_MEM(test, KUNIT_EXPECTATION, left, !=, right, size, NULL)
#define KUNIT_EXPECT_MEMNEQ_MSG(test, left, right, size, fmt, ...) \
	_KUNIT_MEM(test, KUNIT_EXPECTATION, left, !=, right, size, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_NULL(test, ptr) _KUNIT_PTR(test, KUNIT_EXPECTATION, ptr, ==, NULL, NULL)
#define KUNIT_EXPECT_NULL_MSG(test, ptr, fmt, ...) \
	_KUNIT_PTR(test, KUNIT_EXPECTATION, ptr, ==, NULL, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_NOT_NULL(test, ptr) _KUNIT_PTR(test, KUNIT_EXPECTATION, ptr, !=, NULL, NULL)
#define KUNIT_EXPECT_NOT_NULL_MSG(test, ptr, fmt, ...) \
	_KUNIT_PTR(test, KUNIT_EXPECTATION, ptr, !=, NULL, fmt, ##__VA_ARGS__)
#define KUNIT_EXPECT_NOT_ERR_OR_NULL(test, ptr) \
	_KUNIT_NOT_ERR_OR_NULL(test, KUNIT_EXPECTATION, ptr, NULL)
#define KUNIT_EXPECT_NOT_ERR_OR_NULL_MSG(test, ptr, fmt, ...) \
	_KUNIT_NOT_ERR_OR_NULL(test, KUNIT_EXPECTATION, ptr, fmt, ##__VA_ARGS__)

#define KUNIT_ASSERT_TRUE(test, condition) \
	_KUNIT_UNARY(test, KUNIT_ASSERTION, condition, true, NULL)
#define KUNIT_ASSERT_TRUE_MSG(test, condition, fmt, ...) \
	_KUNIT_UNARY(test, KUNIT_ASSERTION, condition, true, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_FALSE(test, condition) \
	_KUNIT_UNARY(test, KUNIT_ASSERTION, condition, false, NULL)
#define KUNIT_ASSERT_FALSE_MSG(test, condition, fmt, ...) \
	_KUNIT_UNARY(test, KUNIT_ASSERTION, condition, false, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_EQ(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, ==, right, NULL)
#define KUNIT_ASSERT_EQ_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, ==, right, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_NE(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, !=, right, NULL)
#define KUNIT_ASSERT_NE_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, !=, right, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_LT(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, <, right, NULL)
#define KUNIT_ASSERT_LT_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, <, right, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_LE(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, <=, right, NULL)
#define KUNIT_ASSERT_LE_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, <=, right, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_GT(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, >, right, NULL)
#define KUNIT_ASSERT_GT_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, >, right, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_GE(test, left, right) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, >=, right, NULL)
#define KUNIT_ASSERT_GE_MSG(test, left, right, fmt, ...) \
	_KUNIT_BINARY(test, KUNIT_ASSERTION, left, >=, right, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_PTR_EQ(test, left, right) \
	_KUNIT_PTR(test, KUNIT_ASSERTION, left, ==, right, NULL)
#define KUNIT_ASSERT_PTR_EQ_MSG(test, left, right, fmt, ...) \
	_KUNIT_PTR(test, KUNIT_ASSERTION, left, ==, right, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_PTR_NE(test, left, right) \
	_KUNIT_PTR(test, KUNIT_ASSERTION, left, !=, right, NULL)
#define KUNIT_ASSERT_PTR_NE_MSG(test, left, right, fmt, ...) \
	_KUNIT_PTR(test, KUNIT_ASSERTION, left, !=, right, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_STREQ(test, left, right) \
	_KUNIT_STR(test, KUNIT_ASSERTION, left, ==, right, NULL)
#define KUNIT_ASSERT_STREQ_MSG(test, left, right, fmt, ...) \
	_KUNIT_STR(test, KUNIT_ASSERTION, left, ==, right, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_STRNEQ(test, left, right) \
	_KUNIT_STR(test, KUNIT_ASSERTION, left, !=, right, NULL)
#define KUNIT_ASSERT_STRNEQ_MSG(test, left, right, fmt, ...) \
	_KUNIT_STR(test, KUNIT_ASSERTION, left, !=, right, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_MEMEQ(test, left, right, size) \
	_KUNIT_MEM(test, KUNIT_ASSERTION, left, ==, right, size, NULL)
#define KUNIT_ASSERT_MEMEQ_MSG(test, left, right, size, fmt, ...) \
	_KUNIT_MEM(test, KUNIT_ASSERTION, left, ==, right, size, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_MEMNEQ(test, left, right, size) \
	_KUNIT_MEM(test, KUNIT_ASSERTION, left, !=, right, size, NULL)
#define KUNIT_ASSERT_MEMNEQ_MSG(test, left, right, size, fmt, ...) \
	_KUNIT_MEM(test, KUNIT_ASSERTION, left, !=, right, size, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_NULL(test, ptr) _KUNIT_PTR(test, KUNIT_ASSERTION, ptr, ==, NULL, NULL)
#define KUNIT_ASSERT_NULL_MSG(test, ptr, fmt, ...) \
	_KUNIT_PTR(test, KUNIT_ASSERTION, ptr, ==, NULL, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_NOT_NULL(test, ptr) _KUNIT_PTR(test, KUNIT_ASSERTION, ptr, !=, NULL, NULL)
#define KUNIT_ASSERT_NOT_NULL_MSG(test, ptr, fmt, ...) \
	_KUNIT_PTR(test, KUNIT_ASSERTION, ptr, !=, NULL, fmt, ##__VA_ARGS__)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ptr) \
	_KUNIT_NOT_ERR_OR_NULL(test, KUNIT_ASSERTION, ptr, NULL)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL_MSG(test, ptr, fmt, ...) \
	_KUNIT_NOT_ERR_OR_NULL(test, KUNIT_ASSERTION, ptr, fmt, ##__VA_ARGS__)

#endif
