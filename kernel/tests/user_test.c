// SPDX-License-Identifier: MIT
/*
 * user_test.c - programs in user mode: their abilities, their ends, and that nothing else ends with them.
 * The program is kernel/tests/user/; it checks itself as far as it can.
 */
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/kernel.h>
#include <kernel/mm.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/uaccess.h>
#include <kernel/user_mm.h>

#include "kasan_test.h"
#include "user_test.h"

#define ARGS_MAX 8

/* --- Helpers -------------------------------------------------------------------------------------- */

int user_test_init(struct kunit *test)
{
	int err = user_program_register("user_tests", user_tests_image,
					(size_t)(user_tests_image_end - user_tests_image));

	if (err && err != -EEXIST)
		return err;
#ifdef CONFIG_KASAN
	return kasan_test_init(test);
#else
	return 0;
#endif
}

static struct process *create(const char *const *argv)
{
	const char *args[ARGS_MAX + 1] = {"user_tests"};
	int argc = 1;

	while (*argv && argc < ARGS_MAX)
		args[argc++] = *argv++;
	return process_create(user_tests_image, (size_t)(user_tests_image_end - user_tests_image),
			      args[1], argc, args);
}

struct process *user_test_start(struct kunit *test, const char *const *argv)
{
	struct process *process = create(argv);

	KUNIT_EXPECT_FALSE(test, IS_ERR(process));
	if (IS_ERR(process))
		return NULL;
	process_start(process);
	return process;
}

int user_test_run(struct kunit *test, const char *const *argv)
{
	struct process *process = user_test_start(test, argv);

	return process ? process_wait(process) : -1;
}

char *user_test_image(struct kunit *test, size_t *size)
{
	char *copy;

	*size = (size_t)(user_tests_image_end - user_tests_image);
	copy = kunit_kmalloc(test, *size, GFP_KERNEL);
	if (copy)
		memcpy(copy, user_tests_image, *size);
	return copy;
}

/* --- Running -------------------------------------------------------------------------------------- */

static void exit_codes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "exit", "0"), 0);
	KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "exit", "1"), 1 << 8);
	KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "exit", "255"), 255 << 8);
	KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "exit", "256"), 0);
	KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "no such case"), 98 << 8);
	USER_TEST_PASSES(test, "getpid");
}

struct captured {
	char text[2048];
	size_t n;
};

static void capture(void *arg, const char *text, size_t n)
{
	struct captured *c = arg;

	n = min(n, sizeof(c->text) - 1 - c->n);
	memcpy(c->text + c->n, text, n);
	c->n += n;
}

/* Return: what the program that has run with @argv wrote. */
static struct captured *run_captured(struct kunit *test, const char *const *argv)
{
	struct captured *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	struct process *process = create(argv);

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_FALSE(test, IS_ERR(process));
	process->output = capture;
	process->output_arg = c;
	process_start(process);
	KUNIT_EXPECT_EQ(test, process_wait(process), 0);
	return c;
}

/* Arguments go in by the user's stack, text comes out by write(). */
static void arguments_and_output(struct kunit *test)
{
	static const char *const argv[] = {"hello", "", "two words", "third", NULL};
	struct captured *c = run_captured(test, argv);

	KUNIT_EXPECT_STREQ(test, c->text, "user_tests hello  two words third\n");
}

/* Each process has its own number, and it is the one that the kernel and the parent know. */
static void process_numbers(struct kunit *test)
{
	static const char *const argv[] = {"getpid", "print", NULL};
	struct captured *c = kunit_kzalloc(test, 2 * sizeof(*c), GFP_KERNEL);
	struct process *processes[2];
	long pids[2], said = 0;

	KUNIT_ASSERT_NOT_NULL(test, c);
	for (int i = 0; i < 2; i++) {
		processes[i] = create(argv);
		KUNIT_ASSERT_FALSE(test, IS_ERR(processes[i]));
		pids[i] = processes[i]->pid;
		processes[i]->output = capture;
		processes[i]->output_arg = &c[i];
		process_start(processes[i]);
	}
	KUNIT_EXPECT_NE(test, pids[0], pids[1]);
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, process_wait(processes[i]), 0);
		KUNIT_EXPECT_EQ(test, kstrtol(c[i].text, 10, &said), 0);
		KUNIT_EXPECT_EQ(test, said, pids[i]);
	}
}

