// SPDX-License-Identifier: MIT
/*
 * softirq_test.c - soft interrupts and tasklets: when they run, on top of what, and for how long.
 *
 * A tasklet is the probe: its function notes the context that it runs in.
 */
#include <kernel/arch.h>
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/softirq.h>
#include <kernel/spinlock.h>
#include <kernel/stacktrace.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/timer.h>
#include <kunit/test.h>

#include "scs_test.h"

/* Real-time kernels run soft interrupts in threads only, which may be preempted. */
#ifdef CONFIG_PREEMPT_RT
#define IN_THREADS true
#else
#define IN_THREADS false
#endif

/* What a tasklet has found out about its context. */
struct probe {
	struct tasklet_struct tasklet;
	atomic_t runs;
	const struct task *task;
	unsigned int cpu;
	bool in_softirq, in_hardirq, in_task, irqs_off;
};

static bool is_thread(const struct task *task)
{
	return strncmp(task->comm, "ksoftirqd/", 10) == 0;
}

static void look(struct tasklet_struct *tasklet)
{
	struct probe *probe = from_tasklet(probe, tasklet, tasklet);

	probe->task = current;
	probe->cpu = smp_processor_id();
	probe->in_softirq = in_serving_softirq();
	probe->in_hardirq = in_hardirq();
	probe->in_task = in_task();
	probe->irqs_off = irqs_disabled();
	atomic_inc(&probe->runs);
}

static void wait_for_runs(struct kunit *test, const atomic_t *runs, int n)
{
	for (int tries = 0; tries < 500 && atomic_read(runs) < n; tries++)
		msleep(10);
	KUNIT_EXPECT_EQ(test, atomic_read(runs), n);
}

/* Let interrupts come for some ticks. */
static void spin_ticks(unsigned int n)
{
	for (unsigned long end = jiffies + n; time_before(jiffies, end);)
		cpu_relax();
}

/* --- Contexts ---------------------------------------------------------------------------------- */

static void counting(struct kunit *test)
{
	const int atomic = IN_THREADS ? 0 : 2 * SOFTIRQ_DISABLE_OFFSET;

	KUNIT_EXPECT_FALSE(test, in_softirq());
	local_bh_disable();
	KUNIT_EXPECT_TRUE(test, in_softirq());
	KUNIT_EXPECT_TRUE(test, in_interrupt());
	KUNIT_EXPECT_FALSE(test, in_serving_softirq());
	KUNIT_EXPECT_FALSE(test, in_hardirq());
	KUNIT_EXPECT_TRUE(test, in_task());
	KUNIT_EXPECT_EQ(test, in_atomic(), !IN_THREADS);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, preempt_count(), atomic);
	KUNIT_EXPECT_EQ(test, softirq_count(), 2 * SOFTIRQ_DISABLE_OFFSET);
	/* The two counters do not run into each other. */
	for (int i = 0; i < 100; i++)
		preempt_disable();
	KUNIT_EXPECT_EQ(test, softirq_count(), 2 * SOFTIRQ_DISABLE_OFFSET);
	for (int i = 0; i < 100; i++)
		preempt_enable();
	local_bh_enable();
	KUNIT_EXPECT_TRUE(test, in_softirq());
	local_bh_enable();
	KUNIT_EXPECT_FALSE(test, in_interrupt());
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
}

/* A task that raises one has no interrupt behind it: the CPU's thread runs it. */
static void from_a_task(struct kunit *test)
{
	struct probe probe = {0};

	tasklet_setup(&probe.tasklet, look);
	tasklet_schedule(&probe.tasklet);
	wait_for_runs(test, &probe.runs, 1);
	KUNIT_EXPECT_TRUE(test, probe.in_softirq);
	KUNIT_EXPECT_FALSE(test, probe.in_hardirq);
	KUNIT_EXPECT_FALSE(test, probe.in_task);
	KUNIT_EXPECT_FALSE(test, probe.irqs_off);
}

/* A soft interrupt that is raised while they are off runs where the outermost local_bh_enable() allows it, on that task, or in
 * the thread. */
