// SPDX-License-Identifier: MIT
/*
 * lockdep_order_test.c - locks that are taken in one order here and in another one there: cycles of two, three and
 * more, of one lock, with readers, and what breaks them. The cases never wait: each takes its locks one after
 * the other, and the validator must see that others might not.
 */
#include <kernel/kernel.h>
#include <kernel/mutex.h>
#include <kernel/rwlock.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>

#include "lockdep_expect.h"

#define CIRCULAR "BUG: lockdep: possible circular dependency in "
/* The line of a dependency; the first one that led here has number 0. */
#define STEP(n, to, from, now) "-> #" n " (" to "), taken while (" from ") is held" now ":"
#define RECURSIVE	       "BUG: lockdep: possible recursive locking in "

static noinline_named void take_both(spinlock_t *first, spinlock_t *second)
{
	spin_lock(first);
	spin_lock(second);
	spin_unlock(second);
	spin_unlock(first);
}

/* --- Two locks ------------------------------------------------------------------------------------- */

static DEFINE_SPINLOCK(ab_a);
static DEFINE_SPINLOCK(ab_b);

static noinline void ab_in_order(void)
{
	spin_lock(&ab_a);
	spin_lock(&ab_b);
	spin_unlock(&ab_b);
	spin_unlock(&ab_a);
}

static noinline void ab_reversed(void)
{
	spin_lock(&ab_b);
	spin_lock(&ab_a);
	spin_unlock(&ab_a);
	spin_unlock(&ab_b);
}

static void ab_ba(struct kunit *test)
{
	ab_in_order();
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR "ab_reversed+0x", " is trying to take:", "> (ab_a){",
				     ">but holds:", "> #0: (ab_b){",
				     ">The chain of dependencies, last first:",
				     ">" STEP("1", "ab_a", "ab_b", ", now"), "ab_reversed+0x",
				     STEP("0", "ab_b", "ab_a", ""), "ab_in_order+0x",
				     "How it deadlocks:", ">CPU0                    CPU1",
				     " lock(ab_b);", "> lock(ab_a);", " lock(ab_b);",
				     "> lock(ab_a);",
				     "What to do:", "CPU: ", "Call trace:", "ab_reversed+0x"),
		       ab_reversed());
	LOCKDEP_EXPECT_ABOUT(test, LOCKDEP_CIRCULAR, "ab_a", "ab_b");
	/* It has not stopped with its first report. */
	LOCKDEP_EXPECT_NONE(test, ab_in_order());
}

static DEFINE_SPINLOCK(order_a);
static DEFINE_SPINLOCK(order_b);
static DEFINE_SPINLOCK(order_c);

static noinline void three_in_order(void)
{
	spin_lock(&order_a);
	spin_lock(&order_b);
	spin_lock(&order_c);
	spin_unlock(&order_c);
	spin_unlock(&order_b);
	spin_unlock(&order_a);
}

static void one_order(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, three_in_order());
	LOCKDEP_EXPECT_NONE(test, take_both(&order_a, &order_c));
	LOCKDEP_EXPECT_NONE(test, take_both(&order_b, &order_c));
	LOCKDEP_EXPECT_NONE(test, take_both(&order_a, &order_b));
}

static DEFINE_SPINLOCK(try_a);
static DEFINE_SPINLOCK(try_b);

static noinline void try_reversed(struct kunit *test)
{
	spin_lock(&try_b);
	KUNIT_EXPECT_TRUE(test, spin_trylock(&try_a));
	spin_unlock(&try_a);
	spin_unlock(&try_b);
}

/* A try never waits, so it closes no cycle. */
static void trylock(struct kunit *test)
{
	take_both(&try_a, &try_b);
	LOCKDEP_EXPECT_NONE(test, try_reversed(test));
}

static DEFINE_SPINLOCK(tried_a);
static DEFINE_SPINLOCK(tried_b);

static noinline void lock_under_tried(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, spin_trylock(&tried_a));
	spin_lock(&tried_b);
	spin_unlock(&tried_b);
	spin_unlock(&tried_a);
}

/* But others wait for a lock that was taken by a try. */
static void lock_behind_trylock(struct kunit *test)
{
	lock_under_tried(test);
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR "take_both+0x",
				     STEP("1", "tried_a", "tried_b", ", now"), "take_both+0x",
				     STEP("0", "tried_b", "tried_a", ""), "lock_under_tried+0x"),
		       take_both(&tried_b, &tried_a));
}

