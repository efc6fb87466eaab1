// SPDX-License-Identifier: MIT
/*
 * kasan_text_test.c - the text of reports besides their type: names and places of stack variables, names
 * and lines of globals, the owner of a stack, the creation of work for an object, the CPUs of allocation
 * and free. kasan_test_stack.c and kasan_test_rcu.c test the types.
 */
#include <kernel/arch.h>
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/percpu.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/timer.h>
#include <kernel/workqueue.h>

#include "kasan_test.h"
#include "kasan_whole.h"

#define LINES_MAX 12

/* Texts that must be in lines of the report, in this order; of one that starts with '>' the rest must be in the
 * line behind the one of the text before. How many were. */
static const char *wanted[LINES_MAX + 1];
static unsigned int found;
static bool found_before;

static void look_for_wanted(unsigned int complete, const char *text)
{
	bool adjoins = found_before;
	const char *want;

	found_before = false;
	while ((want = wanted[found]) != NULL) {
		if (want[0] == '>' && !adjoins)
			break;
		if (!strstr(text, want + (want[0] == '>')))
			break;
		/* From here on "the line behind" is another one. */
		adjoins = false;
		found_before = true;
		found++;
	}
}

/* The report that @expression causes must have lines with these texts; NULL behind the last. */
#define EXPECT_TEXT(test, type, texts, ...)                                                   \
	do {                                                                                  \
		memset(wanted, 0, sizeof(wanted));                                            \
		found = 0;                                                                    \
		found_before = false;                                                         \
		for (unsigned int __i = 0; (texts)[__i]; __i++) {                             \
			KUNIT_ASSERT_LT(test, __i, LINES_MAX);                                \
			wanted[__i] = (texts)[__i];                                           \
		}                                                                             \
		_KUNIT_SAVE_LOC(test);                                                        \
		kasan_expect_begin();                                                         \
		kasan_watch_begin(1, look_for_wanted);                                        \
		barrier();                                                                    \
		__VA_ARGS__;                                                                  \
		barrier();                                                                    \
		KUNIT_EXPECT_EQ(test, kasan_watch_end(test, KUNIT_CURRENT_LOC), 1);           \
		kasan_expect_end(test, KUNIT_CURRENT_LOC, #__VA_ARGS__, type, KASAN_ANY,      \
				 KASAN_ANY_SIZE, true);                                       \
		KUNIT_EXPECT_TRUE_MSG(test, !wanted[found], "no line \"%s\"", wanted[found]); \
	} while (0)

static noinline void read_behind(char *p)
{
	HIDE_VAR(p);
	KASAN_TEST_BUG(READ_ACCESS(*p));
}

/* --- Stacks ----------------------------------------------------------------------------------- */

static noinline void two_arrays(void)
{
	char first_array[24], second_array[40];
	char *p = first_array, *q = second_array;

	HIDE_VAR(p);
	HIDE_VAR(q);
	q[0] = p[0] = 1;
	read_behind(p + sizeof(first_array));
}

/* The report names the function that owns the frame, not the one whose access hits it. */
static void variables_of_a_frame(struct kunit *test)
{
	static const char *const texts[] = {"The buggy address belongs to stack of task ",
					    "> and is located at offset ",
					    "> two_arrays+0x",
					    "This frame has 2 objects:",
					    "'first_array'",
					    "'second_array'",
					    NULL};

	EXPECT_TEXT(test, "stack-out-of-bounds", texts, two_arrays());
}

static noinline void ended_block(void)
{
	char *stale = NULL;

	for (int i = 0; i < 1; i++) {
		char inner_array[32];

		stale = inner_array;
		HIDE_VAR(stale);
		stale[i] = 1;
	}
	read_behind(stale + 3);
}

static void variable_of_an_ended_block(struct kunit *test)
{
	static const char *const texts[] = {" and is located at offset ", "> ended_block+0x",
					    "This frame has 1 object:", ">'inner_array'", NULL};

	EXPECT_TEXT(test, "use-after-scope", texts, ended_block());
}

