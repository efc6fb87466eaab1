// SPDX-License-Identifier: MIT
/*
 * lockdep_limits_test.c - how full the validator's tables are: classes that go with their module, tables that are full,
 * and its counters.
 *
 * A case that fills a table empties it again, so that the suites behind it are checked as those before.
 */
#include <kernel/kernel.h>
#include <kernel/lock_events.h>
#include <kernel/mutex.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>
#include <kernel/time.h>

#include "lockdep_expect.h"
#include "module_lock.h"

#define CIRCULAR "BUG: lockdep: possible circular dependency in "

static void take(struct lockdep_map *map)
{
	lock_acquire(map, 0, false, LOCK_EXCLUSIVE, NULL, _THIS_IP_);
	lock_release(map, _THIS_IP_);
}

static void take_two(struct lockdep_map *first, struct lockdep_map *second)
{
	lock_acquire(first, 0, false, LOCK_EXCLUSIVE, NULL, _THIS_IP_);
	take(second);
	lock_release(first, _THIS_IP_);
}

static unsigned int nr_classes(void)
{
	struct lockdep_counts counts;

	lockdep_counts(&counts);
	return counts.classes;
}

static unsigned int nr_deps(void)
{
	struct lockdep_counts counts;

	lockdep_counts(&counts);
	return counts.deps;
}

static unsigned int nr_chains(void)
{
	struct lockdep_counts counts;

	lockdep_counts(&counts);
	return counts.chains;
}

/* --- Modules ---------------------------------------------------------------------------------------- */

static struct module *load_locks(struct kunit *test)
{
	struct module *module;

	KUNIT_ASSERT_EQ(test,
			load_module("module_lock", module_lock_start,
				    (size_t)(module_lock_end - module_lock_start), 0, &module,
				    NULL),
			0);
	return module;
}

/* A function of the module, by name, as the type of its declaration. */
#define FN(module, name) ((__typeof__(&name))module_address(module, #name))

/* As if the module that it is in were unloaded by its holder. */
static noinline_named void free_held(raw_spinlock_t *lock)
{
	raw_spin_lock(lock);
	lockdep_free_key_range(lock, sizeof(*lock));
	raw_spin_unlock(lock);
}

static void held_lock_freed(struct kunit *test)
{
	static DEFINE_RAW_SPINLOCK(going);

	LOCKDEP_EXPECT_ONCE(test,
			    LOCKDEP_LINES("BUG: lockdep: held lock freed in free_held+0x",
					  "must not hold:", " (going){", "What to do:"),
			    free_held(&going));
	KUNIT_EXPECT_EQ(test, lockdep_held_count(), 0U);
	/* It gets a new class. */
	LOCKDEP_EXPECT_NONE(test, take(&going.dep_map));
}

static void module_classes(struct kunit *test)
{
	static DEFINE_RAW_SPINLOCK(outside);
	unsigned int classes, deps, chains, more_classes, more_deps, more_chains;
	raw_spinlock_t *lock;
	struct module *m;

	raw_spin_lock(&outside);
	raw_spin_unlock(&outside);
	/* The first round makes the classes of the loader's own locks. */
	KUNIT_ASSERT_NOT_NULL(test, load_locks(test));
	KUNIT_ASSERT_EQ(test, unload_module("module_lock"), 0);
	/* Other tasks may show the validator something new meanwhile. Then the numbers say nothing, and a second look
	 * is needed. */
	for (unsigned int tries = 0; tries < 5; tries++) {
		classes = nr_classes();
		deps = nr_deps();
		chains = nr_chains();
		m = load_locks(test);
		LOCKDEP_EXPECT_NONE(test, FN(m, module_lock_all)());
		LOCKDEP_EXPECT_NONE(test, FN(m, module_lock_both)(&outside, true));
		more_classes = nr_classes() - classes;
		more_deps = nr_deps() - deps;
		more_chains = nr_chains() - chains;
		KUNIT_ASSERT_EQ(test, unload_module("module_lock"), 0);
		if (nr_classes() == classes && nr_deps() == deps)
			break;
	}
	KUNIT_EXPECT_EQ(test, more_classes, 2);
	KUNIT_EXPECT_EQ(test, more_deps, 2);
	KUNIT_EXPECT_GT(test, more_chains, 0);
	KUNIT_EXPECT_EQ(test, nr_classes(), classes);
	KUNIT_EXPECT_EQ(test, nr_deps(), deps);

	/* The same addresses: the other order is no bug, because the first one has gone. */
	m = load_locks(test);
	lock = (raw_spinlock_t *)module_address(m, "module_static_lock");
	KUNIT_ASSERT_NOT_NULL(test, lock);
	LOCKDEP_EXPECT_NONE(test, FN(m, module_lock_both)(&outside, false));
	/* As long as it is loaded, the orders of the module count as any others. */
	LOCKDEP_EXPECT(
		test,
		LOCKDEP_LINES(CIRCULAR "module_lock_both+0x", " [module_lock]",
			      "-> #1 (module_static_lock), taken while (outside) is held, now:",
			      "-> #0 (outside), taken while (module_static_lock) is held:",
			      "module_lock_both+0x"),
		FN(m, module_lock_both)(&outside, true));
	KUNIT_ASSERT_EQ(test, unload_module("module_lock"), 0);
	KUNIT_EXPECT_EQ(test, nr_classes(), classes);

	/* A bug that is reported once is a new one in a module that is loaded anew. */
	m = load_locks(test);
	FN(m, module_lock_both)(&outside, false);
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(CIRCULAR, "module_static_lock"),
		       FN(m, module_lock_both)(&outside, true));
	KUNIT_ASSERT_EQ(test, unload_module("module_lock"), 0);
}

