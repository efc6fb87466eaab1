/* SPDX-License-Identifier: MIT */
/* test_report_modes.c - when a report is printed: single and multi shot, suppression, several threads at once, ignored
 * functions, and stacks that cannot be walked. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "../../runtime/report/captured.h"
#include "abi.h"
#include "unit.h"

static uintptr_t bad;

static void set_up(void)
{
	bad = (uintptr_t)unit_watched(4096);
	kasan_poison((void *)bad, 64, KASAN_SLAB_REDZONE);
}

static void known_bug(void);

/* This case comes first. The harness has turned multi-shot on; a kernel starts without it. */
static void single_shot(void)
{
	set_up();
	kasan_restore_multi_shot(false);
	/* An ignored report leaves the one report of single-shot mode for the next bug. */
	CHECK_EQ(kasan_option("kasan.ignore", "known_bug"), 0);
	EXPECT_NO_REPORT(known_bug());
	CHECK_EQ(kasan_option("kasan.ignore", ""), 0);
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	CHECK_EQ(kasan_report_count(), 1);
	for (int i = 0; i < 10; i++)
		EXPECT_NO_REPORT(__asan_store4_noabort(bad));
	EXPECT_NO_REPORT(kasan_report_invalid_free((void *)bad, 0));
	CHECK_EQ(unit_lines(), 0);
	/* Tests need more reports for a while; after that the mode is single shot again. */
	CHECK(!kasan_save_multi_shot());
	for (int i = 0; i < 3; i++)
		EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	kasan_restore_multi_shot(false);
	EXPECT_NO_REPORT(__asan_load1_noabort(bad));
	CHECK(!kasan_save_multi_shot());
	CHECK(kasan_save_multi_shot());
	kasan_restore_multi_shot(true);
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
}

/* The verdict of an explicit check does not depend on whether it was printed. */
static void verdicts_without_reports(void)
{
	set_up();
	kasan_disable_current();
	CHECK(!kasan_check_read((void *)bad, 1));
	CHECK(!kasan_check_byte((void *)bad));
	CHECK(!kasan_byte_accessible((void *)bad));
	CHECK(kasan_check_read((void *)(bad + 64), 1));
	kasan_enable_current();
	CHECK_EQ(unit_reports(), 0);
}

static void suppression_nests(void)
{
	set_up();
	kasan_disable_current();
	EXPECT_NO_REPORT(__asan_load1_noabort(bad));
	kasan_disable_current();
	EXPECT_NO_REPORT(__asan_load1_noabort(bad));
	kasan_enable_current();
	EXPECT_NO_REPORT(__asan_load1_noabort(bad));
	kasan_enable_current();
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	/* One enable too many does not cancel the next disable. */
	kasan_enable_current();
	kasan_disable_current();
	EXPECT_NO_REPORT(__asan_load1_noabort(bad));
	kasan_enable_current();
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
}

/* A suppressed memcpy() takes place: the program behaves as it does without a sanitizer. */
static void suppressed_operations_take_place(void)
{
	char *p;

	set_up();
	p = (char *)bad;
	kasan_disable_current();
	__asan_memset(p, 'a', 8);
	__asan_memcpy(p + 4, "xy", 2);
	kasan_enable_current();
	for (int i = 0; i < 8; i++)
		CHECK_EQ(p[i], "aaaaxyaa"[i]);
	__asan_memset(p, 'b', 8);
	CHECK(p[0] == 'a');
}

/* --- Threads ---------------------------------------------------------------------------------- */

#define THREADS 4
#define EACH	50

static atomic_uint ended;
static pthread_barrier_t barrier;

static void count_report(const struct kasan_report_info *info)
{
	atomic_fetch_add(&ended, 1);
}

static void *report_often(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < EACH; i++)
		__asan_load1_noabort(bad + (uintptr_t)arg);
	return NULL;
}

