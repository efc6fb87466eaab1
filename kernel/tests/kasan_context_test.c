// SPDX-License-Identifier: MIT
/*
 * kasan_context_test.c - bugs in places where a report is hard to print: interrupts, the console's own
 * code, a report, several CPUs at once. All reports must come, one after the other, each whole.
 */
#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/console.h>
#include <kernel/errno.h>
#include <kernel/kernel.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <kernel/timer.h>

#include "kasan_test.h"
#include "kasan_whole.h"

/* A freed object for the cases to touch, in the suite's own cache so that it is not allocated again meanwhile. */
static struct kmem_cache *cache;
static char *freed;

static int context_suite_init(struct kunit_suite *suite)
{
	cache = kmem_cache_create("kasan_context", 64, 0, 0, NULL);
	freed = cache ? kmem_cache_alloc(cache, GFP_KERNEL) : NULL;
	if (!freed)
		return -ENOMEM;
	kmem_cache_free(cache, freed);
	return kasan_test_suite_init(suite);
}

static void context_suite_exit(struct kunit_suite *suite)
{
	kasan_test_suite_exit(suite);
	kmem_cache_destroy(cache);
}

static noinline void read_freed(void)
{
	char *p = freed;

	HIDE_VAR(p);
	KASAN_TEST_BUG(READ_ACCESS(p[20]));
	/* If the CPU only noted the access, have it reported now, in this context. Interrupts of this suite do not
	 * settle: their reports come at their end. */
	if (!in_interrupt())
		kasan_settle();
	barrier();
}

static noinline void write_freed(void)
{
	char *p = freed;

	HIDE_VAR(p);
	KASAN_TEST_BUG(WRITE_ACCESS(p[40], 1));
	if (!in_interrupt())
		kasan_settle();
	barrier();
}

static bool title_names(unsigned int n, const char *type, const char *where)
{
	char title[64];

	snprintf(title, sizeof(title), "%s in %s+0x", type, where);
	return strncmp(kasan_watched_title(n), title, strlen(title)) == 0;
}

static bool title_is(unsigned int n, enum kasan_access access)
{
	return title_names(n, kasan_may_be_late(access) ? "invalid-access" : "slab-use-after-free",
			   access == KASAN_READ ? "read_freed" : "write_freed");
}

/* Reports that @expression causes must be @n whole ones. */
#define EXPECT_WHOLE(test, n, show, on_line, ...)                                              \
	do {                                                                                   \
		_KUNIT_SAVE_LOC(test);                                                         \
		kasan_expect_begin();                                                          \
		kasan_watch_begin(show, on_line);                                              \
		barrier();                                                                     \
		__VA_ARGS__;                                                                   \
		barrier();                                                                     \
		kasan_settle();                                                                \
		KUNIT_EXPECT_EQ(test, kasan_watch_end(test, KUNIT_CURRENT_LOC), n);            \
		kasan_expect_end(test, KUNIT_CURRENT_LOC, #__VA_ARGS__, "slab-use-after-free", \
				 KASAN_ANY, KASAN_ANY_SIZE, false);                            \
	} while (0)

/* --- Interrupts ------------------------------------------------------------------------------- */

static volatile bool was_in_interrupt;

static void bug_in_timer(struct timer_list *timer)
{
	was_in_interrupt = in_interrupt();
	read_freed();
}

/* Far longer than a slow machine needs. */
#define PATIENCE_MS 20000U

/* A CPU that only notes bad accesses reports this one at the end of its soft interrupts, after the callback. */
static void wait_for_late_report(void)
{
	for (unsigned int ms = 0; kasan_may_be_late(KASAN_READ) && ms < PATIENCE_MS; ms++) {
		if (kasan_expect_count())
			return;
		msleep(1);
	}
}

