// SPDX-License-Identifier: MIT
/*
 * rcu_boost_test.c - readers that a real-time task keeps off their CPU, and that others wait for: they are lent the priority
 * of RCU's threads. Without that the wait lasts as long as the real-time task likes.
 *
 * All threads of a case but RCU's are bound to one CPU. In most cases that is the CPU of the test, which is more urgent
 * than they are.
 */
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/spinlock.h>
#include <kernel/time.h>

#include "kasan_test.h"

#define TEST_PRIORITY 90U
#define RCU_PRIORITY  20U
#define RCU_PRIO      (MAX_RT_PRIO - 1 - (int)RCU_PRIORITY)
#define HOG_PRIORITY  10U

struct scene {
	struct task *readers[2];
	struct task *hog;
	struct completion inside;
	volatile bool leave, both, stop, stopped;
	volatile int nr_inside;
	/* The first reader's, at the end of its section and behind it. */
	int prio_inside, prio_behind;
	u64 hog_until;
	struct rcu_head head;
	struct completion called;
	spinlock_t lock;
};

static unsigned int old_prio;

static struct task *bound(struct kunit *test, int (*fn)(void *), void *arg, unsigned int cpu)
{
	struct task *task = kthread_create(fn, arg, "rcu_boost");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	kthread_bind(task, cpu);
	return task;
}

/* Keeps fair tasks off the CPU, for a time, or until it is told to stop. */
static int hog(void *arg)
{
	struct scene *scene = arg;

	while (!scene->stop && clock_ns() < scene->hog_until)
		cpu_relax();
	scene->stopped = true;
	return 0;
}

static int read(void *arg)
{
	struct scene *scene = arg;

	rcu_read_lock();
	complete(&scene->inside);
	while (!scene->leave)
		cpu_relax();
	scene->prio_inside = current->prio;
	rcu_read_unlock();
	scene->prio_behind = current->prio;
	return 0;
}

/* The test runs on @scene's CPU; it leaves a reader in the middle of its section, and a hog that keeps it there. */
static struct scene *set(struct kunit *test, unsigned int rcu_priority, u64 hog_ns)
{
	struct scene *scene = kunit_kzalloc(test, sizeof(*scene), GFP_KERNEL);
	unsigned int cpu;

	KUNIT_ASSERT_NOT_NULL(test, scene);
	init_completion(&scene->inside);
	init_completion(&scene->called);
	old_prio = rcu_set_kthread_prio(rcu_priority);
	migrate_disable();
	cpu = smp_processor_id();
	sched_setscheduler(current, SCHED_FIFO, TEST_PRIORITY);
	scene->readers[0] = bound(test, read, scene, cpu);
	scene->hog = bound(test, hog, scene, cpu);
	sched_setscheduler(scene->hog, SCHED_FIFO, HOG_PRIORITY);
	wake_up_process(scene->readers[0]);
	/* The reader wakes the test, and so is preempted. */
	wait_for_completion(&scene->inside);
	scene->hog_until = clock_ns() + hog_ns;
	wake_up_process(scene->hog);
	scene->leave = true;
	return scene;
}

static void end(struct kunit *test, struct scene *scene)
{
	scene->stop = true;
	kthread_join(scene->hog);
	kthread_join(scene->readers[0]);
	KUNIT_EXPECT_EQ(test, scene->prio_behind, DEFAULT_PRIO);
}

static void bounded(struct kunit *test)
{
	struct scene *scene = set(test, RCU_PRIORITY, 60 * NSEC_PER_SEC);

	synchronize_rcu();
	KUNIT_EXPECT_FALSE(test, scene->stopped);
	KUNIT_EXPECT_EQ(test, scene->prio_inside, RCU_PRIO);
	end(test, scene);
}

static void unbounded_without(struct kunit *test)
{
	struct scene *scene = set(test, 0, NSEC_PER_SEC);

	synchronize_rcu();
	KUNIT_EXPECT_TRUE(test, scene->stopped);
	KUNIT_EXPECT_EQ(test, scene->prio_inside, DEFAULT_PRIO);
	end(test, scene);
}

/* The hog is more urgent than RCU. */
static void not_above_its_priority(struct kunit *test)
{
	struct scene *scene = set(test, HOG_PRIORITY - 1, NSEC_PER_SEC);

	synchronize_rcu();
	KUNIT_EXPECT_TRUE(test, scene->stopped);
	end(test, scene);
}

static void called(struct rcu_head *head)
{
	complete(&container_of(head, struct scene, head)->called);
}

/* Nobody waits in synchronize_rcu(): the reader is lent the priority after a while. */
static void after_a_while(struct kunit *test)
{
	struct scene *scene;

	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	scene = set(test, RCU_PRIORITY, 60 * NSEC_PER_SEC);
	call_rcu(&scene->head, called);
	wait_for_completion(&scene->called);
	KUNIT_EXPECT_FALSE(test, scene->stopped);
	KUNIT_EXPECT_EQ(test, scene->prio_inside, RCU_PRIO);
	end(test, scene);
}