/* The key is the module's, and the lock is not: it goes on without a class, or with a report, but never with a class
 * that is somewhere else by then. */
static void lock_of_a_module_key(struct kunit *test)
{
	static raw_spinlock_t lock;
	struct lockdep_usage usage;
	struct module *m = load_locks(test);

	FN(m, module_lock_init)(&lock);
	raw_spin_lock(&lock);
	raw_spin_unlock(&lock);
	lockdep_usage(&lock.dep_map, &usage);
	KUNIT_EXPECT_TRUE(test, usage.known);
	KUNIT_ASSERT_EQ(test, unload_module("module_lock"), 0);
	lockdep_usage(&lock.dep_map, &usage);
	KUNIT_EXPECT_FALSE(test, usage.known);
}

static noinline void release_twice(struct lockdep_map *map)
{
	take(map);
	lock_release(map, _THIS_IP_);
}

static noinline void take_as_reader(struct lockdep_map *map)
{
	rcu_read_lock();
	lock_acquire(map, 0, false, LOCK_EXCLUSIVE, NULL, _THIS_IP_);
	lock_release(map, _THIS_IP_);
	rcu_read_unlock();
}

static noinline void state(const struct lockdep_map *map)
{
	lockdep_assert(map, _THIS_IP_);
}

/* A new class may have the number of one that is gone, and the same bug in the same place: it is a new bug. */
static void reports_are_forgotten(struct kunit *test)
{
	static struct lock_class_key key;
	struct lockdep_map map;

	for (int i = 0; i < 3; i++) {
		lockdep_init_map(&map, "forgotten", &key, 0, LD_WAIT_SLEEP);
		LOCKDEP_EXPECT(test, LOCKDEP_LINES("BUG: lockdep: bad unlock in ", "forgotten"),
			       release_twice(&map));
		LOCKDEP_EXPECT(test, LOCKDEP_LINES("BUG: lockdep: invalid wait context in "),
			       take_as_reader(&map));
		LOCKDEP_EXPECT(test, LOCKDEP_LINES("BUG: lockdep: lock not held in "), state(&map));
		lockdep_free_key_range(&key, sizeof(key));
	}
}

/* --- Full tables -------------------------------------------------------------------------------------- */

/* Lines that say that a table is full, by the option that makes it larger. */
static const char *const options[] = {"REDZONE_LOCKDEP_CLASSES", "REDZONE_LOCKDEP_DEPS",
				      "REDZONE_LOCKDEP_CHAINS"};
enum { CLASSES, DEPS, CHAINS, OPTIONS };

static volatile unsigned int full_lines[OPTIONS], other_lines, sized_lines;
static char size_text[OPTIONS][12];

static bool count_full(const char *text)
{
	for (int i = 0; i < OPTIONS; i++) {
		if (!strstr(text, options[i]))
			continue;
		full_lines[i]++;
		sized_lines += strstr(text, size_text[i]) != NULL;
		return true;
	}
	other_lines++;
	return true;
}

static void watch_full(void)
{
	snprintf(size_text[CLASSES], sizeof(size_text[0]), "%u", CONFIG_LOCKDEP_CLASSES);
	snprintf(size_text[DEPS], sizeof(size_text[0]), "%u", CONFIG_LOCKDEP_DEPS);
	snprintf(size_text[CHAINS], sizeof(size_text[0]), "%u", CONFIG_LOCKDEP_CHAINS);
	memset((void *)full_lines, 0, sizeof(full_lines));
	other_lines = sized_lines = 0;
	lockdep_line_tap(count_full);
}

#define MANY_CLASSES (CONFIG_LOCKDEP_CLASSES + 16)
static struct lock_class_key many_keys[MANY_CLASSES];

static void forget_many(void *unused)
{
	lockdep_line_tap(NULL);
	lockdep_free_key_range(many_keys, sizeof(many_keys));
}