static void too_many_arguments(struct kunit *test)
{
	const char **argv = kunit_kzalloc(test, (PROCESS_ARGS_MAX + 2) * sizeof(*argv), GFP_KERNEL);
	size_t size = (size_t)(user_tests_image_end - user_tests_image);
	char *text = kunit_kzalloc(test, PROCESS_ARG_SIZE + 1, GFP_KERNEL);
	struct process *process;

	KUNIT_ASSERT_NOT_NULL(test, argv);
	KUNIT_ASSERT_NOT_NULL(test, text);
	for (unsigned int i = 0; i <= PROCESS_ARGS_MAX; i++)
		argv[i] = "x";
	process = process_create(user_tests_image, size, "many", PROCESS_ARGS_MAX + 1, argv);
	KUNIT_EXPECT_EQ(test, PTR_ERR(process), (long)-E2BIG);
	memset(text, 'x', PROCESS_ARG_SIZE);
	argv[0] = text;
	process = process_create(user_tests_image, size, "long", 1, argv);
	KUNIT_EXPECT_EQ(test, PTR_ERR(process), (long)-E2BIG);
	/* Exactly as much as fits. */
	text[PROCESS_ARG_SIZE - 1] = '\0';
	process = process_create(user_tests_image, size, "fits", 1, argv);
	KUNIT_ASSERT_FALSE(test, IS_ERR(process));
	process_start(process);
	KUNIT_EXPECT_EQ(test, process_wait(process), 98 << 8);
}

static void never_started(struct kunit *test)
{
	static const char *const argv[] = {"spin", NULL};
	struct process *process = create(argv);

	KUNIT_ASSERT_FALSE(test, IS_ERR(process));
	process_put(process);
	process = create(argv);
	KUNIT_ASSERT_FALSE(test, IS_ERR(process));
	KUNIT_EXPECT_EQ(test, process_wait(process), SIGKILL);
}

static void memory_calls(struct kunit *test)
{
	USER_TEST_PASSES(test, "memory");
}

static void bad_pointers(struct kunit *test)
{
	USER_TEST_PASSES(test, "bad_pointers");
}

static void partial_ranges(struct kunit *test)
{
	static const char *const argv[] = {"partial", NULL};
	struct captured *c = run_captured(test, argv);

	KUNIT_EXPECT_EQ(test, c->n, 620UL);
	KUNIT_EXPECT_NULL(test, memchr_inv(c->text, 'y', c->n));
}

static void families(struct kunit *test)
{
	USER_TEST_PASSES(test, "family");
}

