// SPDX-License-Identifier: MIT
/*
 * stackleak_test.c - stack erasing. System calls of the suite put a marker on the kernel stack, each in another
 * way; a later one of the same program looks for it. It is gone if the stack is erased, and there if it is not.
 */
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/kasan_port.h>
#include <kernel/kernel.h>
#include <kernel/random.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/stackleak.h>
#include <kernel/string.h>
#include <asm/bug.h>

#include "kasan_test.h"
#include "user_test.h"

/* Numbers of the suite's system calls, from SYSCALL_FIRST_OWN on. */
#define LOOK  "0"
#define PLANT "1"

/* The marker: no address, and no text. */
#define MARKER	    0x9d3bc1a7e60f5824UL
#define MARKER_TEXT "11329862214444079140"

static const u64 marker = MARKER;

/* What LOOK has seen: copies of the marker, all together; words far below its frame that are not poison, in the best
 * case: an interrupt may leave some before LOOK masks interrupts. */
static size_t seen_markers, seen_used, looks;

/* Frames of LOOK and its callers; a system call of the suite is not deeper when it looks. */
#define LOOK_DEPTH 2048UL

static noinline long sys_look(const u64 *args)
{
	unsigned long flags = arch_local_irq_save(), at, end = stackleak_high(current) - LOOK_DEPTH;
	size_t used = 0, found = stackleak_find(&marker, sizeof(marker));

	for (at = stackleak_search(current); at < end; at += sizeof(long))
		used += READ_ONCE(*(unsigned long *)at) != STACK_POISON;
	arch_local_irq_restore(flags);
	seen_markers += found;
	seen_used = min(seen_used, used);
	looks++;
	return found != 0;
}

/* --- Ways to use the stack -------------------------------------------------------------------------- */

/* Many frames of middle size. */
static noinline long many_frames(size_t depth)
{
	volatile u64 words[3];

	for (size_t i = 0; i < 3; i++)
		words[i] = READ_ONCE(marker);
	return depth ? many_frames(depth - 1) + (words[0] == MARKER) : 0;
}

/* Frames without a variable in memory. */
static noinline long no_arrays(size_t depth, u64 value)
{
	return depth ? no_arrays(depth - 1, value) + (long)value : (long)value;
}

static noinline long small_frames(size_t depth)
{
	return no_arrays(depth, READ_ONCE(marker));
}

/* A large frame of which only the far end is written, by a function that calls nothing. */
static noinline long large_leaf(size_t n)
{
	volatile u64 words[768];

	words[n & 15] = MARKER;
	return words[n & 15] == MARKER;
}

/* The same with an array whose size is not known, and not at the start of the function. */
static noinline long variable_array(size_t n)
{
	long sum = 0;

	if (n > 4) {
		volatile u64 words[n];

		words[1] = MARKER;
		sum = words[1] == MARKER;
	}
	return sum;
}

/* In a loop: the stack grows with each round. */
static noinline long alloca_loop(size_t rounds)
{
	long sum = 0;

	for (size_t i = 0; i < rounds; i++) {
		volatile u64 *words = __builtin_alloca(500 + i * 16);

		words[0] = MARKER;
		sum += words[0] == MARKER;
	}
	return sum;
}

/* The longest stretch without a write: a frame of which nothing is used, and most of an array below it. */
static noinline long gap(size_t n)
{
	volatile u64 unused[44];
	long sum = 0;

	if (n > 1000)
		unused[n & 31] = n;
	if (n > 4) {
		volatile u64 words[n];

		words[0] = MARKER;
		sum = words[0] == MARKER;
	}
	if (n > 1000)
		sum += unused[n & 31] == n;
	return sum;
}

static const struct way {
	const char *name;
	long (*use)(size_t n);
	size_t n;
	bool leaves_marker;
} ways[] = {
	{"many frames", many_frames, 40, true},
	{"small frames", small_frames, 60, false},
	{"large leaf", large_leaf, 3, true},
	{"variable array", variable_array, 1200, true},
	{"small variable array", variable_array, 60, true},
	{"gap", gap, 31, true},
	{"alloca in a loop", alloca_loop, 12, true},
};