static void behind_local_bh_enable(struct kunit *test)
{
	struct probe probe = {0};
	unsigned int cpu;

	tasklet_setup(&probe.tasklet, look);
	local_bh_disable();
	cpu = smp_processor_id();
	local_bh_disable();
	tasklet_schedule(&probe.tasklet);
	spin_ticks(3);
	KUNIT_EXPECT_EQ(test, atomic_read(&probe.runs), 0);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, atomic_read(&probe.runs), 0);
	local_bh_enable();
	if (IN_THREADS) {
		wait_for_runs(test, &probe.runs, 1);
		KUNIT_EXPECT_TRUE(test, is_thread(probe.task));
	} else {
		KUNIT_EXPECT_EQ(test, atomic_read(&probe.runs), 1);
		KUNIT_EXPECT_PTR_EQ(test, probe.task, (const struct task *)current);
	}
	KUNIT_EXPECT_EQ(test, probe.cpu, cpu);
	KUNIT_EXPECT_TRUE(test, probe.in_softirq);
	KUNIT_EXPECT_FALSE(test, probe.irqs_off);
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
}

/* --- On top of a task ---------------------------------------------------------------------------- */

/* A thread that is alone on its CPU, apart from what interrupts it: the test stays on another one. */
static struct {
	struct task *task;
	unsigned int cpu;
	volatile bool spinning, stop;
	struct probe probe;
	struct tasklet_struct second;
	atomic_t inside, nested, stays, leave;
	uintptr_t pcs[DEPTH];
	size_t n;
	bool soft_below, hard_on_top;
} top;

static noinline void top_spin(void)
{
	while (!top.stop) {
		WRITE_ONCE(top.spinning, true);
		for (int i = 0; i < 100; i++)
			cpu_relax();
	}
	barrier();
}

static int top_thread(void *unused)
{
	top_spin();
	return 0;
}

static void start_top(struct kunit *test)
{
	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	memset(&top, 0, sizeof(top));
	top.task = kthread_create(top_thread, NULL, "softirq top");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, top.task);
	migrate_disable();
	top.cpu = smp_processor_id() ? 0 : nr_cpu_ids - 1;
	kthread_bind(top.task, top.cpu);
	wake_up_process(top.task);
	while (!top.spinning)
		msleep(1);
}

static void stop_top(struct kunit *test)
{
	top.stop = true;
	KUNIT_EXPECT_EQ(test, kthread_join(top.task), 0);
	migrate_enable();
}

static void schedule_tasklet(void *tasklet)
{
	tasklet_schedule(tasklet);
}

/* Where an interrupt's soft interrupts run. */
static bool is_behind(const struct task *task)
{
	return IN_THREADS ? task && is_thread(task) : task == top.task;
}

/* An interrupt raises it: it runs at that interrupt's end, on top of the interrupted thread, or in the CPU's thread. */
static void behind_an_interrupt(struct kunit *test)
{
	start_top(test);
	tasklet_setup(&top.probe.tasklet, look);
	/* The interrupt may come while another thread of that CPU runs. */
	for (int i = 1; i <= 100 && !is_behind(top.probe.task); i++) {
		smp_call_function_single(top.cpu, schedule_tasklet, &top.probe.tasklet, true);
		wait_for_runs(test, &top.probe.runs, i);
	}
	KUNIT_EXPECT_TRUE(test, is_behind(top.probe.task));
	KUNIT_EXPECT_EQ(test, top.probe.cpu, top.cpu);
	KUNIT_EXPECT_TRUE(test, top.probe.in_softirq);
	KUNIT_EXPECT_FALSE(test, top.probe.in_hardirq);
	KUNIT_EXPECT_FALSE(test, top.probe.irqs_off);
	stop_top(test);
}

/* Stays until it is told to leave. */
static noinline void stay(struct tasklet_struct *tasklet)
{
	atomic_inc(&top.inside);
	atomic_inc(&top.stays);
	for (unsigned long end = jiffies + 10 * HZ;
	     !atomic_read(&top.leave) && time_before(jiffies, end);)
		cpu_relax();
	atomic_dec(&top.inside);
}

static void note_nesting(struct tasklet_struct *tasklet)
{
	if (atomic_read(&top.inside))
		atomic_inc(&top.nested);
	atomic_inc(&top.probe.runs);
}

static noinline void hard_on_soft(void *unused)
{
	/* Other threads of this CPU have their turns, if a thread runs the soft interrupt. */
	if (!in_serving_softirq())
		return;
	top.hard_on_top = in_hardirq();
	top.n = stack_trace_save(top.pcs, DEPTH, NULL);
	/* A function that stay() calls, and that has no frame record yet, takes its place: then the next one will do. */
	top.soft_below = trace_has(top.pcs, top.n, stay);
	tasklet_schedule(&top.second);
}