/* Several threads report at once: their reports are whole, and come one after the other. */
static void several_threads_at_once(void)
{
	void (*saved)(const struct kasan_report_info *) = kasan_posix_hooks.report_end;
	pthread_t threads[THREADS];
	unsigned int begun = 0;
	bool inside = false;

	set_up();
	kasan_posix_hooks.report_end = count_report;
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, report_often, (void *)(i * 8)));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	kasan_posix_hooks.report_end = saved;
	CHECK_EQ(ended, THREADS * EACH);
	for (size_t i = 0; i < unit_lines(); i++) {
		const char *line = unit_line(i);

		if (line[0] == '=') {
			inside = !inside;
			begun += inside;
			continue;
		}
		CHECK(inside);
		if (!strncmp(line, "BUG: ", 5))
			CHECK(unit_line(i - 1)[0] == '=');
	}
	CHECK(!inside);
	CHECK_EQ(begun, THREADS * EACH);
}

/* --- The owner of the report lock prints the waiting reports when it unlocks ------------------ */

static void (*print_before)(const char *text);
/* How many more bugs the console has, and the start of the lines that run into one. The last may be a write. */
static unsigned int console_bugs;
static const char *console_bug_line;
static bool last_bug_writes;

static void print_with_a_bug(const char *text)
{
	print_before(text);
	if (console_bugs && !strncmp(text, console_bug_line, strlen(console_bug_line))) {
		if (--console_bugs || !last_bug_writes)
			__asan_load1_noabort(bad);
		else
			__asan_store1_noabort(bad);
	}
}

static void break_console(unsigned int bugs, const char *line)
{
	print_before = kasan_posix_hooks.print;
	kasan_posix_hooks.print = print_with_a_bug;
	console_bugs = bugs;
	console_bug_line = line;
	unit_clear();
}

static void repair_console(void)
{
	kasan_posix_hooks.print = print_before;
}

/* A bug that is found while a notice is printed is reported right after it, not with the next report. */
static void bug_inside_of_a_notice(void)
{
	set_up();
	break_console(1, "a notice");
	CHECK(kasan_notice("a notice"));
	CHECK_EQ(unit_reports(), 1);
	CHECK(unit_find(0, "a notice") == 0);
	CHECK(unit_find(0, "BUG: KASAN: slab-out-of-bounds") == 2);
	repair_console();
	/* A console that has a bug in each line gives one report. The others are only counted, and printing ends. */
	break_console(1000, "");
	CHECK(kasan_notice("a notice"));
	CHECK_EQ(unit_reports(), 1);
	CHECK(unit_find(0, "kasan: ") > 0);
	repair_console();
	unit_clear();
	kasan_flush_reports();
	CHECK_EQ(unit_reports(), 0);
}

/* A bug in the notice is reported; those in the lines of its report are counted, with the words for one or more. */
static void bugs_in_a_report_are_counted(void)
{
	set_up();
	break_console(2, "");
	CHECK(kasan_notice("a notice"));
	repair_console();
	CHECK_EQ(unit_reports(), 1);
	CHECK(unit_saw("kasan: 1 bug that was found inside of a report is left out"));
	break_console(3, "");
	CHECK(kasan_notice("a notice"));
	repair_console();
	CHECK_EQ(unit_reports(), 1);
	CHECK(unit_saw("kasan: 2 bugs that were found inside of reports are left out"));
}

/* The first bug, a read, is reported. The second, a write in the lines of that report, can only be counted. */
static void panic_for_a_bug_that_is_left_out(void)
{
	set_up();
	CHECK_EQ(kasan_option("kasan.fault", "panic_on_write"), 0);
	for (int writes = 0; writes <= 1; writes++) {
		last_bug_writes = writes;
		break_console(2, "");
		if (writes)
			EXPECT_PANIC(kasan_notice("a notice"));
		else
			CHECK(kasan_notice("a notice"));
		repair_console();
		CHECK_EQ(unit_reports(), 1);
		CHECK(unit_saw("kasan: 1 bug that was found inside of a report is left out"));
	}
	CHECK(strstr(unit_panic_text(), "kasan.fault=panic_on_write"));
	last_bug_writes = false;
	CHECK_EQ(kasan_option("kasan.fault", "report"), 0);
}

static void *report_once(void *arg)
{
	kasan_posix_set_cpu(2);
	__asan_load1_noabort(bad);
	return arg;
}

