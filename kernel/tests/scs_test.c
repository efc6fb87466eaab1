// SPDX-License-Identifier: MIT
/*
 * scs_test.c - the shadow call stack: every context keeps it right, a return goes where the call came from, and
 * threads get one or do not start. scs_trace_test.c has the traces. A pointer that is lost ends the machine:
 * tests/e2e/test_scs.py.
 */
#include <kernel/arch.h>
#include <kernel/fault.h>
#include <kernel/fault_inject.h>
#include <kernel/kernel.h>
#include <kernel/module.h>
#include <kernel/sched.h>
#include <kernel/scs.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/softirq.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/timer.h>
#include <kernel/vmalloc.h>
#include <kernel/wait.h>
#include <asm/stacktrace.h>

#include "kasan_test.h"
#include "module_sample.h"
#include "scs_test.h"
#include "user_test.h"

/* Return: 0 if this thread has a shadow call stack of its own, as it should be; else a number for the fault. */
static int fault_of_thread(void)
{
	const uintptr_t top = scs_pointer(), base = scs_base_of(top);
	const uintptr_t *entry = (const uintptr_t *)base;
	struct scs_place place;

	if (!scs_find(top, &place) || place.kind != SCS_TASK)
		return 1;
	if (place.base != base || (base - sizeof(u64)) & (SCS_SIZE - 1))
		return 2;
	if (place.end - base != scs_size(current->stack_size) - sizeof(u64))
		return 3;
	/* Nothing was interrupted, and the first call was the thread's function. */
	if (entry[-1] || !is_in(scs_strip(entry[0]), ret_from_fork))
		return 4;
	scs_check();
	return 0;
}

/* --- Contexts ------------------------------------------------------------------------------------- */

static int report_fault(void *fault)
{
	*(int *)fault = fault_of_thread();
	return 0;
}

static int exit_deep(void *arg)
{
	/* kthread_exit() drops frames, and what they have pushed. */
	kthread_exit(fault_of_thread());
}