static DEFINE_RAW_SPINLOCK(raw_a);
static DEFINE_RAW_SPINLOCK(raw_b);

static noinline void raw_both(raw_spinlock_t *first, raw_spinlock_t *second)
{
	raw_spin_lock(first);
	raw_spin_lock(second);
	raw_spin_unlock(second);
	raw_spin_unlock(first);
}

static void raw_locks(struct kunit *test)
{
	raw_both(&raw_a, &raw_b);
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR "raw_both+0x", STEP("1", "raw_a", "raw_b", ", now"),
				     STEP("0", "raw_b", "raw_a", "")),
		       raw_both(&raw_b, &raw_a));
}

static DEFINE_MUTEX(mutex_a);
static DEFINE_MUTEX(mutex_b);
static DEFINE_MUTEX(mutex_c);

static noinline void mutex_both(struct mutex *first, struct mutex *second)
{
	mutex_lock(first);
	mutex_lock(second);
	mutex_unlock(second);
	mutex_unlock(first);
}

static noinline void mutex_try_both(struct kunit *test, struct mutex *first, struct mutex *second)
{
	mutex_lock(first);
	KUNIT_EXPECT_TRUE(test, mutex_trylock(second));
	mutex_unlock(second);
	mutex_unlock(first);
}

static void mutexes(struct kunit *test)
{
	mutex_both(&mutex_a, &mutex_b);
	LOCKDEP_EXPECT_NONE(test, mutex_try_both(test, &mutex_b, &mutex_a));
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR "mutex_both+0x",
				     STEP("1", "mutex_a", "mutex_b", ", now"), "mutex_both+0x",
				     STEP("0", "mutex_b", "mutex_a", ""), "mutex_both+0x"),
		       mutex_both(&mutex_b, &mutex_a));
	LOCKDEP_EXPECT_NONE(test, mutex_both(&mutex_a, &mutex_c));
}

static DEFINE_MUTEX(over_a);
static DEFINE_SPINLOCK(under_a);

static noinline void spin_under_mutex(void)
{
	mutex_lock(&over_a);
	spin_lock(&under_a);
	spin_unlock(&under_a);
	mutex_unlock(&over_a);
}

static void spin_lock_under_mutex(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, spin_under_mutex());
}

/* --- Longer cycles ---------------------------------------------------------------------------------- */

static DEFINE_SPINLOCK(ring_a);
static DEFINE_SPINLOCK(ring_b);
static DEFINE_SPINLOCK(ring_c);

static int ring_task_1(void *unused)
{
	spin_lock(&ring_a);
	spin_lock(&ring_b);
	spin_unlock(&ring_b);
	spin_unlock(&ring_a);
	return 0;
}

static int ring_task_2(void *unused)
{
	spin_lock(&ring_b);
	spin_lock(&ring_c);
	spin_unlock(&ring_c);
	spin_unlock(&ring_b);
	return 0;
}

static int ring_task_3(void *unused)
{
	spin_lock(&ring_c);
	spin_lock(&ring_a);
	spin_unlock(&ring_a);
	spin_unlock(&ring_c);
	return 0;
}

static void three_tasks(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, lockdep_in_thread(test, ring_task_1, NULL));
	LOCKDEP_EXPECT_NONE(test, lockdep_in_thread(test, ring_task_2, NULL));
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR "ring_task_3+0x", "lockdep_test/", "ring_a",
				     "holds:", "ring_c", STEP("2", "ring_a", "ring_c", ", now"),
				     "ring_task_3+0x", STEP("1", "ring_c", "ring_b", ""),
				     "ring_task_2+0x", STEP("0", "ring_b", "ring_a", ""),
				     "ring_task_1+0x", "How it deadlocks:",
				     ">CPU0                    CPU1                    CPU2",
				     " lock(ring_c);", "> lock(ring_a);", "> lock(ring_b);",
				     " lock(ring_c);", "> lock(ring_b);", "> lock(ring_a);"),
		       lockdep_in_thread(test, ring_task_3, NULL));
}

static DEFINE_SPINLOCK(kept_a);
static DEFINE_SPINLOCK(kept_b);
static DEFINE_SPINLOCK(kept_c);

static int kept_task_1(void *unused)
{
	take_both(&kept_a, &kept_b);
	return 0;
}

static int kept_task_2(void *unused)
{
	take_both(&kept_b, &kept_c);
	return 0;
}

static int kept_task_3(void *unused)
{
	take_both(&kept_a, &kept_c);
	return 0;
}