static int index_in_trace(const void *function)
{
	for (size_t i = 0; i < top.n; i++) {
		if (is_in(top.pcs[i], function))
			return (int)i;
	}
	return -1;
}

/* Interrupts come while a soft interrupt runs. What they raise waits for its end. Traces have all three parts. */
static void interrupted(struct kunit *test)
{
	int hard, soft, task;

	start_top(test);
	tasklet_setup(&top.probe.tasklet, stay);
	tasklet_setup(&top.second, note_nesting);
	smp_call_function_single(top.cpu, schedule_tasklet, &top.probe.tasklet, true);
	for (int tries = 0; tries < 500 && !atomic_read(&top.inside); tries++)
		msleep(10);
	KUNIT_EXPECT_EQ(test, atomic_read(&top.inside), 1);
	for (int i = 0; i < 500 && !top.soft_below; i++) {
		smp_call_function_single(top.cpu, hard_on_soft, NULL, true);
		msleep(3);
	}
	msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&top.probe.runs), 0);
	atomic_set(&top.leave, 1);
	wait_for_runs(test, &top.probe.runs, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&top.nested), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&top.stays), 1);
	KUNIT_EXPECT_TRUE(test, top.soft_below);
	KUNIT_EXPECT_TRUE(test, top.hard_on_top);

	hard = index_in_trace(hard_on_soft);
	soft = index_in_trace(stay);
	task = index_in_trace(top_spin);
	KUNIT_EXPECT_EQ(test, hard, 0);
	KUNIT_EXPECT_GT(test, soft, hard);
	/* Unless the first interrupt found another thread there. */
	if (task >= 0)
		KUNIT_EXPECT_GT(test, task, soft);
	KUNIT_EXPECT_TRUE(test, is_in(top.pcs[top.n - 1], ret_from_fork) || top.n == DEPTH);
	stop_top(test);
}

/* --- Too many of them ---------------------------------------------------------------------------- */

static struct {
	struct tasklet_struct tasklet;
	volatile bool stop;
	unsigned long on_top, in_thread;
} storm;

/* As soon as it has run it is to run again. */
static void again(struct tasklet_struct *tasklet)
{
	if (is_thread(current))
		storm.in_thread++;
	else
		storm.on_top++;
	if (!storm.stop)
		tasklet_schedule(tasklet);
}

static int outlive_storm(void *unused)
{
	/* This thread gets its share of the CPU: else the loop does not end. */
	local_bh_disable();
	tasklet_schedule(&storm.tasklet);
	local_bh_enable();
	/* On a busy host a tick may come after few instructions, and then the interrupts have their rounds more often. */
	for (int i = 0; i < 10 || (storm.in_thread <= storm.on_top && i < 500); i++) {
		spin_ticks(1);
		yield();
	}
	storm.stop = true;
	return 0;
}

/* Work that never ends does not keep tasks off the CPU. */
static void endless_work(struct kunit *test)
{
	struct task *task = kthread_create(outlive_storm, NULL, "softirq storm");
	int value = -1;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	memset(&storm, 0, sizeof(storm));
	tasklet_setup(&storm.tasklet, again);
	kthread_bind(task, nr_cpu_ids - 1);
	wake_up_process(task);
	if (!kthread_join_timeout(task, 20 * HZ, &value)) {
		storm.stop = true;
		kthread_join(task);
	}
	tasklet_kill(&storm.tasklet);
	KUNIT_EXPECT_EQ(test, value, 0);
	KUNIT_EXPECT_EQ(test, storm.on_top > 0, !IN_THREADS);
	KUNIT_EXPECT_GT(test, storm.in_thread, 0);
	KUNIT_EXPECT_GT(test, storm.in_thread, storm.on_top);
}

/* --- Tasklets ------------------------------------------------------------------------------------ */

static void scheduled_twice(struct kunit *test)
{
	struct probe probe = {0};

	tasklet_setup(&probe.tasklet, look);
	local_bh_disable();
	tasklet_schedule(&probe.tasklet);
	tasklet_schedule(&probe.tasklet);
	local_bh_enable();
	tasklet_kill(&probe.tasklet);
	KUNIT_EXPECT_EQ(test, atomic_read(&probe.runs), 1);
	tasklet_schedule(&probe.tasklet);
	tasklet_kill(&probe.tasklet);
	KUNIT_EXPECT_EQ(test, atomic_read(&probe.runs), 2);
}

