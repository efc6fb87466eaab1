// SPDX-License-Identifier: MIT
/*
 * lockdep_memory_test.c - locks in memory that may not be used: freed, behind an object, on the stack of a task that
 * has ended, in an unloaded module. Whatever the validator is asked about such a lock, KASAN reports it, once, and
 * the validator says nothing and keeps nothing.
 *
 * The contents of that memory are traps: a validator that reads them follows wild pointers.
 */
#include <kernel/completion.h>
#include <kernel/kernel.h>
#include <kernel/mutex.h>
#include <kernel/rwlock.h>
#include <kernel/sched.h>
#include <kernel/slab.h>
#include <kernel/spinlock.h>
#include <kernel/string.h>
#include <kernel/workqueue.h>

#include "kasan_whole.h"
#include "lockdep_expect.h"
#include "module_lock.h"

#define OBJECT 512U
/* Not where an allocator keeps its own data of a free object, at either end. */
#define AT 192U

/* --- Questions -------------------------------------------------------------------------------------- */

/* Each entry of the validator that is handed a lock. */
static noinline void ask_acquire(struct lockdep_map *map)
{
	lock_acquire(map, 0, false, LOCK_EXCLUSIVE, NULL, _THIS_IP_);
}

static noinline void ask_try(struct lockdep_map *map)
{
	lock_acquire(map, 1, true, LOCK_READ, NULL, _THIS_IP_);
}

static noinline void ask_release(struct lockdep_map *map)
{
	lock_release(map, _THIS_IP_);
}

static noinline void ask_contended(struct lockdep_map *map)
{
	lock_contended(map, _THIS_IP_);
}

static noinline void ask_acquired(struct lockdep_map *map)
{
	lock_acquired(map, _THIS_IP_);
}

static noinline void ask_commit(struct lockdep_map *map)
{
	lock_commit(map, _THIS_IP_);
}

static noinline void ask_is_held(struct lockdep_map *map)
{
	(void)lock_is_held(map);
}

static noinline void ask_might_lock(struct lockdep_map *map)
{
	lockdep_might_lock(map, LOCK_EXCLUSIVE, _THIS_IP_);
}

static noinline void ask_assert(struct lockdep_map *map)
{
	lockdep_assert(map, _THIS_IP_);
}

static noinline void ask_set_class(struct lockdep_map *map)
{
	static struct lock_class_key key;

	lockdep_set_class_of(map, "bad_memory", &key, 0);
}

static noinline void ask_init(struct lockdep_map *map)
{
	static struct lock_class_key key;

	lockdep_init_map(map, "bad_memory", &key, 0, LD_WAIT_SPIN);
}

static const struct question {
	const char *name;
	void (*ask)(struct lockdep_map *map);
} questions[] = {
	{"lock_acquire", ask_acquire},	 {"lock_acquire (try)", ask_try},
	{"lock_release", ask_release},	 {"lock_contended", ask_contended},
	{"lock_acquired", ask_acquired}, {"lock_commit", ask_commit},
	{"lock_is_held", ask_is_held},	 {"lockdep_might_lock", ask_might_lock},
	{"lockdep_assert", ask_assert},	 {"lockdep_set_class_of", ask_set_class},
	{"lockdep_init_map", ask_init},
};

static void set_trap(struct lockdep_map *map)
{
	map->key = (const struct lock_class_key *)0x6b6b6b6b6b6b6b6bUL;
	map->name = (const char *)0x6b6b6b6b6b6b6b6bUL;
	map->class = (struct lock_class *)0x6b6b6b6b6b6b6b6bUL;
	map->wait_type = 0x6b;
}

/* One report of KASAN for each question about @map, of @type, and no line of the validator. */
static void ask_all(struct kunit *test, struct lockdep_map *map, const char *type)
{
	static DEFINE_RAW_SPINLOCK(outer);
	/* Without it lock_acquired() is not interested in the lock. */
	bool measured = lockdep_measure(true);

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		unsigned int held;

		/* With a lock held, a validator that goes on would make a dependency. */
		raw_spin_lock(&outer);
		held = lockdep_held_count();
		LOCKDEP_EXPECT_NONE(
			test, KASAN_EXPECT_BUG(test, type, KASAN_READ, 1, questions[i].ask(map)));
		KUNIT_EXPECT_EQ_MSG(test, lockdep_held_count(), held, "%s", questions[i].name);
		raw_spin_unlock(&outer);
	}
	lockdep_measure(measured);
}