static void random_system_calls(struct kunit *test)
{
	struct process *processes[4];
	unsigned int seed = get_random_u32();
	char text[16];

	kunit_info(test, "seed %u", seed);
	for (unsigned int i = 0; i < ARRAY_SIZE(processes); i++) {
		const char *const argv[] = {"fuzz", text, "3000", NULL};

		snprintf(text, sizeof(text), "%u", seed + i);
		processes[i] = user_test_start(test, argv);
		KUNIT_ASSERT_NOT_NULL(test, processes[i]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(processes); i++)
		KUNIT_EXPECT_EQ(test, process_wait(processes[i]), 0);
}

/* --- What a program may not do --------------------------------------------------------------------- */

/* With semihosting a debugger would answer; a CPU that has no instruction for it uses a breakpoint. */
#ifdef __riscv
#define SEMIHOSTING_SIGNAL SIGTRAP
#else
#define SEMIHOSTING_SIGNAL SIGILL
#endif

static const struct crash {
	const char *kind;
	int signal;
} crashes[] = {
	{"null", SIGSEGV},	     {"unmapped", SIGSEGV},
	{"no-address", SIGSEGV},     {"kernel-data", SIGSEGV},
	{"kernel-shadow", SIGSEGV},  {"kernel-code", SIGSEGV},
	{"constant", SIGSEGV},	     {"own-code", SIGSEGV},
	{"execute-data", SIGSEGV},   {"no-rights", SIGSEGV},
	{"stack", SIGSEGV},	     {"misaligned-pc", SIGBUS},
	{"undefined", SIGILL},	     {"breakpoint", SIGTRAP},
	{"system-register", SIGILL}, {"mask-interrupts", SIGILL},
	{"timer", SIGILL},	     {"floating-point", SIGILL},
	{"hypercall", SIGILL},	     {"semihosting", SEMIHOSTING_SIGNAL},
};

static void crash_name(const struct crash *crash, char *text)
{
	strscpy(text, crash->kind, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(crash, crashes, crash_name);

static void crash_ends_the_program_only(struct kunit *test)
{
	const struct crash *crash = test->param_value;
	unsigned int oopses = READ_ONCE(oops_count);

	KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "crash", crash->kind), crash->signal);
	/* No oops: a program's fault does not concern the kernel. */
	KUNIT_EXPECT_EQ(test, READ_ONCE(oops_count), oopses);
}

/* --- Sharing the CPUs ------------------------------------------------------------------------------ */

/* They never call the kernel, and there are more of them than CPUs. */
static void endless_loops(struct kunit *test)
{
	static const char *const argv[] = {"spin", NULL};
	struct process *processes[NR_CPUS + 1];
	unsigned int n = num_online_cpus() + 1;

	for (unsigned int i = 0; i < n; i++) {
		processes[i] = user_test_start(test, argv);
		KUNIT_ASSERT_NOT_NULL(test, processes[i]);
	}
	msleep(50);
	USER_TEST_PASSES(test, "getpid");
	for (unsigned int i = 0; i < n; i++) {
		KUNIT_EXPECT_FALSE(test, completion_done(&processes[i]->exited));
		process_kill(processes[i], SIGKILL);
	}
	for (unsigned int i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, process_wait(processes[i]), SIGKILL);
}

static void sleeping(struct kunit *test)
{
	static const char *const argv[] = {"sleep", "100000", NULL};
	u64 start = clock_ns();
	struct process *process;

	USER_TEST_PASSES(test, "sleep", "0", "30000000");
	KUNIT_EXPECT_GE(test, clock_ns() - start, 30000000UL);
	process = user_test_start(test, argv);
	KUNIT_ASSERT_NOT_NULL(test, process);
	msleep(20);
	process_kill(process, SIGKILL);
	KUNIT_EXPECT_EQ(test, process_wait(process), SIGKILL);
	/* Before it has run at all. */
	process = create(argv);
	KUNIT_ASSERT_FALSE(test, IS_ERR(process));
	process_kill(process, SIGKILL);
	process_start(process);
	KUNIT_EXPECT_EQ(test, process_wait(process), SIGKILL);
}

/* Interrupted at every place, moved between CPUs, with others that use the same registers. */
static void registers_are_kept(struct kunit *test)
{
	static const char *const argv[] = {"registers", "200000", NULL};
	struct process *processes[NR_CPUS + 2];
	unsigned int n = num_online_cpus() + 2;

	for (unsigned int i = 0; i < n; i++) {
		processes[i] = user_test_start(test, argv);
		KUNIT_ASSERT_NOT_NULL(test, processes[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, process_wait(processes[i]), 0);
}

static void address_spaces_are_apart(struct kunit *test)
{
	static const char *const argv[] = {"isolation", "40", NULL};
	struct process *processes[12];

	for (unsigned int i = 0; i < ARRAY_SIZE(processes); i++) {
		processes[i] = user_test_start(test, argv);
		KUNIT_ASSERT_NOT_NULL(test, processes[i]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(processes); i++)
		KUNIT_EXPECT_EQ(test, process_wait(processes[i]), 0);
}

/* --- Resources ------------------------------------------------------------------------------------ */

/* All pages of dead processes come back, however they ended. */
static void no_page_is_lost(struct kunit *test)
{
	unsigned long pages = user_pages_in_use(), tables = user_tables_in_use(), before = 0;

	for (int round = 0; round < 16; round++) {
		/* The kernel's own caches (slabs, quarantine, stacks) have settled by then. */
		if (round == 8)
			before = nr_free_pages();
		USER_TEST_PASSES(test, "exit", "0");
		KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "crash", "null"), SIGSEGV);
		KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "crash", "stack"), SIGSEGV);
		if (round % 6 == 0)
			USER_TEST_PASSES(test, "memory");
		KUNIT_ASSERT_EQ(test, user_pages_in_use(), pages);
		KUNIT_ASSERT_EQ(test, user_tables_in_use(), tables);
	}
	/* 8 rounds of 3 programs of about 50 pages each: a leak of them would be 1200. */
	KUNIT_EXPECT_GT(test, nr_free_pages() + 300, before);
}

