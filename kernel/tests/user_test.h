/* SPDX-License-Identifier: MIT */
/* user_test.h - for suites that have to do with user mode: running the program user_tests, and being a
 * thread with user memory. */
#ifndef TESTS_USER_TEST_H
#define TESTS_USER_TEST_H

#include <kernel/process.h>
#include <kunit/test.h>

/* The embedded program, an ELF file: see kernel/tests/user/. */
extern const char user_tests_image[], user_tests_image_end[];

/** user_test_init() - kasan_test_init() where there is KASAN. */
int user_test_init(struct kunit *test);

/** user_test_start() - start user_tests with @argv, which ends with NULL and whose first element is the
 *  case. Fails the case and returns NULL if that is not possible. */
struct process *user_test_start(struct kunit *test, const char *const *argv);

/** USER_TEST_RUN() - start it with these arguments and wait. Return: its wait status. */
#define USER_TEST_RUN(test, ...) user_test_run(test, (const char *const[]){__VA_ARGS__, NULL})
int user_test_run(struct kunit *test, const char *const *argv);

/** USER_TEST_PASSES() - the program ends by itself and says that all is well. */
#define USER_TEST_PASSES(test, ...) KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, __VA_ARGS__), 0)

/** user_test_image() - a copy of the program's file, to be damaged; freed with the case. */
char *user_test_image(struct kunit *test, size_t *size);

#endif