static void print_and_report_elsewhere(const char *text)
{
	pthread_t thread;

	print_before(text);
	if (strncmp(text, "kasan: ", 7) != 0) {
		__asan_load1_noabort(bad);
		return;
	}
	/* The thread waits for the lock until its time is up, and leaves its report in a slot. */
	REQUIRE(!pthread_create(&thread, NULL, report_once, NULL));
	pthread_join(thread, NULL);
}

/* The same for a report of another CPU, which stops waiting while the line about left-out reports is printed. */
static void report_during_the_last_line(void)
{
	set_up();
	kasan_posix_set_cpu(0);
	break_console(0, "");
	kasan_posix_hooks.print = print_and_report_elsewhere;
	__asan_load1_noabort(bad);
	repair_console();
	CHECK(unit_find(0, "kasan: ") > 0);
	/* The first report, those from the slots that it filled, and the other CPU's as the last. */
	CHECK_EQ(unit_reports(), 1 + CONFIG_KASAN_WAITING_REPORTS + 1);
	unit_clear();
	kasan_flush_reports();
	CHECK_EQ(unit_reports(), 0);
}

static void *suppress_here(void *arg)
{
	kasan_posix_set_cpu(1);
	kasan_disable_current();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	kasan_enable_current();
	return NULL;
}

/* Suppression affects this CPU only: another one still reports. */
static void other_cpus_still_report(void)
{
	pthread_t thread;

	set_up();
	kasan_posix_set_cpu(0);
	pthread_barrier_init(&barrier, NULL, 2);
	REQUIRE(!pthread_create(&thread, NULL, suppress_here, NULL));
	pthread_barrier_wait(&barrier);
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
}

/* --- Suppression by tasks --------------------------------------------------------------------- */

static unsigned int depths[2], *running;

static unsigned int *depth_of_running(void)
{
	return running;
}

/* Each task has its depth: a switch ends the suppression, and a switch back restores it. Interrupts are never
 * suppressed. */
static void suppression_belongs_to_tasks(void)
{
	set_up();
	kasan_posix_hooks.task_depth = depth_of_running;
	running = &depths[0];
	kasan_disable_current();
	kasan_disable_current();
	EXPECT_NO_REPORT(__asan_load1_noabort(bad));
	running = &depths[1];
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	running = NULL;
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	/* The handler's own pair does not change the task's depth. */
	kasan_disable_current();
	EXPECT_NO_REPORT(__asan_load1_noabort(bad));
	kasan_enable_current();
	/* On another CPU it is still the same task. */
	kasan_posix_set_cpu(3);
	running = &depths[0];
	EXPECT_NO_REPORT(__asan_load1_noabort(bad));
	kasan_enable_current();
	EXPECT_NO_REPORT(__asan_load1_noabort(bad));
	kasan_enable_current();
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	CHECK_EQ(depths[0], 0);
	CHECK_EQ(depths[1], 0);
	kasan_posix_hooks.task_depth = NULL;
}

/* --- Ignored functions ------------------------------------------------------------------------ */

static __attribute__((__noinline__)) void known_bug(void)
{
	__asan_load1_noabort(bad);
	__asm__ volatile("");
}

static __attribute__((__noinline__)) void calls_known_bug(void)
{
	known_bug();
	__asm__ volatile("");
}

static size_t notices(void)
{
	size_t count = 0;

	for (size_t i = 0; i < unit_lines(); i++)
		count += strstr(unit_line(i), "are ignored (kasan.ignore)") != NULL;
	return count;
}

static void ignored_functions(void)
{
	static const char *const lists[] = {"known_bug", "calls_known_bug",
					    "nobody,known_bug,other", "known_*", "calls_k*,x"};
	static const char *const others[] = {"known_bu", "known_bugs", "nown_bug",
					     "bug*",	 "",	       "x,y"};

	set_up();
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		CHECK_EQ(kasan_option("kasan.ignore", lists[i]), 0);
		EXPECT_NO_REPORT(calls_known_bug());
		/* Printed once for each list and name. */
		CHECK_EQ(notices(), 1);
		EXPECT_NO_REPORT(calls_known_bug());
		CHECK_EQ(notices(), 0);
		/* The same bad access from another function. */
		EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		CHECK_EQ(kasan_option("kasan.ignore", others[i]), 0);
		EXPECT_REPORT("slab-out-of-bounds", calls_known_bug());
	}
	CHECK_EQ(kasan_option("kasan.ignore", "calls_known_bug"), 0);
	EXPECT_REPORT("slab-out-of-bounds", known_bug());
	CHECK_EQ(kasan_option("kasan.ignore", ""), 0);
}