static void free_blocks(void *blocks)
{
	struct page *block, *next;

	list_for_each_entry_safe (block, next, (struct list_head *)blocks, lru)
		__free_pages(block, MAX_ORDER);
}

/* Allocate free memory without touching it until only @pages are left. */
static bool leave_free(struct kunit *test, unsigned long pages)
{
	struct list_head *blocks = kunit_kzalloc(test, sizeof(*blocks), GFP_KERNEL);
	struct page *block;

	if (!blocks)
		return false;
	INIT_LIST_HEAD(blocks);
	while (nr_free_pages() > pages) {
		block = alloc_pages(GFP_KERNEL | __GFP_NOWARN, MAX_ORDER);
		if (!block)
			break;
		list_add(&block->lru, blocks);
	}
	return kunit_add_action_or_reset(test, free_blocks, blocks) == 0;
}

/*
 * Several programs want all of memory. None gets the kernel's share, and all memory comes back. When the
 * first program gets no more, the others have all the rest, so the maxima of all programs add up to it.
 * "All" is 128 MiB here, because the programs touch each page.
 */
static void memory_runs_out(struct kunit *test)
{
	static const char *const argv[] = {"hog", NULL};
	const unsigned long reserve = totalram_pages() / 8;
	unsigned long pages = user_pages_in_use(), before, least, had = 0;
	struct captured *texts = kunit_kzalloc(test, 3 * sizeof(*texts), GFP_KERNEL);
	struct process *processes[3];
	bool running;

	KUNIT_ASSERT_NOT_NULL(test, texts);
	KUNIT_ASSERT_TRUE(test, leave_free(test, reserve + (128UL << (20 - PAGE_SHIFT))));
	before = least = nr_free_pages();
	for (unsigned int i = 0; i < ARRAY_SIZE(processes); i++) {
		processes[i] = create(argv);
		KUNIT_ASSERT_FALSE(test, IS_ERR(processes[i]));
		processes[i]->output = capture;
		processes[i]->output_arg = &texts[i];
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(processes); i++)
		process_start(processes[i]);
	do {
		least = min(least, nr_free_pages());
		msleep(1);
		running = false;
		for (unsigned int i = 0; i < ARRAY_SIZE(processes); i++)
			running |= !completion_done(&processes[i]->exited);
	} while (running);
	for (unsigned int i = 0; i < ARRAY_SIZE(processes); i++) {
		unsigned long n = 0;

		KUNIT_EXPECT_EQ(test, process_wait(processes[i]), 0);
		KUNIT_EXPECT_EQ(test, kstrtoul(texts[i].text, 10, &n), 0);
		had += n << (22 - PAGE_SHIFT);
	}
	/* Page tables come on top, and pieces that were refused while they still counted. */
	KUNIT_EXPECT_GT(test, least + reserve / 8, reserve);
	KUNIT_EXPECT_GT(test, had + before / 8 + 6 * 1024, before - reserve);
	KUNIT_EXPECT_EQ(test, user_pages_in_use(), pages);
}