static void way_name(const struct way *way, char *text)
{
	strscpy(text, way->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(way, ways, way_name);

/* --- How deep it was -------------------------------------------------------------------------------- */

/* What erasing has found and left: all with interrupts off, so that nothing else uses the stack meanwhile. */
struct depth {
	unsigned long searched, erased_from, lowest, left;
};

static noinline void measure(const struct way *way, void (*erase)(void), struct depth *depth)
{
	unsigned long flags = arch_local_irq_save();

	/* The first time all of the stack counts as used. */
	erase();
	way->use(way->n);
	depth->searched = stackleak_search(current);
	erase();
	depth->lowest = READ_ONCE(current->lowest_stack);
	depth->erased_from = READ_ONCE(current->prev_lowest_stack);
	depth->left = stackleak_search(current);
	arch_local_irq_restore(flags);
}

/* The search from the bottom and erasing agree to the block of 64 bytes, however the stack was used. */
static void depth_is_found(struct kunit *test)
{
	const struct way *way = test->param_value;
	unsigned long frame = (unsigned long)__builtin_frame_address(0);
	struct depth depth = {0};

	for (int generic = 0; generic < 2; generic++) {
		measure(way, generic ? stackleak_erase : stackleak_erase_on_task_stack, &depth);
		kunit_info(test, "used %lu bytes", frame - depth.searched);
		KUNIT_EXPECT_EQ(test, depth.erased_from, depth.searched & ~63UL);
		KUNIT_EXPECT_EQ(test, depth.lowest, stackleak_high(current));
		/* Only measure() and the search itself are left. */
		KUNIT_EXPECT_GT(test, depth.left, frame - 1024);
		KUNIT_EXPECT_LT(test, depth.searched, depth.left);
	}
}

static void boundaries(struct kunit *test)
{
	unsigned long low = stackleak_low(current), high = stackleak_high(current);
	unsigned long frame = (unsigned long)__builtin_frame_address(0);

	KUNIT_EXPECT_EQ(test, low, (unsigned long)current->stack);
	KUNIT_EXPECT_EQ(test, high, (unsigned long)task_pt_regs(current));
	KUNIT_EXPECT_LT(test, high, low + current->stack_size);
	KUNIT_EXPECT_GT(test, frame, low);
	KUNIT_EXPECT_LT(test, frame, high);
	KUNIT_EXPECT_EQ(test, high % 16, 0UL);
}

/* An interrupt may come at any instruction of erasing, and use the stack that is being erased. */
static void interrupted(struct kunit *test)
{
	u64 start = clock_ns();
	struct depth depth = {0};
	unsigned int rounds = 0;

	while (clock_ns() - start < 100000000) {
		stackleak_erase_on_task_stack();
		many_frames(10 + rounds++ % 30);
	}
	measure(&ways[0], stackleak_erase_on_task_stack, &depth);
	KUNIT_EXPECT_EQ(test, depth.erased_from, depth.searched & ~63UL);
}

/* The poison is no address. */
static void poison_is_no_address(struct kunit *test)
{
	unsigned long poison = STACK_POISON, middle = poison >> 48 & 0xff;

	KUNIT_EXPECT_NE(test, middle, 0UL);
	KUNIT_EXPECT_NE(test, middle, 0xffUL);
#ifdef CONFIG_KASAN
	KUNIT_EXPECT_FALSE(test, kasan_byte_accessible((const void *)poison));
#endif
}

/* --- System calls ----------------------------------------------------------------------------------- */

static const struct way *the_way;

static long sys_plant(const u64 *args)
{
	the_way->use(the_way->n);
	return 0;
}

/* For random calls: any way, any depth. */
static long sys_plant_random(const u64 *args)
{
	const struct way *way = &ways[args[0] % ARRAY_SIZE(ways)];

	way->use(way->n / 2 + (args[0] >> 8) % way->n);
	return 0;
}

static int look_and(struct kunit *test, syscall_fn plant)
{
	int err;

	seen_markers = looks = 0;
	seen_used = SIZE_MAX;
	err = user_syscall_register(SYSCALL_FIRST_OWN, sys_look);
	if (!err)
		err = user_syscall_register(SYSCALL_FIRST_OWN + 1, plant);
	KUNIT_EXPECT_EQ(test, err, 0);
	return err;
}

static void restore_mode(void *mode)
{
	stackleak_set_mode((unsigned int)(unsigned long)mode);
}

static void remove_calls(void *unused)
{
	for (unsigned long nr = 0; nr < 3; nr++)
		user_syscall_register(SYSCALL_FIRST_OWN + nr, NULL);
}

static int stackleak_test_init(struct kunit *test)
{
	unsigned long mode = stackleak_set_mode(STACK_ERASING_ON);
	int err = user_test_init(test);

	if (!err)
		err = kunit_add_action_or_reset(test, restore_mode, (void *)mode);
	if (!err)
		err = kunit_add_action_or_reset(test, remove_calls, NULL);
	return err;
}

/* The marker is planted and looked for, three times. Return: as the program's last look. */
static void run_calls(struct kunit *test, syscall_fn plant)
{
	if (look_and(test, plant))
		return;
	USER_TEST_RUN(test, "calls", PLANT, LOOK, PLANT, LOOK, PLANT, LOOK);
	KUNIT_EXPECT_EQ(test, looks, 3UL);
	remove_calls(NULL);
}

static const unsigned int modes_on[] = {STACK_ERASING_ON, STACK_ERASING_GENERIC};

static void expect_erased(struct kunit *test, syscall_fn plant)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(modes_on); i++) {
		stackleak_set_mode(modes_on[i]);
		run_calls(test, plant);
		KUNIT_EXPECT_EQ(test, seen_markers, 0UL);
		KUNIT_EXPECT_EQ(test, seen_used, 0UL);
	}
}