static struct lockdep_map many_map(unsigned int i)
{
	struct lockdep_map map;

	lockdep_init_map(&map, "many", &many_keys[i], 0, LD_WAIT_SPIN);
	return map;
}

static DEFINE_RAW_SPINLOCK(full_a);
static DEFINE_RAW_SPINLOCK(full_b);

static noinline void full_both(raw_spinlock_t *first, raw_spinlock_t *second)
{
	raw_spin_lock(first);
	raw_spin_lock(second);
	raw_spin_unlock(second);
	raw_spin_unlock(first);
}

static void too_many_classes(struct kunit *test)
{
	unsigned int before = nr_classes();
	struct lockdep_counts counts;

	full_both(&full_a, &full_b);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, forget_many, NULL), 0);
	watch_full();
	for (unsigned int i = 0; i < MANY_CLASSES; i++) {
		struct lockdep_map map = many_map(i);

		take(&map);
	}
	lockdep_line_tap(NULL);
	KUNIT_EXPECT_EQ(test, full_lines[CLASSES], 1);
	KUNIT_EXPECT_EQ(test, sized_lines, 1);
	KUNIT_EXPECT_EQ(test, other_lines, 0);
	lockdep_counts(&counts);
	KUNIT_EXPECT_LE(test, counts.classes, counts.max_classes);
	KUNIT_EXPECT_GE(test, counts.classes + 2, counts.max_classes);
	/* It goes on with the classes that it has. */
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(CIRCULAR "full_both+0x",
				     "-> #1 (full_a), taken while (full_b) is held, now:",
				     "-> #0 (full_b)"),
		       full_both(&full_b, &full_a));
	kunit_release_action(test, forget_many, NULL);
	KUNIT_EXPECT_LE(test, nr_classes(), before + 4);
}

/* All pairs of so many classes are more dependencies than there is room for. */
static unsigned int classes_for(unsigned int deps)
{
	unsigned int n = 2;

	while (n * (n - 1) / 2 <= deps)
		n++;
	return n;
}

static void too_many_dependencies(struct kunit *test)
{
	unsigned int before = nr_deps(), n;
	struct lockdep_counts counts;

	lockdep_counts(&counts);
	n = classes_for(counts.max_deps);
	KUNIT_ASSERT_LT(test, n + counts.classes, counts.max_classes);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, forget_many, NULL), 0);
	watch_full();
	for (unsigned int i = 0; i < n; i++) {
		struct lockdep_map first = many_map(i);

		for (unsigned int j = i + 1; j < n; j++) {
			struct lockdep_map second = many_map(j);

			take_two(&first, &second);
		}
	}
	lockdep_line_tap(NULL);
	KUNIT_EXPECT_EQ(test, full_lines[DEPS], 1);
	KUNIT_EXPECT_EQ(test, full_lines[CLASSES], 0);
	/* Each pair is a sequence of locks of its own. */
	KUNIT_EXPECT_LE(test, full_lines[CHAINS], 1);
	KUNIT_EXPECT_EQ(test, sized_lines, full_lines[DEPS] + full_lines[CHAINS]);
	KUNIT_EXPECT_EQ(test, other_lines, 0);
	kunit_release_action(test, forget_many, NULL);
	KUNIT_EXPECT_LE(test, nr_deps(), before + 8);
	/* There is room again. */
	LOCKDEP_EXPECT_NONE(test, ({
				    struct lockdep_map a = many_map(0), b = many_map(1);

				    take_two(&a, &b);
			    }));
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(CIRCULAR, "many"), ({
			       struct lockdep_map a = many_map(0), b = many_map(1);

			       take_two(&b, &a);
		       }));
	forget_many(NULL);
}

/* A task that holds more locks than fit is followed as far as they do, and all releases are accepted. */
static void too_many_held(struct kunit *test)
{
	struct lockdep_map *maps;
	unsigned int n = LOCKDEP_DEPTH + 4;

	maps = kunit_kzalloc(test, n * sizeof(*maps), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, maps);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, forget_many, NULL), 0);
	watch_full();
	for (unsigned int i = 0; i < n; i++) {
		maps[i] = many_map(i);
		lock_acquire(&maps[i], 0, false, LOCK_EXCLUSIVE, NULL, _THIS_IP_);
	}
	KUNIT_EXPECT_EQ(test, lockdep_held_count(), LOCKDEP_DEPTH);
	while (n--)
		lock_release(&maps[n], _THIS_IP_);
	lockdep_line_tap(NULL);
	KUNIT_EXPECT_EQ(test, lockdep_held_count(), 0);
	KUNIT_EXPECT_EQ(test, other_lines, 1);
	kunit_release_action(test, forget_many, NULL);
	LOCKDEP_EXPECT_NONE(test, full_both(&full_a, &full_b));
}

