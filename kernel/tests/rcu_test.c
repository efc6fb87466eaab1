// SPDX-License-Identifier: MIT
/*
 * rcu_test.c - RCU: readers that are preempted, writers on all CPUs, callbacks, barriers.
 *
 * The stress cases free what readers may hold, so under KASAN a grace period that ends too early is a
 * use after free; without it the freed objects' marks tell.
 */
#include <kernel/atomic.h>
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/mutex.h>
#include <kernel/random.h>
#include <kernel/rculist.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/smp.h>
#include <kernel/spinlock.h>
#include <kernel/time.h>
#include <kernel/timer.h>
#include <kernel/vmalloc.h>

#include "kasan_test.h"

#define ALIVE 0x600dU
#define DEAD  0xdeadU

struct item {
	struct list_head list;
	struct rcu_head rcu;
	unsigned int mark;
	unsigned int value;
};

static void free_item(struct rcu_head *head)
{
	struct item *item = container_of(head, struct item, rcu);

	WRITE_ONCE(item->mark, DEAD);
	kfree(item);
}

static struct item *new_item(unsigned int value)
{
	struct item *item = kmalloc(sizeof(*item), GFP_KERNEL);

	if (item) {
		item->mark = ALIVE;
		item->value = value;
	}
	return item;
}

/* --- The parts ------------------------------------------------------------------------------------------ */

static void nesting(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, rcu_read_lock_held());
	rcu_read_lock();
	rcu_read_lock();
	rcu_read_unlock();
	KUNIT_EXPECT_TRUE(test, rcu_read_lock_held());
	rcu_read_unlock();
	KUNIT_EXPECT_FALSE(test, rcu_read_lock_held());
}

static void synchronize(struct kunit *test)
{
	unsigned long cookie = get_state_synchronize_rcu();

	KUNIT_EXPECT_FALSE(test, poll_state_synchronize_rcu(cookie));
	for (int i = 0; i < 20; i++)
		synchronize_rcu();
	KUNIT_EXPECT_TRUE(test, poll_state_synchronize_rcu(cookie));
	cond_synchronize_rcu(cookie);
}

struct flag_head {
	struct rcu_head rcu;
	struct completion done;
	int order;
};

static atomic_t call_order;

static void set_order(struct rcu_head *head)
{
	struct flag_head *flag = container_of(head, struct flag_head, rcu);

	flag->order = atomic_inc_return(&call_order);
	complete(&flag->done);
}

static void callback(struct kunit *test)
{
	struct flag_head *flag = kunit_kzalloc(test, sizeof(*flag), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, flag);
	init_completion(&flag->done);
	call_rcu(&flag->rcu, set_order);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&flag->done, 10 * HZ), 0);
}

static void barrier_waits(struct kunit *test)
{
	struct flag_head *flags = kunit_kzalloc(test, 100 * sizeof(*flags), GFP_KERNEL);
	int previous = 0;

	KUNIT_ASSERT_NOT_NULL(test, flags);
	atomic_set(&call_order, 0);
	preempt_disable();
	for (int i = 0; i < 100; i++) {
		init_completion(&flags[i].done);
		call_rcu(&flags[i].rcu, set_order);
	}
	preempt_enable();
	rcu_barrier();
	/* Queued on one CPU: called in that order, all of them by now. */
	for (int i = 0; i < 100; i++) {
		KUNIT_EXPECT_GT(test, flags[i].order, previous);
		previous = flags[i].order;
	}
	rcu_barrier();
}

static void kfree_rcu_frees(struct kunit *test)
{
	struct item *none = NULL, *item;
	void *area;

	for (int i = 0; i < 200; i++) {
		item = new_item((unsigned int)i);
		KUNIT_ASSERT_NOT_NULL(test, item);
		kfree_rcu(item, rcu);
	}
	kfree_rcu(none, rcu);
	item = new_item(0);
	kfree_rcu_mightsleep(item);
	kfree_rcu_mightsleep(NULL);
	area = vmalloc(3 * PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, area);
	item = area;
	kvfree_rcu(item, rcu);
	rcu_barrier();
}