static void threads_start_and_end(struct kunit *test)
{
	static const size_t sizes[] = {PAGE_SIZE, THREAD_SIZE, 256UL << 10, 1UL << 20, 4UL << 20};
	int fault;

	KUNIT_EXPECT_EQ(test, fault_of_thread(), 0);
	KUNIT_EXPECT_EQ(test, scs_size(THREAD_SIZE), PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, scs_size(1UL << 20), SCS_SIZE);
	KUNIT_EXPECT_EQ(test, scs_size(4UL << 20), SCS_SIZE);
	/* Later threads get the stacks of earlier ones. */
	for (unsigned int i = 0; i < 4 * ARRAY_SIZE(sizes); i++) {
		struct task *task;

		fault = -1;
		task = kthread_create_sized(report_fault, &fault, sizes[i % ARRAY_SIZE(sizes)],
					    "scs/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		wake_up_process(task);
		KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
		KUNIT_EXPECT_EQ(test, fault, 0);
		task = kthread_run(exit_deep, NULL, "scs exit");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	}
}

/* Other threads run between any two of these calls. Return: the number of levels that kept their place. */
static noinline int nest(unsigned int depth)
{
	const uintptr_t top = scs_pointer();
	const uintptr_t newest = *((const uintptr_t *)top - 1);
	int kept = 0;

	yield();
	if (depth)
		kept = nest(depth - 1);
	yield();
	scs_check();
	return kept + (scs_pointer() == top && *((const uintptr_t *)top - 1) == newest);
}

#define NESTS  60U
#define TASKS  16U
#define ROUNDS 4

static int nest_often(void *arg)
{
	int kept = 0;

	for (int i = 0; i < ROUNDS; i++)
		kept += nest(NESTS - 1);
	return kept;
}

static void switches_among_threads(struct kunit *test)
{
	struct task *tasks[TASKS];

	for (unsigned int i = 0; i < TASKS; i++) {
		tasks[i] = kthread_run(nest_often, NULL, "scs nest/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (unsigned int i = 0; i < TASKS; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), (int)NESTS * ROUNDS);
}

/* What a handler found out. */
static struct {
	volatile bool seen;
	struct scs_place place;
	bool has_outer;
	uintptr_t outer, interrupted;
	size_t n;
	uintptr_t pcs[DEPTH];
	struct task *task;
} handled;
static volatile bool spin_on;
static bool spinning; /* the thread is in its loop */

static noinline void relax(void)
{
	cpu_relax();
}

/* It calls a function, so its caller's address is on the stack: a function that does not keeps it in a register,
 * and no trace has the caller then. */
static noinline void spin_inside(void)
{
	while (spin_on) {
		relax();
		/* Behind a call: the function has pushed its caller by then, even if the compiler does it late. */
		WRITE_ONCE(spinning, true);
		for (int i = 0; i < 1000; i++)
			cpu_relax();
	}
}

static int spin(void *arg)
{
	spin_inside();
	return fault_of_thread();
}

static void look_in_interrupt(void *arg)
{
	const uintptr_t top = scs_pointer();
	const uintptr_t *entry;

	if (handled.seen || in_task() || current != READ_ONCE(handled.task))
		return;
	scs_check();
	if (!scs_find(top, &handled.place))
		return;
	handled.has_outer = kasan_port_scs_outer(handled.place.base, &handled.outer);
	/* Below a soft interrupt are the calls from the entry of the interrupt to here. */
	entry = (const uintptr_t *)handled.outer;
	for (int i = 0; i < (handled.place.kind == SCS_IRQ ? 1 : 6); i++) {
		handled.interrupted = scs_strip(*--entry);
		if (is_in(handled.interrupted, spin_inside))
			break;
	}
	handled.n = stack_trace_save(handled.pcs, DEPTH, NULL);
	/* It has to be the loop. The function pushes its caller when it starts, which a trace does not have before
	 * that; and the thread may be leaving. */
	handled.seen = READ_ONCE(spinning) && is_in(handled.interrupted, spin_inside);
}

static void look_in_timer(struct timer_list *timer)
{
	look_in_interrupt(NULL);
}

static void look_in_tasklet(struct tasklet_struct *tasklet)
{
	look_in_interrupt(NULL);
}

static DEFINE_TIMER(look_timer, look_in_timer);
static DECLARE_TASKLET(look_tasklet, look_in_tasklet);

/* An interrupt that leaves work behind: it runs on this CPU, on top of the interrupted task. */
static void look_later(void *arg)
{
	tasklet_schedule(&look_tasklet);
}

/* Have @cpu look once. With several CPUs a timer would not do: the first one that ticks runs it. */
static void look_once(unsigned int cpu, enum scs_kind kind)
{
	if (num_online_cpus() == 1)
		mod_timer(&look_timer, jiffies + 1);
	else
		smp_call_function_single(cpu, kind == SCS_IRQ ? look_in_interrupt : look_later,
					 NULL, true);
}

/* Interrupt a thread that is in spin_inside(), and look from there: from an interrupt, or from a soft interrupt. */
static void look_from(struct kunit *test, enum scs_kind kind)
{
	unsigned int cpu;

	handled.seen = spinning = false;
	spin_on = true;
	handled.task = kthread_create(spin, NULL, "scs spin");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, handled.task);
	/* It has a CPU to itself, if there is a second one. */
	migrate_disable();
	cpu = smp_processor_id() ? 0 : nr_cpu_ids - 1;
	kthread_bind(handled.task, cpu);
	wake_up_process(handled.task);
	for (int tries = 0; tries < 500 && !handled.seen; tries++) {
		look_once(cpu, kind);
		msleep(10);
	}
	del_timer_sync(&look_timer);
	tasklet_kill(&look_tasklet);
	spin_on = false;
	KUNIT_EXPECT_EQ(test, kthread_join(handled.task), 0);
	migrate_enable();
	KUNIT_ASSERT_TRUE(test, handled.seen);

	KUNIT_EXPECT_EQ(test, (int)handled.place.kind, (int)kind);
	KUNIT_EXPECT_TRUE(test, handled.has_outer);
	KUNIT_EXPECT_EQ(test, handled.place.base & (SCS_SIZE - 1), sizeof(u64));
	/* The trace goes on in the interrupted thread, to its start, and no frame is missing or twice. */
	KUNIT_EXPECT_TRUE(test, trace_has(handled.pcs, handled.n, look_in_interrupt));
	for (size_t i = 1; i < handled.n; i++) {
		if (is_in(handled.pcs[i], spin_inside)) {
			KUNIT_EXPECT_EQ(test, handled.pcs[i], handled.interrupted);
			KUNIT_ASSERT_LT(test, i + 1, handled.n);
			KUNIT_EXPECT_TRUE(test, is_in(handled.pcs[i + 1], spin));
		}
	}
	KUNIT_EXPECT_TRUE(test, trace_has(handled.pcs, handled.n, spin_inside));
	KUNIT_EXPECT_TRUE(test, is_in(handled.pcs[handled.n - 1], ret_from_fork));
}

static void interrupts(struct kunit *test)
{
	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	look_from(test, SCS_IRQ);
}

static void soft_interrupts(struct kunit *test)
{
#ifdef CONFIG_PREEMPT_RT
	kunit_skip(test, "threads run soft interrupts");
#endif
	look_from(test, SCS_SOFTIRQ);
}

/* The shadow call stack of a timer's function. A thread runs it if the soft interrupts were too many for one interrupt, or
 * in a real-time kernel always. */
#ifdef CONFIG_PREEMPT_RT
#define OF_TIMERS SCS_TASK
#else
#define OF_TIMERS (strncmp(current->comm, "ksoftirqd/", 10) ? SCS_SOFTIRQ : SCS_TASK)
#endif

/* A refused user copy is an exception: in a soft interrupt it pushes on that one's stack and returns there. */
static void nested_exception(struct timer_list *timer)
{
	const uintptr_t top = scs_pointer();
	struct scs_place place;
	size_t refused = 0;
	char byte;

	for (int i = 0; i < 3; i++)
		refused += __arch_copy_from_user(&byte, (const void __user *)8, 1);
	scs_check();
	/* On a busy host the timer is set again while it runs, and all of this happens twice. */
	handled.n = refused;
	handled.has_outer = scs_find(top, &place) && place.kind == OF_TIMERS;
	handled.seen = scs_pointer() == top;
}

static void exceptions_in_interrupts(struct kunit *test)
{
	static DEFINE_TIMER(timer, nested_exception);

	handled.seen = handled.has_outer = false;
	for (int tries = 0; tries < 100 && !handled.seen; tries++) {
		mod_timer(&timer, jiffies + 1);
		msleep(20);
	}
	del_timer_sync(&timer);
	KUNIT_EXPECT_TRUE(test, handled.seen);
	KUNIT_EXPECT_TRUE(test, handled.has_outer);
	KUNIT_EXPECT_EQ(test, handled.n, 3);
	KUNIT_EXPECT_EQ(test, fault_of_thread(), 0);
}

/* Return: a fault of the thread that gets the stacks of the last one. */
static int fault_of_next(struct kunit *test)
{
	struct task *task;
	int fault = -1;

	task = kthread_run(report_fault, &fault, "scs next");
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, task);
	if (!IS_ERR(task))
		kthread_join(task);
	return fault;
}

static void user_mode(struct kunit *test)
{
	/* The program's register is its own, through interrupts and system calls. */
	USER_TEST_PASSES(test, "registers", "100000");
	USER_TEST_PASSES(test, "getpid");
	KUNIT_EXPECT_EQ(test, fault_of_next(test), 0);
}

static void killed_in_a_system_call(struct kunit *test)
{
	static const char *const sleeps[] = {"sleep", "100", NULL};
	static const char *const spins[] = {"spin", NULL};

	for (int i = 0; i < 4; i++) {
		struct process *process = user_test_start(test, i % 2 ? spins : sleeps);

		KUNIT_ASSERT_NOT_NULL(test, process);
		msleep(30);
		process_kill(process, SIGKILL);
		KUNIT_EXPECT_EQ(test, process_wait(process), SIGKILL);
		KUNIT_EXPECT_EQ(test, fault_of_next(test), 0);
	}
}

static noinline int kill_inside(unsigned int depth)
{
	if (depth)
		return kill_inside(depth - 1) + 1;
	kthread_kill(current);
	while (spin_on)
		cond_resched();
	return 0;
}

static int be_killed(void *arg)
{
	return kill_inside(20);
}

static void killed_in_deep_calls(struct kunit *test)
{
	spin_on = true;
	for (int i = 0; i < 4; i++) {
		struct task *task = kthread_run(be_killed, NULL, "scs killed");

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		KUNIT_EXPECT_EQ(test, kthread_join(task), -EFAULT);
		KUNIT_EXPECT_EQ(test, fault_of_next(test), 0);
	}
}

/* Does the function that starts at @code push its return address? */
static bool pushes(uintptr_t code)
{
	bool found = false;

	for (uintptr_t pc = code + 4; pc <= code + 64; pc += 4)
		found |= scs_has_pushed(code, pc);
	return found;
}

static void modules(struct kunit *test)
{
	const uintptr_t top = scs_pointer();
	struct module *m;
	int (*function)(int, int);

	KUNIT_ASSERT_EQ(test,
			load_module("module_sample.ko", module_sample_start,
				    (size_t)(module_sample_end - module_sample_start), 0, &m, NULL),
			0);
	function = (__typeof__(function))module_address(m, "sample_through_pointer");
	KUNIT_EXPECT_EQ(test, function(4, 5), 9);
	KUNIT_EXPECT_EQ(test, scs_pointer(), top);
	KUNIT_EXPECT_TRUE(test, pushes((uintptr_t)function));
	KUNIT_EXPECT_EQ(test, unload_module("module_sample"), 0);
	KUNIT_EXPECT_EQ(test, fault_of_thread(), 0);
}

/* --- Protection ----------------------------------------------------------------------------------- */

static volatile bool hijacked;

static int hijack(void)
{
	hijacked = true;
	kthread_exit(1);
}

static noinline int step(int value)
{
	HIDE_VAR(value);
	return value + 1;
}

/* Overwrites the return address in its own frame record, as an overflow of a buffer would. */
static noinline int overwrite(int value)
{
	volatile uintptr_t *record =
		(volatile uintptr_t *)arch_frame_record((uintptr_t)__builtin_frame_address(0));

	record[1] = (uintptr_t)hijack;
	barrier();
	return step(value);
}

static int call_overwrite(void *arg)
{
	return overwrite(41);
}

static void overwritten_return_address(struct kunit *test)
{
	struct task *task;

	hijacked = false;
	task = kthread_run(call_overwrite, NULL, "scs overwrite");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 42);
	KUNIT_EXPECT_FALSE(test, hijacked);
}