static void expect_found(struct kunit *test, syscall_fn plant)
{
	stackleak_set_mode(STACK_ERASING_OFF);
	run_calls(test, plant);
	KUNIT_EXPECT_GE(test, seen_markers, 3UL);
}

static void system_call(struct kunit *test)
{
	the_way = test->param_value;
	expect_erased(test, sys_plant);
	if (the_way->leaves_marker)
		expect_found(test, sys_plant);
}

/* Switched on while the program runs: from its next return to user mode on nothing is left. */
static long sys_switch_on(const u64 *args)
{
	stackleak_set_mode(STACK_ERASING_ON);
	return 0;
}

static void switched_on_later(struct kunit *test)
{
	the_way = &ways[0];
	stackleak_set_mode(STACK_ERASING_OFF);
	KUNIT_ASSERT_EQ(test, look_and(test, sys_plant), 0);
	KUNIT_ASSERT_EQ(test, user_syscall_register(SYSCALL_FIRST_OWN + 2, sys_switch_on), 0);
	KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "calls", PLANT, LOOK), 1 << 8);
	seen_markers = 0;
	KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "calls", PLANT, "2", LOOK), 0);
	KUNIT_EXPECT_EQ(test, seen_markers, 0UL);
}

/* At the start of a system call the stack is as a return to user mode has left it. */
static unsigned long noted[2][2];
static unsigned int notes;

static long sys_note(const u64 *args)
{
	noted[notes % 2][0] = stackleak_high(current) - stackleak_lowest(current);
	noted[notes % 2][1] = stackleak_prev_lowest(current) - stackleak_low(current);
	notes++;
	return 0;
}