/* --- A reader holds up a grace period -------------------------------------------------------------------- */

struct holder {
	struct completion inside;
	volatile bool leave;
	volatile bool left;
};

static int hold(void *arg)
{
	struct holder *holder = arg;

	rcu_read_lock();
	complete(&holder->inside);
	/* Preempted in here, many times, and moved to other CPUs. */
	while (!holder->leave)
		cpu_relax();
	holder->left = true;
	rcu_read_unlock();
	return 0;
}

/* More readers than CPUs, so that at every moment some are switched away in the middle. */
#define NR_HOLDERS (NR_CPUS + 3)

static void reader_holds_up(struct kunit *test)
{
	struct holder *holders = kunit_kzalloc(test, NR_HOLDERS * sizeof(*holders), GFP_KERNEL);
	struct flag_head *flag = kunit_kzalloc(test, sizeof(*flag), GFP_KERNEL);
	unsigned int n = num_online_cpus() + 3, kthread_prio;
	struct task *tasks[NR_HOLDERS];

	KUNIT_ASSERT_NOT_NULL(test, holders);
	KUNIT_ASSERT_NOT_NULL(test, flag);
	init_completion(&flag->done);
	/* The readers wait for this thread, so they must not become more urgent than it is. */
	kthread_prio = rcu_set_kthread_prio(0);
	for (unsigned int i = 0; i < n; i++) {
		init_completion(&holders[i].inside);
		tasks[i] = kthread_run(hold, &holders[i], "rcu_reader/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		wait_for_completion(&holders[i].inside);
	call_rcu(&flag->rcu, set_order);
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&flag->done, HZ / 2), 0);
	/* The readers leave one after the other; each one is waited for. */
	for (unsigned int i = 0; i < n; i++) {
		KUNIT_EXPECT_FALSE(test, completion_done(&flag->done));
		holders[i].leave = true;
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	}
	rcu_barrier();
	KUNIT_EXPECT_TRUE(test, completion_done(&flag->done));
	rcu_set_kthread_prio(kthread_prio);
}

