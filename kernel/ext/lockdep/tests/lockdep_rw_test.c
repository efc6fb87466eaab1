// SPDX-License-Identifier: MIT
/*
 * lockdep_rw_test.c - readers and writers: which of them wait for each other, so that a cycle is a deadlock or is none.
 *
 * The three kinds of lock_acquire() are tested with bare maps, because no lock of the kernel has them all.
 */
#include <kernel/kernel.h>
#include <kernel/rwlock.h>
#include <kernel/spinlock.h>

#include "lockdep_expect.h"

#define CIRCULAR  "BUG: lockdep: possible circular dependency in "
#define RECURSIVE "BUG: lockdep: possible recursive locking in "

/* --- rwlock_t --------------------------------------------------------------------------------------- */

static DEFINE_RWLOCK(rw_writers);
static DEFINE_SPINLOCK(rw_spin);

static noinline void write_then_spin(void)
{
	write_lock(&rw_writers);
	spin_lock(&rw_spin);
	spin_unlock(&rw_spin);
	write_unlock(&rw_writers);
}

static noinline void spin_then_read(void)
{
	spin_lock(&rw_spin);
	read_lock(&rw_writers);
	read_unlock(&rw_writers);
	spin_unlock(&rw_spin);
}

/* The reader waits for the writer, and the writer for the reader's spin lock. */
static void writer_and_reader(struct kunit *test)
{
	write_then_spin();
	LOCKDEP_EXPECT(
		test,
		LOCKDEP_LINES(
			CIRCULAR "spin_then_read+0x", "rw_writers", "holds:", "rw_spin",
			"-> #1 (rw_writers), taken while (rw_spin) is held, now:",
			"spin_then_read+0x",
			"-> #0 (rw_spin), taken while (rw_writers) is held:", "write_then_spin+0x"),
		spin_then_read());
}

static DEFINE_RWLOCK(rw_upgraded);

static noinline void write_while_reading(void)
{
	read_lock(&rw_upgraded);
	might_lock(&rw_upgraded);
	read_unlock(&rw_upgraded);
}

static noinline void write_after_reading(void)
{
	read_lock(&rw_upgraded);
	read_unlock(&rw_upgraded);
	write_lock(&rw_upgraded);
	write_unlock(&rw_upgraded);
}

/* A reader that becomes a writer waits for itself. */
static void upgrade(struct kunit *test)
{
	LOCKDEP_EXPECT_NONE(test, write_after_reading());
	LOCKDEP_EXPECT(test,
		       LOCKDEP_LINES(RECURSIVE "write_while_reading+0x", " (rw_upgraded){",
				     "holds:", "rw_upgraded"),
		       write_while_reading());
}

static DEFINE_RWLOCK(rw_downgraded);

static noinline void read_while_writing(void)
{
	write_lock(&rw_downgraded);
	might_lock_read(&rw_downgraded);
	write_unlock(&rw_downgraded);
}

static void read_under_write(struct kunit *test)
{
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(RECURSIVE "read_while_writing+0x", " (rw_downgraded){"),
		       read_while_writing());
}

/* --- The three kinds -------------------------------------------------------------------------------- */

/* Takes @first as @read, then @second as @second_read. */
static noinline void take_as(struct lockdep_map *first, int read, struct lockdep_map *second,
			     int second_read)
{
	lock_acquire(first, 0, false, read, NULL, _THIS_IP_);
	lock_acquire(second, 0, false, second_read, NULL, _THIS_IP_);
	lock_release(second, _THIS_IP_);
	lock_release(first, _THIS_IP_);
}

/*
 * Two paths: one takes A as @first_a, then B; the other one B, then A as @second_a. Is it a deadlock? A holder of A in
 * the first path keeps out who waits for A in the second one, unless both are readers and the waiter overtakes
 * writers.
 */
static const struct pair {
	int first_a, second_a;
	bool deadlock;
} pairs[] = {
	{LOCK_EXCLUSIVE, LOCK_EXCLUSIVE, true},
	{LOCK_EXCLUSIVE, LOCK_READ, true},
	{LOCK_EXCLUSIVE, LOCK_READ_RECURSIVE, true},
	{LOCK_READ, LOCK_EXCLUSIVE, true},
	{LOCK_READ, LOCK_READ, true},
	{LOCK_READ, LOCK_READ_RECURSIVE, false},
	{LOCK_READ_RECURSIVE, LOCK_EXCLUSIVE, true},
	{LOCK_READ_RECURSIVE, LOCK_READ, true},
	{LOCK_READ_RECURSIVE, LOCK_READ_RECURSIVE, false},
};

static const char *kind_name(int read)
{
	return read == LOCK_READ_RECURSIVE ? "read, recursive" : read ? "read" : "exclusive";
}

static void pair_name(const struct pair *pair, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s, then %s", kind_name(pair->first_a),
		 kind_name(pair->second_a));
}