/* As many address spaces as there are ASIDs; the next one waits until one is free. */
static void all_address_spaces(struct kunit *test)
{
	struct mm_struct **mms = kunit_kzalloc(test, 300 * sizeof(struct mm_struct *), GFP_KERNEL);
	unsigned int n = 0;

	KUNIT_ASSERT_NOT_NULL(test, mms);
	for (; n < 300; n++) {
		mms[n] = mm_alloc();
		if (IS_ERR(mms[n]))
			break;
	}
	KUNIT_EXPECT_EQ(test, n, 255U);
	KUNIT_EXPECT_EQ(test, PTR_ERR(mms[n]), (long)-EAGAIN);
	KUNIT_EXPECT_EQ(test, PTR_ERR(create((const char *const[]){"exit", "0", NULL})),
			(long)-EAGAIN);
	mmput(mms[--n]);
	USER_TEST_PASSES(test, "exit", "0");
	while (n)
		mmput(mms[--n]);
}

/* --- Damaged files -------------------------------------------------------------------------------- */

static void try_image(struct kunit *test, const char *image, size_t size)
{
	static const char *const argv[] = {"damaged", "exit", "0"};
	struct process *process = process_create(image, size, "damaged", 3, argv);

	/* It may load, but it is not run. */
	if (!IS_ERR(process))
		process_put(process);
	else
		KUNIT_EXPECT_TRUE(test,
				  PTR_ERR(process) == -ENOEXEC || PTR_ERR(process) == -ENOMEM);
}

static void damaged_files(struct kunit *test)
{
	static const u64 values[] = {0,		 1,	    0x7f,      0xffff, 0x400000,
				     0xffffffff, 1UL << 46, 1UL << 63, ~0UL};
	size_t size, at;
	char *image = user_test_image(test, &size);

	KUNIT_ASSERT_NOT_NULL(test, image);
	/* Cut off anywhere in the headers, and behind. */
	for (size_t n = 0; n < 600; n += 1 + n / 100) {
		char *cut = kmalloc(n, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, cut);
		memcpy(cut, image, n);
		try_image(test, cut, n);
		kfree(cut);
	}
	/* Each half-word of the ELF header and the first program headers, with values that hurt. */
	for (at = 0; at < 64 + 3 * 56; at += 2) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			u64 saved;
			size_t n = 2UL << at / 2 % 3;

			memcpy(&saved, image + at, 8);
			memcpy(image + at, &values[i], n);
			try_image(test, image, size);
			memcpy(image + at, &saved, 8);
		}
	}
}

KUNIT_CASES(cases, KUNIT_CASE(exit_codes), KUNIT_CASE(arguments_and_output),
	    KUNIT_CASE(process_numbers), KUNIT_CASE(too_many_arguments), KUNIT_CASE(never_started),
	    KUNIT_CASE(memory_calls), KUNIT_CASE(bad_pointers), KUNIT_CASE(partial_ranges),
	    KUNIT_CASE(families), KUNIT_CASE(random_system_calls),
	    KUNIT_CASE_PARAM(crash_ends_the_program_only, crash_gen_params),
	    KUNIT_CASE(endless_loops), KUNIT_CASE(sleeping), KUNIT_CASE(registers_are_kept),
	    KUNIT_CASE(address_spaces_are_apart), KUNIT_CASE(no_page_is_lost),
	    KUNIT_CASE_SLOW(memory_runs_out), KUNIT_CASE(all_address_spaces),
	    KUNIT_CASE(damaged_files));

static struct kunit_suite suite = {
	.name = "user",
	.suite_init = kasan_test_suite_init,
	.suite_exit = kasan_test_suite_exit,
	.init = user_test_init,
	.exit = kasan_test_exit,
	.test_cases = cases,
};
kunit_test_suite(suite);
