/* SPDX-License-Identifier: MIT */
/*
 * rtmutex_test.c - rt_mutexes: the order in which tasks get them, and the priorities of their owners meanwhile.
 *
 * Delays are counted in the steps that another task did meanwhile, so nothing depends on the speed of the machine.
 */
#include <kernel/kernel.h>
#include <kernel/prio_list.h>
#include <kernel/random.h>
#include <kernel/rtmutex.h>
#include <kernel/sched.h>

#include "rtmutex_test.h"

/* --- Sorted lists ---------------------------------------------------------------------------------------------- */

struct numbered {
	struct prio_node node;
	unsigned int number;
};

/* Return: the length of @list if everything about it is right, else -1. */
static int check_list(const struct prio_list *list)
{
	const struct prio_node *node = prio_list_first(list), *prev, *level = node;
	int n = 0;

	if (!node)
		return 0;
	do {
		const struct numbered *this = container_of(node, struct numbered, node);

		n++;
		prev = node;
		node = list_next_entry(node, all);
		if (node == list->first)
			break;
		if (node->prio < prev->prio)
			return -1;
		/* Later ones have larger numbers. */
		if (node->prio == prev->prio &&
		    container_of(node, struct numbered, node)->number < this->number)
			return -1;
		if (node->prio != prev->prio) {
			level = list_next_entry(level, firsts);
			if (level != node)
				return -1;
		}
	} while (n < 1000);
	return list_next_entry(level, firsts) == list->first ? n : -1;
}

static void sorted_lists(struct kunit *test)
{
	static struct numbered nodes[40];
	struct prio_list list = {0};
	bool used[ARRAY_SIZE(nodes)] = {0};
	unsigned int number = 0;
	int length = 0;

	KUNIT_EXPECT_TRUE(test, prio_list_empty(&list));
	for (int round = 0; round < 4000; round++) {
		size_t i = get_random_u32() % ARRAY_SIZE(nodes);

		if (used[i]) {
			prio_list_del(&list, &nodes[i].node);
			length--;
		} else {
			nodes[i].node.prio = (int)(get_random_u32() % 6);
			nodes[i].number = number++;
			prio_list_add(&list, &nodes[i].node);
			length++;
		}
		used[i] = !used[i];
		KUNIT_ASSERT_EQ(test, check_list(&list), length);
		KUNIT_ASSERT_EQ(test, prio_list_empty(&list), length == 0);
	}
}

/* --- Three priorities ---------------------------------------------------------------------------------------------- */

/*
 * All on one CPU. The low task takes the lock and wakes the high one, which waits for it, and then the middle one, which
 * has work that needs no lock.
 */
struct inversion {
	struct rt_mutex lock;
	struct task *low, *mid, *high;
	unsigned long work;	     /* steps of the middle task */
	volatile unsigned long done; /* of them */
	unsigned long delay;	     /* steps that it did before the high task had the lock */
	int prio_inside, prio_after; /* of the low task */
};

static int low_task(void *arg)
{
	struct inversion *t = arg;

	rt_mutex_lock(&t->lock);
	wake_up_process(t->high);
	t->prio_inside = current->prio;
	wake_up_process(t->mid);
	rt_mutex_unlock(&t->lock);
	t->prio_after = current->prio;
	return 0;
}

static int mid_task(void *arg)
{
	struct inversion *t = arg;

	while (t->done < t->work)
		t->done++;
	return 0;
}

static int high_task(void *arg)
{
	struct inversion *t = arg;

	rt_mutex_lock(&t->lock);
	t->delay = t->done;
	rt_mutex_unlock(&t->lock);
	return 0;
}

