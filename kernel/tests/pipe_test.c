// SPDX-License-Identifier: MIT
/*
 * pipe_test.c - pipes and descriptors. Programs of kernel/tests/user/pipes.c do the work and check what they see;
 * here is what only the kernel can see or do: memory, refused allocations, and a kernel bug in the middle of a copy.
 */
#include <kernel/bug.h>
#include <kernel/fault.h>
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/string.h>

#include "../user/file.h"
#include "../user/pipe.h"
#include "fault_walk.h"
#include "kasan_test.h"
#include "user_test.h"

/* kernel/tests/user/pipes.c takes these for granted. */
_Static_assert(PIPE_SIZE == 16384 && PIPE_BUF == 4096 && PROCESS_FILES == 16, "sizes of pipes");

static unsigned long files_before, pipes_before;

static int pipe_test_init(struct kunit *test)
{
	files_before = user_files_in_use();
	pipes_before = user_pipes_in_use();
	return user_test_init(test);
}

/* Whatever became of the processes, their files are closed. Children that nobody waits for may still be ending. */
static void pipe_test_exit(struct kunit *test)
{
	for (int i = 0; i < 500 && user_files_in_use() != files_before; i++)
		msleep(10);
	KUNIT_EXPECT_EQ(test, user_files_in_use(), files_before);
	KUNIT_EXPECT_EQ(test, user_pipes_in_use(), pipes_before);
#ifdef CONFIG_KASAN
	kasan_test_exit(test);
#endif
}

/* The programs' own messages about what they were refused do not matter. */
static void swallow(void *arg, const char *text, size_t n)
{
}

static struct process *start_quietly(const char *name, const char *first, const char *second)
{
	const char *const argv[] = {"user_tests", name, first, second};
	struct process *process = process_create(
		user_tests_image, (size_t)(user_tests_image_end - user_tests_image), name, 4, argv);

	if (!IS_ERR(process)) {
		process->output = swallow;
		process_start(process);
	}
	return process;
}

/* --- Programs -------------------------------------------------------------------------------------- */

static const char *seed_text(struct kunit *test, char text[16])
{
	unsigned int seed = get_random_u32();

	kunit_info(test, "seed %u", seed);
	snprintf(text, 16, "%u", seed);
	return text;
}

static void one_process(struct kunit *test)
{
	char seed[16];

	USER_TEST_PASSES(test, "pipe_calls", seed_text(test, seed));
}

static void bad_pointers(struct kunit *test)
{
	USER_TEST_PASSES(test, "pipe_pointers");
}

static void ping_pong(struct kunit *test)
{
	USER_TEST_PASSES(test, "pipe_pingpong", "500");
}

static void stream(struct kunit *test)
{
	char seed[16];

	USER_TEST_PASSES(test, "pipe_stream", seed_text(test, seed), "2000000");
}

static void blocked(struct kunit *test)
{
	USER_TEST_PASSES(test, "pipe_blocked");
}

static void many_readers_and_writers(struct kunit *test)
{
	USER_TEST_PASSES(test, "pipe_many", "1", "1000", "5");
	USER_TEST_PASSES(test, "pipe_many", "5", "500", "1");
	USER_TEST_PASSES(test, "pipe_many", "6", "1000", "4");
}

static void writes_are_not_mixed(struct kunit *test)
{
	USER_TEST_PASSES(test, "pipe_mix", "6", "150");
}