static noinline void alloca_and_array(volatile size_t size)
{
	char fixed_array[24], *q = fixed_array;
	char *p = __builtin_alloca(size);

	HIDE_VAR(p);
	HIDE_VAR(q);
	q[0] = p[0] = 1;
	read_behind(p + size);
}

static noinline void alloca_alone(volatile size_t size)
{
	char *p = __builtin_alloca(size);

	HIDE_VAR(p);
	p[0] = 1;
	read_behind(p - 1);
}

/* GCC's copies for one argument have a suffix, so the functions' names are not followed by "+0x". */
static void frame_of_an_alloca(struct kunit *test)
{
	static const char *const texts[] = {"The buggy address belongs to stack of task ",
					    "> and is located beside memory of alloca() in frame:",
					    "> alloca_and_array",
					    "This frame has 1 object:",
					    ">'fixed_array'",
					    NULL};

	EXPECT_TEXT(test, "alloca-out-of-bounds", texts, alloca_and_array(20));
}

static noinline void calls_alloca_alone(void)
{
	char callers_array[24], *q = callers_array;

	HIDE_VAR(q);
	q[0] = 1;
	alloca_alone(20);
	READ_ACCESS(q[0]);
}

/* Nothing in its frame is described, and the variables of its caller are not taken for its own. */
static void function_of_an_alloca(struct kunit *test)
{
	static const char *const texts[] = {"The buggy address belongs to stack of task ",
					    "> and is located beside memory of alloca() in frame:",
					    "> alloca_alone",
					    ">",
					    ">The buggy address belongs to a ",
					    NULL};

	EXPECT_TEXT(test, "alloca-out-of-bounds", texts, calls_alloca_alone());
}

struct loan {
	char *p;
	struct completion lent, back;
};

static int lend(void *arg)
{
	struct loan *loan = arg;
	char lent_array[32], *p = lent_array;

	HIDE_VAR(p);
	p[0] = 1;
	loan->p = p;
	complete(&loan->lent);
	wait_for_completion(&loan->back);
	return 0;
}

static void stack_of_another_task(struct kunit *test)
{
	char owner[80];
	const char *const texts[] = {owner,	      "> and is located at offset ",
				     "> lend+0x",     "This frame has 1 object:",
				     ">'lent_array'", NULL};
	struct loan *loan = kzalloc(sizeof(*loan), GFP_KERNEL);
	struct task *task;

	KUNIT_ASSERT_NOT_NULL(test, loan);
	init_completion(&loan->lent);
	init_completion(&loan->back);
	task = kthread_run(lend, loan, "lender");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	snprintf(owner, sizeof(owner), "The buggy address belongs to stack of task lender/%d",
		 task->pid);
	wait_for_completion(&loan->lent);
	EXPECT_TEXT(test, "stack-out-of-bounds", texts, read_behind(loan->p + 32));
	complete(&loan->back);
	kthread_join(task);
	kfree(loan);
}

/* --- Globals ---------------------------------------------------------------------------------- */

enum { LINE_BEFORE = __LINE__ };
static char named_global[20];

static void name_and_line_of_a_global(struct kunit *test)
{
	/* Clang's description of a global has no line. */
	char line[32];
	const char *texts[] = {"The buggy address belongs to the variable:",
			       " named_global+0x14/0x14", "kasan_text_test.c", line, NULL};
	char *p = named_global;

#ifdef __clang__
	strscpy(line, " defined in ", sizeof(line));
#else
	snprintf(line, sizeof(line), "kasan_text_test.c:%d", LINE_BEFORE + 1);
#endif
	HIDE_VAR(p);
	p[0] = 1;
	EXPECT_TEXT(test, "global-out-of-bounds", texts, read_behind(p + sizeof(named_global)));
}

/* --- Who created work -------------------------------------------------------------------------- */