static void invert(struct kunit *test, struct inversion *t, unsigned long work, bool inherit)
{
	*t = (struct inversion){.work = work};
	rt_mutex_init(&t->lock);
	t->low = make_task(test, low_task, t, 10);
	t->mid = make_task(test, mid_task, t, 20);
	t->high = make_task(test, high_task, t, 30);
	kthread_bind(t->low, 0);
	kthread_bind(t->mid, 0);
	kthread_bind(t->high, 0);
	rt_mutex_set_inheritance(inherit);
	wake_up_process(t->low);
	/* The low task wakes the others. A thread that was never woken would end without running. */
	KUNIT_EXPECT_EQ(test, kthread_join(t->low), 0);
	KUNIT_EXPECT_EQ(test, kthread_join(t->mid), 0);
	KUNIT_EXPECT_EQ(test, kthread_join(t->high), 0);
	rt_mutex_set_inheritance(true);
	KUNIT_EXPECT_FALSE(test, rt_mutex_is_locked(&t->lock));
	KUNIT_EXPECT_EQ(test, t->done, work);
	KUNIT_EXPECT_EQ(test, t->prio_after, PRIO(10));
	kunit_info(test,
		   "inheritance %s: the high task waits for %lu of %lu steps of the middle one",
		   inherit ? "on" : "off", t->delay, work);
}

/* The high task waits for the low one's critical section, and for nothing of the middle task. */
static void inversion_bounded(struct kunit *test)
{
	static struct inversion t;

	for (unsigned long work = 1000; work <= 64000; work *= 8) {
		invert(test, &t, work, true);
		KUNIT_EXPECT_EQ(test, t.delay, 0);
		KUNIT_EXPECT_EQ(test, t.prio_inside, PRIO(30));
	}
}

/* The middle task does all that it has to do first, however much that is. */
static void inversion_unbounded(struct kunit *test)
{
	static struct inversion t;

	for (unsigned long work = 1000; work <= 64000; work *= 8) {
		invert(test, &t, work, false);
		KUNIT_EXPECT_EQ(test, t.delay, work);
		KUNIT_EXPECT_EQ(test, t.prio_inside, PRIO(10));
	}
}

/* --- Actors: each takes one lock, and then wants another one ------------------------------------------------------------ */

struct actor {
	struct rt_mutex *own, *wanted;
	long timeout;
	struct completion ready, go, release;
	int err;
	unsigned int turn; /* it was the n-th to get what it wanted */
	int prio_after;
	bool at_gate; /* it begins its wait together with others, when @gate opens */
	struct task *task;
};

static volatile bool gate;

static atomic_t turns;

static int act(void *arg)
{
	struct actor *actor = arg;

	if (actor->own)
		rt_mutex_lock(actor->own);
	complete(&actor->ready);
	catch_up(&actor->go);
	while (actor->at_gate && !gate)
		cpu_relax();
	if (actor->wanted) {
		actor->err = rt_mutex_timed_lock(actor->wanted, actor->timeout);
		if (!actor->err) {
			actor->turn = (unsigned int)atomic_inc_return(&turns);
			rt_mutex_unlock(actor->wanted);
		}
	}
	catch_up(&actor->release);
	if (actor->own)
		rt_mutex_unlock(actor->own);
	actor->prio_after = current->prio;
	return 0;
}

/* Start an actor, and wait until it has its own lock. @rt_priority: 0: fair. @cpu: -1: any. */
static void start_on(struct kunit *test, struct actor *actor, unsigned int rt_priority,
		     struct rt_mutex *own, struct rt_mutex *wanted, int cpu)
{
	*actor = (struct actor){.own = own, .wanted = wanted, .timeout = MAX_SCHEDULE_TIMEOUT};
	init_completion(&actor->ready);
	init_completion(&actor->go);
	init_completion(&actor->release);
	actor->task = make_task(test, act, actor, rt_priority);
	if (cpu >= 0)
		kthread_bind(actor->task, (unsigned int)cpu);
	wake_up_process(actor->task);
	catch_up(&actor->ready);
}

static void start(struct kunit *test, struct actor *actor, unsigned int rt_priority,
		  struct rt_mutex *own, struct rt_mutex *wanted)
{
	start_on(test, actor, rt_priority, own, wanted, -1);
}

/* Let it want its other lock, and wait until it waits for that. */
static bool want(struct actor *actor)
{
	complete(&actor->go);
	return soon(READ_ONCE(actor->task->pi_blocked_on));
}

static void finish(struct kunit *test, struct actor *actor)
{
	complete_all(&actor->go);
	complete_all(&actor->release);
	KUNIT_EXPECT_EQ(test, kthread_join(actor->task), 0);
}

static struct rt_mutex lock_a, lock_b, lock_c;

static void init_locks(void)
{
	rt_mutex_init(&lock_a);
	rt_mutex_init(&lock_b);
	rt_mutex_init(&lock_c);
	atomic_set(&turns, 0);
}