static void depth_of_a_task(struct kunit *test)
{
	the_way = &ways[0];
	KUNIT_ASSERT_EQ(test, look_and(test, sys_plant), 0);
	KUNIT_ASSERT_EQ(test, user_syscall_register(SYSCALL_FIRST_OWN + 2, sys_note), 0);
	/* Again if an interrupt of the program came in between: it ends with a return to user mode as well. */
	for (int tries = 0; tries < 20; tries++) {
		notes = 0;
		USER_TEST_PASSES(test, "calls", "2", PLANT, "2");
		KUNIT_ASSERT_EQ(test, notes, 2U);
		if (!noted[0][1] && noted[1][1] < THREAD_SIZE - 1024)
			break;
	}
	/* The first return to user mode has erased everything, the second only what was used. */
	KUNIT_EXPECT_EQ(test, noted[0][1], 0UL);
	KUNIT_EXPECT_GT(test, noted[1][1], 4096UL);
	KUNIT_EXPECT_LT(test, noted[1][1], THREAD_SIZE - 1024);
	for (int i = 0; i < 2; i++)
		KUNIT_EXPECT_LT(test, noted[i][0], LOOK_DEPTH);
}

/* --- Interrupts ------------------------------------------------------------------------------------- */

static struct task *target;
static bool planted;

static void plant_in_interrupt(void *unused)
{
	if (current != READ_ONCE(target))
		return;
	many_frames(40);
	smp_store_release(&planted, true);
}

static long sys_planted(const u64 *args)
{
	return smp_load_acquire(&planted);
}

static void one_interrupt(struct kunit *test, unsigned int mode)
{
	static const char *const argv[] = {"spin_calls", NULL};
	struct process *process;

	stackleak_set_mode(mode);
	KUNIT_ASSERT_EQ(test, look_and(test, sys_plant), 0);
	KUNIT_ASSERT_EQ(test, user_syscall_register(SYSCALL_FIRST_OWN + 2, sys_planted), 0);
	planted = false;
	process = user_test_start(test, argv);
	KUNIT_ASSERT_NOT_NULL(test, process);
	WRITE_ONCE(target, process->task);
	while (!smp_load_acquire(&planted) && !completion_done(&process->exited)) {
		smp_call_function_single(READ_ONCE(process->task->cpu), plant_in_interrupt, NULL,
					 true);
		cond_resched();
		schedule_timeout_uninterruptible(1);
	}
	KUNIT_EXPECT_GE(test, process_wait(process), 0);
	KUNIT_EXPECT_EQ(test, looks, 1UL);
	remove_calls(NULL);
}

/* The interrupt of a program runs on its kernel stack. */
static void interrupt_of_a_program(struct kunit *test)
{
	kunit_needs(test, num_online_cpus() > 1, "two CPUs");
	one_interrupt(test, STACK_ERASING_ON);
	KUNIT_EXPECT_EQ(test, seen_markers, 0UL);
	one_interrupt(test, STACK_ERASING_OFF);
	KUNIT_EXPECT_GT(test, seen_markers, 0UL);
}

/* --- Another stack ---------------------------------------------------------------------------------- */

static char other_stack[16384] __aligned(16);
_Noreturn void stackleak_leave(void *top, void (*erase)(void), void (*check)(void));

static size_t not_poison;

/* On the other stack. The task's is empty, and stays so, because its frames are not needed any more. */
static _Noreturn void check_and_return(void)
{
	unsigned long at = stackleak_search(current), high = stackleak_high(current);

	for (not_poison = 0; at < high; at += sizeof(long))
		not_poison += *(volatile unsigned long *)at != STACK_POISON;
	if (current->lowest_stack != high)
		not_poison++;
	kasan_unpoison_stack(current->stack, (void *)high);
	enter_user_mode(task_pt_regs(current));
}

/* As above, but interrupts come while the stack is erased from outside: they use the other one. */
static void erase_with_interrupts(void)
{
	u64 start = clock_ns();

	preempt_disable();
	arch_local_irq_enable();
	while (clock_ns() - start < 50000000)
		stackleak_erase();
	arch_local_irq_disable();
	preempt_enable_no_resched();
	/* The clock was read on the other stack as well. */
	stackleak_erase();
}

