// SPDX-License-Identifier: MIT
/*
 * stackleak_random_test.c - stack erasing, 10,000 random system calls: after none of them is a part of a marker on the
 * kernel stack.
 *
 * The program, fuzz_stack in kernel/tests/user/calls.c, chooses the calls and does not know the marker. It makes each
 * by way of the suite's call DEEP, which fills frames with the marker and makes the chosen call under them or after
 * them, so marked frames lie above and below its own. Its next system call is LOOK.
 */
#include <kernel/arch.h>
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/stackleak.h>
#include <kernel/uaccess.h>

#include "kasan_test.h"
#include "user_test.h"

#define LOOK SYSCALL_FIRST_OWN
#define DEEP (SYSCALL_FIRST_OWN + 1)

/* All its bytes differ, so a part of it is as good as the whole. It is no address, and no text. */
static const u64 marker = 0xd1a96e3bf207854cUL;

/* A part that counts. Shorter ones also come about by chance in the frames of LOOK. */
#define PART 4U

/* Frames of DEEP, at most; a frame is about 100 bytes. The deepest call still has 20 KiB under them. */
#define MAX_DEPTH 80U

static unsigned long looks, calls, planted, found, rounds_found;

static long sys_look(const u64 *args)
{
	unsigned long flags = arch_local_irq_save();
	size_t n = 0;

	for (size_t at = 0; at + PART <= sizeof(marker); at++)
		n += stackleak_find((const char *)&marker + at, PART);
	arch_local_irq_restore(flags);
	looks++;
	found += n;
	rounds_found += n != 0;
	return n != 0;
}

struct call {
	u64 nr, args[6];
};

/* Mark a frame, go on @depth frames deeper, and make the call there. @call: NULL: none. */
static noinline long mark(unsigned int depth, const struct call *call)
{
	volatile u64 words[5];
	long result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = READ_ONCE(marker);
	if (depth)
		result = mark(depth - 1, call);
	else if (call)
		result = user_syscall(call->nr, call->args);
	/* Nothing else may have written to this frame. */
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		planted += words[i] == marker;
	return result;
}

/* DEEP(call, random): bits of @random say how deep, and whether the call comes under the marks or after them. */
static long sys_deep(const u64 *args)
{
	unsigned int depth = (unsigned int)(args[1] >> 8) % MAX_DEPTH;
	struct call call;
	long result = 0;

	if (copy_from_user(&call, (void __user *)args[0], sizeof(call)))
		return -EFAULT;
	/* These would end the program, or be the suite's own. */
	if (call.nr == 93 || call.nr == 94 ||
	    (call.nr >= SYSCALL_FIRST_OWN && call.nr <= SYSCALL_LAST_OWN))
		return -ENOSYS;
	calls++;
	if (args[1] & 1)
		result = mark(depth, &call);
	else
		mark(depth, NULL);
	return args[1] & 1 ? result : user_syscall(call.nr, call.args);
}

/* --- Cases ------------------------------------------------------------------------------------------ */

static void restore_mode(void *mode)
{
	stackleak_set_mode((unsigned int)(unsigned long)mode);
}

static void remove_calls(void *unused)
{
	user_syscall_register(LOOK, NULL);
	user_syscall_register(DEEP, NULL);
}

static int stackleak_random_init(struct kunit *test)
{
	unsigned long mode = stackleak_set_mode(STACK_ERASING_ON);
	int err = user_test_init(test);

	looks = calls = planted = found = rounds_found = 0;
	if (!err)
		err = user_syscall_register(LOOK, sys_look);
	if (!err)
		err = user_syscall_register(DEEP, sys_deep);
	if (!err)
		err = kunit_add_action_or_reset(test, remove_calls, NULL);
	if (!err)
		err = kunit_add_action_or_reset(test, restore_mode, (void *)mode);
	return err;
}

static int run(struct kunit *test, const char *rounds)
{
	unsigned int seed = get_random_u32();
	char text[16];
	int status;

	snprintf(text, sizeof(text), "%u", seed);
	status = USER_TEST_RUN(test, "fuzz_stack", text, rounds);
	kunit_info(test, "seed %u: %lu calls, %lu marks, %lu parts of them found after %lu calls",
		   seed, calls, planted, found, rounds_found);
	return status;
}

static void no_byte_is_left(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, run(test, "10000"), 0);
	KUNIT_EXPECT_EQ(test, looks, 10000UL);
	KUNIT_EXPECT_GT(test, calls, 9900UL);
	/* 40 frames on average. */
	KUNIT_EXPECT_GT(test, planted, 10000UL * 5 * 30);
	KUNIT_EXPECT_EQ(test, found, 0UL);
}

static void general_entry(struct kunit *test)
{
	stackleak_set_mode(STACK_ERASING_GENERIC);
	KUNIT_EXPECT_EQ(test, run(test, "2000"), 0);
	KUNIT_EXPECT_EQ(test, found, 0UL);
}

/* The same search finds them if nothing is erased: after nearly every call. */
static void found_without_erasing(struct kunit *test)
{
	stackleak_set_mode(STACK_ERASING_OFF);
	KUNIT_EXPECT_EQ(test, run(test, "1000"), 1 << 8);
	KUNIT_EXPECT_EQ(test, looks, 1000UL);
	KUNIT_EXPECT_GT(test, rounds_found, 900UL);
}

KUNIT_CASES(cases, KUNIT_CASE_SLOW(no_byte_is_left), KUNIT_CASE(general_entry),
	    KUNIT_CASE(found_without_erasing));

static struct kunit_suite suite = {
	.name = "stackleak_random",
	.suite_init = kasan_test_suite_init,
	.suite_exit = kasan_test_suite_exit,
	.init = stackleak_random_init,
	.exit = kasan_test_exit,
	.test_cases = cases,
};
kunit_test_suite(suite);