/* --- Counters ------------------------------------------------------------------------------------------ */

#define TIMES 1000

static DEFINE_RAW_SPINLOCK(count_a);
static DEFINE_RAW_SPINLOCK(count_b);

/* Other CPUs count as well, so there may be more; but a few, not thousands. */
static void events(struct kunit *test)
{
	unsigned long acquired = lock_event_read(LOCKEVENT_lockdep_acquire), hits, checks;

	checks = lock_event_read(LOCKEVENT_lockdep_cycle_checks);
	full_both(&count_a, &count_b);
	KUNIT_EXPECT_GE(test, lock_event_read(LOCKEVENT_lockdep_acquire), acquired + 2);
	KUNIT_EXPECT_GE(test, lock_event_read(LOCKEVENT_lockdep_cycle_checks), checks + 1);

	acquired = lock_event_read(LOCKEVENT_lockdep_acquire);
	checks = lock_event_read(LOCKEVENT_lockdep_cycle_checks);
	hits = lock_event_read(LOCKEVENT_lockdep_chain_hits);
	for (int i = 0; i < TIMES; i++)
		full_both(&count_a, &count_b);
	KUNIT_EXPECT_GE(test, lock_event_read(LOCKEVENT_lockdep_acquire), acquired + 2 * TIMES);
	/* A known sequence costs one look-up. */
	KUNIT_EXPECT_GE(test, lock_event_read(LOCKEVENT_lockdep_chain_hits), hits + 2 * TIMES);
	KUNIT_EXPECT_LT(test, lock_event_read(LOCKEVENT_lockdep_cycle_checks), checks + TIMES / 10);
}

static DEFINE_MUTEX(count_mutex);

static int wait_for_mutex(void *unused)
{
	mutex_lock(&count_mutex);
	mutex_unlock(&count_mutex);
	return 0;
}

#define HOLD_MS 30

static void contention_and_longest(struct kunit *test)
{
	unsigned long waits = lock_event_read(LOCKEVENT_lockdep_contended);
	bool measured = lockdep_measure(true);
	struct lockdep_usage usage;
	struct task *task;

	mutex_lock(&count_mutex);
	task = kthread_run(wait_for_mutex, NULL, "lockdep_wait");
	KUNIT_EXPECT_FALSE(test, IS_ERR(task));
	/* Until it waits: on a busy host that takes a while. */
	for (int tries = 0; tries < 1000; tries++) {
		lockdep_usage(&count_mutex.dep_map, &usage);
		if (usage.contended)
			break;
		msleep(10);
	}
	msleep(HOLD_MS);
	mutex_unlock(&count_mutex);
	if (!IS_ERR(task))
		kthread_join(task);
	lockdep_measure(measured);
	lockdep_usage(&count_mutex.dep_map, &usage);
	KUNIT_EXPECT_TRUE(test, usage.known);
	KUNIT_EXPECT_EQ(test, usage.contended, 1);
	KUNIT_EXPECT_GE(test, usage.longest, HOLD_MS * NSEC_PER_MSEC);
	KUNIT_EXPECT_GE(test, lock_event_read(LOCKEVENT_lockdep_contended), waits + 1);
}

static DEFINE_RAW_SPINLOCK(bits_lock);

static void take_bits(void *unused)
{
	raw_spin_lock(&bits_lock);
	raw_spin_unlock(&bits_lock);
}

static void usage_bits(struct kunit *test)
{
	struct lockdep_usage usage;
	unsigned long flags;

	lockdep_usage(&bits_lock.dep_map, &usage);
	KUNIT_EXPECT_FALSE(test, usage.known);
	raw_spin_lock_irqsave(&bits_lock, flags);
	raw_spin_unlock_irqrestore(&bits_lock, flags);
	lockdep_usage(&bits_lock.dep_map, &usage);
	KUNIT_EXPECT_TRUE(test, usage.known);
	KUNIT_EXPECT_EQ(test, usage.usage, 0);
	lockdep_in_hardirq(test, take_bits, NULL);
	lockdep_usage(&bits_lock.dep_map, &usage);
	KUNIT_EXPECT_EQ(test, usage.usage, LOCKDEP_USED_IN_HARDIRQ);
	KUNIT_EXPECT_EQ(test, usage.contended, 0);
}

LOCKDEP_SUITE(lockdep_limits, KUNIT_CASE(module_classes), KUNIT_CASE(held_lock_freed),
	      KUNIT_CASE(lock_of_a_module_key), KUNIT_CASE(reports_are_forgotten),
	      KUNIT_CASE(too_many_classes), KUNIT_CASE_SLOW(too_many_dependencies),
	      KUNIT_CASE(too_many_held), KUNIT_CASE(events), KUNIT_CASE(contention_and_longest),
	      KUNIT_CASE(usage_bits));