/* Pairs that disturb each other on all CPUs. */
static void many_pipes(struct kunit *test)
{
	static const char *const pairs[] = {"pipe_pingpong", "300", NULL};
	static const char *const crowds[] = {"pipe_many", "3", "300", NULL};
	struct process *processes[8];

	for (unsigned int i = 0; i < ARRAY_SIZE(processes); i++) {
		processes[i] = user_test_start(test, i % 2 ? pairs : crowds);
		KUNIT_ASSERT_NOT_NULL(test, processes[i]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(processes); i++)
		KUNIT_EXPECT_EQ(test, process_wait(processes[i]), 0);
}

/* --- Killed at any time --------------------------------------------------------------------------- */

/* The end of one of several leaves the others nothing to wait for, wherever it came. */
static void killed_at_random(struct kunit *test)
{
	for (unsigned int i = 0; i < 20; i++) {
		const bool endless = i % 2;
		struct process *process = endless ? start_quietly("pipe_pingpong", "1000000", "0")
						  : start_quietly("pipe_many", "3", "2000");
		int status;

		KUNIT_ASSERT_FALSE(test, IS_ERR(process));
		msleep(1 + get_random_u32() % 30);
		process_kill(process, SIGKILL);
		status = process_wait(process);
		/* On a fast machine the other may have ended before. */
		if (status || endless)
			KUNIT_EXPECT_EQ(test, status, SIGKILL);
		/* Its children are nobody's now, and end by themselves: see pipe_test_exit(). */
	}
}

/* --- A kernel bug ---------------------------------------------------------------------------------- */

static struct pipe *pipe_of(u64 fd)
{
	struct open_file *file = fd_file(fd);

	return file ? file->pipe : NULL;
}

/* The task ends as if by a bug in its copy from or to user memory. */
static long sys_dies_copying(const u64 *args)
{
	struct pipe *pipe = pipe_of(args[0]);

	if (!pipe)
		return -EBADF;
	spin_lock(&pipe->lock);
	WARN_ON(pipe->reader.busy || pipe->writer.busy);
	pipe->reader.busy = pipe->writer.busy = current;
	spin_unlock(&pipe->lock);
	BUG();
}

static void dies_while_copying(struct kunit *test)
{
	unsigned int oopses = READ_ONCE(oops_count);

	KUNIT_ASSERT_EQ(test, user_syscall_register(SYSCALL_FIRST_OWN, sys_dies_copying), 0);
	USER_TEST_PASSES(test, "pipe_orphan");
	user_syscall_register(SYSCALL_FIRST_OWN, NULL);
	KUNIT_EXPECT_EQ(test, READ_ONCE(oops_count), oopses + 1);
}

/* --- Memory ---------------------------------------------------------------------------------------- */

static int run_quietly(const char *name, const char *argument)
{
	struct process *process = start_quietly(name, argument, "0");

	if (IS_ERR(process))
		return (int)PTR_ERR(process);
	return process_wait(process) ? -ENOMEM : 0;
}

static int pipe_work(void)
{
	return run_quietly("pipe_pingpong", "2");
}

/* Every allocation is refused once, in both processes. None is lost: fault_walk() counts objects and pages. */
static void no_memory(struct kunit *test)
{
	fault_walk(test, pipe_work, FAULT_ALL, NULL, 24);
}

/* A process that was given descriptors, and never runs. */
static void never_started(struct kunit *test)
{
	static const char *const argv[] = {"user_tests", "exit", "0"};
	struct process *process =
		process_create(user_tests_image, (size_t)(user_tests_image_end - user_tests_image),
			       "never", 3, argv);
	int usage = atomic_read(&console_output.usage);

	KUNIT_ASSERT_FALSE(test, IS_ERR(process));
	process_put(process);
	KUNIT_EXPECT_EQ(test, atomic_read(&console_output.usage), usage - 2);
}

KUNIT_CASES(cases, KUNIT_CASE(one_process), KUNIT_CASE(bad_pointers), KUNIT_CASE(ping_pong),
	    KUNIT_CASE(stream), KUNIT_CASE(blocked), KUNIT_CASE(many_readers_and_writers),
	    KUNIT_CASE(writes_are_not_mixed), KUNIT_CASE(many_pipes), KUNIT_CASE(killed_at_random),
	    KUNIT_CASE(dies_while_copying), KUNIT_CASE_SLOW(no_memory), KUNIT_CASE(never_started));

static struct kunit_suite suite = {
	.name = "pipe",
	.suite_init = kasan_test_suite_init,
	.suite_exit = kasan_test_suite_exit,
	.init = pipe_test_init,
	.exit = pipe_test_exit,
	.test_cases = cases,
};
kunit_test_suite(suite);