static void expect_free(struct kunit *test, const struct rt_mutex *lock)
{
	KUNIT_EXPECT_EQ(test, lock->base.owner, 0);
	KUNIT_EXPECT_TRUE(test, prio_list_empty(&lock->base.waiters));
}

/* Three locks and four tasks in a row: what the last one lends, the first one has. */
static void chain(struct kunit *test)
{
	static struct actor a, b, c, d;

	init_locks();
	start(test, &a, 10, &lock_a, NULL);
	start(test, &b, 20, &lock_b, &lock_a);
	start(test, &c, 30, &lock_c, &lock_b);
	start(test, &d, 40, NULL, &lock_c);
	KUNIT_EXPECT_TRUE(test, want(&b));
	EXPECT_TASK_PRIO(test, a.task, PRIO(20));
	KUNIT_EXPECT_TRUE(test, want(&c));
	EXPECT_TASK_PRIO(test, a.task, PRIO(30));
	KUNIT_EXPECT_TRUE(test, want(&d));
	EXPECT_TASK_PRIO(test, a.task, PRIO(40));
	EXPECT_TASK_PRIO(test, b.task, PRIO(40));
	EXPECT_TASK_PRIO(test, c.task, PRIO(40));

	/* The last one's own priority changes while it waits. */
	KUNIT_EXPECT_EQ(test, sched_setscheduler(d.task, SCHED_FIFO, 50), 0);
	EXPECT_TASK_PRIO(test, a.task, PRIO(50));
	EXPECT_TASK_PRIO(test, b.task, PRIO(50));
	KUNIT_EXPECT_EQ(test, sched_setscheduler(d.task, SCHED_NORMAL, 0), 0);
	EXPECT_TASK_PRIO(test, a.task, PRIO(30));
	EXPECT_TASK_PRIO(test, b.task, PRIO(30));
	EXPECT_TASK_PRIO(test, c.task, PRIO(30));

	/* Each owner that releases its lock gives back what it was lent. */
	finish(test, &a);
	KUNIT_EXPECT_EQ(test, a.prio_after, PRIO(10));
	KUNIT_EXPECT_TRUE(test, soon(b.turn));
	EXPECT_TASK_PRIO(test, b.task, PRIO(30));
	finish(test, &b);
	KUNIT_EXPECT_EQ(test, b.prio_after, PRIO(20));
	finish(test, &c);
	finish(test, &d);
	KUNIT_EXPECT_EQ(test, c.prio_after, PRIO(30));
	KUNIT_EXPECT_EQ(test, d.prio_after, DEFAULT_PRIO);
	KUNIT_EXPECT_EQ(test, a.err | b.err | c.err | d.err, 0);
	expect_free(test, &lock_a);
	expect_free(test, &lock_b);
	expect_free(test, &lock_c);
}

/* An owner of two locks has the larger of what both lend, and keeps what the other one lends when it releases one. */
static void two_locks(struct kunit *test)
{
	static struct actor b, c;

	init_locks();
	rt_mutex_lock(&lock_a);
	rt_mutex_lock(&lock_b);
	start(test, &b, 20, NULL, &lock_a);
	start(test, &c, 30, NULL, &lock_b);
	KUNIT_EXPECT_TRUE(test, want(&b));
	EXPECT_TASK_PRIO(test, current, PRIO(20));
	KUNIT_EXPECT_TRUE(test, want(&c));
	EXPECT_TASK_PRIO(test, current, PRIO(30));
	rt_mutex_unlock(&lock_b);
	EXPECT_TASK_PRIO(test, current, PRIO(20));
	rt_mutex_unlock(&lock_a);
	KUNIT_EXPECT_EQ(test, current->prio, DEFAULT_PRIO);
	finish(test, &b);
	finish(test, &c);
	expect_free(test, &lock_a);
	expect_free(test, &lock_b);
}