static void synchronize_waits(struct kunit *test)
{
	struct holder *holders = kunit_kzalloc(test, NR_HOLDERS * sizeof(*holders), GFP_KERNEL);
	unsigned int n = num_online_cpus() + 3;
	struct task *tasks[NR_HOLDERS];

	KUNIT_ASSERT_NOT_NULL(test, holders);
	for (unsigned int i = 0; i < n; i++) {
		init_completion(&holders[i].inside);
		tasks[i] = kthread_run(hold, &holders[i], "rcu_reader/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (unsigned int i = 0; i < n; i++)
		wait_for_completion(&holders[i].inside);
	/* They are told to leave, but readers that do not run have not seen it yet. */
	for (unsigned int i = 0; i < n; i++)
		holders[i].leave = true;
	synchronize_rcu();
	for (unsigned int i = 0; i < n; i++)
		KUNIT_EXPECT_TRUE(test, holders[i].left);
	for (unsigned int i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
}

static int die_inside(void *arg)
{
	rcu_read_lock();
	if (arg) {
		/* Long enough to be preempted. */
		u64 until = clock_ns() + 100 * NSEC_PER_MSEC;

		while (clock_ns() < until)
			cpu_relax();
	}
	/* The lock validator would report it. */
	rcu_lock_release();
	kthread_exit(7);
}

static void reader_dies(struct kunit *test)
{
	struct task *task;

	for (uintptr_t i = 0; i < 2; i++) {
		task = kthread_run(die_inside, (void *)i, "rcu_dies");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		KUNIT_EXPECT_EQ(test, kthread_join(task), 7);
		synchronize_rcu();
	}
}

static int no_preempt(void *arg)
{
	struct holder *holder = arg;
	u64 until = clock_ns() + 50 * NSEC_PER_MSEC;

	preempt_disable();
	complete(&holder->inside);
	while (clock_ns() < until)
		cpu_relax();
	holder->left = true;
	preempt_enable();
	return 0;
}

static void preempt_off_is_reader(struct kunit *test)
{
	struct holder *holder = kunit_kzalloc(test, sizeof(*holder), GFP_KERNEL);
	struct task *task;

	KUNIT_ASSERT_NOT_NULL(test, holder);
	init_completion(&holder->inside);
	task = kthread_run(no_preempt, holder, "rcu_nopreempt");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	wait_for_completion(&holder->inside);
	synchronize_rcu();
	KUNIT_EXPECT_TRUE(test, holder->left);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
}

/* --- Stress ------------------------------------------------------------------------------------------------ */

#define STRESS_MS   2000
#define NR_POINTERS 4

struct stress {
	struct item *pointers[NR_POINTERS];
	struct list_head list;
	spinlock_t lock;
	volatile bool stop;
	atomic_t errors;
	atomic_long_t reads, updates;
	struct timer_list timer;
};

static void check_item(struct stress *stress, const struct item *item)
{
	if (item && READ_ONCE(item->mark) != ALIVE)
		atomic_inc(&stress->errors);
}

static int read_pointers(void *arg)
{
	struct stress *stress = arg;
	unsigned long i = 0;

	while (!stress->stop) {
		const struct item *item;

		rcu_read_lock();
		item = rcu_dereference(stress->pointers[(i + i / 512) % NR_POINTERS]);
		check_item(stress, item);
		/* Some readers stay for several time slices of all tasks. Their node is replaced meanwhile, and its
		 * callback would be due. */
		if (i % 512 == 0) {
			u64 until = clock_ns() + 200 * NSEC_PER_MSEC;

			while (clock_ns() < until)
				cpu_relax();
		}
		rcu_read_lock();
		check_item(stress, item);
		rcu_read_unlock();
		check_item(stress, item);
		rcu_read_unlock();
		i++;
		atomic_long_inc(&stress->reads);
	}
	return 0;
}

static int read_list(void *arg)
{
	struct stress *stress = arg;

	while (!stress->stop) {
		const struct item *item;

		rcu_read_lock();
		list_for_each_entry_rcu(item, &stress->list, list) check_item(stress, item);
		check_item(stress, list_first_or_null_rcu(&stress->list, struct item, list));
		rcu_read_unlock();
		atomic_long_inc(&stress->reads);
	}
	return 0;
}

/* A reader in a soft interrupt, on top of any other code. */
static void read_in_interrupt(struct timer_list *timer)
{
	struct stress *stress = from_timer(stress, timer, timer);

	rcu_read_lock();
	for (int i = 0; i < NR_POINTERS; i++)
		check_item(stress, rcu_dereference(stress->pointers[i]));
	rcu_read_unlock();
	if (!stress->stop)
		mod_timer(timer, jiffies + 1);
}

static void replace_pointer(struct stress *stress, unsigned int i)
{
	struct item *item = new_item(i), *old;
	unsigned long flags;

	if (!item)
		return;
	spin_lock_irqsave(&stress->lock, flags);
	old = stress->pointers[i % NR_POINTERS];
	rcu_assign_pointer(stress->pointers[i % NR_POINTERS], item);
	spin_unlock_irqrestore(&stress->lock, flags);
	if (!old)
		return;
	if (i % 64 == 0) {
		synchronize_rcu();
		old->mark = DEAD;
		kfree(old);
	} else if (i % 3 == 0) {
		kfree_rcu(old, rcu);
	} else {
		call_rcu(&old->rcu, free_item);
	}
}

static void change_list(struct stress *stress, unsigned int i)
{
	struct item *item = new_item(i), *old = NULL;
	unsigned long flags;

	if (!item)
		return;
	spin_lock_irqsave(&stress->lock, flags);
	if (!list_empty(&stress->list))
		old = list_first_entry(&stress->list, struct item, list);
	if (old && i % 4 == 0) {
		list_replace_rcu(&old->list, &item->list);
	} else {
		if (i % 2)
			list_add_rcu(&item->list, &stress->list);
		else
			list_add_tail_rcu(&item->list, &stress->list);
		if (old)
			list_del_rcu(&old->list);
	}
	spin_unlock_irqrestore(&stress->lock, flags);
	if (old)
		call_rcu(&old->rcu, free_item);
}

static int update(void *arg)
{
	struct stress *stress = arg;

	for (unsigned int i = 1; !stress->stop; i++) {
		replace_pointer(stress, i);
		change_list(stress, i);
		atomic_long_inc(&stress->updates);
		/* Bounds what waits for a grace period. */
		if (i % 256 == 0)
			rcu_barrier();
	}
	return 0;
}

static void stress_all(struct kunit *test)
{
	struct stress *stress = kunit_kzalloc(test, sizeof(*stress), GFP_KERNEL);
	struct task *tasks[2 * NR_CPUS + 3];
	unsigned int n = 2 * num_online_cpus() + 3;
	struct item *item, *next;

	KUNIT_ASSERT_NOT_NULL(test, stress);
	INIT_LIST_HEAD(&stress->list);
	spin_lock_init(&stress->lock);
	timer_setup(&stress->timer, read_in_interrupt, 0);
	mod_timer(&stress->timer, jiffies + 1);
	/* Twice as many readers as CPUs: most are switched away inside. */
	for (unsigned int i = 0; i < n; i++) {
		tasks[i] = kthread_run(i < 2	? update
				       : i == 2 ? read_list
						: read_pointers,
				       stress, "rcu_stress/%u", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	msleep(STRESS_MS);
	stress->stop = true;
	for (unsigned int i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	synchronize_rcu();
	del_timer_sync(&stress->timer);
	rcu_barrier();
	list_for_each_entry_safe (item, next, &stress->list, list)
		kfree(item);
	for (int i = 0; i < NR_POINTERS; i++)
		kfree(stress->pointers[i]);
	KUNIT_EXPECT_EQ(test, atomic_read(&stress->errors), 0);
	KUNIT_EXPECT_GT(test, atomic_long_read(&stress->reads), 0);
	KUNIT_EXPECT_GT(test, atomic_long_read(&stress->updates), 10);
	kunit_info(test, "%ld reads, %ld updates", atomic_long_read(&stress->reads),
		   atomic_long_read(&stress->updates));
}

static int synchronize_often(void *arg)
{
	for (int i = 0; i < 50; i++)
		synchronize_rcu();
	return 0;
}

static void many_wait(struct kunit *test)
{
	struct task *tasks[8];

	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		tasks[i] = kthread_run(i % 2 ? synchronize_often : die_inside, NULL, "rcu_many/%zu",
				       i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), i % 2 ? 0 : 7);
}

static int on_cpu(void *arg)
{
	for (int i = 0; i < 20; i++) {
		if (smp_processor_id() != (unsigned int)(uintptr_t)arg)
			return -1;
		msleep(10);
	}
	return 0;
}

static void bound_threads(struct kunit *test)
{
	struct task *tasks[NR_CPUS];
	unsigned int cpu;

	for_each_online_cpu (cpu) {
		tasks[cpu] = kthread_create(on_cpu, (void *)(uintptr_t)cpu, "bound/%u", cpu);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[cpu]);
		kthread_bind(tasks[cpu], cpu);
		wake_up_process(tasks[cpu]);
	}
	for_each_online_cpu (cpu)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[cpu]), 0);
}

KASAN_SUITE(rcu, KUNIT_CASE(nesting), KUNIT_CASE(synchronize), KUNIT_CASE(callback),
	    KUNIT_CASE(barrier_waits), KUNIT_CASE(kfree_rcu_frees), KUNIT_CASE(reader_holds_up),
	    KUNIT_CASE(synchronize_waits), KUNIT_CASE(reader_dies),
	    KUNIT_CASE(preempt_off_is_reader), KUNIT_CASE(bound_threads), KUNIT_CASE(many_wait),
	    KUNIT_CASE_SLOW(stress_all));