static noinline void return_too_often(void)
{
	(void)step(1);
	/* As if every caller had returned already. */
	scs_set_pointer(scs_base_of(scs_pointer()));
}

static int underflow(void *arg)
{
	return_too_often();
	hijacked = true;
	return 0;
}

static void return_with_an_empty_one(struct kunit *test)
{
	unsigned int oopses = READ_ONCE(oops_count);
	struct task *task;

	hijacked = false;
	task = kthread_run(underflow, NULL, "scs underflow");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), -EFAULT);
	KUNIT_EXPECT_EQ(test, READ_ONCE(oops_count), oopses + 1);
	KUNIT_EXPECT_FALSE(test, hijacked);
	KUNIT_EXPECT_EQ(test, fault_of_next(test), 0);
}

/* --- No memory ------------------------------------------------------------------------------------ */

static int nothing(void *arg)
{
	return 0;
}

/* Each allocation of a thread's creation fails in turn. */
static void no_memory(struct kunit *test)
{
	const void *alloc = scs_alloc;
	unsigned long n, seen, refused = 0, again = 0;

	for (n = 1; n < 1000; n++) {
		uintptr_t site[FAULT_SITE_DEPTH];
		struct task *task;
		unsigned long areas;

		/* No thread of before has left its stacks to the next. */
		vmalloc_purge();
		areas = vmalloc_nr_areas();
		fault_inject_nth(FAULT_ALL, n, 1, current);
		task = kthread_create(nothing, NULL, "scs memory");
		seen = fault_inject_stop(site);
		if (seen < n) {
			KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
			wake_up_process(task);
			KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
			if (refused || again++ == 100)
				break;
			/* A thread of before ended on another CPU since, and its stacks were used. */
			n = 0;
			continue;
		}
		if (trace_has(site, FAULT_SITE_DEPTH, alloc)) {
			refused++;
			if (IS_ERR(task)) {
				KUNIT_EXPECT_EQ(test, PTR_ERR(task), -ENOMEM);
				KUNIT_EXPECT_EQ(test, vmalloc_nr_areas(), areas);
			}
		}
		/* The runtime's tables can do without, so a thread may have been made. */
		if (!IS_ERR(task))
			kthread_join(task);
	}
	KUNIT_EXPECT_LT(test, n, 1000);
	KUNIT_EXPECT_GT(test, refused, 0);
	KUNIT_EXPECT_EQ(test, fault_of_next(test), 0);
}