static void in_a_timer(struct kunit *test)
{
	struct timer_list timer;

	was_in_interrupt = false;
	timer_setup(&timer, bug_in_timer, 0);
	EXPECT_WHOLE(test, 1, 1, NULL, {
		mod_timer(&timer, jiffies + 1);
		for (unsigned int ms = 0; !was_in_interrupt && ms < PATIENCE_MS; ms++)
			msleep(1);
		del_timer_sync(&timer);
		wait_for_late_report();
	});
	KUNIT_EXPECT_TRUE(test, was_in_interrupt);
	/* A late report names the end of the soft interrupts, or what the next interrupt finds before that. */
	KUNIT_EXPECT_TRUE(test, kasan_may_be_late(KASAN_READ) || title_is(0, KASAN_READ));
}

static void bug_in_ipi(void *unused)
{
	was_in_interrupt = in_interrupt();
	write_freed();
}

static void in_an_interrupt_of_another_cpu(struct kunit *test)
{
	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	was_in_interrupt = false;
	EXPECT_WHOLE(test, 1, 1, NULL, {
		preempt_disable();
		unsigned int other = (smp_processor_id() + 1) % num_online_cpus();

		smp_call_function_single(other, bug_in_ipi, NULL, true);
		preempt_enable();
		/* The call ends before the interrupt does, and a late report comes at the interrupt's end. */
		kasan_watch_wait(1);
	});
	KUNIT_EXPECT_TRUE(test, was_in_interrupt);
}

static void with_interrupts_off(struct kunit *test)
{
	unsigned long flags;

	EXPECT_WHOLE(test, 1, 1, NULL, {
		local_irq_save(flags);
		read_freed();
		KUNIT_EXPECT_TRUE(test, irqs_disabled());
		local_irq_restore(flags);
	});
}

/* --- The console ------------------------------------------------------------------------------ */

static void with_the_console_locked(struct kunit *test)
{
	unsigned long flags;

	EXPECT_WHOLE(test, 2, 2, NULL, {
		flags = console_lock();
		read_freed();
		write_freed();
		console_unlock(flags);
	});
	KUNIT_EXPECT_TRUE(test, title_is(0, KASAN_READ));
	KUNIT_EXPECT_TRUE(test, title_is(1, KASAN_WRITE));
}

/*
 * One CPU holds the console and runs into a bug. Another CPU reports a bug meanwhile and waits for the
 * console. Each waits for a lock that the other one holds.
 */
static struct completion console_taken;
static volatile bool about_to_report;

static int bug_with_the_console(void *unused)
{
	unsigned long flags = console_lock();
	u64 start;

	complete(&console_taken);
	while (!about_to_report)
		cpu_relax();
	/* Let the other CPU come as far as it can. The test also holds if it does not. */
	for (start = clock_ns(); clock_ns() - start < 20 * NSEC_PER_MSEC;)
		cpu_relax();
	write_freed();
	console_unlock(flags);
	return 0;
}

static void with_the_console_locked_elsewhere(struct kunit *test)
{
	struct task *task;

	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	init_completion(&console_taken);
	about_to_report = false;
	task = kthread_create(bug_with_the_console, NULL, "console");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	EXPECT_WHOLE(test, 2, 2, NULL, {
		preempt_disable();
		kthread_bind(task, (smp_processor_id() + 1) % num_online_cpus());
		preempt_enable();
		wake_up_process(task);
		wait_for_completion(&console_taken);
		preempt_disable();
		about_to_report = true;
		read_freed();
		preempt_enable();
		kthread_join(task);
	});
}

/* --- Inside of a report ----------------------------------------------------------------------- */

static void bug_at_the_trace(unsigned int complete, const char *text)
{
	if (complete == 0 && strcmp(text, "Call trace:") == 0)
		write_freed();
}

static void in_a_report(struct kunit *test)
{
	EXPECT_WHOLE(test, 2, 2, bug_at_the_trace, read_freed());
	KUNIT_EXPECT_TRUE(test, title_is(0, KASAN_READ));
	KUNIT_EXPECT_TRUE(test, title_is(1, KASAN_WRITE));
	KUNIT_EXPECT_EQ(test, kasan_watched_other(), 0);
}

static void bug_at_every_line(unsigned int complete, const char *text)
{
	write_freed();
}