/* By priority, then by arrival. */
static void order(struct kunit *test)
{
	static const unsigned int rt_priorities[] = {0, 20, 10, 20, 0, 30};
	static const unsigned int turn[] = {5, 2, 4, 3, 6, 1};
	static struct actor actors[ARRAY_SIZE(turn)];

	init_locks();
	rt_mutex_lock(&lock_a);
	for (size_t i = 0; i < ARRAY_SIZE(actors); i++) {
		start(test, &actors[i], rt_priorities[i], NULL, &lock_a);
		KUNIT_EXPECT_TRUE(test, want(&actors[i]));
	}
	rt_mutex_unlock(&lock_a);
	for (size_t i = 0; i < ARRAY_SIZE(actors); i++) {
		finish(test, &actors[i]);
		KUNIT_EXPECT_EQ_MSG(test, actors[i].turn, turn[i], "task %zu", i);
	}
	expect_free(test, &lock_a);
}

/* Between the release and the first waiter's next turn on a CPU, only a more urgent task takes the lock. */
static void overtaking(struct kunit *test)
{
	static struct actor a;
	bool equal, urgent;

	init_locks();
	migrate_disable();
	rt_mutex_lock(&lock_a);
	start_on(test, &a, 0, NULL, &lock_a, (int)smp_processor_id());
	KUNIT_EXPECT_TRUE(test, want(&a));
	preempt_disable();
	rt_mutex_unlock(&lock_a);
	equal = rt_mutex_trylock(&lock_a);
	sched_setscheduler(current, SCHED_FIFO, 10);
	urgent = !equal && rt_mutex_trylock(&lock_a);
	sched_set_normal(current);
	preempt_enable();
	KUNIT_EXPECT_FALSE(test, equal);
	KUNIT_EXPECT_TRUE(test, urgent);
	KUNIT_EXPECT_EQ(test, a.turn, 0);
	if (equal || urgent)
		rt_mutex_unlock(&lock_a);
	migrate_enable();
	finish(test, &a);
	KUNIT_EXPECT_EQ(test, a.err, 0);
	expect_free(test, &lock_a);
}

static void tries(struct kunit *test)
{
	static struct actor a;

	init_locks();
	KUNIT_EXPECT_TRUE(test, rt_mutex_trylock(&lock_a));
	KUNIT_EXPECT_FALSE(test, rt_mutex_trylock(&lock_a));
	KUNIT_EXPECT_TRUE(test, rt_mutex_is_locked(&lock_a));
	rt_mutex_unlock(&lock_a);
	expect_free(test, &lock_a);
	start(test, &a, 10, &lock_a, NULL);
	KUNIT_EXPECT_FALSE(test, rt_mutex_trylock(&lock_a));
	KUNIT_EXPECT_EQ(test, rt_mutex_timed_lock(&lock_a, 0), -ETIMEDOUT);
	finish(test, &a);
	expect_free(test, &lock_a);
}

/* --- Timeouts ------------------------------------------------------------------------------------------------------------ */

/* When the time of a wait runs out, what it lent goes back along the whole chain. */
static void timeout(struct kunit *test)
{
	static struct actor a, b, c;

	init_locks();
	start(test, &a, 10, &lock_a, NULL);
	start(test, &b, 20, &lock_b, &lock_a);
	start(test, &c, 40, NULL, &lock_b);
	KUNIT_EXPECT_TRUE(test, want(&b));
	c.timeout = HZ / 2;
	KUNIT_EXPECT_TRUE(test, want(&c));
	EXPECT_TASK_PRIO(test, a.task, PRIO(40));
	KUNIT_EXPECT_TRUE(test, soon(READ_ONCE(c.err)));
	KUNIT_EXPECT_EQ(test, c.err, -ETIMEDOUT);
	EXPECT_TASK_PRIO(test, b.task, PRIO(20));
	EXPECT_TASK_PRIO(test, a.task, PRIO(20));
	/* Nobody waits for b's lock any more. */
	KUNIT_EXPECT_EQ(test, lock_b.base.owner, (unsigned long)b.task);
	finish(test, &c);
	finish(test, &a);
	finish(test, &b);
	KUNIT_EXPECT_EQ(test, b.err, 0);
	expect_free(test, &lock_a);
	expect_free(test, &lock_b);

	/* In time. */
	init_locks();
	start(test, &a, 10, &lock_a, NULL);
	start(test, &b, 20, NULL, &lock_a);
	b.timeout = 1000 * HZ;
	KUNIT_EXPECT_TRUE(test, want(&b));
	finish(test, &a);
	finish(test, &b);
	KUNIT_EXPECT_EQ(test, b.err, 0);
	KUNIT_EXPECT_EQ(test, b.turn, 1);
	expect_free(test, &lock_a);
}

