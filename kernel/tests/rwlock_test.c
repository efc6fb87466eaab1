// SPDX-License-Identifier: MIT
/*
 * rwlock_test.c - spin locks that readers share: which contexts share one, are kept out, and wait behind others.
 */
#include <kernel/kernel.h>
#include <kernel/rwlock.h>
#include <kernel/sched.h>
#include <kernel/smp.h>
#include <kernel/timer.h>
#include <asm/barrier.h>

#include "kasan_test.h"

/* A hang ends the case instead of the boot. */
#define PATIENCE (10 * NSEC_PER_SEC)

/* Wait without sleeping, so that a lock may be held. Return: false if nothing came. */
#define spin_until(condition)                              \
	({                                                 \
		u64 __end = clock_ns() + PATIENCE;         \
                                                           \
		while (!(condition) && clock_ns() < __end) \
			cpu_relax();                       \
		!!(condition);                             \
	})

static void trylocks(struct kunit *test)
{
	rwlock_t lock;

	rwlock_init(&lock);
	KUNIT_EXPECT_FALSE(test, rwlock_is_locked(&lock));
	read_lock(&lock);
	KUNIT_EXPECT_TRUE(test, rwlock_is_locked(&lock));
	KUNIT_EXPECT_FALSE(test, write_trylock(&lock));
	read_unlock(&lock);
	KUNIT_ASSERT_TRUE(test, write_trylock(&lock));
	KUNIT_EXPECT_FALSE(test, read_trylock(&lock));
	KUNIT_EXPECT_FALSE(test, write_trylock(&lock));
	write_unlock(&lock);
	KUNIT_ASSERT_TRUE(test, read_trylock(&lock));
	KUNIT_EXPECT_TRUE(test, rwlock_is_locked(&lock));
	read_unlock(&lock);
	KUNIT_EXPECT_FALSE(test, rwlock_is_locked(&lock));
	KUNIT_EXPECT_EQ(test, preempt_count(), 0);
}

/* --- Several tasks -------------------------------------------------------------------------------- */

#define ROUNDS	3000
#define READERS 3
#define WRITERS 2

/* @a and @b: equal whenever no writer holds the lock. @inside: readers. @torn: how often somebody was inside together with
 * a writer. */
struct shared {
	rwlock_t lock;
	volatile unsigned long a, b;
	atomic_t inside, torn;
};

static int write_rounds(void *arg)
{
	struct shared *s = arg;
	unsigned long flags;

	for (int i = 0; i < ROUNDS; i++) {
		write_lock_irqsave(&s->lock, flags);
		s->a++;
		if (atomic_read(&s->inside))
			atomic_inc(&s->torn);
		s->b++;
		write_unlock_irqrestore(&s->lock, flags);
		if (i % 64 == 0)
			yield();
	}
	return 0;
}

static int read_rounds(void *arg)
{
	struct shared *s = arg;

	for (int i = 0; i < ROUNDS; i++) {
		read_lock(&s->lock);
		atomic_inc(&s->inside);
		if (s->a != s->b)
			atomic_inc(&s->torn);
		atomic_dec(&s->inside);
		read_unlock(&s->lock);
		if (i % 64 == 0)
			yield();
	}
	return 0;
}

static void readers_and_writers(struct kunit *test)
{
	struct shared s = {0};
	struct task *tasks[READERS + WRITERS];

	rwlock_init(&s.lock);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		tasks[i] =
			kthread_run(i < READERS ? read_rounds : write_rounds, &s, "rwlock/%zu", i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&s.torn), 0);
	KUNIT_EXPECT_EQ(test, s.a, WRITERS * ROUNDS);
	KUNIT_EXPECT_EQ(test, s.b, WRITERS * ROUNDS);
	KUNIT_EXPECT_FALSE(test, rwlock_is_locked(&s.lock));
}

/* --- Who waits behind whom ------------------------------------------------------------------------- */

struct order {
	rwlock_t lock;
	struct timer_list timer;
	atomic_t inside; /* readers */
	int wrote, read_irq;
};