static void three_tasks_one_order(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, lockdep_in_thread(test, kept_task_1, NULL));
	LOCKDEP_EXPECT_NONE(test, lockdep_in_thread(test, kept_task_2, NULL));
	LOCKDEP_EXPECT_NONE(test, lockdep_in_thread(test, kept_task_3, NULL));
}

#define LONG_RING 8

/* The shortest cycle is the one that is printed: over the short cut from 2 to 6, not by 3, 4 and 5. */
static void long_ring(struct kunit *test)
{
	static spinlock_t locks[LONG_RING];
	static struct lock_class_key keys[LONG_RING];
	static const char *const names[LONG_RING] = {"long_0", "long_1", "long_2", "long_3",
						     "long_4", "long_5", "long_6", "long_7"};

	for (int i = 0; i < LONG_RING; i++) {
		spin_lock_init(&locks[i]);
		lockdep_set_class_of(&locks[i].dep_map, names[i], &keys[i], 0);
	}
	for (int i = 0; i + 1 < LONG_RING; i++)
		take_both(&locks[i], &locks[i + 1]);
	take_both(&locks[2], &locks[6]);
	LOCKDEP_EXPECT(
		test,
		LOCKDEP_LINES(CIRCULAR "take_both+0x", STEP("4", "long_0", "long_7", ", now"),
			      STEP("3", "long_7", "long_6", ""), STEP("2", "long_6", "long_2", ""),
			      STEP("1", "long_2", "long_1", ""), STEP("0", "long_1", "long_0", ""),
			      "... and 1 CPUs more", "!-> #5", "!(long_3)", "!(long_4)",
			      "!(long_5)"),
		take_both(&locks[7], &locks[0]));
}

/* --- One lock, or several of one class --------------------------------------------------------------- */

struct node {
	spinlock_t lock;
	struct mutex mutex;
};

static void node_init(struct node *node)
{
	spin_lock_init(&node->lock);
	mutex_init(&node->mutex);
}

static noinline_named void both_nodes(struct node *parent, struct node *child)
{
	spin_lock(&parent->lock);
	spin_lock(&child->lock);
	spin_unlock(&child->lock);
	spin_unlock(&parent->lock);
}

static noinline_named void both_nodes_nested(struct node *parent, struct node *child)
{
	spin_lock(&parent->lock);
	spin_lock_nested(&child->lock, SINGLE_DEPTH_NESTING);
	spin_unlock(&child->lock);
	spin_unlock(&parent->lock);
}

static noinline void both_mutexes(struct node *parent, struct node *child)
{
	mutex_lock(&parent->mutex);
	mutex_lock(&child->mutex);
	mutex_unlock(&child->mutex);
	mutex_unlock(&parent->mutex);
}

static noinline void both_mutexes_nested(struct node *parent, struct node *child)
{
	mutex_lock(&parent->mutex);
	mutex_lock_nested(&child->mutex, SINGLE_DEPTH_NESTING);
	mutex_unlock(&child->mutex);
	mutex_unlock(&parent->mutex);
}

/* Locks that one call has initialised are one class: nothing says which of the two comes first. */
static void two_of_a_class(struct kunit *test)
{
	struct node *nodes = kunit_kzalloc(test, 2 * sizeof(*nodes), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, nodes);
	for (int i = 0; i < 2; i++)
		node_init(&nodes[i]);
	LOCKDEP_EXPECT_NONE(test, both_nodes_nested(&nodes[0], &nodes[1]));
	LOCKDEP_EXPECT_NONE(test, both_nodes_nested(&nodes[1], &nodes[0]));
	LOCKDEP_EXPECT_NONE(test, both_mutexes_nested(&nodes[0], &nodes[1]));
	LOCKDEP_EXPECT(
		test,
		LOCKDEP_LINES(RECURSIVE "both_nodes+0x", " is trying to take:", "> (&node->lock){",
			      "holds:", "(&node->lock)", "How it deadlocks:", "lock(&node->lock);",
			      "lock(&node->lock);", "What to do:"),
		both_nodes(&nodes[0], &nodes[1]));
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(RECURSIVE "both_mutexes+0x", " (&node->mutex){"),
		       both_mutexes(&nodes[0], &nodes[1]));
}

static noinline void nested_reversed(struct node *parent, struct node *child)
{
	spin_lock_nested(&child->lock, SINGLE_DEPTH_NESTING);
	spin_lock(&parent->lock);
	spin_unlock(&parent->lock);
	spin_unlock(&child->lock);
}