static int end_as_owner(void *arg)
{
	rt_mutex_lock(arg);
	return 0;
}

/* A task that ended with the lock lends nobody anything, but those who wait may look at it. */
static void owner_ended(struct kunit *test)
{
	static struct rt_mutex lock;
	struct task *task;

#ifdef CONFIG_LOCKDEP
	kunit_skip(test, "the lock validator reports this bug");
#endif
	rt_mutex_init(&lock);
	task = make_task(test, end_as_owner, &lock, 0);
	wake_up_process(task);
	KUNIT_EXPECT_EQ(test, kthread_join(task), 0);
	KUNIT_EXPECT_EQ(test, sched_setscheduler(current, SCHED_FIFO, 10), 0);
	KUNIT_EXPECT_EQ(test, rt_mutex_timed_lock(&lock, 3), -ETIMEDOUT);
	sched_set_normal(current);
	KUNIT_EXPECT_TRUE(test, rt_mutex_is_locked(&lock));
}

/* --- Deadlocks ------------------------------------------------------------------------------------------------------------ */

static void deadlock_alone(struct kunit *test)
{
	init_locks();
	rt_mutex_lock(&lock_a);
	KUNIT_EXPECT_EQ(test, rt_mutex_timed_lock(&lock_a, MAX_SCHEDULE_TIMEOUT), -EDEADLK);
	rt_mutex_unlock(&lock_a);
	expect_free(test, &lock_a);
}

/* The task that closes the circle is told so, and when it gives up its lock the others go on. */
static void deadlock(struct kunit *test)
{
	static struct actor a, b, c;

	init_locks();
	start(test, &a, 10, &lock_a, &lock_b);
	start(test, &b, 20, &lock_b, &lock_c);
	start(test, &c, 30, &lock_c, &lock_a);
	KUNIT_EXPECT_TRUE(test, want(&a));
	KUNIT_EXPECT_TRUE(test, want(&b));
	complete(&c.go);
	KUNIT_EXPECT_TRUE(test, soon(READ_ONCE(c.err)));
	KUNIT_EXPECT_EQ(test, c.err, -EDEADLK);
	/* The attempt is undone: it lent c's priority to both. */
	EXPECT_TASK_PRIO(test, a.task, PRIO(10));
	EXPECT_TASK_PRIO(test, b.task, PRIO(20));
	finish(test, &c);
	finish(test, &b);
	finish(test, &a);
	KUNIT_EXPECT_EQ(test, a.err, 0);
	KUNIT_EXPECT_EQ(test, b.err, 0);
	expect_free(test, &lock_a);
	expect_free(test, &lock_b);
	expect_free(test, &lock_c);
}