#define LAST	    "Last potentially related work creation:"
#define SECOND_LAST "Second to last potentially related work creation:"

struct busy {
	struct rcu_head rcu;
	struct work_struct work;
	struct delayed_work dwork;
};

static void free_in_work(struct work_struct *work)
{
	kfree(container_of(work, struct busy, work));
}

static atomic_t delayed_frees;

static void free_in_delayed_work(struct work_struct *work)
{
	kfree(container_of(to_delayed_work(work), struct busy, dwork));
	atomic_inc(&delayed_frees);
}

static void queue_in_callback(struct rcu_head *head)
{
	queue_work(system_wq, &container_of(head, struct busy, rcu)->work);
}

static noinline void start_with_rcu(struct busy *busy)
{
	call_rcu(&busy->rcu, queue_in_callback);
}

static noinline void start_later(struct busy *busy, unsigned long delay)
{
	queue_delayed_work(system_wq, &busy->dwork, delay);
}

static noinline void start_sooner(struct busy *busy)
{
	mod_delayed_work(system_wq, &busy->dwork, 1);
}

/* The item frees itself when its timer fires, so it must not be touched by the one that waits. */
static void wait_for_delayed_free(int frees)
{
	for (int tries = 0; tries < 1000 && atomic_read(&delayed_frees) == frees; tries++)
		msleep(10);
	flush_workqueue(system_wq);
}

static noinline void free_with_rcu(struct busy *busy)
{
	kfree_rcu(busy, rcu);
}

static struct busy *alloc_busy(struct kunit *test)
{
	struct busy *busy = kzalloc(sizeof(*busy), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, busy);
	INIT_WORK(&busy->work, free_in_work);
	INIT_DELAYED_WORK(&busy->dwork, free_in_delayed_work);
	return busy;
}

/* Queuing to RCU, and from there to a workqueue: the newer one comes first. */
static void work_of_rcu_and_workqueue(struct kunit *test)
{
	static const char *const texts[] = {"Freed by task ",
					    LAST,
					    "> queue_work_on+0x",
					    "> queue_in_callback+0x",
					    SECOND_LAST,
					    "> call_rcu+0x",
					    "> start_with_rcu+0x",
					    "> work_of_rcu_and_workqueue+0x",
					    NULL};
	struct busy *busy = alloc_busy(test);

	start_with_rcu(busy);
	rcu_barrier();
	flush_workqueue(system_wq);
	EXPECT_TEXT(test, "slab-use-after-free", texts, read_behind((char *)busy));
}

/* The code that asked for it, not the timer that queues it in the end. */
static void work_of_delayed_work(struct kunit *test)
{
	static const char *const texts[] = {"Freed by task ", LAST, "> queue_delayed_work_on+0x",
					    "> start_later+0x", NULL};
	struct busy *busy = alloc_busy(test);
	int frees = atomic_read(&delayed_frees);

	start_later(busy, 1);
	wait_for_delayed_free(frees);
	EXPECT_TEXT(test, "slab-use-after-free", texts, read_behind((char *)busy));
}

static void work_of_modified_delayed_work(struct kunit *test)
{
	static const char *const texts[] = {
		"Freed by task ",    LAST,	  "> mod_delayed_work_on+0x",
		"> start_sooner+0x", SECOND_LAST, "> queue_delayed_work_on+0x",
		"> start_later+0x",  NULL};
	struct busy *busy = alloc_busy(test);
	int frees = atomic_read(&delayed_frees);

	start_later(busy, 1000 * HZ);
	start_sooner(busy);
	wait_for_delayed_free(frees);
	EXPECT_TEXT(test, "slab-use-after-free", texts, read_behind((char *)busy));
}

static void work_of_kfree_rcu(struct kunit *test)
{
	static const char *const texts[] = {"Freed by task ", LAST, "> call_rcu+0x",
					    "> free_with_rcu+0x", NULL};
	struct busy *busy = alloc_busy(test);

	free_with_rcu(busy);
	rcu_barrier();
	EXPECT_TEXT(test, "slab-use-after-free", texts, read_behind((char *)busy));
}