static void disabled(struct kunit *test)
{
	struct probe probe = {0};

	tasklet_setup(&probe.tasklet, look);
	tasklet_disable(&probe.tasklet);
	tasklet_disable(&probe.tasklet);
	tasklet_schedule(&probe.tasklet);
	msleep(20);
	tasklet_enable(&probe.tasklet);
	msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&probe.runs), 0);
	tasklet_enable(&probe.tasklet);
	tasklet_kill(&probe.tasklet);
	KUNIT_EXPECT_EQ(test, atomic_read(&probe.runs), 1);
	/* Disabled while it waits. */
	local_bh_disable();
	tasklet_schedule(&probe.tasklet);
	local_bh_enable();
	tasklet_disable(&probe.tasklet);
	tasklet_enable(&probe.tasklet);
	tasklet_kill(&probe.tasklet);
	KUNIT_EXPECT_EQ(test, atomic_read(&probe.runs), 2);
}

#define SCHEDULES 2000

/* One tasklet, and a plain counter under a lock that threads and soft interrupts share. */
static struct {
	struct tasklet_struct tasklet;
	atomic_t running, overlaps, runs;
	spinlock_t lock;
	unsigned long count;
} shared;

static void count_up(struct tasklet_struct *tasklet)
{
	if (atomic_inc_return(&shared.running) > 1)
		atomic_inc(&shared.overlaps);
	spin_lock(&shared.lock);
	shared.count++;
	spin_unlock(&shared.lock);
	atomic_inc(&shared.runs);
	atomic_dec(&shared.running);
}

static int schedule_and_count(void *unused)
{
	for (int i = 0; i < SCHEDULES; i++) {
		tasklet_schedule(&shared.tasklet);
		/* With soft interrupts on, the tasklet would wait on this CPU for a lock that this CPU holds. */
		if (i % 2) {
			spin_lock_bh(&shared.lock);
		} else {
			while (!spin_trylock_bh(&shared.lock))
				cpu_relax();
		}
		shared.count++;
		tasklet_schedule(&shared.tasklet);
		spin_unlock_bh(&shared.lock);
	}
	return 0;
}

static void from_all_sides(struct kunit *test)
{
	struct task *tasks[NR_CPUS];
	unsigned int cpus = num_online_cpus();

	memset(&shared, 0, sizeof(shared));
	spin_lock_init(&shared.lock);
	tasklet_setup(&shared.tasklet, count_up);
	for (unsigned int i = 0; i < cpus; i++) {
		tasks[i] = kthread_run(schedule_and_count, NULL, "softirq all/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (unsigned int i = 0; i < cpus; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	tasklet_kill(&shared.tasklet);
	KUNIT_EXPECT_EQ(test, atomic_read(&shared.overlaps), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&shared.runs), 0);
	KUNIT_EXPECT_EQ(test, shared.count,
			(unsigned long)cpus * SCHEDULES + (unsigned long)atomic_read(&shared.runs));
}

/* --- Timers -------------------------------------------------------------------------------------- */

struct timer_probe {
	struct timer_list timer;
	struct completion done;
	bool in_softirq, irqs_off;
};

static void note_timer(struct timer_list *timer)
{
	struct timer_probe *probe = from_timer(probe, timer, timer);

	probe->in_softirq = in_serving_softirq() && !in_hardirq();
	probe->irqs_off = irqs_disabled();
	complete(&probe->done);
}

static void timers(struct kunit *test)
{
	for (unsigned int flags = 0; flags <= TIMER_IRQSAFE; flags++) {
		struct timer_probe probe = {0};

		init_completion(&probe.done);
		timer_setup_on_stack(&probe.timer, note_timer, flags);
		mod_timer(&probe.timer, jiffies + 1);
		wait_for_completion(&probe.done);
		del_timer_sync(&probe.timer);
		KUNIT_EXPECT_TRUE(test, probe.in_softirq);
		KUNIT_EXPECT_EQ(test, probe.irqs_off, flags == TIMER_IRQSAFE);
	}
}

KUNIT_CASES(softirq_test_cases, KUNIT_CASE(counting), KUNIT_CASE(from_a_task),
	    KUNIT_CASE(behind_local_bh_enable), KUNIT_CASE(behind_an_interrupt),
	    KUNIT_CASE(interrupted), KUNIT_CASE(endless_work), KUNIT_CASE(scheduled_twice),
	    KUNIT_CASE(disabled), KUNIT_CASE(from_all_sides), KUNIT_CASE(timers));

KUNIT_SUITE(softirq, softirq_test_cases);