/* Of three that close a circle at once, exactly one is told. */
static void deadlock_race(struct kunit *test)
{
	static struct actor actors[3];
	struct rt_mutex *locks[] = {&lock_a, &lock_b, &lock_c};
	unsigned int wrong = 0;

	init_locks();
	/* On fewer CPUs they come one after the other. */
	for (int round = num_online_cpus() < 3 ? 95 : 0; round < 100; round++) {
		unsigned int told = 0;

		gate = false;

		for (size_t i = 0; i < 3; i++)
			start(test, &actors[i], 0, locks[i], locks[(i + 1) % 3]);
		for (size_t i = 0; i < 3; i++) {
			actors[i].at_gate = true;
			complete(&actors[i].release);
			complete(&actors[i].go);
		}
		msleep(10);
		gate = true;
		for (size_t i = 0; i < 3; i++) {
			KUNIT_EXPECT_EQ(test, kthread_join(actors[i].task), 0);
			KUNIT_EXPECT_TRUE(test, !actors[i].err || actors[i].err == -EDEADLK);
			told += actors[i].err == -EDEADLK;
		}
		/* None, if one was through before the last one had begun. */
		wrong += told > 1;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	expect_free(test, &lock_a);
	expect_free(test, &lock_b);
	expect_free(test, &lock_c);
}

/* --- Stress -------------------------------------------------------------------------------------------------------------- */

#define STRESS_LOCKS  4
#define STRESS_TASKS  8
#define STRESS_ROUNDS 400

static struct stress {
	struct rt_mutex locks[STRESS_LOCKS];
	unsigned long values[STRESS_LOCKS]; /* each changes under its lock */
	atomic_long_t changes[STRESS_LOCKS];
	atomic_t timeouts, wrong_prio;
	volatile bool stop;
} stress;

/* Take the locks from @first on, each inside the one before, and change what they protect. */
static void take_from(unsigned int first, unsigned int count)
{
	struct rt_mutex *lock = &stress.locks[first];
	unsigned long value;

	if (get_random_u32() % 4 == 0) {
		if (rt_mutex_timed_lock(lock, (long)(get_random_u32() % 3))) {
			atomic_inc(&stress.timeouts);
			return;
		}
	} else {
		rt_mutex_lock_nested(lock, first);
	}
	value = READ_ONCE(stress.values[first]);
	if (count > 1 && first + 1 < STRESS_LOCKS)
		take_from(first + 1, count - 1);
	else if (get_random_u32() % 32 == 0)
		schedule_timeout_uninterruptible(1);
	WRITE_ONCE(stress.values[first], value + 1);
	rt_mutex_unlock(lock);
	atomic_long_inc(&stress.changes[first]);
}

static int stress_task(void *arg)
{
	for (int i = 0; i < STRESS_ROUNDS; i++) {
		take_from(get_random_u32() % STRESS_LOCKS, 1 + get_random_u32() % STRESS_LOCKS);
		/* It owns nothing, so nobody lends it anything. */
		if (READ_ONCE(current->pi_prio) != MAX_PRIO)
			atomic_inc(&stress.wrong_prio);
	}
	return 0;
}

static int change_priorities(void *arg)
{
	struct task **tasks = arg;

	while (!stress.stop) {
		unsigned int rt_priority = get_random_u32() % 6;

		sched_setscheduler(tasks[get_random_u32() % STRESS_TASKS],
				   rt_priority ? SCHED_FIFO : SCHED_NORMAL, rt_priority);
		if (get_random_u32() % 8 == 0)
			msleep(1);
	}
	return 0;
}

static void stress_all(struct kunit *test)
{
	struct task *tasks[STRESS_TASKS], *changer;

	stress = (struct stress){0};
	for (int i = 0; i < STRESS_LOCKS; i++)
		rt_mutex_init(&stress.locks[i]);
	for (unsigned int i = 0; i < STRESS_TASKS; i++)
		tasks[i] = make_task(test, stress_task, NULL, i % 4);
	changer = make_task(test, change_priorities, tasks, 40);
	wake_up_process(changer);
	for (unsigned int i = 0; i < STRESS_TASKS; i++)
		wake_up_process(tasks[i]);
	for (unsigned int i = 0; i < STRESS_TASKS; i++)
		KUNIT_EXPECT_TRUE(test, soon(completion_done(&tasks[i]->exited)));
	stress.stop = true;
	KUNIT_EXPECT_EQ(test, kthread_join(changer), 0);
	for (unsigned int i = 0; i < STRESS_TASKS; i++)
		KUNIT_EXPECT_EQ(test, kthread_join(tasks[i]), 0);
	for (int i = 0; i < STRESS_LOCKS; i++) {
		KUNIT_EXPECT_EQ(test, stress.values[i],
				(unsigned long)atomic_long_read(&stress.changes[i]));
		KUNIT_EXPECT_GT(test, stress.values[i], 0);
		expect_free(test, &stress.locks[i]);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&stress.wrong_prio), 0);
	kunit_info(test, "%d waits timed out", atomic_read(&stress.timeouts));
}

KASAN_SUITE(rtmutex, KUNIT_CASE(sorted_lists), KUNIT_CASE(inversion_bounded),
	    KUNIT_CASE(inversion_unbounded), KUNIT_CASE(chain), KUNIT_CASE(two_locks),
	    KUNIT_CASE(order), KUNIT_CASE(overtaking), KUNIT_CASE(tries), KUNIT_CASE(timeout),
	    KUNIT_CASE(owner_ended), KUNIT_CASE(deadlock_alone), KUNIT_CASE(deadlock),
	    KUNIT_CASE(deadlock_race), KUNIT_CASE(stress_all));