/* A wrong list is refused, and the list before it stays. */
static void wrong_ignore_lists(void)
{
	static const char *const lists[] = {
		NULL,  ",",   "a,", ",a",  "a,,b", "1a",
		"a b", "a*b", "*",  "a-b", "a;b",  "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q"};
	char text[600];

	set_up();
	CHECK_EQ(kasan_option("kasan.ignore", "known_bug"), 0);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		CHECKF(kasan_option("kasan.ignore", lists[i]) == KASAN_OPTION_INVALID, "%s",
		       lists[i] ? lists[i] : "(none)");
	memset(text, 'a', sizeof(text));
	text[511] = '\0';
	CHECK_EQ(kasan_option("kasan.ignore", text), KASAN_OPTION_INVALID);
	text[510] = '\0';
	EXPECT_NO_REPORT(known_bug());
	CHECK_EQ(kasan_option("kasan.ignore", text), 0);
	EXPECT_REPORT("slab-out-of-bounds", known_bug());
	CHECK_EQ(kasan_option("kasan.ignore", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,known_bug"), 0);
	EXPECT_NO_REPORT(known_bug());
	CHECK_EQ(kasan_option("kasan.ignore", ""), 0);
}

/* kasan.fault= has no effect on an ignored report. */
static void ignored_does_not_panic(void)
{
	set_up();
	kasan_restore_multi_shot(true);
	CHECK_EQ(kasan_option("kasan.ignore", "known_bug"), 0);
	CHECK_EQ(kasan_option("kasan.fault", "panic"), 0);
	EXPECT_NO_REPORT(known_bug());
	CHECK_EQ(kasan_option("kasan.fault", "report"), 0);
	CHECK_EQ(kasan_option("kasan.ignore", ""), 0);
}

/* --- Tasks and stacks that are not known ------------------------------------------------------ */

static void no_stack_bounds(struct kasan_port_task *task)
{
	task->stack_start = task->stack_end = 0;
}

static void nobody(struct kasan_port_task *task)
{
	*task = (struct kasan_port_task){0};
}

static void strange_name(struct kasan_port_task *task)
{
	task->name = "a\nb\x1b[31m\xff";
}

static void tasks_that_are_not_known(void)
{
	int at;

	set_up();
	kasan_posix_hooks.task = no_stack_bounds;
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	at = unit_find(0, "Call trace:");
	REQUIRE(at > 0);
	/* The place of the access is known without a stack. */
	CHECK(unit_find((size_t)at, " tasks_that_are_not_known+0x") == at + 1);
	CHECK(unit_line((size_t)at + 2)[0] != ' ');
	kasan_posix_hooks.task = nobody;
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	CHECK(unit_find(0, "Read of size 1 at addr ") == 2);
	CHECK(strstr(unit_line(2), "/0"));
	kasan_posix_hooks.task = strange_name;
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	for (size_t i = 0; i < unit_lines(); i++)
		for (const char *c = unit_line(i); *c; c++)
			CHECK(*c >= ' ' && *c <= '~');
	kasan_posix_hooks.task = NULL;
}

static void nearly_full_stack(struct kasan_port_task *task)
{
	task->stack_start = (uintptr_t)__builtin_frame_address(0) - KASAN_REPORT_STACK_SHORT / 2;
}

/* Where the stack has no room for a report, bugs are counted. The next chance to print says how many. */
static void no_room_on_the_stack(void)
{
	set_up();
	for (unsigned int bugs = 1; bugs <= 2; bugs++) {
		unit_clear();
		kasan_posix_hooks.task = nearly_full_stack;
		for (unsigned int i = 0; i < bugs; i++)
			__asan_load1_noabort(bad);
		kasan_posix_hooks.task = NULL;
		CHECK_EQ(unit_reports(), 0);
		kasan_flush_reports();
		CHECK(unit_saw("kasan: %u %s left out: the stack had no room for a report "
			       "(kasan_port_report_stack())",
			       bugs, bugs == 1 ? "bug is" : "bugs are"));
	}
}

static void little_stack(struct kasan_port_task *task)
{
	task->stack_start = (uintptr_t)__builtin_frame_address(0) - 2 * KASAN_REPORT_STACK_SHORT;
}

static uintptr_t broken_start, broken_end;

static void broken_bounds(struct kasan_port_task *task)
{
	task->stack_start = broken_start;
	task->stack_end = broken_end;
}

/* What the user has asked for holds wherever the bug is found. */
static void panic_without_room(void)
{
	unsigned long before = kasan_report_count();

	set_up();
	kasan_posix_hooks.task = nearly_full_stack;
	CHECK_EQ(kasan_option("kasan.fault", "panic"), 0);
	EXPECT_PANIC(__asan_load1_noabort(bad));
	CHECK(strstr(unit_panic_text(), "kasan.fault=panic"));
	CHECK_EQ(kasan_option("kasan.fault", "panic_on_write"), 0);
	__asan_load1_noabort(bad);
	EXPECT_PANIC(__asan_store1_noabort(bad));
	CHECK(strstr(unit_panic_text(), "kasan.fault=panic_on_write"));
	kasan_posix_hooks.task = little_stack;
	EXPECT_PANIC(__asan_store1_noabort(bad));
	CHECK_EQ(kasan_report_count(), before + 1);
	kasan_posix_hooks.task = NULL;
	CHECK_EQ(kasan_option("kasan.fault", "report"), 0);
	kasan_flush_reports();
}

static bool refuse_all(const struct kasan_report_info *info)
{
	CHECK(info->addr == bad);
	return false;
}

static void short_reports_are_judged(void)
{
	set_up();
	kasan_posix_hooks.task = little_stack;
	EXPECT_REPORT("slab-out-of-bounds", __asan_load1_noabort(bad));
	CHECK(unit_find(0, "Call trace:") < 0);
	CHECK_EQ(kasan_option("kasan.ignore", "calls_known_bug"), 0);
	EXPECT_NO_REPORT(calls_known_bug());
	EXPECT_REPORT("slab-out-of-bounds", known_bug());
	CHECK_EQ(kasan_option("kasan.ignore", ""), 0);
	kasan_report_filter(refuse_all);
	EXPECT_NO_REPORT(__asan_load1_noabort(bad));
	kasan_report_filter(NULL);
	kasan_posix_hooks.task = NULL;
}

/* The task's descriptor is garbage: most of what it gives for its stack is no memory. */
static void bounds_of_the_stack_that_are_garbage(void)
{
	uintptr_t *hole = unit_arena(3 * 4096), start = (uintptr_t)hole;

	set_up();
	REQUIRE(!munmap((char *)hole + 4096, 4096));
	broken_start = start;
	broken_end = start + 3 * 4096;
	/* A chain that leads into the hole. */
	hole[0] = start + 4096 + 64;
	hole[1] = (uintptr_t)known_bug + 4;
	kasan_posix_hooks.task = broken_bounds;
	CHECK_EQ(kasan_option("kasan.ignore", "nobody"), 0);
	EXPECT_REPORT("slab-out-of-bounds",
		      kasan_check_range(bad, 1, false, (uintptr_t)known_bug + 1, start));
	CHECK_EQ(kasan_option("kasan.ignore", ""), 0);
	kasan_posix_hooks.task = NULL;
}

/* --- A check that reports, and the fault after it --------------------------------------------- */

static pthread_barrier_t checked_barrier;

static void fault_at(uintptr_t addr)
{
	const struct kasan_regs regs = {.pc = (uintptr_t)fault_at,
					.fp = (uintptr_t)__builtin_frame_address(0)};

	kasan_report_fault_at(addr, 1, KASAN_FAULT_READ, &regs);
}

static void *other_cpu(void *argument)
{
	kasan_posix_set_cpu(1);
	pthread_barrier_wait(&checked_barrier);
	/* The same address, but nobody has checked it here; then one that a check has reported. */
	EXPECT_REPORT("null-ptr-deref", fault_at(0x18));
	EXPECT_REPORT("null-ptr-deref", __asan_load1_noabort(0x20));
	pthread_barrier_wait(&checked_barrier);
	pthread_barrier_wait(&checked_barrier);
	EXPECT_NO_REPORT(fault_at(0x20));
	return NULL;
}

static void faults_after_checks(void)
{
	pthread_t thread;

	kasan_posix_set_cpu(0);
	pthread_barrier_init(&checked_barrier, NULL, 2);
	REQUIRE(!pthread_create(&thread, NULL, other_cpu, NULL));
	EXPECT_REPORT("null-ptr-deref", __asan_load1_noabort(0x18));
	pthread_barrier_wait(&checked_barrier);
	pthread_barrier_wait(&checked_barrier);
	/* This task has come to another CPU, after that CPU's report. */
	kasan_posix_set_cpu(2);
	EXPECT_NO_REPORT(fault_at(0x18));
	EXPECT_REPORT("null-ptr-deref", fault_at(0x18));
	kasan_posix_set_cpu(0);
	pthread_barrier_wait(&checked_barrier);
	pthread_join(thread, NULL);
}

/* A bug has overwritten the frame records: the walk stays inside the stack, does not loop, and ends. */
static void broken_frame_records(void)
{
	uintptr_t stack[64], pcs[32];
	uintptr_t start, end;

	REQUIRE(kasan_posix_stack(&start, &end));
	for (int round = 0; round < 10000; round++) {
		size_t n;

		for (int i = 0; i < 64; i++)
			switch (unit_below(4)) {
			case 0:
				stack[i] = unit_random();
				break;
			case 1:
				stack[i] = (uintptr_t)&stack[unit_below(64)];
				break;
			case 2:
				stack[i] = (uintptr_t)&stack[unit_below(64)] + 1 + unit_below(7);
				break;
			default:
				stack[i] = start + unit_below((end - start) / 8) * 8;
				break;
			}
		n = kasan_stack_walk(0x1234, (uintptr_t)&stack[unit_below(64)] + unit_below(2) * 3,
				     pcs, 32);
		CHECK(n >= 1 && n <= 32);
		CHECK_EQ(pcs[0], 0x1234);
	}
	/* A frame record that points to itself. */
	stack[0] = (uintptr_t)stack;
	CHECK(kasan_stack_walk(0x1234, (uintptr_t)stack, pcs, 32) <= 2);
	CHECK_EQ(kasan_stack_walk(0x1234, 0, pcs, 32), 1);
	CHECK_EQ(kasan_stack_walk(0x1234, (uintptr_t)stack, pcs, 1), 1);
}

/* A bug has overwritten the task: its stack ends at an odd address, and a record that looks right leads out of it. */
static void odd_end_of_the_stack(void)
{
	struct kasan_port_task task = {0};
	uintptr_t stack[64] = {0}, pcs[8];

	REQUIRE(kasan_posix_stack(&task.stack_start, &task.stack_end));
	stack[8 + KASAN_FRAME_RECORD] = (uintptr_t)0x7373737373737373ULL;
	stack[8 + KASAN_FRAME_RA] = 0x5678;
	for (unsigned int odd = 0; odd < 16; odd++) {
		task.stack_end -= odd;
		CHECK_EQ(kasan_stack_walk_fault(&task, 0x1234, (uintptr_t)&stack[8], pcs, 8), 2);
		CHECK_EQ(pcs[0], 0x1234);
		task.stack_end += odd;
	}
}

UNIT_MAIN(single_shot, verdicts_without_reports, suppression_nests,
	  suppressed_operations_take_place, several_threads_at_once, bug_inside_of_a_notice,
	  report_during_the_last_line, other_cpus_still_report, suppression_belongs_to_tasks,
	  ignored_functions, wrong_ignore_lists, ignored_does_not_panic, tasks_that_are_not_known,
	  bugs_in_a_report_are_counted, panic_for_a_bug_that_is_left_out, no_room_on_the_stack,
	  panic_without_room, short_reports_are_judged, bounds_of_the_stack_that_are_garbage,
	  faults_after_checks, broken_frame_records, odd_end_of_the_stack)