static void (*erase_function)(void);

static long sys_leave(const u64 *args)
{
	many_frames(20);
	arch_local_irq_disable();
	stackleak_leave(other_stack + sizeof(other_stack), erase_function, check_and_return);
}

static void off_the_task_stack(struct kunit *test)
{
	static void (*const functions[])(void) = {stackleak_erase_off_task_stack, stackleak_erase,
						  erase_with_interrupts};

	for (unsigned int i = 0; i < ARRAY_SIZE(functions); i++) {
		erase_function = functions[i];
		not_poison = 1;
		KUNIT_ASSERT_EQ(test, look_and(test, sys_leave), 0);
		/* The result of the call that never ended is its first argument. */
		KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "calls", LOOK, PLANT, LOOK), 0);
		KUNIT_EXPECT_EQ(test, not_poison, 0UL);
		KUNIT_EXPECT_EQ(test, seen_markers, 0UL);
		KUNIT_EXPECT_EQ(test, looks, 2UL);
		remove_calls(NULL);
	}
}

/* --- Tasks that end in a system call ---------------------------------------------------------------- */

static noinline long sleep_deep(size_t depth)
{
	volatile u64 words[3] = {READ_ONCE(marker), 0, 0};
	long left = 0;

	if (depth)
		return sleep_deep(depth - 1) + (long)words[1];
	while (!process_killed())
		left = schedule_timeout_interruptible(1);
	return left;
}

static long sys_sleep(const u64 *args)
{
	return sleep_deep(20);
}

static long sys_oops(const u64 *args)
{
	many_frames(20);
	arch_bug();
}

/* Later programs may get the stack of the one that has ended, and find nothing there. */
static void expect_clean_program(struct kunit *test)
{
	for (int i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, look_and(test, sys_plant), 0);
		KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "calls", LOOK, LOOK), 0);
		KUNIT_EXPECT_EQ(test, seen_markers, 0UL);
		KUNIT_EXPECT_EQ(test, seen_used, 0UL);
		remove_calls(NULL);
	}
}

static void killed_in_a_system_call(struct kunit *test)
{
	static const char *const argv[] = {"calls", PLANT, NULL};
	struct process *process;

	for (int i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, look_and(test, sys_sleep), 0);
		process = user_test_start(test, argv);
		KUNIT_ASSERT_NOT_NULL(test, process);
		msleep(5);
		process_kill(process, SIGKILL);
		KUNIT_EXPECT_EQ(test, process_wait(process), SIGKILL);
		remove_calls(NULL);
		expect_clean_program(test);
	}
}

static void oops_in_a_system_call(struct kunit *test)
{
	unsigned int oopses = READ_ONCE(oops_count);

	KUNIT_ASSERT_EQ(test, look_and(test, sys_oops), 0);
	KUNIT_EXPECT_EQ(test, USER_TEST_RUN(test, "calls", PLANT), SIGKILL);
	KUNIT_EXPECT_EQ(test, READ_ONCE(oops_count), oopses + 1);
	remove_calls(NULL);
	expect_clean_program(test);
}

/* --- Reports ---------------------------------------------------------------------------------------- */

#ifdef CONFIG_KASAN
static noinline void read_freed(void)
{
	volatile char *p = kmalloc(24, GFP_KERNEL);

	kfree((void *)p);
	HIDE_VAR(p);
	KASAN_TEST_BUG(READ_ACCESS(*p));
}

static long sys_report(const u64 *args)
{
	read_freed();
	return 0;
}

/* Called inside of the report, once for each line. */
static bool plant_in_line(const char *text)
{
	many_frames(20);
	return true;
}

static void untap(void *unused)
{
	kasan_line_tap(NULL);
}

static void tap(struct kunit *test)
{
	kasan_line_tap(plant_in_line);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, untap, NULL), 0);
}