static noinline void free_typesafe(struct kmem_cache *cache, void *object)
{
	kmem_cache_free(cache, object);
}

/* The grace period frees it, so the report must show the code that asked for that. */
static void work_of_a_typesafe_free(struct kunit *test)
{
	static const char *const texts[] = {"Freed by task ", LAST, " free_typesafe+0x",
					    "The buggy address belongs to the object at ", NULL};
	struct kmem_cache *cache =
		kmem_cache_create("typesafe", 100, 0, SLAB_TYPESAFE_BY_RCU, NULL);
	char *p;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	p = kmem_cache_alloc(cache, GFP_KERNEL);
	if (p) {
		free_typesafe(cache, p);
		rcu_barrier();
		EXPECT_TEXT(test, "slab-use-after-free", texts, read_behind(p));
	}
	kmem_cache_destroy(cache);
	KUNIT_EXPECT_NOT_NULL(test, p);
}

/* --- Interrupted instructions ----------------------------------------------------------------- */

/* Its only instruction is a jump to itself. */
int spin_in_place(void *arg);

static char *touched;
static bool was_touched;

/* Does nothing unless it interrupts spin_in_place(). */
static noinline void touch_in_spin(void *unused)
{
	uintptr_t pcs[48];
	const size_t n = stack_trace_save(pcs, ARRAY_SIZE(pcs), NULL);

	for (size_t i = 0; i < n && !was_touched; i++) {
		was_touched = pcs[i] == (uintptr_t)spin_in_place;
		if (was_touched)
			read_behind(touched);
	}
}

static void touch_in_timer(struct timer_list *timer)
{
	touch_in_spin(NULL);
	barrier(); /* or the call becomes a jump */
}

static DEFINE_TIMER(touch_timer, touch_in_timer);

/* With several CPUs a timer would not do: the first one that ticks runs it. */
static void interrupt_cpu(unsigned int cpu)
{
	if (num_online_cpus() == 1)
		mod_timer(&touch_timer, jiffies + 1);
	else
		smp_call_function_single(cpu, touch_in_spin, NULL, true);
}

/* A trace shows it as it is. A return address of the same value would belong to the function before. */
static void interrupted_instruction(struct kunit *test)
{
	static const char *const texts[] = {"Call trace:", " read_behind+0x", "> touch_in_spin+0x",
					    " spin_in_place+0x0/", NULL};
	struct task *task;
	unsigned int cpu;

#ifdef CONFIG_PREEMPT_RT
	kunit_skip(test, "timers do not interrupt threads");
#endif
	touched = kmalloc(40, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, touched);
	kfree(touched);
	was_touched = false;
	task = kthread_create(spin_in_place, NULL, "spin");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	/* It has a CPU to itself, if there is a second one. */
	migrate_disable();
	cpu = smp_processor_id() ? 0 : nr_cpu_ids - 1;
	kthread_bind(task, cpu);
	wake_up_process(task);
	EXPECT_TEXT(test, "slab-use-after-free", texts, {
		for (int tries = 0; tries < 500 && !READ_ONCE(was_touched); tries++) {
			interrupt_cpu(cpu);
			msleep(10);
		}
	});
	migrate_enable();
	kthread_kill(task);
	kthread_join(task);
	del_timer_sync(&touch_timer);
}

/* --- On which CPUs ------------------------------------------------------------------------------ */

#ifdef CONFIG_KASAN_EXTRA_INFO
#define TEST_EXTRA_INFO true
#else
#define TEST_EXTRA_INFO false
#endif

#define ALLOC_CPU  2
#define FREE_CPU   3
#define REPORT_CPU 1

static char *traveller;

static int alloc_traveller(void *arg)
{
	traveller = kmalloc(40, GFP_KERNEL);
	return 0;
}