/* A console with a bug in its own code: reports still end, and say that there were more. */
static void in_every_line(struct kunit *test)
{
	EXPECT_WHOLE(test, 1 + CONFIG_KASAN_WAITING_REPORTS, 1, bug_at_every_line, read_freed());
	KUNIT_EXPECT_TRUE(test, title_is(0, KASAN_READ));
	KUNIT_EXPECT_TRUE(test, title_is(CONFIG_KASAN_WAITING_REPORTS, KASAN_WRITE));
	KUNIT_EXPECT_EQ(test, kasan_watched_other(), 1);
	/* The next report is complete again. Printing the line about the omitted reports caused one as well. */
	EXPECT_WHOLE(test, 1, 1, NULL, read_freed());
}

/* --- More than one CPU ------------------------------------------------------------------------ */

#define REPORTS_EACH 25

static atomic_t at_the_start;

static int many_bugs(void *arg)
{
	unsigned int cpus = *(unsigned int *)arg;

	atomic_inc(&at_the_start);
	while ((unsigned int)atomic_read(&at_the_start) < cpus)
		cpu_relax();
	for (int i = 0; i < REPORTS_EACH; i++)
		read_freed();
	return 0;
}

static void on_all_cpus_at_once(struct kunit *test)
{
	unsigned int cpus = num_online_cpus();
	struct task *tasks[NR_CPUS];

	kunit_needs(test, cpus >= 2, "two CPUs");
	atomic_set(&at_the_start, 0);
	for (unsigned int i = 0; i < cpus; i++) {
		tasks[i] = kthread_create(many_bugs, &cpus, "bugs/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
		kthread_bind(tasks[i], i);
	}
	EXPECT_WHOLE(test, cpus * REPORTS_EACH, 2, NULL, {
		for (unsigned int i = 0; i < cpus; i++)
			wake_up_process(tasks[i]);
		for (unsigned int i = 0; i < cpus; i++)
			kthread_join(tasks[i]);
	});
	KUNIT_EXPECT_EQ(test, kasan_watched_other(), 0);
}

/* --- Threads that end with their first report --------------------------------------------------- */

static DEFINE_SPINLOCK(held_lock);
static volatile bool left_the_lock, went_on;

static int one_report(void *with_lock)
{
	current->kflags |= PF_ONE_REPORT;
	if (with_lock) {
		spin_lock(&held_lock);
		read_freed();
		left_the_lock = true;
		spin_unlock(&held_lock);
	} else {
		read_freed();
	}
	went_on = true;
	return 0;
}

static void ends_with_the_first(struct kunit *test)
{
	for (uintptr_t with_lock = 0; with_lock < 2; with_lock++) {
		struct task *task = kthread_create(one_report, (void *)with_lock, "one_report");

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		left_the_lock = went_on = false;
		EXPECT_WHOLE(test, 1, 1, NULL, {
			wake_up_process(task);
			KUNIT_EXPECT_EQ(test, kthread_join(task), -EFAULT);
		});
		KUNIT_EXPECT_FALSE(test, went_on);
		/* A thread that holds a lock must not end there, or others would wait for the lock for ever. */
		KUNIT_EXPECT_EQ(test, left_the_lock, with_lock != 0);
		spin_lock(&held_lock);
		spin_unlock(&held_lock);
	}
}

KUNIT_CASES(kasan_context_test_cases, KUNIT_CASE(in_a_timer),
	    KUNIT_CASE(in_an_interrupt_of_another_cpu), KUNIT_CASE(with_interrupts_off),
	    KUNIT_CASE(with_the_console_locked), KUNIT_CASE(with_the_console_locked_elsewhere),
	    KUNIT_CASE(in_a_report), KUNIT_CASE(in_every_line), KUNIT_CASE(on_all_cpus_at_once),
	    KUNIT_CASE(ends_with_the_first));

KUNIT_SUITE(kasan_context, kasan_context_test_cases, .suite_init = context_suite_init,
	    .suite_exit = context_suite_exit, .init = kasan_bug_test_init, .exit = kasan_test_exit);