static void report_in_a_system_call(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kasan_bug_test_init(test), 0);
	tap(test);
	KUNIT_EXPECT_KASAN_FAIL(test, expect_erased(test, sys_report));
	KUNIT_EXPECT_KASAN_FAIL(test, expect_found(test, sys_report));
}

/* The report ends the task: its frames, with the marker and with KASAN's poison between variables, stay behind. */
static long sys_last_report(const u64 *args)
{
	volatile char around[40];

	current->kflags |= PF_ONE_REPORT;
	around[args[0] & 31] = 1;
	read_freed();
	return around[args[0] & 31];
}

static void report_ends_the_task(struct kunit *test)
{
	int status = 0;

	KUNIT_ASSERT_EQ(test, kasan_bug_test_init(test), 0);
	tap(test);
	for (int i = 0; i < 4; i++) {
		KUNIT_ASSERT_EQ(test, look_and(test, sys_last_report), 0);
		KUNIT_EXPECT_KASAN_FAIL(test, status = USER_TEST_RUN(test, "calls", PLANT));
		KUNIT_EXPECT_EQ(test, status, SIGKILL);
		remove_calls(NULL);
		expect_clean_program(test);
	}
}

/* Erasing passes over the poison of a frame that is in use above it, and changes none of the shadow. */
static void shadow_is_kept(struct kunit *test)
{
	char bytes[40], *p = bytes;
	size_t stale;

	HIDE_VAR(p);
	many_frames(30);
	stale = stale_stack();
	arch_local_irq_disable();
	stackleak_erase();
	arch_local_irq_enable();
	KUNIT_EXPECT_EQ(test, stale_stack(), stale);
	for (size_t i = 0; i < sizeof(bytes); i++)
		p[i] = 1;
	KUNIT_EXPECT_EQ(test, bytes[20], 1);
}
#endif

/* --- Everything at random --------------------------------------------------------------------------- */

static int run_random(struct kunit *test, const char *rounds)
{
	unsigned int seed = get_random_u32();
	char text[16];
	int status;

	kunit_info(test, "seed %u", seed);
	snprintf(text, sizeof(text), "%u", seed);
	if (look_and(test, sys_plant_random))
		return -1;
	status = USER_TEST_RUN(test, "random_calls", text, rounds, MARKER_TEXT);
	remove_calls(NULL);
	return status;
}

static void random_system_calls(struct kunit *test)
{
	stackleak_set_mode(STACK_ERASING_ON);
	KUNIT_EXPECT_EQ(test, run_random(test, "20000"), 0);
	KUNIT_EXPECT_EQ(test, looks, 20000UL);
	KUNIT_EXPECT_EQ(test, seen_markers, 0UL);
	stackleak_set_mode(STACK_ERASING_OFF);
	KUNIT_EXPECT_EQ(test, run_random(test, "1000"), 255 << 8);
	KUNIT_EXPECT_GT(test, seen_markers, 500UL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(boundaries),
	KUNIT_CASE(poison_is_no_address),
	KUNIT_CASE_PARAM(depth_is_found, way_gen_params),
	KUNIT_CASE(interrupted),
	KUNIT_CASE_PARAM(system_call, way_gen_params),
	KUNIT_CASE(switched_on_later),
	KUNIT_CASE(depth_of_a_task),
	KUNIT_CASE(interrupt_of_a_program),
	KUNIT_CASE(off_the_task_stack),
	KUNIT_CASE(killed_in_a_system_call),
	KUNIT_CASE(oops_in_a_system_call),
#ifdef CONFIG_KASAN
	KUNIT_CASE(report_in_a_system_call),
	KUNIT_CASE(report_ends_the_task),
	KUNIT_CASE(shadow_is_kept),
#endif
	KUNIT_CASE(random_system_calls),
	{},
};

static struct kunit_suite suite = {
	.name = "stackleak",
	.suite_init = kasan_test_suite_init,
	.suite_exit = kasan_test_suite_exit,
	.init = stackleak_test_init,
	.exit = kasan_test_exit,
	.test_cases = cases,
};
kunit_test_suite(suite);