static int free_traveller(void *arg)
{
	kfree(traveller);
	return 0;
}

static int read_traveller(void *arg)
{
	read_behind(traveller);
	return 0;
}

static struct task *new_on_cpu(struct kunit *test, unsigned int cpu, int (*fn)(void *))
{
	struct task *task = kthread_create(fn, NULL, "text/%u", cpu);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	kthread_bind(task, cpu);
	return task;
}

static void run(struct task *task)
{
	wake_up_process(task);
	kthread_join(task);
}

static void cpus_of_allocation_and_free(struct kunit *test)
{
	char banner[40], alloc[60], free[60];
	const char *const texts[] = {banner, alloc, free, NULL};
	struct task *task;

	kunit_needs(test, TEST_EXTRA_INFO, "CONFIG_KASAN_EXTRA_INFO=y");
	kunit_needs(test, num_online_cpus() > FREE_CPU, "4 CPUs");
	task = new_on_cpu(test, ALLOC_CPU, alloc_traveller);
	snprintf(alloc, sizeof(alloc), "Allocated by task %d on cpu %d at ", task->pid, ALLOC_CPU);
	run(task);
	KUNIT_ASSERT_NOT_NULL(test, traveller);
	task = new_on_cpu(test, FREE_CPU, free_traveller);
	snprintf(free, sizeof(free), "Freed by task %d on cpu %d at ", task->pid, FREE_CPU);
	run(task);
	task = new_on_cpu(test, REPORT_CPU, read_traveller);
	snprintf(banner, sizeof(banner), "CPU: %d PID: %d ", REPORT_CPU, task->pid);
	EXPECT_TEXT(test, "slab-use-after-free", texts, run(task));
}

/* --- Memory with a copy per CPU --------------------------------------------------------------- */

static DEFINE_PER_CPU(char[20], a_copy);

static void copies_of_cpus(struct kunit *test)
{
	static const char *const image[] = {
		"The buggy address is 2 bytes to the right of variable a_copy of CPU 1: 20 bytes [",
		NULL};
	static const char *const heap[] = {
		"Allocated by task ", "__alloc_percpu+0x",
		"The buggy address is 1 bytes to the left of variable area of CPU 0: 20 bytes [",
		NULL};
	static const char *const freed[] = {
		"Freed by task ", "free_percpu+0x",
		"The buggy address is 3 bytes inside of variable area of CPU 0: 20 bytes [", NULL};
	PER_CPU_POINTER(char[20], area);
	char *p = per_cpu(a_copy, 1);

	if (KASAN_TEST_GLOBALS)
		EXPECT_TEXT(test, "global-out-of-bounds", image, read_behind(p + 22));
	area = alloc_percpu(area);
	KUNIT_ASSERT_NOT_NULL(test, area);
	p = *per_cpu_ptr(area, 0);
	EXPECT_TEXT(test, "slab-out-of-bounds", heap, read_behind(p - 1));
	free_percpu(area);
	EXPECT_TEXT(test, "slab-use-after-free", freed, read_behind(p + 3));
}

KASAN_BUG_SUITE(kasan_text, KUNIT_CASE(variables_of_a_frame),
		KUNIT_CASE(variable_of_an_ended_block), KUNIT_CASE(frame_of_an_alloca),
		KUNIT_CASE(function_of_an_alloca), KUNIT_CASE(stack_of_another_task),
		KUNIT_CASE(name_and_line_of_a_global), KUNIT_CASE(work_of_rcu_and_workqueue),
		KUNIT_CASE(work_of_delayed_work), KUNIT_CASE(work_of_modified_delayed_work),
		KUNIT_CASE(work_of_kfree_rcu), KUNIT_CASE(work_of_a_typesafe_free),
		KUNIT_CASE(interrupted_instruction), KUNIT_CASE(cpus_of_allocation_and_free),
		KUNIT_CASE(copies_of_cpus));