/* A subclass has its place in the order, as any class. */
static void subclass_reversed(struct kunit *test)
{
	static struct lock_class_key key;
	struct node *nodes = kunit_kzalloc(test, 2 * sizeof(*nodes), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, nodes);
	spin_lock_init(&nodes[0].lock);
	lockdep_set_class_of(&nodes[0].lock.dep_map, "reversed", &key, 0);
	nodes[1] = nodes[0];
	both_nodes_nested(&nodes[0], &nodes[1]);
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR "nested_reversed+0x",
				     STEP("1", "reversed", "reversed/1", ", now"),
				     "nested_reversed+0x", STEP("0", "reversed/1", "reversed", ""),
				     "both_nodes_nested+0x"),
		       nested_reversed(&nodes[0], &nodes[1]));
}

static DEFINE_SPINLOCK(self_lock);
static DEFINE_MUTEX(self_mutex);

static noinline void might_take_again(void)
{
	spin_lock(&self_lock);
	might_lock(&self_lock);
	spin_unlock(&self_lock);
}

static noinline void might_take_mutex_again(void)
{
	mutex_lock(&self_mutex);
	might_lock(&self_mutex);
	mutex_unlock(&self_mutex);
}

/* Without the wait: might_lock() says that the code may take the lock. */
static void self_deadlock(struct kunit *test)
{
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(RECURSIVE "might_take_again+0x", " (self_lock){"),
		       might_take_again());
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(RECURSIVE "might_take_mutex_again+0x", " (self_mutex){"),
		       might_take_mutex_again());
}

/* --- Order of release --------------------------------------------------------------------------------- */

static DEFINE_SPINLOCK(early_a);
static DEFINE_SPINLOCK(early_b);

static noinline void released_early(void)
{
	spin_lock(&early_a);
	spin_lock(&early_b);
	spin_unlock(&early_a);
	/* Another CPU may hold it by now, and wait for early_b. */
	spin_lock(&early_a);
	spin_unlock(&early_a);
	spin_unlock(&early_b);
}

static DEFINE_SPINLOCK(late_a);
static DEFINE_SPINLOCK(late_b);
static DEFINE_SPINLOCK(late_c);

static noinline void released_in_any_order(void)
{
	spin_lock(&late_a);
	spin_lock(&late_b);
	spin_unlock(&late_a);
	spin_lock(&late_c);
	spin_unlock(&late_b);
	spin_unlock(&late_c);
	take_both(&late_c, &late_a);
}

/* Locks may be released in any order. But a lock that was released first is taken anew under the other one. */
static void unlock_order(struct kunit *test)
{
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR "released_early+0x",
				     STEP("1", "early_a", "early_b", ", now"), "released_early+0x",
				     STEP("0", "early_b", "early_a", ""), "released_early+0x"),
		       released_early());
}

static DEFINE_SPINLOCK(free_a);
static DEFINE_SPINLOCK(free_b);
static DEFINE_SPINLOCK(free_c);

static noinline void released_first_first(void)
{
	spin_lock(&free_a);
	spin_lock(&free_b);
	spin_unlock(&free_a);
	spin_lock(&free_c);
	spin_unlock(&free_b);
	spin_unlock(&free_c);
}

static void unlock_order_is_free(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, released_first_first());
	LOCKDEP_EXPECT_NONE(test, take_both(&free_a, &free_c));
}

/* That lets free_c come before free_a, which comes before free_b, which comes before free_c. */
static void unlock_order_makes_a_ring(struct kunit *test)
{
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR, STEP("2", "late_a", "late_c", ", now"),
				     "take_both+0x", STEP("1", "late_c", "late_b", ""),
				     "released_in_any_order+0x", STEP("0", "late_b", "late_a", ""),
				     "released_in_any_order+0x"),
		       released_in_any_order());
}

LOCKDEP_SUITE(lockdep_order, KUNIT_CASE(ab_ba), KUNIT_CASE(one_order), KUNIT_CASE(trylock),
	      KUNIT_CASE(lock_behind_trylock), KUNIT_CASE(raw_locks), KUNIT_CASE(mutexes),
	      KUNIT_CASE(spin_lock_under_mutex), KUNIT_CASE(three_tasks),
	      KUNIT_CASE(three_tasks_one_order), KUNIT_CASE(long_ring), KUNIT_CASE(two_of_a_class),
	      KUNIT_CASE(subclass_reversed), KUNIT_CASE(self_deadlock), KUNIT_CASE(unlock_order),
	      KUNIT_CASE(unlock_order_is_free), KUNIT_CASE(unlock_order_makes_a_ring));