/* --- Places ------------------------------------------------------------------------------------------ */

static void *object_with_trap(struct kunit *test)
{
	char *object = kmalloc(OBJECT, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	set_trap((struct lockdep_map *)(object + AT));
	HIDE_VAR(object);
	return object;
}

static void freed_memory(struct kunit *test)
{
	char *object = object_with_trap(test);

	kfree(object);
	ask_all(test, (struct lockdep_map *)(object + AT), "slab-use-after-free");
}

static void behind_an_object(struct kunit *test)
{
	char *object = kasan_kmalloc_beside(test, OBJECT);

	KUNIT_ASSERT_NOT_NULL(test, object);
	HIDE_VAR(object);
	ask_all(test, (struct lockdep_map *)(object + OBJECT), KASAN_TYPE_BESIDE);
	kfree(object);
}

static void inside_of_a_slot(struct kunit *test)
{
	size_t size = OBJECT - 64 - 5;
	char *object = kmalloc(size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	HIDE_VAR(object);
	ask_all(test, (struct lockdep_map *)(object + ALIGN(size, 16U)), "slab-out-of-bounds");
	kfree(object);
}

struct left {
	struct lockdep_map *map;
};

static int leave_a_lock(void *arg)
{
	struct left *left = arg;
	struct lockdep_map map;

	set_trap(&map);
	left->map = &map;
	HIDE_VAR(left);
	return 0;
}

/* The stack goes back with its thread. A stack that the kernel keeps for the next thread may not be used either. */
static void dead_stack(struct kunit *test)
{
	struct left left = {NULL};

	/* A large one is not kept. */
	for (int large = 0; large < 2; large++) {
		struct task *task = kthread_create_sized(leave_a_lock, &left,
							 large ? 256UL << 10 : THREAD_SIZE, "dead");

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		wake_up_process(task);
		kthread_join(task);
		KUNIT_ASSERT_NOT_NULL(test, left.map);
		ask_all(test, left.map, NULL);
	}
}

static noinline struct lockdep_map *scope_of_a_lock(void)
{
	struct lockdep_map *stale = NULL;

	for (int i = 0; i < 1; i++) {
		struct lockdep_map map;

		set_trap(&map);
		stale = &map;
		HIDE_VAR(stale);
	}
	return stale;
}

static void ended_block(struct kunit *test)
{
	struct lockdep_map *stale = NULL;

	kasan_needs_stack(test);
	for (int i = 0; i < 1; i++) {
		struct lockdep_map map;

		set_trap(&map);
		stale = &map;
		HIDE_VAR(stale);
	}
	ask_all(test, stale, KASAN_TYPE("use-after-scope", NULL));
}

/* A variable of a function that has returned: with software tags its pointer has another tag than the memory. */
static void ended_function(struct kunit *test)
{
	kunit_needs(test, !KASAN_TEST_GENERIC && KASAN_TEST_STACK, "CONFIG_KASAN_SW_TAGS=y");
	ask_all(test, scope_of_a_lock(), NULL);
}

static void unloaded_module(struct kunit *test)
{
	struct module *module;
	raw_spinlock_t *lock;

	KUNIT_ASSERT_EQ(test,
			load_module("module_lock", module_lock_start,
				    (size_t)(module_lock_end - module_lock_start), 0, &module,
				    NULL),
			0);
	lock = (raw_spinlock_t *)module_address(module, "module_static_lock");
	KUNIT_ASSERT_NOT_NULL(test, lock);
	LOCKDEP_EXPECT_NONE(test, {
		raw_spin_lock(lock);
		raw_spin_unlock(lock);
	});
	KUNIT_ASSERT_EQ(test, unload_module("module_lock"), 0);
	/* One lock of a module that is remembered, and one of a module that is not. */
	ask_all(test, &lock->dep_map, NULL);
	module_purge();
	ask_all(test, &lock->dep_map, NULL);
}

/* --- Real locks --------------------------------------------------------------------------------------- */

/* The first report of KASAN is the validator's question. A try asks when it has the lock, so with hardware tags its own
 * access comes first. */
static const char *const freed_texts[] = {"BUG: KASAN: slab-use-after-free in ",
					  " of size ",
					  "Call trace:",
					  "use_freed_lock+0x",
					  "Allocated by task ",
					  "make_locks+0x",
					  "Freed by task ",
					  "drop_locks+0x",
					  NULL};
static unsigned int texts_found;

static void look(unsigned int complete, const char *text)
{
	if (!complete && freed_texts[texts_found] && strstr(text, freed_texts[texts_found]))
		texts_found++;
}

struct locks {
	char before[AT];
	raw_spinlock_t raw;
	spinlock_t spin;
	rwlock_t rw;
	struct mutex mutex;
	char behind[AT];
};

static noinline struct locks *make_locks(void)
{
	struct locks *locks = kzalloc(sizeof(*locks), GFP_KERNEL);

	if (!locks)
		return NULL;
	raw_spin_lock_init(&locks->raw);
	spin_lock_init(&locks->spin);
	rwlock_init(&locks->rw);
	mutex_init(&locks->mutex);
	/* Known to the validator, so that it has something to remember. */
	raw_spin_lock(&locks->raw);
	raw_spin_unlock(&locks->raw);
	mutex_lock(&locks->mutex);
	mutex_unlock(&locks->mutex);
	return locks;
}

static noinline void drop_locks(struct locks *locks)
{
	kfree(locks);
	barrier();
}

static noinline void use_freed_lock(struct locks *locks, int which)
{
	switch (which) {
	case 0:
		raw_spin_lock(&locks->raw);
		raw_spin_unlock(&locks->raw);
		break;
	case 1:
		(void)raw_spin_trylock(&locks->raw);
		raw_spin_unlock(&locks->raw);
		break;
	case 2:
		spin_lock(&locks->spin);
		spin_unlock(&locks->spin);
		break;
	case 3:
		read_lock(&locks->rw);
		read_unlock(&locks->rw);
		break;
	case 4:
		write_lock(&locks->rw);
		write_unlock(&locks->rw);
		break;
	default:
		mutex_lock(&locks->mutex);
		mutex_unlock(&locks->mutex);
	}
	barrier();
}

static const char *const kinds[] = {"raw_spin_lock", "raw_spin_trylock", "spin_lock",
				    "read_lock",     "write_lock",	 "mutex_lock"};

static void kind_name(const char *const *kind, char *desc)
{
	strscpy(desc, *kind, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(kind, kinds, kind_name);

/* The locks of the kernel on a freed object: the first report is a whole one, and names who allocated and freed it. */
static void use_after_free(struct kunit *test)
{
	struct locks *locks = make_locks();
	unsigned int held = lockdep_held_count();

	KUNIT_ASSERT_NOT_NULL(test, locks);
	HIDE_VAR(locks);
	texts_found = 0;
	lockdep_expect_begin(test, NULL);
	kasan_watch_begin(1, look);
	drop_locks(locks);
	KUNIT_EXPECT_KASAN_FAIL(test, LOCKDEP_BUG(use_freed_lock(locks, test->param_index)));
	kasan_watch_end(test, KUNIT_CURRENT_LOC);
	lockdep_expect_end(test, KUNIT_CURRENT_LOC, "a freed lock", 0);
	KUNIT_EXPECT_EQ(test, lockdep_held_count(), held);
	KUNIT_EXPECT_TRUE_MSG(test, !freed_texts[texts_found], "no line \"%s\"",
			      freed_texts[texts_found] ?: "");
}

KUNIT_CASES(lockdep_memory_cases, KUNIT_CASE(freed_memory), KUNIT_CASE(behind_an_object),
	    KUNIT_CASE(inside_of_a_slot), KUNIT_CASE(dead_stack), KUNIT_CASE(ended_block),
	    KUNIT_CASE(ended_function), KUNIT_CASE(unloaded_module),
	    KUNIT_CASE_PARAM(use_after_free, kind_gen_params));

static int memory_case_init(struct kunit *test)
{
	int err = kasan_bug_test_init(test);

	return err ?: lockdep_case_init(test);
}

KUNIT_SUITE(lockdep_memory, lockdep_memory_cases, .suite_init = lockdep_suite_init,
	    .suite_exit = lockdep_suite_exit, .init = memory_case_init, .exit = lockdep_case_exit);
