// SPDX-License-Identifier: MIT
/*
 * lock_bugs.c - the planted lock bugs, in kernels with the lock validator. Each is committed by a function
 * soak_lock_NAME(), which the title of its report names, and must be reported exactly once, as KIND.
 *
 * The validator reports a bug once. Here each is planted again and again: the keys of its locks are forgotten
 * afterwards, as those of an unloaded module are, and so are the report and the dependencies.
 */
#include <kernel/irqflags.h>
#include <kernel/kernel.h>
#include <kernel/lockdep.h>
#include <kernel/mutex.h>
#include <kernel/preempt.h>
#include <kernel/rcupdate.h>
#include <kernel/sched.h>
#include <kernel/spinlock.h>

#include "soak.h"

#ifdef CONFIG_LOCKDEP

#define PAUSE_MS 1600U
#define KEYS	 3

/* There is one planter, and this is its own. */
static struct lock_class_key keys[KEYS];
static raw_spinlock_t raw[KEYS];
static struct mutex mutexes[KEYS];

static noinline void soak_lock_order(struct soak_worker *w)
{
	raw_spin_lock(&raw[0]);
	raw_spin_lock(&raw[1]);
	raw_spin_unlock(&raw[1]);
	raw_spin_unlock(&raw[0]);
	raw_spin_lock(&raw[1]);
	raw_spin_lock(&raw[0]);
	raw_spin_unlock(&raw[0]);
	raw_spin_unlock(&raw[1]);
}

static noinline void soak_lock_three(struct soak_worker *w)
{
	for (int i = 0; i < KEYS; i++) {
		mutex_lock(&mutexes[i]);
		mutex_lock(&mutexes[(i + 1) % KEYS]);
		mutex_unlock(&mutexes[(i + 1) % KEYS]);
		mutex_unlock(&mutexes[i]);
	}
}

static noinline void soak_lock_recursion(struct soak_worker *w)
{
	raw_spin_lock(&raw[0]);
	might_lock(&raw[0]);
	raw_spin_unlock(&raw[0]);
}

static void take_in_interrupt(void *taken)
{
	/* A CPU that waits for a call of its own serves others meanwhile, outside of interrupts. */
	if (!in_hardirq())
		return;
	raw_spin_lock(&raw[0]);
	raw_spin_unlock(&raw[0]);
	*(bool *)taken = true;
}

static bool interrupt_another_cpu(void)
{
	bool taken = false;

	if (num_online_cpus() < 2)
		return false;
	while (!taken) {
		preempt_disable();
		smp_call_function_single(smp_processor_id() ? 0 : 1, take_in_interrupt, &taken,
					 true);
		preempt_enable();
	}
	return true;
}

static noinline void soak_lock_irq_state(struct soak_worker *w)
{
	if (!interrupt_another_cpu())
		soak_fail("the lock planter needs two CPUs");
	raw_spin_lock(&raw[0]);
	raw_spin_unlock(&raw[0]);
}

static noinline void soak_lock_inversion(struct soak_worker *w)
{
	unsigned long flags;

	if (!interrupt_another_cpu())
		soak_fail("the lock planter needs two CPUs");
	raw_spin_lock(&raw[1]);
	raw_spin_unlock(&raw[1]);
	raw_spin_lock_irqsave(&raw[0], flags);
	raw_spin_lock(&raw[1]);
	raw_spin_unlock(&raw[1]);
	raw_spin_unlock_irqrestore(&raw[0], flags);
}

static noinline void soak_lock_wait_context(struct soak_worker *w)
{
	rcu_read_lock();
	might_lock(&mutexes[0]);
	rcu_read_unlock();
}

static noinline void soak_lock_bad_unlock(struct soak_worker *w)
{
	raw_spin_lock(&raw[0]);
	raw_spin_unlock(&raw[0]);
	lock_release(&raw[0].dep_map, _THIS_IP_);
}

static noinline void soak_lock_assertion(struct soak_worker *w)
{
	mutex_lock(&mutexes[0]);
	mutex_unlock(&mutexes[0]);
	lockdep_assert_held(&mutexes[0]);
}

/* Not bugs: no report may come. */
static noinline void soak_lock_harmless(struct soak_worker *w)
{
	raw_spin_lock(&raw[0]);
	raw_spin_lock(&raw[1]);
	raw_spin_unlock(&raw[0]);
	raw_spin_unlock(&raw[1]);
	mutex_lock(&mutexes[1]);
	if (mutex_trylock(&mutexes[0]))
		mutex_unlock(&mutexes[0]);
	mutex_unlock(&mutexes[1]);
	mutex_lock(&mutexes[0]);
	mutex_lock(&mutexes[1]);
	mutex_unlock(&mutexes[1]);
	mutex_unlock(&mutexes[0]);
}

/* --- Planting ---------------------------------------------------------------------------------------- */

/* @kind: as titles of reports have it; NULL: no bug. */
static const struct lock_bug {
	const char *name, *kind;
	void (*plant)(struct soak_worker *w);
} bugs[] = {
	{"order", "possible circular dependency", soak_lock_order},
	{"three", "possible circular dependency", soak_lock_three},
	{"recursion", "possible recursive locking", soak_lock_recursion},
	{"irq_state", "inconsistent irq state", soak_lock_irq_state},
	{"inversion", "irq-inversion (hard)", soak_lock_inversion},
	{"wait_context", "invalid wait context", soak_lock_wait_context},
	{"bad_unlock", "bad unlock", soak_lock_bad_unlock},
	{"assertion", "lock not held", soak_lock_assertion},
	{"harmless", NULL, soak_lock_harmless},
};

static unsigned int planted[ARRAY_SIZE(bugs)];

static void plant(struct soak_worker *w, size_t i)
{
	static const char *const names[KEYS] = {"soak_0", "soak_1", "soak_2"};
	static struct lock_class_key mutex_keys[KEYS];

	for (int k = 0; k < KEYS; k++) {
		raw_spin_lock_init(&raw[k]);
		lockdep_set_class_and_name(&raw[k], &keys[k], names[k]);
		mutex_init(&mutexes[k]);
		lockdep_set_class_and_name(&mutexes[k], &mutex_keys[k], names[k]);
	}
	bugs[i].plant(w);
	__atomic_fetch_add(&planted[i], 1, __ATOMIC_RELAXED);
	lockdep_free_key_range(keys, sizeof(keys));
	lockdep_free_key_range(mutex_keys, sizeof(mutex_keys));
}

static void lock_planter_step(struct soak_worker *w)
{
	/* All kinds once, then random kinds from time to time. */
	size_t i = w->steps < ARRAY_SIZE(bugs) ? w->steps : soak_below(w, ARRAY_SIZE(bugs));

	plant(w, i);
	if (w->steps >= ARRAY_SIZE(bugs))
		msleep(soak_below(w, PAUSE_MS));
}

bool soak_all_locks_planted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bugs); i++) {
		if (!__atomic_load_n(&planted[i], __ATOMIC_RELAXED))
			return false;
	}
	return true;
}

void soak_print_locks_planted(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(bugs); i++)
		pr_info("soak: lock %s %u %s\n", bugs[i].name, READ_ONCE(planted[i]),
			bugs[i].kind ?: "none");
}

const struct soak_kind soak_lock_kinds[] = {
	{.name = "locks", .threads = 1, .step = lock_planter_step, .plants = true},
	{},
};

#else

const struct soak_kind soak_lock_kinds[] = {{}};

bool soak_all_locks_planted(void)
{
	return true;
}

void soak_print_locks_planted(void)
{
}

#endif