static int read_once(void *arg)
{
	struct order *o = arg;

	read_lock(&o->lock);
	atomic_inc(&o->inside);
	/* Until the other reader is inside as well: alone it would wait in vain. */
	spin_until(atomic_read(&o->inside) >= 2);
	read_unlock(&o->lock);
	return 0;
}

static void readers_share(struct kunit *test)
{
	struct order o = {0};
	struct task *task;

	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	rwlock_init(&o.lock);
	task = kthread_run(read_once, &o, "reader");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	read_once(&o);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.inside), 2);
}

/* In a real-time kernel both cases are decided by priorities. */
#ifndef CONFIG_PREEMPT_RT

static int write_once(void *arg)
{
	struct order *o = arg;

	/* With interrupts off: one may read. */
	write_lock_irq(&o->lock);
	WRITE_ONCE(o->wrote, 1 + atomic_read(&o->inside));
	write_unlock_irq(&o->lock);
	return 0;
}

static int read_late(void *arg)
{
	struct order *o = arg;

	read_lock(&o->lock);
	atomic_inc(&o->inside);
	read_unlock(&o->lock);
	return 0;
}

static void read_in_interrupt(struct timer_list *timer)
{
	struct order *o = from_timer(o, timer, timer);

	read_lock(&o->lock);
	WRITE_ONCE(o->read_irq, 1);
	read_unlock(&o->lock);
}

/* A reader waits behind a writer that waits. */
static void writers_first(struct kunit *test)
{
	struct order o = {0};
	struct task *writer, *reader;
	bool waited;

	kunit_needs(test, num_online_cpus() >= 3, "three CPUs");
	rwlock_init(&o.lock);
	writer = kthread_create(write_once, &o, "writer");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, writer);
	reader = kthread_create(read_late, &o, "reader");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, reader);
	read_lock(&o.lock);
	wake_up_process(writer);
	waited = spin_until(READ_ONCE(o.lock.waiting) == 1);
	wake_up_process(reader);
	/* Long enough for a reader that does not wait. */
	udelay(20000);
	read_unlock(&o.lock);
	KUNIT_EXPECT_TRUE(test, waited);
	KUNIT_EXPECT_EQ(test, kthread_join(writer), 0);
	KUNIT_EXPECT_EQ(test, kthread_join(reader), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&o.inside), 1);
	KUNIT_EXPECT_EQ(test, o.wrote, 1);
	KUNIT_EXPECT_EQ(test, READ_ONCE(o.lock.waiting), 0);
}

/* A reader in an interrupt does not: it may have interrupted the reader that the writer waits for. */
static void interrupts_first(struct kunit *test)
{
	struct order o = {0};
	struct task *writer;
	bool waited, passed;

	kunit_needs(test, num_online_cpus() >= 2, "two CPUs");
	rwlock_init(&o.lock);
	writer = kthread_create(write_once, &o, "writer");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, writer);
	timer_setup_on_stack(&o.timer, read_in_interrupt, 0);
	read_lock(&o.lock);
	wake_up_process(writer);
	waited = spin_until(READ_ONCE(o.lock.waiting) == 1);
	mod_timer(&o.timer, jiffies + 1);
	passed = spin_until(READ_ONCE(o.read_irq));
	read_unlock(&o.lock);
	KUNIT_EXPECT_TRUE(test, waited);
	KUNIT_EXPECT_TRUE(test, passed);
	KUNIT_EXPECT_EQ(test, kthread_join(writer), 0);
	del_timer_sync(&o.timer);
	KUNIT_EXPECT_EQ(test, o.wrote, 1);
}

#endif

static struct kunit_case rwlock_test_cases[] = {
	KUNIT_CASE(trylocks),
	KUNIT_CASE(readers_and_writers),
	KUNIT_CASE(readers_share),
#ifndef CONFIG_PREEMPT_RT
	KUNIT_CASE(writers_first),
	KUNIT_CASE(interrupts_first),
#endif
	{},
};

KUNIT_SUITE(rwlock, rwlock_test_cases, KASAN_SUITE_INIT);