/* --- Reports -------------------------------------------------------------------------------------- */

#ifdef CONFIG_KASAN

static noinline void write_freed(void)
{
	char *p = kmalloc(24, GFP_KERNEL);

	kfree(p);
	HIDE_VAR(p);
	KASAN_TEST_BUG(WRITE_ACCESS(*p, 1));
	kasan_settle();
}

static int report_and_end(void *arg)
{
	current->kflags |= PF_ONE_REPORT;
	write_freed();
	return 0;
}

static void report_that_jumps_out(struct kunit *test)
{
	kunit_needs(test, kasan_enabled(), "KASAN that is on");
	for (int i = 0; i < 3; i++) {
		struct task *task = kthread_create(report_and_end, NULL, "scs report");

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		KUNIT_EXPECT_KASAN_FAIL(test, {
			wake_up_process(task);
			KUNIT_EXPECT_EQ(test, kthread_join(task), -EFAULT);
		});
		KUNIT_EXPECT_EQ(test, fault_of_next(test), 0);
	}
}

#endif

static struct kunit_case scs_test_cases[] = {
	KUNIT_CASE(threads_start_and_end),
	KUNIT_CASE(switches_among_threads),
	KUNIT_CASE(interrupts),
	KUNIT_CASE(soft_interrupts),
	KUNIT_CASE(exceptions_in_interrupts),
	KUNIT_CASE(user_mode),
	KUNIT_CASE(killed_in_a_system_call),
	KUNIT_CASE(killed_in_deep_calls),
	KUNIT_CASE(modules),
	KUNIT_CASE(overwritten_return_address),
	KUNIT_CASE(return_with_an_empty_one),
	KUNIT_CASE(no_memory),
#ifdef CONFIG_KASAN
	KUNIT_CASE(report_that_jumps_out),
#endif
	{},
};

KUNIT_SUITE(scs, scs_test_cases, .suite_init = kasan_test_suite_init,
	    .suite_exit = kasan_test_suite_exit, .init = user_test_init, .exit = kasan_test_exit);