KUNIT_ARRAY_PARAM(pair, pairs, pair_name);

static void cycle_of_two(struct kunit *test)
{
	static struct lock_class_key keys[ARRAY_SIZE(pairs)][2];
	const struct pair *pair = test->param_value;
	struct lockdep_map a, b;

	lockdep_init_map(&a, "kinds_a", &keys[test->param_index][0], 0, LD_WAIT_SPIN);
	lockdep_init_map(&b, "kinds_b", &keys[test->param_index][1], 0, LD_WAIT_SPIN);
	take_as(&a, pair->first_a, &b, LOCK_EXCLUSIVE);
	if (pair->deadlock)
		LOCKDEP_EXPECT(test,
			       LOCKDEP_LINES(CIRCULAR "take_as+0x",
					     "-> #1 (kinds_a), taken while (kinds_b) is held, now:",
					     "-> #0 (kinds_b), taken while (kinds_a) is held:"),
			       take_as(&b, LOCK_EXCLUSIVE, &a, pair->second_a));
	else
		LOCKDEP_EXPECT_NONE(test, take_as(&b, LOCK_EXCLUSIVE, &a, pair->second_a));
}

/* The same of one lock, taken twice by one task. */
static void twice(struct kunit *test)
{
	static struct lock_class_key keys[ARRAY_SIZE(pairs)];
	const struct pair *pair = test->param_value;
	struct lockdep_map a;

	lockdep_init_map(&a, "kinds_twice", &keys[test->param_index], 0, LD_WAIT_SPIN);
	if (pair->deadlock)
		LOCKDEP_EXPECT(test, LOCKDEP_LINES(RECURSIVE "take_as+0x", " (kinds_twice){"),
			       take_as(&a, pair->first_a, &a, pair->second_a));
	else
		LOCKDEP_EXPECT_NONE(test, take_as(&a, pair->first_a, &a, pair->second_a));
}

/* Readers close a cycle only where they wait. With a writer it is one; the dependency is found again, stronger. */
static void reader_first_then_writer(struct kunit *test)
{
	static struct lock_class_key keys[2];
	struct lockdep_map a, b;

	lockdep_init_map(&a, "stronger_a", &keys[0], 0, LD_WAIT_SPIN);
	lockdep_init_map(&b, "stronger_b", &keys[1], 0, LD_WAIT_SPIN);
	take_as(&a, LOCK_READ_RECURSIVE, &b, LOCK_EXCLUSIVE);
	LOCKDEP_EXPECT_NONE(test, take_as(&b, LOCK_EXCLUSIVE, &a, LOCK_READ_RECURSIVE));
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(CIRCULAR, "(stronger_"),
		       take_as(&a, LOCK_EXCLUSIVE, &b, LOCK_EXCLUSIVE));
}

/* --- A lock that guards the nesting ------------------------------------------------------------------- */

static noinline void take_two_under(struct lockdep_map *outer, struct lockdep_map *a,
				    struct lockdep_map *b, bool say)
{
	lock_acquire(outer, 0, false, LOCK_EXCLUSIVE, NULL, _THIS_IP_);
	lock_acquire(a, 0, false, LOCK_EXCLUSIVE, say ? outer : NULL, _THIS_IP_);
	lock_acquire(b, 0, false, LOCK_EXCLUSIVE, say ? outer : NULL, _THIS_IP_);
	lock_release(b, _THIS_IP_);
	lock_release(a, _THIS_IP_);
	lock_release(outer, _THIS_IP_);
}

static void nest_lock(struct kunit *test)
{
	static struct lock_class_key outer_key, key;
	struct lockdep_map outer, a, b;

	lockdep_init_map(&outer, "nest_outer", &outer_key, 0, LD_WAIT_SPIN);
	lockdep_init_map(&a, "nest_inner", &key, 0, LD_WAIT_SPIN);
	lockdep_init_map(&b, "nest_inner", &key, 0, LD_WAIT_SPIN);
	LOCKDEP_EXPECT_NONE(test, take_two_under(&outer, &a, &b, true));
	LOCKDEP_EXPECT_NONE(test, take_two_under(&outer, &b, &a, true));
	LOCKDEP_EXPECT(test, LOCKDEP_LINES(RECURSIVE "take_two_under+0x", " (nest_inner){"),
		       take_two_under(&outer, &a, &b, false));
}

LOCKDEP_SUITE(lockdep_rw, KUNIT_CASE(writer_and_reader), KUNIT_CASE(upgrade),
	      KUNIT_CASE(read_under_write), KUNIT_CASE_PARAM(cycle_of_two, pair_gen_params),
	      KUNIT_CASE_PARAM(twice, pair_gen_params), KUNIT_CASE(reader_first_then_writer),
	      KUNIT_CASE(nest_lock));