static int read_until_both(void *arg)
{
	struct scene *scene = arg;

	rcu_read_lock();
	scene->nr_inside++;
	while (!scene->both && clock_ns() < scene->hog_until) {
		if (READ_ONCE(scene->readers[0]->prio) == RCU_PRIO &&
		    READ_ONCE(scene->readers[1]->prio) == RCU_PRIO)
			scene->both = true;
		cpu_relax();
	}
	rcu_read_unlock();
	return current->prio;
}

/* The second reader keeps the first one off their CPU, until the first one is lent the priority and keeps off the second
 * one: only then does the grace period wait for a reader that does not run. */
static void joins_later(struct kunit *test)
{
	struct scene *scene = kunit_kzalloc(test, sizeof(*scene), GFP_KERNEL);
	unsigned int cpu;

	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	KUNIT_ASSERT_NOT_NULL(test, scene);
	old_prio = rcu_set_kthread_prio(RCU_PRIORITY);
	migrate_disable();
	cpu = smp_processor_id() ? 0 : 1;
	scene->hog_until = clock_ns() + 20 * NSEC_PER_SEC;
	for (int i = 0; i < 2; i++)
		scene->readers[i] = bound(test, read_until_both, scene, cpu);
	sched_setscheduler(scene->readers[1], SCHED_FIFO, HOG_PRIORITY);
	for (int i = 0; i < 2; i++) {
		wake_up_process(scene->readers[i]);
		while (scene->nr_inside != i + 1)
			cpu_relax();
	}
	synchronize_rcu();
	KUNIT_EXPECT_TRUE(test, scene->both);
	KUNIT_EXPECT_EQ(test, kthread_join(scene->readers[0]), DEFAULT_PRIO);
	KUNIT_EXPECT_EQ(test, kthread_join(scene->readers[1]), MAX_RT_PRIO - 1 - (int)HOG_PRIORITY);
}

#ifdef CONFIG_PREEMPT_RT

static int hold_lock(void *arg)
{
	struct scene *scene = arg;

	spin_lock(&scene->lock);
	complete(&scene->inside);
	while (!scene->leave)
		cpu_relax();
	scene->prio_inside = current->prio;
	spin_unlock(&scene->lock);
	scene->prio_behind = current->prio;
	return 0;
}

static int read_with_lock(void *arg)
{
	struct scene *scene = arg;

	rcu_read_lock();
	spin_lock(&scene->lock);
	spin_unlock(&scene->lock);
	rcu_read_unlock();
	return current->prio;
}

/* The reader waits for a spin lock. The holder of that lock is lent the priority, because the reader is. */
static void holder_of_lock(struct kunit *test)
{
	struct scene *scene = kunit_kzalloc(test, sizeof(*scene), GFP_KERNEL);
	struct task *reader;

	KUNIT_ASSERT_NOT_NULL(test, scene);
	init_completion(&scene->inside);
	spin_lock_init(&scene->lock);
	old_prio = rcu_set_kthread_prio(RCU_PRIORITY);
	migrate_disable();
	sched_setscheduler(current, SCHED_FIFO, TEST_PRIORITY);
	scene->readers[0] = bound(test, hold_lock, scene, smp_processor_id());
	reader = bound(test, read_with_lock, scene, smp_processor_id());
	scene->hog = bound(test, hog, scene, smp_processor_id());
	sched_setscheduler(scene->hog, SCHED_FIFO, HOG_PRIORITY);
	wake_up_process(scene->readers[0]);
	wait_for_completion(&scene->inside);
	wake_up_process(reader);
	while (READ_ONCE(reader->state) != TASK_RTLOCK_WAIT)
		msleep(10);
	scene->hog_until = clock_ns() + 60 * NSEC_PER_SEC;
	wake_up_process(scene->hog);
	scene->leave = true;
	synchronize_rcu();
	KUNIT_EXPECT_FALSE(test, scene->stopped);
	KUNIT_EXPECT_EQ(test, scene->prio_inside, RCU_PRIO);
	end(test, scene);
	KUNIT_EXPECT_EQ(test, kthread_join(reader), DEFAULT_PRIO);
}

#endif

static int rcu_boost_test_init(struct kunit *test)
{
	old_prio = ~0U;
#ifdef CONFIG_KASAN
	return kasan_test_init(test);
#else
	return 0;
#endif
}

static void rcu_boost_test_exit(struct kunit *test)
{
	if (old_prio != ~0U)
		rcu_set_kthread_prio(old_prio);
	sched_set_normal(current);
	while (current->migration_disabled)
		migrate_enable();
#ifdef CONFIG_KASAN
	kasan_test_exit(test);
#endif
}

static struct kunit_case rcu_boost_test_cases[] = {
	KUNIT_CASE(bounded),
	KUNIT_CASE(unbounded_without),
	KUNIT_CASE(not_above_its_priority),
	KUNIT_CASE(after_a_while),
	KUNIT_CASE(joins_later),
#ifdef CONFIG_PREEMPT_RT
	KUNIT_CASE(holder_of_lock),
#endif
	{},
};

KUNIT_SUITE(rcu_boost, rcu_boost_test_cases, .suite_init = kasan_test_suite_init,
	    .suite_exit = kasan_test_suite_exit, .init = rcu_boost_test_init,
	    .exit = rcu_boost_test_exit);
